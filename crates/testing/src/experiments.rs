//! A small experiment of two targets and the figures of its runs, for tests of what carries experiments out and of what
//! shows them.

use ablaze_model::LoadSpec;
use ablaze_model::experiment::{Experiment, Figures, Load, Placement, Search, Speaks, Target};
use ablaze_model::finding::{Limit, Verdict};
use ablaze_model::spec::{Shape, TargetSpec, UrlSpec};
/// A valid run at this rate.
pub fn figures(rate_per_s: f64) -> Figures {
    Figures {
        responses: rate_per_s as u64 * 10,
        errors: 0,
        unexpected: 0,
        rate_per_s,
        mean_ns: Some(1e9 / rate_per_s),
        p50_ns: Some((1e9 / rate_per_s) as u64),
        p99_ns: Some((2e9 / rate_per_s) as u64),
        server_cpu_ns: Some(1e9 / rate_per_s),
        client_cpu_ns: Some(3_000.0),
        verdict: Verdict::Valid,
        limit: Limit::Server,
        counted: None,
        findings: Vec::new(),
        started_unix_ns: 0,
        elapsed_ns: 10_000_000_000,
        rate_as_requested: false,
        groups: Vec::new(),
        checks: None,
        held: Vec::new(),
    }
}

/// A target that runs already.
pub fn running(name: &str, url: &str) -> Target {
    let (url, _) = UrlSpec::parse(url).unwrap();
    Target::new(name, TargetSpec::Url { url, user: None })
}

/// A load of this many connections.
pub fn load(connections: u32) -> Load {
    let shape = Shape::Closed { connections: Some(connections) };
    Load {
        label: format!("c={connections}"),
        x: Some(f64::from(connections)),
        ..Load::of(LoadSpec { shape, ..LoadSpec::default() })
    }
}

/// Two targets that run already, under one load, three times.
pub fn experiment() -> Experiment {
    Experiment {
        title: "one and other".to_owned(),
        targets: vec![running("one", "http://one/"), running("other", "http://other/")],
        loads: vec![load(10)],
        axes: Vec::new(),
        repeats: 3,
        seed: 1,
        path: "/".to_owned(),
        placement: Placement::default(),
        restart: true,
        ready_within_s: 10,
        speaks: Speaks::default(),
        directory: None,
        fleet: None,
    }
}

/// A search on a target that runs already, from 1,000 requests per second.
pub fn search(goal: &str) -> Search {
    Search {
        target: running("one", "http://one/"),
        goal: goal.to_owned(),
        load: LoadSpec::default(),
        start_per_s: 1000.0,
        lowest_per_s: 1.0,
        highest_per_s: 1e6,
        tolerance: 0.02,
        stage_ns: 2_000_000_000,
        confirm_ns: 6_000_000_000,
        path: "/".to_owned(),
        placement: Placement::default(),
        restart: true,
        ready_within_s: 10,
        speaks: Speaks::default(),
        fewest_requests: 0,
        fleet: None,
    }
}
