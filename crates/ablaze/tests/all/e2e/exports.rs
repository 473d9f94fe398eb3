//! What leaves a run for other programs: test cases for build servers, what a job on GitHub is told, lines while it lasts.

use std::collections::BTreeMap;
use std::fs;

use ablaze_testing::hostile::{Behaviour, Hostile, Script};
use serde_json::Value;

use crate::e2e::support::{Scratch, ablaze, command, measured, run, serve, url};

/// What `-o run.junit.xml` has of a run of which a condition and a check fail.
fn junit(path: &str, more: &[&str]) -> String {
    let server = serve();
    let file = Scratch::new("run.junit.xml");
    let target = url(&server, path);
    let conditions = ["--fail-if", "rate>1", "--slo", "errors<1", "--assert", "status==404"];
    let load: &[&str] = &[&target, "-n", "50", "-c", "2", "-o", file.word()];
    let ran = ablaze(&[load, &conditions, more].concat());
    assert_eq!(ran.status, 3, "{ran:?}");
    fs::read_to_string(file.word()).unwrap()
}

#[test]
fn conditions_and_checks_are_cases_of_junit() {
    let xml = junit("/", &[]);
    let case = |name: &str| {
        let at = xml.find(&format!("name=\"{name}\"")).unwrap_or_else(|| panic!("{name}: {xml}"));
        xml[at..].split("</testcase>").next().unwrap().to_owned()
    };
    assert!(case("--fail-if rate&gt;1").contains("<failure "), "{xml}");
    assert!(!case("--slo errors&lt;1").contains("<failure "), "{xml}");
    assert!(case("status==404").contains("failed for 50 of 50 responses"), "{xml}");
}

#[test]
fn an_xml_parser_counts_the_cases_and_the_failures_of_junit() {
    let xml = junit("/?a=<1>&b=\"2\"", &["--assert", "body contains \"<&]]>\""]);
    let document = roxmltree::Document::parse(&xml).unwrap();
    let root = document.root_element();
    let of = |name: &str| root.descendants().filter(|node| node.has_tag_name(name)).count();
    let cases = of("testcase");
    // Responses, the verdict, a condition, an objective and two checks.
    assert_eq!((root.tag_name().name(), of("testsuite"), cases), ("testsuites", 1, 6), "{xml}");
    let suite = root.descendants().find(|node| node.has_tag_name("testsuite")).unwrap();
    let said = |name: &str| suite.attribute(name).unwrap().parse::<usize>().unwrap();
    assert_eq!((said("tests"), said("failures")), (cases, of("failure")), "{xml}");
    assert_eq!((said("skipped"), said("errors")), (of("skipped"), 0), "{xml}");
    assert_eq!(of("failure"), 3, "{xml}");
    let failed = root.descendants().filter(|node| {
        node.has_tag_name("testcase") && node.children().any(|of| of.has_tag_name("failure"))
    });
    let failed: Vec<&str> = failed.map(|case| case.attribute("name").unwrap()).collect();
    assert_eq!(failed, ["--fail-if rate>1", "status==404", "body contains \"<&]]>\""], "{xml}");
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

/// Where the first line of this type is, and the line.
fn first<'a>(lines: &'a [Value], kind: &str, id: Option<&str>) -> (usize, &'a Value) {
    let is_it = |line: &&Value| line["type"] == kind && id.is_none_or(|id| line["id"] == id);
    let found = lines.iter().enumerate().find(|(_, line)| is_it(line));
    found.unwrap_or_else(|| panic!("no {kind} {id:?} in {lines:?}"))
}

#[test]
fn a_finding_has_its_line_when_it_fires_and_stands_at_the_end() {
    let server = serve();
    // Every fourth body is cut; one connection takes 50 ms for a response, of which 200 are due in a second.
    let fine = Behaviour::Fine { body_bytes: 10 };
    let cut = Behaviour::ShortBody { announced: 10, sent: 5 };
    let cutting = Script::per_request([fine.clone(), fine.clone(), fine, cut]);
    let cutting = Hostile::start(cutting).unwrap();
    let (cut, slow) = (cutting.url(), url(&server, "/delay/50ms"));
    for (id, words) in
        [("D02", &[&cut[..], "-c", "2"][..]), ("D30", &[&slow, "-c", "1", "--rate", "200"])]
    {
        let file = Scratch::new("run.ndjson");
        ablaze(&[words, &["-d", "1500ms", "-o", file.word()]].concat());
        let lines = lines(file.word());
        let (at, found) = first(&lines, "finding-so-far", Some(id));
        assert_eq!(found["holds"], true, "{found}");
        let at_ns = found["at_ns"].as_u64().unwrap();
        assert!((1..1_400_000_000).contains(&at_ns), "{found}");
        let last = lines.iter().rposition(|line| line["type"] == "interval").unwrap();
        assert!(at < last, "line {at} of {lines:?}");
        let told = lines.iter().filter(|line| line["type"] == "finding-so-far" && line["id"] == id);
        assert_eq!(told.count(), 1, "{lines:?}");
        first(&lines, "finding", Some(id));
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
