//! What ablaze printed of its own runs, explained: the verdict and the findings are the run's, and no others.

use std::collections::BTreeSet;
use std::net::TcpListener;

use serde_json::Value;

use super::support::{Server, ablaze};
use ablaze_testing::Scratch;

/// The verdict and the diagnoses of a saved run, as its text shows them.
fn of_run(saved: &Value) -> (String, BTreeSet<String>) {
    let verdict = &saved["verdict"];
    let findings = verdict["findings"].as_array().unwrap();
    // The line on the limit says these already.
    let said = |one: &&Value| {
        let by_the_limit = ["D12", "D13"].iter().any(|id| one["id"] == *id);
        !(by_the_limit && one["severity"] == "note")
    };
    (verdict["verdict"].as_str().unwrap().to_owned(), ids(findings.iter().filter(said)))
}

fn ids<'a>(findings: impl Iterator<Item = &'a Value>) -> BTreeSet<String> {
    findings.map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

/// The same of the text.
fn of_text(path: &str) -> (String, BTreeSet<String>) {
    let said = ablaze(&["explain", "--json", path]);
    assert_eq!(said.status, 0, "{said:?}");
    let answer: Value = serde_json::from_str(&said.stdout).unwrap();
    let [report] = answer["reports"].as_array().unwrap().as_slice() else {
        panic!("one report: {answer}")
    };
    let findings = report["findings"].as_array().unwrap();
    (report["verdict"].as_str().unwrap().to_owned(), ids(findings.iter()))
}

#[test]
fn explain_says_of_a_text_what_was_said_of_its_run() {
    let [good, missing, moved, broken] = [200, 404, 302, 500].map(Server::start);
    let (good, other) = (good.url("/"), [missing, moved, broken].map(|server| server.url("/x")));
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}/", silent.local_addr().unwrap());
    let nobody = {
        let closed = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/", closed.local_addr().unwrap())
    };
    let runs: [(&str, &[&str]); 22] = [
        (&good, &["-n", "1000"]),
        (&good, &["-n", "1"]),
        (&good, &["-n", "7", "-c", "3"]),
        (&good, &["-d", "300ms", "-c", "1"]),
        (&good, &["-d", "300ms", "-c", "20", "--no-keepalive"]),
        (&good, &["-d", "300ms", "-c", "5", "--explain"]),
        (&good, &["-d", "300ms", "-r", "200"]),
        (&good, &["-d", "300ms", "-r", "100/s..2000/s", "-c", "1"]),
        (&good, &["-d", "300ms", "-r", "50000", "-c", "2"]),
        (&good, &["-n", "500", "-c", "5", "--pipeline", "4"]),
        (&good, &["-n", "500", "-c", "5", "--http", "1.0"]),
        (&good, &["-n", "500", "-c", "5", "-b", "hello", "-X", "POST"]),
        (&good, &["-n", "500", "-c", "5", "--expect", "404"]),
        (&good, &["-d", "300ms", "-c", "5", "--warmup", "100ms"]),
        (&good, &["-d", "300ms", "-c", "5", "--no-monitor"]),
        (&good, &["-n", "200", "-c", "5", "--http", "2"]),
        (&other[0], &["-n", "500", "-c", "5"]),
        (&other[1], &["-n", "500", "-c", "5"]),
        (&other[2], &["-n", "500", "-c", "5", "--expect", "500"]),
        (&silent, &["-d", "300ms", "-c", "5"]),
        (&silent, &["-d", "300ms", "-c", "5", "--timeout", "100ms"]),
        (&nobody, &["-n", "20", "-c", "5"]),
    ];
    let folder = Scratch::new("own-texts");
    let mut with_findings = 0;
    for (index, (url, options)) in runs.into_iter().enumerate() {
        let path = |ending: &str| {
            folder.path().join(format!("run-{index}.{ending}")).to_str().unwrap().to_owned()
        };
        let (text, json) = (path("txt"), path("json"));
        let words = [options, &[url, "--quiet", "-o", &text, "-o", &json]].concat();
        let ran = ablaze(&words);
        let saved = std::fs::read_to_string(&json).unwrap_or_else(|_| panic!("{words:?} {ran:?}"));
        let expected = of_run(&serde_json::from_str(&saved).unwrap());
        let printed = std::fs::read_to_string(&text).unwrap();
        assert_eq!(of_text(&text), expected, "{options:?}\n{printed}");
        with_findings += usize::from(!expected.1.is_empty());
    }
    assert!(with_findings > 15, "{with_findings}");
}
