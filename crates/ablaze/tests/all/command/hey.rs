//! `ablaze hey` against a server that remembers: its request, its reports and its exit statuses, beside hey's own where that
//! is installed.

use crate::command::beside::{assert_same_patterns, explained, fields, of_real, shape};
use crate::command::support::{Server, ablaze};

/// What scripts take out of the summary.
const PATTERNS: [&str; 18] = [
    "awk '/Requests\\/sec/ {print $2}'",
    "grep 'Requests/sec:' | sed 's/.*:\t//'",
    "awk '/Total:/ {print $2}'",
    "grep -oP 'Total:\\s+\\K[0-9.]+'",
    "awk '/Slowest/ {print $2, $3}'",
    "awk '/Fastest/ {print $2}'",
    "awk '/Average:/ {print $2}'",
    "sed -n 's/^  Average:\t\\(.*\\) secs$/\\1/p'",
    "grep 'Total data' | awk '{print $3}'",
    "grep 'Size/request' | awk '{print $2}'",
    "awk '/ 50%+ in/ {print $3}'",
    "awk '/95%+ in/ {print $3}'",
    "grep -oE '90%+ in [0-9.]+ secs' | grep -oE '[0-9]+\\.[0-9]+'",
    "awk '/resp wait/ {print $3}' | tr -d ,",
    "sed -n 's/.*DNS+dialup:\t\\([0-9.]*\\) secs, .*/\\1/p'",
    "grep -E '^  \\[[0-9]+\\]\t[0-9]+ responses' | awk '{print $1, $2}'",
    "grep -A1 'Status code distribution:' | tail -1 | tr -d '[]'",
    "grep -c '|'",
];

#[test]
fn the_same_patterns_match_heys_report_and_ours() {
    let server = Server::start(200);
    let words = ["-n", "60", "-c", "2", &server.url("/x")];
    let said = ablaze(&[&["hey"], &words[..]].concat());
    assert_eq!(said.status, 0, "{said:?}");
    let theirs = of_real("hey", &words);
    assert_same_patterns(&PATTERNS, &said.stdout, theirs.as_deref());
    let command = format!("$ hey {}\n", words.join(" "));
    let report = &explained(&format!("{command}{}", said.stdout))["reports"][0];
    assert_eq!((&report["tool"], &report["requests"]), (&"hey".into(), &60.into()), "{report:#}");
    let Some(theirs) = theirs else { return };
    // Line by line, but for the length of bars and the percentages, whose sign hey 0.1.5 doubles. It has none for 99 %
    // of so few, and says 0%.
    let lines = |text: &str| {
        let text = text.replace("%%", "%");
        let lines = text.lines().map(|line| line.split('|').next().unwrap().to_owned());
        lines.map(|line| shape(&line)).collect::<Vec<_>>()
    };
    assert_eq!(lines(&said.stdout), lines(&theirs), "{}\n{theirs}", said.stdout);
}

#[test]
fn the_csv_has_heys_columns() {
    let server = Server::start(200);
    let words = ["-n", "4", "-c", "2", "-o", "csv", &server.url("/x")];
    let said = ablaze(&[&["hey"], &words[..]].concat());
    assert_eq!((said.status, said.stdout.lines().count()), (0, 5), "{said:?}");
    for line in said.stdout.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert_eq!((cells.len(), cells[6]), (8, 200.0), "{line}");
        // Rounded to tenths of a millisecond each.
        let parts: f64 = cells[1..6].iter().sum();
        assert!((cells[0] - parts).abs() < 0.0004, "{line}");
    }
    if let Some(theirs) = of_real("hey", &words) {
        let first = |text: &str| text.lines().take(2).map(shape).collect::<Vec<_>>();
        assert_eq!(first(&said.stdout), first(&theirs));
    }
}

