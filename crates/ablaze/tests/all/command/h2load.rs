//! `ablaze h2load`: its request, its report and its exit statuses, beside h2load's own where that is installed.

use ablaze_testing::ScratchFile;

use crate::command::beside::{assert_same_patterns, explained, fields, of_real};
use crate::command::support::{Server, ablaze};
use crate::serve_and_demo::support::Serving;

/// What scripts take out of the report.
const PATTERNS: [&str; 20] = [
    "awk '/finished in/ {print $4}'",
    "grep -oP 'finished in \\K[0-9.]+(us|ms|s)'",
    "sed -n 's/^finished in .*, \\(.*\\) req\\/s, .*/\\1/p'",
    "grep 'finished in' | cut -d, -f3 | grep -oE '[0-9]' | head -1",
    "awk '/^requests:/ {print $2, $4, $6, $8}'",
    "grep -oP '\\d+(?= succeeded)'",
    "grep -oP '\\d+(?= failed)'",
    "grep -oP '\\d+(?= errored)'",
    "grep -oP '\\d+(?= timeout)'",
    "awk '/^status codes:/ {print $3, $4}'",
    "grep -oP '\\d+(?= 5xx)'",
    "sed -n 's/^traffic: .*(\\([0-9]*\\)) total, .*/\\1/p'",
    "sed -n 's/.* (\\([0-9]*\\)) data$/\\1/p'",
    "grep -oP 'space savings \\K[0-9]+'",
    "awk '/^time for request:/ {print $4, $5, $6}'",
    "awk '/^time for request:/ {print $8}' | tr -d %",
    "awk '/^time for connect:/ {print $6}'",
    "awk '/^time to 1st byte:/ {print $5}'",
    "awk '/^req\\/s/ {print $3, $4, $5, $6}'",
    "awk -F: '/^spawning thread/ {print $2}'",
];

/// Lines of a report with every figure and its unit as one `0`.
fn shape(text: &str) -> Vec<String> {
    let words = |line: &str| {
        let word = |word: &str| {
            let is_figure = word.trim_start_matches('(').starts_with(|c: char| c.is_ascii_digit());
            if is_figure {
                format!("0{}", if word.ends_with(',') { "," } else { "" })
            } else {
                word.to_owned()
            }
        };
        line.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
    };
    text.lines().filter(|line| !line.starts_with("progress:")).map(words).collect()
}

#[test]
fn the_same_patterns_match_h2loads_report_and_ours() {
    let server = Server::start(200);
    let words = ["--h1", "-n60", "-c2", "-t2", &server.url("/x")];
    let said = ablaze(&[&["h2load"], &words[..]].concat());
    assert_eq!(said.status, 0, "{said:?}");
    let theirs = of_real("h2load", &words);
    assert_same_patterns(&PATTERNS, &said.stdout, theirs.as_deref());
    let requests =
        "\nrequests: 60 total, 60 started, 60 done, 60 succeeded, 0 failed, 0 errored, 0 timeout\n";
    assert!(said.stdout.contains(requests), "{}", said.stdout);
    assert!(said.stdout.contains(" (300) data\n"), "{}", said.stdout);
    let report =
        &explained(&format!("$ h2load {}\n{}", words.join(" "), said.stdout))["reports"][0];
    assert_eq!(
        (&report["tool"], &report["requests"]),
        (&"h2load".into(), &60.into()),
        "{report:#}"
    );
    if let Some(theirs) = theirs {
        assert_eq!(shape(&said.stdout), shape(&theirs), "{}\n{theirs}", said.stdout);
    }
}

#[test]
fn http_2_is_spoken_unless_told_otherwise() {
    let server = Serving::start(&["serve", "--http", "2", "--threads", "1", "127.0.0.1:0"]);
    let url = format!("http://{}/", server.address);
    let words = ["-n60", "-c2", "-m5", &url];
    let said = ablaze(&[&["h2load"], &words[..]].concat());
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.stdout.contains("\nApplication protocol: h2c\n"), "{}", said.stdout);
    let theirs = of_real("h2load", &words);
    assert_same_patterns(&PATTERNS, &said.stdout, theirs.as_deref());
    server.stop();
}

