//! What is said instead of a report: the words and exit statuses of the real ab.

use ablaze_testing::Bounded;

use crate::ab::support::{Ran, Scratch, Server, ablaze, ok, real_ab};

/// A message of ab's: without our line that names the fix, without usage and empty lines.
fn message(ran: &Ran) -> Vec<String> {
    ran.stderr
        .lines()
        .filter(|line| !line.starts_with("ablaze: "))
        .map(|line| line.replace("ablaze ab: ", "ab: "))
        .take_while(|line| !line.starts_with("Usage: "))
        .filter(|line| !line.is_empty())
        .collect()
}

#[test]
fn messages_and_statuses_are_ab_s() {
    let long = "x".repeat(766);
    let url = "http://127.0.0.1:9/";
    let table: &[&[&str]] = &[
        &["-n", "0", url],
        &["-n", "abc", url],
        &["-i", "-p", "/dev/null", url],
        &["-p", "/dev/null", "-u", "/dev/null", url],
        &["-m", "GET", "-i", url],
        &["-p", "/nonexistent", url],
        &["-u", "/nonexistent", url],
        &["-p", "/", url],
        &["-A", &long, url],
        &["-P", &long, url],
        &["-c", "5", url],
        &["-c", "-1", url],
        &["-n", "300000", "-c", "200001", url],
        &["-n"],
        &["-k"],
        &[url, "-n", "5"],
        &["http://127.0.0.1"],
        &["http://127.0.0.1:0/"],
        &["http://127.0.0.1:65536/"],
        &["http:///x"],
        &["http://[::1]x/"],
        &[""],
        &["http://nosuch.invalid/"],
        &["HTTP://127.0.0.1/"],
        &["-B", "nosuch.invalid", url],
        &["-X", "nosuch.invalid:1", url],
        &["-B", "192.0.2.1", url],
        &[REFUSED],
        &["-kc", "2", "-n", "5", REFUSED],
    ];
    for words in table {
        let Some(theirs) = real_ab(words) else { return };
        let ours = ablaze(words);
        assert_eq!(message(&ours), message(&theirs), "{words:?}");
        assert_eq!(ours.status, theirs.status, "{words:?}: {}", ours.stderr);
        // One line of ours at the end names the fix, where ab has 45 lines of usage or nothing.
        let fixes = ours.stderr.lines().filter(|line| line.starts_with("ablaze: ")).count();
        assert_eq!(fixes, 1, "{words:?}: {}", ours.stderr);
        assert!(ours.stderr.lines().last().unwrap().starts_with("ablaze: "), "{}", ours.stderr);
        assert!(!ours.stderr.contains("Options are:"), "{words:?}");
        // Behind the banner's three lines, stdout is ab's, too.
        let behind_banner = |ran: &Ran| ran.stdout.lines().skip(3).collect::<Vec<_>>().join("\n");
        if !["-B", "-X"].contains(&words[0]) {
            assert_eq!(behind_banner(&ours), behind_banner(&theirs), "{words:?}");
        }
    }
}

