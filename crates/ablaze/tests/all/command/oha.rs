//! `ablaze oha` against a server that remembers: its request, its reports and its exit statuses, beside oha's own where that
//! is installed.

use ablaze_testing::ScratchFile;

use crate::command::beside::{assert_same_patterns, explained, of_real};
use crate::command::support::{Server, ablaze};

/// What scripts take out of the text.
const PATTERNS: [&str; 16] = [
    "awk '/Success rate:/ {print $3}' | tr -d %",
    "awk '/Total:/ {print $2}'",
    "awk '/Slowest:/ {print $2}'",
    "sed -n 's/^  Fastest:\t\\([0-9.]*\\) .*/\\1/p'",
    "awk '/Average:/ {print $2}'",
    "awk '/Requests\\/sec/ {print $2}'",
    "grep -oP 'Requests/sec:\\s+\\K[0-9.]+'",
    "awk '/Total data:/ {print $3, $4}'",
    "awk '/Size\\/request:/ {print $2, $3}'",
    "awk '/^  50.00% in/ {print $3}'",
    "awk '/99.00% in/ {print $3}'",
    "grep -oP '99.99% in \\K[0-9.]+'",
    "awk '/DNS\\+dialup:/ {print $2}'",
    "grep -E '^  \\[[0-9]+\\] [0-9]+ responses' | awk '{print $1, $2}'",
    "grep -A1 'Status code distribution:' | tail -1",
    "grep -c '|'",
];

/// The keys and indices that lead to every figure, without those whose name is a figure.
fn keys(value: &serde_json::Value, path: &str, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(members) if !path.ends_with("Histogram") => {
            members.iter().for_each(|(name, value)| keys(value, &format!("{path}/{name}"), found));
        }
        _ => found.push(path.to_owned()),
    }
}

#[test]
fn the_same_patterns_match_ohas_report_and_ours() {
    let server = Server::start(200);
    let words = ["--no-tui", "-n", "60", "-c", "2", &server.url("/x")];
    let said = ablaze(&[&["oha"], &words[..]].concat());
    assert_eq!(said.status, 0, "{said:?}");
    assert_same_patterns(&PATTERNS, &said.stdout, of_real("oha", &words).as_deref());
    let text = format!("$ oha {}\n{}", words.join(" "), said.stdout);
    let report = &explained(&text)["reports"][0];
    assert_eq!((&report["tool"], &report["requests"]), (&"oha".into(), &60.into()), "{report:#}");
}

#[test]
fn the_json_is_ohas_on_standard_output_or_in_a_file() {
    let server = Server::start(404);
    let url = server.url("/x");
    let words = ["--no-tui", "-n", "9", "-c", "1", "--output-format", "json", &url];
    let said = ablaze(&[&["oha"], &words[..]].concat());
    let own: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(own["statusCodeDistribution"]["404"], 9, "{own:#}");
    assert_eq!(own["summary"]["totalData"], 45, "{own:#}");
    let report = &explained(&said.stdout)["reports"][0];
    assert_eq!((&report["tool"], &report["requests"]), (&"oha".into(), &9.into()), "{report:#}");
    if let Some(theirs) = of_real("oha", &words) {
        let theirs: serde_json::Value = serde_json::from_str(&theirs).unwrap();
        let (mut mine, mut real) = (Vec::new(), Vec::new());
        keys(&own, "", &mut mine);
        keys(&theirs, "", &mut real);
        // Versions differ in what they add: all that is here is there.
        for key in &mine {
            assert!(real.contains(key), "{key} is not in {real:?}");
        }
    }
    let file = ScratchFile::new("oha.json");
    let said = ablaze(&["oha", "-n", "3", "-c", "1", "-j", "-o", file.word(), &url]);
    assert_eq!((said.status, said.stdout.as_str()), (0, ""), "{said:?}");
    let kept = std::fs::read_to_string(file.path()).unwrap();
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["statusCodeDistribution"]["404"], 3);
}

#[test]
fn the_csv_has_a_line_for_each_response() {
    let server = Server::start(200);
    let said = ablaze(&["oha", "-n", "4", "-c", "2", "--output-format", "csv", &server.url("/")]);
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert_eq!((said.status, lines.len()), (0, 5), "{said:?}");
    for line in &lines[1..] {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert_eq!((cells.len(), cells[5], cells[6]), (7, 5.0, 200.0), "{line}");
        assert!(cells[2] <= cells[3] && cells[3] <= cells[4], "{line}");
    }
}

#[test]
fn latency_correction_counts_from_when_a_request_was_due() {
    let server = Server::start(200);
    let url = server.url("/");
    let words = ["-n", "25", "-c", "2", "-q", "50", "-j", &url];
    let slowest = |correction: &[&str]| {
        let said = ablaze(&[&["oha"], correction, &words[..]].concat());
        let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
        let responses = json["statusCodeDistribution"]["200"].as_u64().unwrap();
        // The last of them is due after 24 periods of 20 ms.
        let total_s = json["summary"]["total"].as_f64().unwrap();
        assert!(responses == 25 && total_s >= 0.48, "{json:#}");
        json["summary"]["average"].as_f64().unwrap()
    };
    assert!(slowest(&["--latency-correction"]) > 0.0);
    assert!(slowest(&[]) > 0.0);
}

#[test]
fn exit_statuses() {
    let port = ablaze_testing::ports::free();
    let url = format!("http://127.0.0.1:{port}/");
    let said = ablaze(&["oha", "-n", "4", "-c", "2", &url]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.stdout.contains("  Success rate:\t0.00%\n"), "{}", said.stdout);
    assert!(said.stdout.contains("Error distribution:\n  [4] refused\n"), "{}", said.stdout);
    for (option, problem) in [
        ("--rand-regex-url", "--rand-regex-url is not supported"),
        ("--nosuch", "unknown option --nosuch"),
        ("--output-format=xml", "--output-format xml: expected text"),
        ("-udays", "-u days: expected ns"),
    ] {
        let said = ablaze(&["oha", option, &url]);
        assert_eq!(said.status, 2, "{said:?}");
        assert!(said.stderr.contains(problem), "{said:?}");
    }
}
