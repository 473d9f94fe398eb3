//! A worker that panics: what was measured until then is printed and kept, with the panic named. How panics
//! end is decided by the build, so .ci/full has this done by the released program as well
//! (ABLAZE_RELEASED).

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::e2e::support::{BACKENDS, Ran, Scratch, ablaze, run, serve, url};

/// The programs that are to hold.
fn programs() -> Vec<PathBuf> {
    let built = PathBuf::from(env!("CARGO_BIN_EXE_ablaze"));
    [Some(built), std::env::var_os("ABLAZE_RELEASED").map(PathBuf::from)]
        .into_iter()
        .flatten()
        .collect()
}

/// Runs a program of which the second worker panics after a tenth of a second.
fn with_a_panic(program: &PathBuf, words: &[&str]) -> Ran {
    let ran = run(Command::new(program).args(words).env("ABLAZE_PANIC_WORKER", "1"));
    // The first worker had a minute left.
    assert!(ran.took < Duration::from_secs(30), "{words:?}: {:?}", ran.took);
    ran
}

#[test]
fn the_report_outlives_a_worker_that_panics() {
    for (program, io) in programs().iter().flat_map(|program| BACKENDS.map(|io| (program, io))) {
        let server = serve();
        let target = url(&server, "/");
        let kept = Scratch::new(&format!("panicked-{io}.json"));
        let words = [&target, "-d60", "-c4", "-t2", "-o", kept.word(), "--io", io];
        let ran = with_a_panic(program, &words);
        assert_eq!(ran.status, 1, "{ran:?}");
        assert!(ran.stdout.contains("INVALID") && ran.stdout.contains("D42"), "{ran:?}");
        assert!(ran.stdout.contains("a panic that was asked for"), "{ran:?}");
        assert!(ran.stderr.contains("1 of 2 threads failed"), "{ran:?}");
        let json: Value = serde_json::from_slice(&std::fs::read(kept.path()).unwrap()).unwrap();
        assert_eq!(json["ended"], "failed");
        assert_eq!(json["verdict"]["verdict"], "INVALID");
        assert!(json["responses"].as_u64().unwrap() > 0);
        assert_eq!(json["workers"].as_array().unwrap().len(), 2);
        let [fault] = &json["faults"].as_array().unwrap()[..] else { panic!("{json:#}") };
        assert_eq!(fault["thread"], 1);
        assert!(fault["panicked_at"].as_str().unwrap().contains(".rs:"), "{fault}");
        assert!(fault["after_ns"].as_u64().unwrap() >= 100_000_000, "{fault}");
        // As well from the file.
        let again = ablaze(&["report", kept.word()]);
        assert!(again.stdout.contains("D42"), "{again:?}");
    }
}

#[test]
fn so_does_ab_s() {
    for program in programs() {
        let server = serve();
        let target = url(&server, "/");
        let csv = Scratch::new("panicked.csv");
        let front = ["ab", "-q", "-k", "-c4", "-t60", "-n", "100000000", "--threads", "2"];
        let words = [&front[..], &["-e", csv.word(), &target]].concat();
        let ran = with_a_panic(&program, &words);
        assert_eq!(ran.status, 1, "{ran:?}");
        assert!(ran.stdout.contains("Complete requests:"), "{ran:?}");
        assert!(ran.stderr.contains("1 of 2 threads failed"), "{ran:?}");
        assert!(ran.stderr.contains("D42"), "{ran:?}");
        let percentiles = std::fs::read_to_string(csv.path()).unwrap();
        assert!(percentiles.lines().last().unwrap().starts_with("100,"), "{percentiles}");
    }
}
