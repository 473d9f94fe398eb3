//! `ablaze compare --profile`: with work against without.

use std::fs;
use std::path::Path;

use crate::support::*;

/// Burnt per request, ns.
const WORK_NS: f64 = 100_000.0;

/// What became of a comparison.
struct Seen {
    samples: u64,
    /// The share of `burn_cpu` in the samples.
    share: f64,
    /// The same as the flame graph tells it, and the differential.
    drawn: [f64; 2],
    /// What the work adds to the CPU time per request, as a share, as the kernel accounts for it.
    added: f64,
    /// The least that it can be: the work is burnt by the thread's own clock.
    least: f64,
}

/// Compares a server with work to the same without. At one rate for both, so that each request wakes
/// either of them alike. `None` when the kernel forbids profiles.
fn compared(folder: &Path, length: &str) -> Option<Seen> {
    let with = "with=serve:epoll-et,threads=1,work=100us";
    let targets = [with, "without=serve:epoll-et,threads=1"];
    let load = ["--rate", "2000/s", "-c20", "-d", length, "--repeat=1", "--quiet"];
    let kept = ["--profile", "--folder=results"];
    let text = ablaze(folder, &[&["compare"][..], &targets, &load, &kept].concat());
    let results = folder.join("results");
    let run = |name: &str| json(&results.join("profiles").join(name));
    let (with, without) = (run("1-with.json"), run("2-without.json"));
    let (Some(profile), Some(other)) = (target_profile(&with), target_profile(&without)) else {
        assert!(text.contains("not profiled"), "{text}");
        return None;
    };
    let graph = |name: &str| fs::read_to_string(results.join(name)).unwrap();
    let backwards = graph("flame-without-against-with.svg");
    assert!(!backwards.contains("burn_cpu"), "it is not there without work");
    assert_eq!(share(&other, "burn_cpu"), 0.0);
    let page = graph("index.html");
    assert!(page.contains("Flame graph of with against without") && page.contains("burn_cpu"));
    assert!(text.contains("most different") && text.contains("burn_cpu"), "{text}");
    let cpu_ns = |run: &serde_json::Value| run["profile"]["run"]["server_cpu_ns"].as_f64().unwrap();
    Some(Seen {
        samples: profile["samples"].as_u64().unwrap(),
        share: share(&profile, "burn_cpu"),
        drawn: ["flame-with.svg", "flame-with-against-without.svg"]
            .map(|name| drawn_share(&graph(name), "burn_cpu")),
        added: 1.0 - cpu_ns(&without) / cpu_ns(&with),
        least: WORK_NS / cpu_ns(&with),
    })
}

impl Seen {
    /// Everything within so many points of each other.
    fn agrees_within(&self, points: f64) {
        let Self { samples, share, drawn, added, least } = *self;
        println!(
            "seen: {samples} samples, burn_cpu {share:.4}, drawn {drawn:.4?}, added {added:.4}, at least \
             {least:.4}"
        );
        let near = |one: f64, other: f64| (one - other).abs() <= points / 100.0;
        assert!(near(share, added), "sampled {share}, accounted for {added}");
        assert!(share >= least - points / 100.0, "sampled {share}, burnt at least {least}");
        assert!(
            drawn.iter().all(|drawn| near(*drawn, added)),
            "drawn {drawn:?}, accounted {added}"
        );
    }
}

#[test]
fn what_work_adds_is_in_the_graph_and_in_the_difference() {
    let _alone = alone();
    // A tenth of a second of CPU time beside whatever else runs here: within 10 points.
    if let Some(seen) = compared(&scratch("compare"), "1s") {
        assert!(seen.samples > 200, "{}", seen.samples);
        seen.agrees_within(10.0);
    }
}

#[test]
fn its_share_is_true_within_3_points_of_5_000_samples() {
    if !long() {
        return;
    }
    let _alone = alone();
    if let Some(seen) = compared(&scratch("compare-long"), "10s") {
        assert!(seen.samples >= 5_000, "{}", seen.samples);
        seen.agrees_within(3.0);
    }
}
