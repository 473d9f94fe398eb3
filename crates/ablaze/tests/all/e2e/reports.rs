//! Reports of real runs, read by what others rely on: the schema, and the lines that scripts
//! look for in ab's report, with stderr merged into it.

use std::process::Stdio;
use std::sync::LazyLock;

use serde_json::Value;

use ablaze_testing::Bounded;

use crate::e2e::support::{BACKENDS, Scratch, ablaze, command, serve, url};
use ablaze_testing::repository;

static SCHEMA: LazyLock<String> = LazyLock::new(|| repository::file("docs/report.schema.json"));

#[test]
fn the_json_of_a_run_follows_the_schema() {
    let schema: Value = serde_json::from_str(&SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for io in BACKENDS {
        let server = serve();
        let target = url(&server, "/");
        let nowhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let nowhere = format!("http://{nowhere}/");
        for words in [
            &[&target[..], "-n", "500"][..],
            &[&target, "-d", "300ms", "--no-keepalive", "-c3"],
            &[&url(&server, "/missing"), "-n", "5", "-b", "x"],
            &[&nowhere, "-n", "50"],
        ] {
            let json = ablaze(&[words, &["--json", "--io", io]].concat()).json();
            let errors: Vec<String> =
                validator.iter_errors(&json).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{io} {words:?}: {errors:?}");
        }
    }
}

#[test]
fn scripts_find_ab_s_lines_with_stderr_merged() {
    for io in BACKENDS {
        let server = serve();
        let file = Scratch::new(&format!("merged-{io}"));
        let both = std::fs::File::create(file.path()).unwrap();
        let status = command(&["ab", "-k", "-c4", "-n", "1000", "--io", io, &url(&server, "/")])
            .stdout(Stdio::from(both.try_clone().unwrap()))
            .stderr(Stdio::from(both))
            .bounded_status()
            .unwrap();
        assert!(status.success());
        let text = std::fs::read_to_string(file.path()).unwrap();
        let starts = |label: &str| text.lines().filter(|line| line.starts_with(label)).count();
        for (label, times) in [
            ("Complete requests:      1000", 1),
            ("Failed requests:        0", 1),
            ("Keep-Alive requests:    1000", 1),
            ("Requests per second:", 1),
            ("Time per request:", 2),
            ("Transfer rate:", 1),
            ("Time taken for tests:", 1),
            ("Non-2xx responses:", 0),
            ("Completed 1000 requests", 1),
            ("Finished 1000 requests", 1),
        ] {
            assert_eq!(starts(label), times, "{label}\n{text}");
        }
        for row in ["Connect:", "Processing:", "Waiting:", "Total:"] {
            let line = text.lines().find(|line| line.starts_with(row)).unwrap();
            let numbers = line[row.len()..].split_whitespace();
            assert_eq!(numbers.filter(|word| word.parse::<f64>().is_ok()).count(), 5, "{line}");
        }
        let percentiles = text.lines().filter(|line| line.trim_start().contains("%  ")).count();
        assert_eq!(percentiles, 9, "{text}");
        assert!(text.contains(" (longest request)"), "{text}");
    }
}

#[test]
fn standard_output_has_the_format_that_was_asked_for_and_no_report() {
    let server = serve();
    let target = url(&server, "/");
    let file = Scratch::new("same.json");
    for (words, format, begins) in [
        (&[&target[..], "-n", "20", "-c", "2"][..], "csv", "phase,"),
        (&[&target, "-n", "20", "-c", "2"], "hlog", "#"),
        (&[&target, "-n", "20", "-c", "2", "-o", file.word()], "json", "{"),
        (&["report", file.word()], "csv", "phase,"),
        (&["ab", "-n", "20", &target], "csv", "phase,"),
    ] {
        let output = if words[0] == "ab" { "--output" } else { "-o" };
        let ran = match words[0] {
            "ab" => ablaze(&[&["ab", output, "-", "--format", format], &words[1..]].concat()),
            _ => ablaze(&[words, &[output, "-", "--format", format]].concat()),
        };
        assert_eq!(ran.status, 0, "{words:?}: {ran:?}");
        assert!(ran.stdout.starts_with(begins), "{words:?}: {ran:?}");
        assert!(
            !ran.stdout.contains("requests/s ") && !ran.stdout.contains("Benchmark"),
            "{ran:?}"
        );
    }
    for (words, says) in [
        (&["-o", "-"][..], "--format"),
        (&["--format", "csv"], "-o -"),
        (&["-o", "-", "--format", "pdf"], "csv"),
        (&["-o", "-", "--format", "csv", "--json"], "use one of them"),
    ] {
        let ran = ablaze(&[&[&target[..], "-n", "2"], words].concat());
        assert_eq!(ran.status, 2, "{words:?}: {ran:?}");
        assert!(ran.stderr.contains(says), "{words:?}: {ran:?}");
    }
}
