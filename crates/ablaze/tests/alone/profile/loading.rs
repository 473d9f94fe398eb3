//! `ablaze load --profile`.

use std::fs;

use ablaze_testing::{Bounded, repository};

use crate::alone;
use crate::profile::support::*;

#[test]
fn a_load_has_its_profile_in_every_report_or_the_reason_why_not() {
    let _alone = alone();
    let folder = scratch("load");
    let server = Served::start(&["--work", "50us"]);
    let outputs = ["-o", "run.json", "-o", "run.html"];
    let load = ["load", "-c4", "-d1s", "--quiet", "--profile", &server.url];
    let text = ablaze(&folder, &[&load[..], &outputs[..]].concat());
    assert!(text.contains("target profile"), "{text}");
    let run = json(&folder.join("run.json"));
    let schema = repository::file("docs/report.schema.json");
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    assert!(validator.is_valid(&run));
    let page = fs::read_to_string(folder.join("run.html")).unwrap();
    assert!(page.contains("Where the CPU time went"));
    let Some(profile) = target_profile(&run) else {
        assert!(text.contains("not profiled"), "{text}");
        assert!(page.contains("not profiled"));
        return;
    };
    assert_eq!(profile["pids"][0], server.pid());
    assert!(text.contains("profiling cost") && text.contains("burn_cpu"), "{text}");
    assert!(page.contains("burn_cpu"));
    let svg = fs::read_to_string(folder.join("run-flame-target.svg")).unwrap();
    // The work is burnt by the thread's own clock, so that it takes at least so much of what the kernel
    // accounts to a request. Ten points are for few samples and for builds that run beside this test.
    let accounted_ns = run["profile"]["run"]["server_cpu_ns"].as_f64().unwrap();
    let least = 50_000.0 / accounted_ns - 0.1;
    let share = share(&profile, "burn_cpu");
    assert!((least..=1.0).contains(&share), "{share} of {accounted_ns} ns");
    assert!(
        (drawn_share(&svg, "burn_cpu") - share).abs() < 0.01,
        "graph and samples tell the same"
    );
    // What was sampled is the CPU time that the kernel accounts for.
    let requests = profile["requests"].as_f64().unwrap();
    let sampled_ns = profile["cpu_ns"].as_f64().unwrap() / requests;
    let ratio = sampled_ns / accounted_ns;
    assert!((0.7..1.3).contains(&ratio), "{sampled_ns} and {accounted_ns} ns");
    let broken = profile["broken"].as_f64().unwrap() / profile["samples"].as_f64().unwrap();
    assert!(broken < 0.1, "{broken} of the stacks do not reach their beginning");
}

#[test]
fn the_client_can_look_at_itself() {
    let _alone = alone();
    let folder = scratch("client");
    let server = Served::start(&[]);
    let words =
        ["load", "-c4", "-d1s", "--quiet", "--profile=client", "-o", "run.json", &server.url];
    let text = ablaze(&folder, &words);
    assert!(text.contains("client profile"), "{text}");
    let run = json(&folder.join("run.json"));
    match run["profile"]["profiles"].get(0) {
        Some(profile) => {
            println!("seen: a profile");
            assert_eq!(profile["of"], "client");
            // Its workers were made after the recording had begun.
            assert!(share(profile, "worker") > 0.5, "{text}");
            assert!(share(profile, "perf::recording") < 0.01);
            assert!(folder.join("run-flame-client.svg").exists());
        }
        None => println!("seen: a refusal, {}", run["profile"]["refused"]),
    }
}

#[test]
fn a_side_that_does_not_exist_is_refused() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_ablaze"))
        .args(["load", "--profile=kernel", ":1/"])
        .bounded_output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("target, client or both"));
}