#[test]
fn the_server_sees_the_requests_that_h2load_sends() {
    let body = ScratchFile::with("body", b"a=b");
    let with_body = ["-d", body.word(), "-H", "content-type: text/x"];
    let lines: [&[&str]; 4] =
        [&[], &["-H", "X-One: 1"], &with_body, &["-H:method: PUT", "-d", body.word()]];
    for line in lines {
        let server = Server::start(200);
        let url = server.url("/a?b=c");
        let words = [&["--h1", "-n1"], line, &[url.as_str()]].concat();
        let said = ablaze(&[&["h2load"], &words[..]].concat());
        assert_eq!(said.status, 0, "{said:?}");
        let own = server.seen().pop().unwrap();
        if of_real("h2load", &words).is_some() {
            let theirs = server.seen().pop().unwrap();
            assert_eq!((fields(&own), &own.body), (fields(&theirs), &theirs.body), "{line:?}");
        }
    }
}

#[test]
fn several_uris_are_asked_for_in_turn() {
    let server = Server::start(200);
    let words = ["h2load", "--h1", "-n6", &server.url("/a"), "https://elsewhere/b", "/c"];
    let said = ablaze(&words);
    assert_eq!(said.status, 0, "{said:?}");
    let mut paths: Vec<String> =
        server.seen().iter().map(|request| request.path().to_owned()).collect();
    paths.sort();
    assert_eq!(paths, ["/a", "/a", "/b", "/b", "/c", "/c"]);
}

#[test]
fn the_log_has_a_line_for_each_request() {
    let server = Server::start(404);
    let log = ScratchFile::new("log");
    let said = ablaze(&["h2load", "--h1", "-n5", "--log-file", log.word(), &server.url("/")]);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.stdout.contains("status codes: 0 2xx, 0 3xx, 5 4xx, 0 5xx\n"), "{}", said.stdout);
    let text = std::fs::read_to_string(log.path()).unwrap();
    assert_eq!(text.lines().count(), 5, "{text}");
    for line in text.lines() {
        let cells: Vec<u64> = line.split('\t').map(|cell| cell.parse().unwrap()).collect();
        assert!(cells[0] > 1_700_000_000_000_000 && cells[1] == 404 && cells.len() == 3, "{line}");
    }
}

#[test]
fn a_run_by_time_and_exit_statuses() {
    let server = Server::start(200);
    let url = server.url("/");
    let words = ["--h1", "-D1", "-c2", "--warm-up-time=1", &url];
    let said = ablaze(&[&["h2load"], &words[..]].concat());
    assert_eq!(said.status, 0, "{said:?}");
    let begins = "starting benchmark...\nspawning thread #0: 2 total client(s). Timing-based test with 1s of \
                  warm-up time and 1s of main duration for measurements.\n";
    assert!(said.stdout.starts_with(begins), "{}", said.stdout);
    assert!(said.stdout.contains("\nfinished in 2.0"), "{}", said.stdout);
    let port = ablaze_testing::ports::free();
    let nobody = format!("http://127.0.0.1:{port}/");
    // It speaks HTTP/1.1 alone.
    let said = ablaze(&["h2load", "-n2", &url]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.stderr.contains("does not speak HTTP/2; use --h1"), "{}", said.stderr);
    let said = ablaze(&["h2load", "-n2", &nobody]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(
        said.stdout.contains("0 succeeded, 2 failed, 2 errored, 0 timeout\n"),
        "{}",
        said.stdout
    );
    let said = ablaze(&["h2load", "-n2", "-c3", &url]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.stderr.contains("-n 2 is less than -c 3"), "{}", said.stderr);
}
