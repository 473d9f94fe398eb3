//! What cannot be carried out: one line that names the fix, the right status. `ablaze ab` has
//! ab's own line in front of it.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use ablaze_testing::skip::skip;

use crate::e2e::support::{Scratch, ablaze, run, url};

/// Command lines, status, and what the one line on stderr must contain.
const TABLE: &[(&str, i32, &str)] = &[
    ("http://no-such-host.invalid/ -n 5", 1, "no-such-host.invalid"),
    (":1 -n 5", 1, "is the server running"),
    (":0", 2, "1 to 65535"),
    (":1 -c 0", 2, "-c 1 or more"),
    (":1 -H bad", 2, "Name: value"),
    ("-n 5 8080", 2, "write :8080"),
    ("http//127.0.0.1/", 2, "a colon and two slashes"),
    (":1 -u me", 2, "NAME: without a password"),
    (":1/?{rand:}", 2, "{rand:8}"),
    (":1 --seed x", 2, "expected a whole number"),
    (":1 -h2", 2, "--http 2"),
    (":1 --disable-keepalive", 2, "--no-keepalive"),
    (":1 --fail-if lag>1ms", 2, "use --rate"),
    (":1 -H Transfer-Encoding:chunked -b x", 2, "not in chunks"),
    ("http://h/ --unix-socket /x --connect-to 127.0.0.1:1", 2, "use only one"),
    ("http://h/ --unix-socket /x --local-address 127.0.0.2", 2, "use only one"),
    ("sweep :1 -c 0", 2, "-c 1 or more"),
    ("compare :1 :2 -c 0", 2, "-c 1 or more"),
    (":1 -b @/no/such/file", 2, "/no/such/file"),
    (":1 -o /no/such/folder/r.json", 2, "create it first"),
    (":1 -n 5 --unix-socket /no/such/socket", 1, "/no/such/socket"),
    (":1 -n 5 --unix-socket /no/such/socket", 1, "check the path"),
    ("ab -n 5 http://no-such-host.invalid/", 50, "no-such-host.invalid"),
    ("ab -n 5 http://127.0.0.1:1/", 111, "start the server"),
    ("ab -n 5 http://127.0.0.1:0/", 22, "1 to 65535"),
    ("ab -c 0 http://127.0.0.1:1/", 22, "-c 1 or more"),
    ("ab -n 5 -c 10 http://127.0.0.1:1/", 22, "-n 10 or more"),
    ("ab -p /no/such/file http://127.0.0.1:1/", 1, "/no/such/file"),
    ("ab -g /no/such/folder/x http://127.0.0.1:1/", 1, "create it first"),
    ("gurl -bench http://no-such-host.invalid/", 1, "no-such-host.invalid"),
    ("gurl -bench :1", 1, "is the server running"),
    ("gurl -bench -an 50 -ac 5 :1", 1, "gave up after 1 of 50 requests: 127.0.0.1:1 refused"),
    ("gurl -bench :0", 2, "1 to 65535"),
    ("gurl -ac 0 -bench :1", 2, "-ac 1 or more"),
    ("serve :70000", 2, "65535"),
    ("serve :x", 2, "port"),
    ("serve --delay never", 2, "500ms"),
    ("serve --status 7", 2, "200 to 999"),
    ("gurl -echo :70000", 2, "65535"),
];

#[test]
fn each_is_one_line() {
    for (line, status, expected) in TABLE {
        let words: Vec<&str> = line.split(' ').collect();
        let ran = ablaze(&words);
        println!("$ ablaze {line}\n{}", ran.stderr);
        assert_eq!(ran.status, *status, "{line}: {ran:?}");
        let lines: Vec<&str> = ran.stderr.lines().collect();
        assert_eq!(lines.len(), if words[0] == "ab" { 2 } else { 1 }, "{line}: {ran:?}");
        let fix = lines[lines.len() - 1];
        assert!(fix.starts_with("ablaze: ") && fix.contains(expected), "{line}: {ran:?}");
        assert!(!ran.stderr.contains("panicked"), "{line}: {ran:?}");
        let told = ran.stdout + &ran.stderr;
        assert!(!told.contains("(os error"), "{line}: {told}");
    }
}

#[test]
fn ports_below_1024_need_a_right() {
    let first = std::fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start");
    if first.is_ok_and(|first| first.trim() != "1024") {
        return skip("this system lets everyone use low ports");
    }
    // Where only this user may read the build folder, nobody can still run a copy.
    let copy = Scratch::new("for-nobody");
    std::fs::copy(env!("CARGO_BIN_EXE_ablaze"), copy.path()).unwrap();
    std::fs::set_permissions(copy.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let gurl: &[&str] = &["gurl", "-echo", ":80"];
    let ports = ["-n5", "-c2", "--local-ports", "80-81"];
    for (words, status) in [
        (&["serve", ":80"][..], 1),
        (gurl, 1),
        (&[&[":1"], &ports[..]].concat(), 2),
        (&[&["ab"], &ports[..], &["http://127.0.0.1:1/"]].concat(), 22),
    ] {
        let mut command = Command::new(copy.path());
        command.args(words).current_dir("/");
        if rustix::process::geteuid().is_root() {
            command.uid(65534).gid(65534);
        }
        let ran = run(&mut command);
        println!("{words:?}: {}", ran.stderr);
        ran.assert_one_line(status, "1024");
    }
}

/// The streams of a connection send the same bytes: as many copies of them would be more than 4 GiB.
#[test]
fn many_streams_share_a_long_body() {
    let options = ablaze_target::Options {
        address: "127.0.0.1:0".parse().unwrap(),
        threads: 1,
        http2: true,
        ..ablaze_target::Options::default()
    };
    let server = ablaze_target::Server::start(options).unwrap();
    let body = Scratch::with("long-body", &vec![b'x'; 5_000_000]);
    let body = format!("@{}", body.word());
    let words =
        ["--http", "2", "--streams", "1000", "-c", "1", "-n", "3", "-m", "POST", "-b", &body];
    let target = url(&server, "/");
    let ran = ablaze(&[&words[..], &[&target]].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(server.stop().unwrap().requests, 3);
}

/// What another tool's command line cannot do is refused, and not left out without a word.
#[test]
fn what_has_no_effect_beside_another_tools_options_is_refused() {
    let url = "http://127.0.0.1:9/";
    for tool in ["ab", "wrk", "hey", "h2load", "oha"] {
        let refused = ablaze(&[tool, "--fleet", "exec:2", url]);
        assert_ne!(refused.status, 0, "{tool:?}");
        assert!(
            refused.stderr.contains("--fleet is an option of `ablaze load`"),
            "{tool:?}: {refused:?}"
        );
        assert_eq!(refused.stdout, "", "{tool:?}");
    }
    for option in [&["--users", "3"][..], &["--think-time", "1s"], &["--journey", "x.hurl"]] {
        let refused = ablaze(&[&["wrk"][..], option, &[url]].concat());
        assert_ne!(refused.status, 0, "{option:?}");
        assert!(refused.stderr.contains(option[0]), "{option:?}: {refused:?}");
    }
}
