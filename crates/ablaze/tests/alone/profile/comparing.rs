//! `ablaze compare --profile`: `--work` against none.

use std::fs;

use crate::alone;
use crate::profile::support::*;

#[test]
fn what_work_adds_is_in_the_graph_and_in_the_difference() {
    let _alone = alone();
    let folder = scratch("compare");
    let targets = ["with=serve:epoll-et,threads=1,work=100us", "without=serve:epoll-et,threads=1"];
    // At one rate for both, so that a request wakes either of them alike.
    let load = ["--rate", "2000/s", "-c20", "-d2s", "--repeat=1", "--quiet"];
    let kept = ["--profile", "--folder=results"];
    let text = ablaze(&folder, &[&["compare"][..], &targets, &load, &kept].concat());
    let results = folder.join("results");
    let run = |name: &str| json(&results.join("profiles").join(name));
    let (with, without) = (run("1-with.json"), run("2-without.json"));
    let (Some(profile), Some(other)) = (target_profile(&with), target_profile(&without)) else {
        assert!(text.contains("not profiled"), "{text}");
        return;
    };
    let graph = |name: &str| fs::read_to_string(results.join(name)).unwrap();
    assert!(!graph("flame-without-against-with.svg").contains("burn_cpu"));
    assert_eq!(share(&other, "burn_cpu"), 0.0, "it is not there without work");
    let page = graph("index.html");
    assert!(page.contains("Flame graph of with against without") && page.contains("burn_cpu"));
    assert!(text.contains("largest differences") && text.contains("burn_cpu"), "{text}");
    // The work is burnt by the thread's own clock: it is at least so much of what the kernel accounts
    // for. Ten points are for few samples and for what else runs beside this test.
    let share = share(&profile, "burn_cpu");
    let least = 100_000.0 / with["profile"]["run"]["server_cpu_ns"].as_f64().unwrap();
    assert!(share >= least - 0.1, "sampled {share}, burnt at least {least}");
    for name in ["flame-with.svg", "flame-with-against-without.svg"] {
        let drawn = drawn_share(&graph(name), "burn_cpu");
        assert!((drawn - share).abs() < 0.01, "{name}: {drawn}, and {share} of the samples");
    }
}
