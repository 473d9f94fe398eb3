//! Nothing is wrong, so nothing may be found above a note: open loops at a quarter of the capacity,
//! and closed loops against servers that respond after a while.

use crate::alone;
use crate::controls::noise::quiet;
use crate::controls::support::{Server, load};
use crate::controls::verdict::Report;

/// What is loaded, and how.
struct Setting {
    server: &'static [&'static str],
    path: &'static str,
    load: Load,
}

enum Load {
    /// Open loop at a quarter of what a closed loop of so many connections measures.
    Quarter { connections: &'static str, arrivals: &'static str },
    /// Closed loop; the server is one that delays.
    Closed { connections: &'static str },
}

const fn quarter(model: &'static [&'static str], path: &'static str) -> Setting {
    let load = Load::Quarter { connections: "50", arrivals: "constant" };
    Setting { server: model, path, load }
}

const fn poisson(connections: &'static str, path: &'static str) -> Setting {
    let load = Load::Quarter { connections, arrivals: "poisson" };
    Setting { server: &["--model", "epoll-et"], path, load }
}

const fn delayed(delay: &'static [&'static str], connections: &'static str) -> Setting {
    Setting { server: delay, path: "/", load: Load::Closed { connections } }
}

const SETTINGS: [Setting; 20] = [
    quarter(&["--model", "epoll-et"], "/"),
    delayed(&["--delay", "10ms"], "100"),
    quarter(&["--model", "uring"], "/bytes/16384"),
    quarter(&["--model", "epoll-lt"], "/"),
    quarter(&["--model", "poll"], "/"),
    quarter(&["--model", "raw"], "/"),
    quarter(&["--model", "blocking"], "/"),
    quarter(&["--model", "fiber-ucontext"], "/"),
    quarter(&["--model", "fiber-asm"], "/"),
    quarter(&["--model", "async"], "/"),
    quarter(&["--model", "epoll-et"], "/bytes/1000"),
    quarter(&["--model", "epoll-lt"], "/bytes/100000"),
    quarter(&["--model", "epoll-et"], "/bytes/1000000"),
    poisson("1", "/"),
    poisson("100", "/bytes/4000"),
    delayed(&["--delay", "10ms"], "10"),
    delayed(&["--delay", "50ms", "--model", "uring"], "500"),
    delayed(&["--delay", "exp:5ms"], "100"),
    delayed(&["--delay", "uniform:1ms-20ms", "--model", "fiber-asm"], "50"),
    delayed(&["--delay", "bimodal:1ms/100ms/1%"], "100"),
];

/// Two of them, shorter: a machine too noisy to judge them is told and passes.
#[test]
fn runs_without_a_fault_are_valid() {
    let _alone = alone();
    for setting in &SETTINGS[..2] {
        assert_valid(setting, "2s");
    }
}

/// All of them: a machine too noisy to judge them is no pass.
#[test]
#[ignore = "long: twenty runs, on a quiet machine"]
fn twenty_runs_without_a_fault_are_valid() {
    let _alone = alone();
    let noisy: Vec<String> = SETTINGS
        .iter()
        .filter(|setting| !assert_valid(setting, "6s"))
        .map(|setting| format!("{:?} {}", setting.server, setting.path))
        .collect();
    assert!(noisy.is_empty(), "machine too noisy, three times: {noisy:?}");
}

/// Whether the machine was quiet enough to say that nothing is found.
fn assert_valid(setting: &Setting, length: &str) -> bool {
    let server = Server::start(setting.server);
    let url = server.url(setting.path);
    let once = || {
        println!("{:?} {}", setting.server, setting.path);
        match setting.load {
            Load::Closed { connections } => load(&[&url, "-c", connections, "-d", length]),
            Load::Quarter { connections, arrivals } => {
                let capacity = load(&[&url, "-c", connections, "-d1s"]).number("/rate_per_s");
                at_a_share(capacity, |rate| {
                    load(&[&url, "-r", rate, "--arrivals", arrivals, "-d", length])
                })
            }
        }
    };
    // A pause of the whole machine is a fault, and not one of a tester's.
    let is_paused = |report: &Report| report.number("/monitor/heartbeat/gaps") > 0.0;
    let run = || {
        let first = once();
        if !is_paused(&first) {
            return first;
        }
        println!("the machine paused: {}", first.in_short());
        once()
    };
    quiet(run, above_a_note)
}

/// A quarter of the capacity, or less: at a rate each response may be a wake-up of its own, which in a closed loop many
/// share, and where wake-ups are dear a quarter of the one is all of the other.
fn at_a_share(capacity_per_s: f64, run: impl Fn(&str) -> Report) -> Report {
    let at = |share: f64| run(&format!("{:.0}/s", (capacity_per_s / share).max(1.0)));
    let report = at(4.0);
    if report.limited_by() != "server" && report.found("D30").is_none() {
        return report;
    }
    println!("a quarter is all that the server can at a rate: {}", report.in_short());
    at(16.0)
}

/// What is found above a note, be it explained or not.
fn above_a_note(report: &Report) -> Option<String> {
    let grave = report.findings().iter().any(|finding| finding["severity"] != "note");
    grave.then(|| format!("a false alarm: {}", report.in_short()))
}