#[test]
fn a_mistake_on_the_command_line_ends_in_one_line_with_its_fix() {
    let url = "http://127.0.0.1:9/";
    for (words, fix) in [
        (&["http://127.0.0.1:0/"][..], "port 0 is out of range: a port is 1 to 65535"),
        (&["http://127.0.0.1:70000/"], "port 70000 is out of range: a port is 1 to 65535"),
        (&["http://127.0.0.1"], "`http://127.0.0.1` is not a URL for ab: use http://127.0.0.1/"),
        (&[":8080/x"], "`:8080/x` is not a URL for ab: use http://127.0.0.1:8080/x"),
        (&["u:p@h"], "ab accepts no user in a URL: use -A NAME:PASSWORD http://h/"),
        (&["-c", "0", url], "use -c 1 or more"),
        (&["--requests", "0", url], "0 requests measure nothing: use --requests 1 or more"),
        (&["-n", "5", "-c", "10", url], "-n is 5: use -n 10 or more, or a lower -c"),
        (&["-c", "10", url], "-n is 1: use -n 10 or more, or a lower -c"),
        (&["-c", "-1", url], "use -c 1 to 200000"),
        (&["-n", "0", url], "use -n 1 or more"),
        (&["-n"], "-n requires a value: see `ablaze ab -h`"),
        (&["-K", url], "ab has no option -K: `ablaze ab -h` lists its options"),
        (&["-k"], "missing URL, for example `ablaze ab -n 100 http://"),
        (
            &[url, "-n", "5"],
            "unexpected option `-n` after the URL: put options before \
            `http://127.",
        ),
        (&["-n", "5", url, "x"], "nothing may follow it: remove `x`"),
        (
            &["-p", "/no/such/file", url],
            "cannot read the body from `/no/such/file`: check its \
            name",
        ),
        (&["-p", "/", url], "cannot read the body from `/`: use another file"),
        (&["-e", "/no/such/x", url], "-e /no/such/x: the folder does not exist: create it first"),
        (&["-g", "/no/such/x", url], "-g /no/such/x: the folder does not exist: create it first"),
        (&["-g", "/", url], "-g /: is a folder: name a file in it"),
        (&["-g", "/proc/x", url], "-g /proc/x: cannot create files in this folder: choose another"),
        (&["-e", "", url], "empty file name"),
        (&["-H", "bad", url], "header `bad` has no colon: write 'Name: value'"),
        (&["-H", ": x", url], "header name ``: only letters"),
        (&["--header", "bad", url], "header `bad` has no colon: write 'Name: value'"),
        (&["-m", "A B", url], "method `A B`: not a token"),
        (&["-n", "5", "--threads", "0", url], "use --threads 1 or more"),
        (&["-n", "5", "--local-ports", "x", url], "20000-30000"),
    ] {
        let ran = ablaze(words);
        let last = ran.stderr.lines().last().unwrap();
        assert!(last.starts_with("ablaze: ") && last.contains(fix), "{words:?}: {}", ran.stderr);
        let ours = ran.stderr.lines().filter(|line| line.starts_with("ablaze: ")).count();
        assert_eq!(ours, 1, "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.lines().count() <= 3, "{words:?}: {}", ran.stderr);
        let of_a_file =
            ["-p", "-e", "-g"].contains(&words[0]) || words[..2.min(words.len())] == ["-n", "0"];
        assert_eq!(ran.status, if of_a_file { 1 } else { 22 }, "{words:?}: {}", ran.stderr);
        assert!(!ran.stdout.contains("Server Software"), "{words:?}: {}", ran.stdout);
    }
}

/// Only who asks for nothing, or for help, is shown everything.
#[test]
fn the_usage_text_is_for_who_asks_for_it() {
    let ran = ablaze(&[]);
    assert_eq!((ran.status, &ran.stdout[..]), (22, ""));
    assert!(ran.stderr.starts_with("ablaze ab: wrong number of arguments\nUsage: "), "{ran:?}");
}

/// ab sends such a line as it is; every server answers 400, or ignores it. An empty one would end
/// the head in its middle.
#[test]
fn an_empty_header_line_adds_nothing() {
    let server = Server::answering(ok("hello"));
    assert_eq!(ablaze(&["-H", "", "-H", "X:", &server.url()]).status, 0);
    let requests = server.requests.lock().unwrap();
    let text = String::from_utf8_lossy(&requests[0]);
    assert!(text.starts_with("GET /x HTTP/1.0\r\nX:\r\nHost: "), "{text}");
}

/// Nothing listens on port 1, and no test that asks for a free port is given it.
const REFUSED: &str = "http://127.0.0.1:1/";

#[test]
fn every_error_of_the_network_names_its_fix() {
    for (words, fix) in [
        (&["http://nosuch.invalid/"][..], "check its spelling"),
        (&[REFUSED], "start the server, or check the host and port"),
        (&["-X", "127.0.0.1", "http://h/"], "for example -X 127.0.0.1:3128"),
        (&["-X", "", "http://h/"], "for example -X HOST:3128"),
        (
            &["--unix-socket", "/no/such/s", "http://h/"],
            "unix:/no/such/s cannot be used: check its",
        ),
        (&["-s", "0", "http://127.0.0.1/"], "use -s 1 or more"),
    ] {
        let ran = ablaze(words);
        assert!(ran.stderr.contains(fix), "{words:?}: {}", ran.stderr);
        assert_ne!(ran.status, 0);
    }
}

#[test]
fn files_that_cannot_be_written_are_found_before_the_run() {
    let server = Server::answering(ok("hello"));
    for (option, name) in [("-e", "CSV"), ("-g", "gnuplot")] {
        let ran = ablaze(&[option, "/nonexistent/file", &server.url()]);
        let message = format!(
            "Cannot open {name} output file: No such file or directory\n\
             ablaze: {option} /nonexistent/file: the folder does not exist: create it first\n"
        );
        assert_eq!((ran.status, &ran.stderr[..]), (1, &message[..]));
        assert_eq!(ran.stdout, "");
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_link_to_a_file_to_come_is_followed() {
    let (link, file) = (Scratch::new("link.csv"), Scratch::new("linked.csv"));
    std::os::unix::fs::symlink(file.path(), link.path()).unwrap();
    let server = Server::answering(ok("hello"));
    let ran = ablaze(&["-e", link.word(), &server.url()]);
    assert_eq!((ran.status, &ran.stderr[..]), (0, ""));
    assert!(std::fs::read_to_string(file.path()).unwrap().starts_with("Percentage served,"));
}

#[test]
fn a_run_that_fails_leaves_files_as_they_were() {
    let old = Scratch::with("kept.csv", b"old");
    let new = Scratch::new("never.csv");
    ablaze(&["-e", old.word(), REFUSED]);
    ablaze(&["-e", new.word(), REFUSED]);
    assert_eq!(std::fs::read(old.path()).unwrap(), b"old");
    assert!(!new.path().exists());
}

#[test]
fn tls_that_is_not_spoken_is_refused_before_the_run() {
    let url = "https://127.0.0.1:9/";
    for (words, says) in [
        (&["-f", "SSL3", url][..], "-f SSL3 is not supported"),
        (&["-f", "TLS1.1", url], "use -f TLS1.2, TLS1.3 or ALL"),
        (&["-Z", "RC4-SHA", url], "error setting ciphersuite list [RC4-SHA]"),
        (&["-Z", "HIGH:!ECDHE", url], "ECDHE-ECDSA-AES256-GCM-SHA384:"),
        (&["-E", "/dev/null", url], "unable to get certificate from '/dev/null'"),
    ] {
        let ran = ablaze(words);
        assert!(ran.stderr.contains(says), "{words:?}: {}", ran.stderr);
        assert_eq!((ran.status, &ran.stdout[..]), (1, ""), "{words:?}");
    }
}

#[test]
fn help_and_version_go_where_ab_s_go() {
    let help = ablaze(&["-h"]);
    assert_eq!((help.status, &help.stdout[..]), (22, ""));
    assert!(help.stderr.starts_with("Usage: ablaze ab [options] "));
    let version = ablaze(&["-V"]);
    assert_eq!((version.status, &version.stderr[..]), (0, ""));
    assert_eq!(version.stdout.lines().count(), 4);
    assert!(ablaze(&["-wV"]).stdout.starts_with("<p>\n This is ablaze"));
}

#[test]
fn called_by_the_name_ab_it_is_ab() {
    let link = Scratch::new("folder");
    std::fs::create_dir_all(link.path()).unwrap();
    let program = link.path().join("ab");
    let _ = std::fs::remove_file(&program);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ablaze"), &program).unwrap();
    let ran = std::process::Command::new(&program).arg("http://h").ran();
    let name = program.display();
    assert!(ran.stderr.starts_with(&format!("{name}: invalid URL\nablaze: ")), "{}", ran.stderr);
    assert_eq!(ran.status, 22);
    std::fs::remove_dir_all(link.path()).unwrap();
}

#[test]
fn native_options_are_taken_and_wrong_ones_refused_in_one_line() {
    let server = Server::keeping(ok("hello"));
    let url = server.url();
    let words = ["-k", "--threads", "1", "--io=epoll", "-n4", "--timeout", "5s", &url];
    let ran = ablaze(&words);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("Complete requests:      4\n"), "{}", ran.stdout);
    let ran = ablaze(&["--cpsu", "0", &url]);
    assert_eq!((ran.status, ran.stderr.lines().count()), (22, 1), "{}", ran.stderr);
    assert!(ran.stderr.contains("--cpus"), "{}", ran.stderr);
}

#[test]
fn native_reports_come_beside_or_instead_of_ab_s() {
    let server = Server::keeping(ok("hello"));
    let url = server.url();
    let file = Scratch::new("native.json");
    let ran = ablaze(&["-k", "-n", "4", "--output", file.word(), &url]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("\nComplete requests:      4\n"));
    let kept = std::fs::read_to_string(file.path()).unwrap();
    assert!(kept.starts_with('{') && kept.contains("\"latency_ns\""));
    let json = ablaze(&["-k", "-n", "4", "--json", &url]);
    assert!(json.stdout.starts_with('{') && !json.stdout.contains("Benchmarking"));
    let failing = ablaze(&["-k", "-n", "4", "--fail-if", "rate>0", &url]);
    assert_eq!(failing.status, 3, "{}", failing.stderr);
    assert!(failing.stdout.contains("\nComplete requests:      4\n"));
}

#[test]
fn native_files_are_checked_before_the_run() {
    let server = Server::answering(ok("hello"));
    for words in [["--output", "/nonexistent/x.json"], ["--fail-if", "speed>1"]] {
        let ran = ablaze(&[words[0], words[1], &server.url()]);
        assert_eq!((ran.status, &ran.stdout[..], ran.stderr.lines().count()), (22, "", 1));
    }
    assert_eq!(server.connections(), 0);
}
