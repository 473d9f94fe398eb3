//! Profiles of an experiment: which are kept, compared and drawn.

use ablaze_model::profiling::{NotProfiled, Profiling, Refused, Stack};
use ablaze_testing::experiments;

use super::*;

/// A run is only needed for its profile.
fn run(stacks: &[(&str, u64)]) -> Run {
    let text = &ablaze_testing::repository::file("crates/model/tests/saved/format-1.json");
    let mut run = crate::json::load(text).unwrap().run;
    let stack = |(frames, samples): &(&str, u64)| Stack {
        frames: (*frames).to_owned(),
        samples: *samples,
        weight: samples * 1_000_000,
    };
    let samples: u64 = stacks.iter().map(|(_, samples)| samples).sum();
    let profile = Profile {
        of: Whom::Target,
        name: "server".to_owned(),
        pids: vec![1],
        event: "cpu-clock".to_owned(),
        frequency_hz: 999,
        kernel: true,
        samples,
        lost: 0,
        broken: 0,
        broken_ends: None,
        requests: 1_000,
        cpu_ns: samples * 1_000_000,
        cpu_per_request_ns: samples as f64 * 1_000.0,
        stacks: stacks.iter().map(stack).collect(),
    };
    run.profiling = Some(Profiling { run: None, profiles: vec![profile], refused: Vec::new() });
    run
}

#[test]
fn each_target_has_a_graph_and_each_pair_a_difference_both_ways() {
    let experiment = experiments::experiment();
    let runs = [(0, run(&[("main;send", 50), ("main;burn", 100)])), (1, run(&[("main;send", 50)]))];
    let files = files(&experiment, &runs);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "flame-one.svg",
        "flame-other.svg",
        "flame-one-against-other.svg",
        "flame-other-against-one.svg",
    ];
    assert_eq!(names, expected);
    // 100 µs of 150 per request, and none in the other.
    let burn = "<title>burn (100 µs per request, 66.67%; itself +100 µs)</title>";
    assert!(files[2].1.contains(burn));
    assert!(!files[3].1.contains("burn"));
    let words = words(&experiment, &runs).join("\n");
    assert!(words.contains("burn: 100 µs and 0 ns"), "{words}");
    assert!(
        words.contains("by more than chance explains in 150 samples and 50 samples"),
        "{words}"
    );
    let section = section(&experiment, &runs).unwrap();
    let drawings = section.blocks.iter().filter(|block| matches!(block, Block::Drawing { .. }));
    assert_eq!(drawings.count(), 4);
}

/// Two profiles of the same server differ, too.
#[test]
fn what_chance_explains_is_no_difference() {
    let experiment = experiments::experiment();
    let runs = [
        (0, run(&[("main;send", 60), ("main;spin", 40)])),
        (1, run(&[("main;send", 52), ("main;spin", 24)])),
    ];
    let words = words(&experiment, &runs).join("\n");
    let said = "no function differs by more than chance explains in 100 samples and 76 samples";
    assert!(words.contains(said) && !words.contains("spin"), "{words}");
}

#[test]
fn one_that_could_not_be_profiled_says_why_and_the_others_are_drawn() {
    let experiment = experiments::experiment();
    let mut refused = run(&[]);
    refused.profiling = Some(Profiling {
        run: None,
        profiles: Vec::new(),
        refused: vec![NotProfiled {
            of: Whom::Target,
            why: Refused::new("forbidden", "permit it"),
        }],
    });
    let runs = [(0, refused), (1, run(&[("main;send", 5)]))];
    assert_eq!(files(&experiment, &runs).len(), 1);
    assert!(words(&experiment, &runs)[0].contains("forbidden: permit it"));
    assert!(section(&experiment, &[]).is_none());
}
