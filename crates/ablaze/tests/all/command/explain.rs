//! `ablaze explain` from the outside: what it answers, where, and with which status.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use serde_json::Value;

use ablaze_testing::Bounded;

use crate::command::support::{Said, Server, ablaze};
use ablaze_testing::repository;

const NO_ANSWER: &str = "\
$ ab -n 100000 -c 1000 http://localhost:12345/
Server Software:
Server Hostname:        localhost
Server Port:            12345

Document Path:          /
Document Length:        0 bytes

Concurrency Level:      1000
Time taken for tests:   10.299 seconds
Complete requests:      100000
Failed requests:        0
Total transferred:      0 bytes
HTML transferred:       0 bytes
Requests per second:    9709.59 [#/sec] (mean)
Time per request:       102.991 [ms] (mean)
Time per request:       0.103 [ms] (mean, across all concurrent requests)
Transfer rate:          0.00 [Kbytes/sec] received

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    0   0.0      0       3
Processing:     0    0   0.0      0       5
Waiting:        0    0   0.0      0       0
Total:          0    0   0.0      0       5
";

/// Runs `ablaze explain` with a text on standard input.
fn explain(arguments: &[&str], text: &str) -> Said {
    let mut process = Command::new(env!("CARGO_BIN_EXE_ablaze"))
        .arg("explain")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .start()
        .unwrap();
    // Who refuses its arguments ends without reading.
    let _ = process.stdin.take().unwrap().write_all(text.as_bytes());
    let output = process.wait_with_output().unwrap();
    Said {
        status: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_report_gets_its_verdict_and_what_explains_what() {
    for arguments in [&[][..], &["-"]] {
        let said = explain(arguments, NO_ANSWER);
        assert_eq!((said.status, said.stderr.as_str()), (0, ""));
        let order = [
            "report 1, line 2: ab",
            "$ ab -n 100000 -c 1000 http://localhost:12345/",
            "INVALID",
            "D02 no response · INVALID",
            "this explains D01 concurrency not reached",
            "D06 too coarse",
        ];
        let mut rest = said.stdout.as_str();
        for part in order {
            let at = rest.find(part).unwrap_or_else(|| panic!("{part} in\n{}", said.stdout));
            rest = &rest[at..];
        }
        assert!(said.stdout.lines().all(|line| line.chars().count() <= 100));
    }
}

#[test]
fn json_has_the_same_findings() {
    let said = explain(&["--json"], NO_ANSWER);
    let answer: Value = serde_json::from_str(&said.stdout).unwrap();
    let report = &answer["reports"][0];
    assert_eq!(report["verdict"], "INVALID");
    assert_eq!(report["rate_per_s"], 9709.59);
    let findings = report["findings"].as_array().unwrap();
    let of = |id: &str| findings.iter().find(|finding| finding["id"] == id).unwrap();
    assert_eq!(of("D01")["explained_by"], "D02");
    assert_eq!(of("D02")["severity"], "invalid");
    assert_eq!(of("D02")["explained_by"], Value::Null);
    assert_eq!(of("D02")["anchor"], "docs/diagnoses.md#d02-no-response");
}

#[test]
fn without_a_report_it_says_what_was_looked_for() {
    for (text, part) in [
        ("", "Complete requests:"),
        ("nothing here\n", "Requests per second:"),
        ("{\"tool\": \"ablaze\"}", "JSON"),
        ("![the chart](chart.png)\n", "images"),
    ] {
        let said = explain(&[], text);
        assert_eq!((said.status, said.stdout.as_str()), (1, ""), "{text}");
        assert!(said.stderr.contains(part) && said.stderr.lines().count() == 1, "{}", said.stderr);
    }
    for (arguments, part) in [
        (&["/no/such/file"][..], "cannot read `/no/such/file`"),
        (&["--jsn"], "--json"),
        (&["/no/such/file", "/nor/this"], "cannot read `/nor/this`"),
    ] {
        let said = explain(arguments, NO_ANSWER);
        assert_eq!((said.status, said.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(said.stderr.contains(part), "{}", said.stderr);
    }
    assert!(explain(&["--help"], "").stdout.contains("--json"));
}

#[test]
fn lines_of_a_run_are_told_as_what_they_are() {
    let lines = "{\"type\":\"begin\",\"format\":1}\n{\"type\":\"interval\"}\n";
    let said = explain(&[], lines);
    assert_eq!((said.status, said.stdout.as_str()), (1, ""), "{said:?}");
    assert!(
        said.stderr.contains("-o run.ndjson") && !said.stderr.contains("truncated"),
        "{said:?}"
    );
}

#[test]
fn a_report_that_is_not_read_is_no_other_tools() {
    // autocannon begins as wrk does, which then goes on with its threads.
    let table = "\n┌─────────┬──────┐\n│ Stat    │ 2.5% │ 50%  │ 97.5% │ 99%  │ Avg     │ Stdev   │ Max      │\n";
    let said = explain(&[], &format!("Running 10s test @ http://h:3000\n10 connections\n{table}"));
    assert_eq!((said.status, said.stdout.as_str()), (1, ""), "{said:?}");
    assert!(said.stderr.contains("autocannon") && !said.stderr.contains("wrk"), "{said:?}");
}

#[test]
fn what_began_and_printed_no_report_has_no_verdict() {
    let banner =
        "This is ApacheBench, Version 2.3 <$Revision$>\n\nBenchmarking 127.0.0.1 (be patient)...";
    let command = "$ ab -q -k -c 20 -n 40 http://127.0.0.1:25719/\n";
    let said = explain(&[], &format!("{command}{banner}"));
    assert_eq!((said.status, said.stdout.as_str()), (1, ""));
    assert!(said.stderr.contains("ab began (line 2) and printed no report"), "{}", said.stderr);
    let said = explain(&[], &format!("{NO_ANSWER}{command}{banner}"));
    assert_eq!(said.status, 0);
    let end = said.stdout.split("line 27: ab began, and printed no report").nth(1).unwrap();
    assert!(end.contains("-c 20 -n 40") && end.ends_with("no verdict\n"), "{}", said.stdout);
    let said = explain(&[], command);
    assert_eq!(said.status, 0);
    assert!(said.stdout.contains("no verdict: no figures were recognised"), "{}", said.stdout);
    assert!(
        !said.stdout.contains("\nSUSPECT\n") && !said.stdout.contains("VALID"),
        "{}",
        said.stdout
    );
    let answer: Value = serde_json::from_str(&explain(&["--json"], command).stdout).unwrap();
    assert_eq!(answer["commands"][0]["verdict"], Value::Null);
}

/// A run as an older version saved it.
static SAVED: LazyLock<String> =
    LazyLock::new(|| repository::file("crates/model/tests/saved/format-1.json"));

#[test]
fn a_saved_run_is_judged_anew() {
    // What the file says it was does not count, and this one says nothing.
    let said = explain(&[], &SAVED);
    assert_eq!((said.status, said.stderr.as_str()), (0, ""));
    for part in [
        "report 1, standard input: ablaze 0.1.0, saved 2026-11-21 09:05:09 UTC",
        "$ ablaze -c 100 http://127.0.0.1:8080/",
        "SUSPECT · limit unknown",
        // Its number in flight and its times do not belong together.
        "D01 concurrency not reached · SUSPECT",
        "100 of 20,000 responses (0.50 %)",
    ] {
        assert!(said.stdout.contains(part), "{part}: {}", said.stdout);
    }
    let answer: Value = serde_json::from_str(&explain(&["--json"], &SAVED).stdout).unwrap();
    let report = &answer["reports"][0];
    assert_eq!((&report["verdict"], &report["limited_by"]), (&"SUSPECT".into(), &"unknown".into()));
    assert_eq!(report["findings"][0]["anchor"], "docs/diagnoses.md#d01-concurrency-not-reached");
    // Words are for display; what was asked is data, where the file has it.
    let words = SAVED.replacen("\"100\",", "\"7\",", 1);
    let said = explain(&[], &words);
    assert!(!said.stdout.contains("D36"), "{}", said.stdout);
    let asked = repository::file("crates/model/tests/saved/format-2-asked.json");
    assert!(!explain(&[], &asked).stdout.contains("D36"));
    let said = explain(&[], &asked.replacen("\"connections\": 3", "\"connections\": 7", 1));
    assert!(said.stdout.contains("D36 not from that command · SUSPECT"), "{}", said.stdout);
    assert!(said.stdout.contains("a concurrency of 7, the run 3"), "{}", said.stdout);
}

#[test]
fn json_that_is_no_whole_run_of_ours_gets_one_line() {
    for (text, part) in [
        (SAVED[..SAVED.len() / 2].to_owned(), "truncated or not valid JSON"),
        (
            SAVED.replacen("\"format\": 1", "\"format\": 9", 1),
            "use the version that wrote it, or a newer one",
        ),
        ("{\"tool\": \"wrk\"}".to_owned(), "not a run saved by ablaze"),
        (SAVED.replacen("\"unexpected\": 100", "\"unexpected\": 1e999", 1), "or not valid JSON"),
        (SAVED.replacen("\"answers\": 20000", "\"answers\": -1", 1), "damaged or changed by hand"),
    ] {
        let said = explain(&[], &text);
        assert_eq!((said.status, said.stdout.as_str()), (1, ""), "{}", said.stderr);
        assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
        assert!(said.stderr.contains(part), "{part}: {}", said.stderr);
    }
}

/// Printed and saved reports beside each other, the saved ones a day apart.
#[test]
fn several_files_are_compared() {
    let directory = std::env::temp_dir().join(format!("ablaze-explain-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        path.into_os_string().into_string().unwrap()
    };
    let later = SAVED.replacen("\"started_unix_ns\": 1795", "\"started_unix_ns\": 1796", 1);
    let files = [
        file("before.json", &SAVED),
        file("after.json", &later),
        file("ab.txt", NO_ANSWER),
        file("nothing.txt", "a page about ab\n"),
    ];
    let arguments: Vec<&str> = files.iter().map(String::as_str).collect();
    let said = explain(&arguments[..2], "");
    assert_eq!((said.status, said.stderr.as_str()), (0, ""));
    // 1,000,000 s are 11.57 days.
    for part in [
        "report 2, `",
        "side by side",
        "2,000/s  report 1 (`",
        "They were measured 11.6 days apart",
    ] {
        assert!(said.stdout.contains(part), "{part}: {}", said.stdout);
    }
    assert!(!said.stdout.contains("D05"), "{}", said.stdout);
    // What cannot be read is named, and keeps nothing back.
    let said = explain(&arguments[1..], "");
    assert_eq!((said.status, said.stderr.lines().count()), (1, 1), "{}", said.stderr);
    for part in ["ab.txt` line 2: ab", "report 1 against report 2: ", "against no response at all"]
    {
        assert!(said.stdout.contains(part), "{part}: {}", said.stdout);
    }
    let said = explain(&["--json", arguments[0], arguments[2]], "");
    let answer: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(answer["reports"][0]["file"], arguments[0]);
    assert_eq!(answer["comparisons"][0]["verdict"], "INVALID");
    assert_eq!(answer["comparisons"][0]["members"].as_array().unwrap().len(), 2);
    std::fs::remove_dir_all(directory).unwrap();
}

/// Its own reports, as they come from real runs. Not the shape of the findings is the matter here,
/// but that nothing is found which is not so: the runs are short, and coarse in ab's form.
#[test]
fn its_own_reports_are_understood() {
    let server = Server::start(200);
    let url = server.url("/");
    for (line, tool) in [
        (vec!["-c", "4", "-n", "2000", &url], "ablaze"),
        (vec!["ab", "-k", "-c", "4", "-n", "2000", &url], "ablaze ab"),
        (vec!["gurl", "-ac", "4", "-an", "2000", "-bench", &url], "ablaze gurl"),
    ] {
        let printed = ablaze(&line).stdout;
        let text = format!("$ ablaze {}\n{printed}", line.join(" "));
        let said = explain(&["--json"], &text);
        assert_eq!(said.status, 0, "{text}{}", said.stderr);
        let answer: Value = serde_json::from_str(&said.stdout).unwrap();
        let report = &answer["reports"][0];
        assert_eq!(answer["reports"].as_array().unwrap().len(), 1, "{text}");
        assert_eq!((&report["tool"], &report["requests"]), (&tool.into(), &2000.into()), "{text}");
        assert_eq!(report["concurrency"], 4);
        assert!(report["command"].as_str().unwrap().ends_with(&url), "{text}");
        for finding in report["findings"].as_array().unwrap() {
            let of_short_runs = ["D06", "D09", "D14", "D31"];
            // What ablaze found itself about a machine that other tests keep busy.
            let of_the_machine = ["D07", "D11", "D13", "D17", "D23", "D30", "D34"];
            let permitted = [&of_short_runs[..], &of_the_machine].concat();
            let id = finding["id"].as_str().unwrap();
            assert!(permitted.contains(&id), "{finding:#}\n{text}");
        }
    }
}

/// Who reads a rate takes it for a printed one.
#[test]
fn a_rate_that_was_computed_is_called_so() {
    let with = |line: &str| {
        let text = NO_ANSWER.replace("Requests per second:    9709.59 [#/sec] (mean)\n", line);
        explain(&[], &text).stdout
    };
    assert!(with("Requests per second:    9709.59 [#/sec] (mean)\n").contains(" · 9,709.59/s\n"));
    let none = with("").replace("\n  ", " ");
    assert!(none.contains("9,709.68/s, by count and length"), "{none}");
    let wrong = with("Requests per second:    19709.59 [#/sec] (mean)\n");
    let wrong = wrong.replace("\n  ", " ");
    assert!(wrong.contains("9,709.68/s, by count and length (19,709.59/s is printed)"), "{wrong}");
}
