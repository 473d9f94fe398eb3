//! The share of a function that is known: a server of the model epoll-et, in this process, whose handler
//! calls the function of `--work` and measures by its thread's clock what that took.
//!
//! Two runs with and without work would be no oracle: with work the server sleeps less often, and so
//! spends less on everything else.
//!
//! So many connections that the server hardly sleeps: the kernel's cpu-clock misses the first
//! microseconds after each wake-up (docs/flame-graphs.md), which with 4 connections is up to 5 points.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ablaze_target::conditions::burn_cpu;
use ablaze_target::handler::{Handler, Reply, Request, Response};
use ablaze_target::{Model, Options, Running, Server};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;

use crate::alone;
use crate::profile::support::*;

const CONNECTIONS: &str = "-c64";

/// Burns so much per request, and knows how much it was.
struct Burning {
    work_ns: u64,
    burnt_ns: Arc<AtomicU64>,
    /// What measuring nothing shows: of each look at the clock a half lies within.
    clock_ns: u64,
}

impl Handler for Burning {
    fn reply<'a>(&'a self, _request: &Request<'a>) -> Reply<'a> {
        if self.work_ns > 0 {
            let before_ns = thread_cpu_ns();
            burn_cpu(self.work_ns);
            let burnt_ns = (thread_cpu_ns() - before_ns).saturating_sub(self.clock_ns);
            self.burnt_ns.fetch_add(burnt_ns, Ordering::Relaxed);
        }
        Response::text(200, "done\n").into()
    }
}

fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

struct Known {
    running: Running,
    burnt_ns: Arc<AtomicU64>,
}

impl Known {
    fn start(work_ns: u64) -> Self {
        let burnt_ns = Arc::new(AtomicU64::new(0));
        let nothing = |_| thread_cpu_ns().abs_diff(thread_cpu_ns());
        let clock_ns = (0..1_000).map(nothing).min().unwrap();
        let burning = Burning { work_ns, burnt_ns: Arc::clone(&burnt_ns), clock_ns };
        let options = Options {
            address: "127.0.0.1:0".parse().unwrap(),
            model: Model::from_name("epoll-et").unwrap(),
            threads: 1,
            ..Options::default()
        };
        Self { running: Server::start_with(options, burning).unwrap(), burnt_ns }
    }

    fn url(&self) -> String {
        format!("http://{}/", self.running.address())
    }

    fn now(&self) -> Moment {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Moment {
            unix_ns: since_1970.as_nanos() as u64,
            burnt_ns: self.burnt_ns.load(Ordering::Relaxed),
            cpu_ns: self.running.served().cpu_ns,
        }
    }

    /// Runs the command and notes meanwhile what was burnt.
    fn during(&self, folder: &Path, words: &[&str]) -> Vec<Moment> {
        std::thread::scope(|scope| {
            let command = scope.spawn(|| ablaze(folder, words));
            let mut moments = Vec::new();
            while !command.is_finished() {
                moments.push(self.now());
                std::thread::sleep(Duration::from_millis(20));
            }
            command.join().unwrap();
            moments.push(self.now());
            moments
        })
    }
}

/// What had been burnt at a moment, and all CPU time of the server's thread up to then.
struct Moment {
    unix_ns: u64,
    burnt_ns: u64,
    cpu_ns: u64,
}

/// What burning took of the thread's CPU time in the run with the profiler, which is the last, and
/// follows the one that is reported: a run with it does other things than one without.
fn true_share(moments: &[Moment], run: &Value) -> f64 {
    let time = |name: &str| run[name].as_u64().unwrap();
    let reported_until_ns = time("started_unix_ns") + time("elapsed_ns");
    let before = moments.iter().find(|moment| moment.unix_ns > reported_until_ns).unwrap();
    let after = moments.last().unwrap();
    (after.burnt_ns - before.burnt_ns) as f64 / (after.cpu_ns - before.cpu_ns) as f64
}

/// The profile in a file, and the truth; both are printed.
fn against_the_truth(file: &Path, moments: &[Moment]) -> Option<(f64, f64, u64)> {
    let run = json(file);
    let profile = target_profile(&run)?;
    let (sampled, truth) = (share(&profile, "burn_cpu"), true_share(moments, &run));
    let samples = profile["samples"].as_u64().unwrap();
    println!("seen: burn_cpu {sampled:.4} of {samples} samples, in truth {truth:.4}");
    Some((sampled, truth, samples))
}

#[test]
#[ignore = "long: wants a quiet machine and samples of many seconds"]
fn a_known_share_is_found_as_well_as_so_many_samples_can_tell() {
    let _alone = alone();
    let folder = scratch("exact");
    // About as much as everything else takes.
    let known = Known::start(20_000);
    let load = ["load", CONNECTIONS, "-d1s", "--quiet", "--profile", "-o", "run.json"];
    let moments = known.during(&folder, &[&load[..], &[known.url().as_str()]].concat());
    let Some((sampled, truth, samples)) = against_the_truth(&folder.join("run.json"), &moments)
    else {
        return;
    };
    // Three standard errors of a share, on top of the 3 points that are promised.
    let error = (truth * (1.0 - truth) / samples as f64).sqrt();
    assert!((sampled - truth).abs() <= 0.03 + 3.0 * error, "{sampled}, in truth {truth}");
}

#[test]
#[ignore = "long: wants a quiet machine and samples of many seconds"]
fn a_known_share_is_true_within_3_points_of_5_000_samples_in_graph_and_difference() {
    let _alone = alone();
    let folder = scratch("exact-long");
    let (known, idle) = (Known::start(20_000), Known::start(0));
    let targets = [format!("with={}", known.url()), format!("without={}", idle.url())];
    let load = [CONNECTIONS, "-d10s", "--repeat=1", "--quiet", "--profile", "--folder=results"];
    let words = [&["compare", &targets[0], &targets[1]][..], &load].concat();
    let moments = known.during(&folder, &words);
    let results = folder.join("results");
    let file = results.join("profiles").join("1-with.json");
    let Some((sampled, truth, samples)) = against_the_truth(&file, &moments) else { return };
    assert!(samples >= 5_000, "{samples}");
    assert!((sampled - truth).abs() <= 0.03, "{sampled}, in truth {truth}");
    for name in ["flame-with.svg", "flame-with-against-without.svg"] {
        let drawn = drawn_share(&fs::read_to_string(results.join(name)).unwrap(), "burn_cpu");
        println!("seen: {name} says {drawn:.4}");
        assert!((drawn - truth).abs() <= 0.03, "{name}: {drawn}, in truth {truth}");
    }
}