#[test]
fn the_server_sees_the_requests_that_hey_sends() {
    let lines: [&[&str]; 6] = [
        &[],
        &["-m", "post", "-d", "a=b", "-T", "text/x"],
        &["-d", "body"],
        &["-H", "X-One: 1", "-H", "x-one: 2", "-A", "a/b", "-U", "me", "-host", "other"],
        &["-disable-compression"],
        &["-disable-keepalive"],
    ];
    for line in lines {
        let server = Server::start(200);
        let url = server.url("/a?b=c");
        let words = [&["-n", "1", "-c", "1"], line, &[url.as_str()]].concat();
        let said = ablaze(&[&["hey"], &words[..]].concat());
        assert_eq!(said.status, 0, "{said:?}");
        let own = server.seen().pop().unwrap();
        if of_real("hey", &words).is_some() {
            let theirs = server.seen().pop().unwrap();
            assert_eq!((fields(&own), &own.body), (fields(&theirs), &theirs.body), "{line:?}");
        }
    }
}

#[test]
fn heys_name_stands_behind_a_user_agent_of_ones_own() {
    // As version 0.1.5 has it; those before put their name in its place.
    let server = Server::start(200);
    let words = ["hey", "-n", "1", "-c", "1", "-H", "User-Agent: mine", &server.url("/")];
    let said = ablaze(&words);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(server.seen()[0].fields("User-Agent"), ["mine hey/0.0.1"]);
}

#[test]
fn credentials_are_sent() {
    // Version 0.1.5 of hey makes the field, and then replaces all fields by others.
    let server = Server::start(200);
    let said = ablaze(&["hey", "-n", "1", "-c", "1", "-a", "name:password", &server.url("/")]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(server.seen()[0].fields("Authorization"), ["Basic bmFtZTpwYXNzd29yZA=="]);
}

#[test]
fn exit_statuses_are_heys_but_for_a_run_without_a_response() {
    let port = ablaze_testing::ports::free();
    let url = format!("http://127.0.0.1:{port}/");
    let said = ablaze(&["hey", "-n", "4", "-c", "2", &url]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.stdout.contains("Error distribution:\n  [4]\tGET \"http://"), "{}", said.stdout);
    assert!(said.stderr.contains("refused the connection"), "{}", said.stderr);
    for (words, status, problem) in [
        (["-n", "1", &url], 1, "-n 1 cannot be less than -c 50"),
        // Go's package flag reads numbers itself, and ends with 2.
        (["-q", "fast", &url], 2, "-q fast: expected a number"),
        (["-n", "many", &url], 2, "-n many: expected a number"),
        (["-o", "xml", &url], 1, "-o xml: expected csv"),
        (["-nosuch", "1", &url], 2, "unknown option -nosuch"),
        (["-D", "/no/such/file", &url], 1, "/no/such/file"),
    ] {
        let said = ablaze(&[&["hey"], &words[..]].concat());
        assert_eq!(said.status, status, "{said:?}");
        assert!(said.stderr.contains(problem), "{said:?}");
    }
}

#[test]
fn a_rate_a_length_and_native_options_work() {
    let server = Server::start(302);
    let url = server.url("/");
    let words = ["hey", "-z", "1s", "-c", "2", "-q", "20", "--json", &url];
    let said = ablaze(&words);
    let run: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    // 2 workers with 20 requests each in the second: those that were due, whether or not the machine kept up.
    let due = run["responses"].as_u64().unwrap() + run["unfinished"]["count"].as_u64().unwrap();
    assert!((36..=41).contains(&due), "{}", said.stdout);
    assert!(said.stderr.contains("responses were redirects"), "{}", said.stderr);
    let said =
        ablaze(&["hey", "-n", "9", "-c", "1", "-disable-redirects", "--fail-if", "max>1ns", &url]);
    assert_eq!(said.status, 3, "{said:?}");
    assert!(!said.stderr.contains("not followed here"), "{}", said.stderr);
    assert!(said.stdout.contains("  [302]\t9 responses\n"), "{}", said.stdout);
}
