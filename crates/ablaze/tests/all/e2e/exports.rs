//! What leaves a run for other programs: test cases for build servers, what a job on GitHub is told, lines while it lasts.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::e2e::support::{Scratch, ablaze, command, measured, run, serve, url};

#[test]
fn conditions_and_checks_are_cases_of_junit() {
    let server = serve();
    let file = Scratch::new("run.junit.xml");
    let ran = ablaze(&[
        &url(&server, "/"),
        "-n",
        "50",
        "-c",
        "2",
        "--fail-if",
        "rate>1",
        "--slo",
        "errors<1",
        "--assert",
        "status==404",
        "-o",
        file.word(),
    ]);
    assert_eq!(ran.status, 3, "{ran:?}");
    let xml = fs::read_to_string(file.word()).unwrap();
    let case = |name: &str| {
        let at = xml.find(&format!("name=\"{name}\"")).unwrap_or_else(|| panic!("{name}: {xml}"));
        xml[at..].split("</testcase>").next().unwrap().to_owned()
    };
    assert!(case("--fail-if rate&gt;1").contains("<failure "), "{xml}");
    assert!(!case("--slo errors&lt;1").contains("<failure "), "{xml}");
    assert!(case("status==404").contains("failed for 50 of 50 responses"), "{xml}");
}

#[test]
fn a_job_on_github_gets_its_summary_and_annotations_and_nothing_on_stdout() {
    let server = serve();
    let summary = Scratch::new("summary.md");
    fs::write(summary.word(), "before\n").unwrap();
    let url = url(&server, "/");
    let ran = |words: &[&str]| {
        let mut command = command(&[words, &[&url, "-n", "50", "-c", "2"]].concat());
        command.env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", summary.word());
        run(&mut command)
    };
    let plain = ran(&["ab"]);
    assert!(!plain.stderr.contains("::error"), "{plain:?}");
    assert_eq!(fs::read_to_string(summary.word()).unwrap(), "before\n");
    let failed = ran(&["load", "--fail-if", "rate>1"]);
    assert_eq!(failed.status, 3, "{failed:?}");
    let annotations = failed.stderr.lines().filter(|line| line.starts_with("::error title="));
    assert_eq!(annotations.count(), 1, "{failed:?}");
    assert!(!failed.stdout.contains("::error"), "{failed:?}");
    let text = fs::read_to_string(summary.word()).unwrap();
    assert!(text.starts_with("before\n") && text.contains("\n# "), "{text}");
    assert!(!text.contains("!["), "{text}");
    assert!(text.contains("requests/s"), "{text}");
}

/// The lines of a file, each held against the published schema.
fn lines(path: &str) -> Vec<Value> {
    let schema = ablaze_testing::repository::file("docs/ndjson.schema.json");
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "{text}");
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    for line in &lines {
        let errors: Vec<String> = validator.iter_errors(line).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{line}: {errors:?}");
    }
    lines
}

#[test]
fn every_line_fits_the_schema_and_their_sum_is_the_report() {
    let server = serve();
    let url = url(&server, "/");
    for (interval, most) in [("100ms", 8), ("200ms", 5)] {
        let file = Scratch::new("run.ndjson");
        let words = [&url, "-d", "500ms", "-c", "4", "--interval", interval, "-o", file.word()];
        let (ran, json) = measured(&words);
        assert_eq!(ran.status, 0, "{ran:?}");
        let lines = lines(file.word());
        let of = |kind: &str| -> Vec<&Value> {
            lines.iter().filter(|line| line["type"] == kind).collect()
        };
        assert_eq!(lines.first().unwrap()["type"], "begin");
        assert_eq!(lines.last().unwrap()["type"], "summary");
        let intervals = of("interval");
        assert!((2..=most).contains(&intervals.len()), "{} of {interval}", intervals.len());
        let sum =
            |name: &str| -> u64 { intervals.iter().map(|line| line[name].as_u64().unwrap()).sum() };
        assert_eq!(sum("responses"), json["responses"].as_u64().unwrap());
        assert_eq!(lines.last().unwrap()["responses"], json["responses"]);
        assert_eq!(sum("unexpected"), 0);
        let mut statuses = BTreeMap::new();
        for line in &intervals {
            for (status, count) in line["statuses"].as_object().unwrap() {
                *statuses.entry(status.clone()).or_insert(0) += count.as_u64().unwrap();
            }
        }
        assert_eq!(statuses["200"], sum("responses"));
        let mut after = 0;
        for line in &intervals {
            assert!(line["from_ns"].as_u64().unwrap() >= after, "{line}");
            after = line["to_ns"].as_u64().unwrap();
        }
    }
}

#[test]
fn a_file_that_takes_no_more_lines_is_told_and_the_run_goes_on() {
    let server = serve();
    let file = Scratch::new("full.ndjson");
    std::os::unix::fs::symlink("/dev/full", file.word()).unwrap();
    let ran = ablaze(&[&url(&server, "/"), "-n", "50", "-c", "2", "-o", file.word()]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert_eq!(ran.stderr.matches("no more lines follow").count(), 1, "{ran:?}");
    assert!(ran.stdout.contains("requests/s"), "{ran:?}");
}

#[test]
fn lines_are_refused_where_there_is_no_single_run() {
    let server = serve();
    let url = url(&server, "/");
    for (words, status) in [
        (&["ab", "-n", "1", "--output", "x.ndjson", &url][..], 22),
        (&["sweep", "-c", "1,2", "-o", "x.ndjson", &url], 2),
    ] {
        let ran = ablaze(words);
        assert_eq!(ran.status, status, "{ran:?}");
        assert!(ran.stderr.contains("by `ablaze load`"), "{ran:?}");
    }
}
