//! The preflight: what of this machine can get in the way of a measurement, looked at once before a
//! run and at leisure, where the monitor looks beside one. Reads files of /proc and /sys, asks the
//! kernel, and watches for 200 ms; it changes nothing. What the platform does not offer is absent.

mod frequency;
mod sample;
mod server;
mod surroundings;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

pub use frequency::{Frequency, IdleState, IdleStates};
pub use sample::{Lateness, Neighbour, Sample};
pub use server::{Holder, PortProxy, Server};
pub use surroundings::{Container, Loopback};

use crate::cpu_group::Quotas;
use crate::environment;
use crate::proc_text::{line_of, number_after};
use ablaze_model::monitor::{Environment, Throttled};

/// Settings and counters beside those of the [`Environment`], by their names in sysctl(8).
const SETTINGS: [&str; 5] = [
    "kernel.io_uring_disabled",
    "kernel.perf_event_paranoid",
    "net.ipv4.tcp_timestamps",
    "net.netfilter.nf_conntrack_count",
    "net.netfilter.nf_conntrack_max",
];

/// This machine as this process finds it. `None` is unknown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Preflight {
    /// What the monitor of a run notes, too.
    pub environment: Environment,
    /// More settings by their names in sysctl(8); one that this kernel does not have is missing.
    pub settings: BTreeMap<String, String>,
    /// How the processors' clocks are governed.
    pub frequency: Frequency,
    /// How deep idle processors sleep; `None` where the kernel does not decide that.
    pub idle_states: Option<IdleStates>,
    /// Throttling of this process's control group since it was made; `None` where none is counted.
    pub throttled: Option<Throttled>,
    /// Swap that there is, bytes.
    pub swap_bytes: Option<u64>,
    /// Swap in use, bytes.
    pub swap_used_bytes: Option<u64>,
    /// Sockets in TIME_WAIT now, of the whole network namespace.
    pub time_wait: Option<u64>,
    /// The loopback interface.
    pub loopback: Option<Loopback>,
    /// What this process runs in.
    pub container: Container,
    /// How late the kernel may wake this process on purpose, ns.
    pub timer_slack_ns: Option<u64>,
    /// What it costs to read the clock, ns.
    pub clock_read_ns: f64,
    /// Programs for comparing and profiling, and where they are.
    pub programs: BTreeMap<String, Option<String>>,
    /// What happened while the machine was watched.
    pub sample: Sample,
}

impl Preflight {
    /// Looks around, and watches for so long. Looks for these programs on the search path.
    pub fn take(watch: Duration, programs: &[&str]) -> Self {
        let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let environment = environment::of_this_machine();
        let cpus = environment.cpus_allowed.clone().unwrap_or_default();
        let sample = Sample::take(watch);
        let kibibytes = |name| number_after(&memory, name).and_then(|n: u64| n.checked_mul(1024));
        let swap_bytes = kibibytes("SwapTotal");
        Self {
            settings: settings(),
            frequency: Frequency::of(&cpus),
            idle_states: IdleStates::of(cpus.first().copied().unwrap_or(0)),
            throttled: Quotas::own().most(),
            swap_bytes,
            swap_used_bytes: swap_bytes
                .zip(kibibytes("SwapFree"))
                .map(|(total, free)| total.saturating_sub(free)),
            time_wait: sample.kernel.time_wait.map(|sockets| sockets.after),
            loopback: Loopback::of_this_namespace(),
            container: Container::around_this_process(),
            timer_slack_ns: line_of("/proc/self/timerslack_ns").and_then(|line| line.parse().ok()),
            clock_read_ns: sample::clock_read_ns(),
            programs: surroundings::programs(programs),
            sample,
            environment,
        }
    }
}

fn settings() -> BTreeMap<String, String> {
    SETTINGS
        .into_iter()
        .filter_map(|name| {
            let value = line_of(&format!("/proc/sys/{}", name.replace('.', "/")))?;
            Some((name.to_owned(), value))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_can_be_surveyed() {
        let preflight = Preflight::take(Duration::from_millis(30), &["sh", "no such program"]);
        assert!(preflight.sample.length_ns >= 30_000_000);
        assert!(preflight.programs["sh"].as_ref().unwrap().ends_with("/sh"));
        assert_eq!(preflight.programs["no such program"], None);
        assert!(preflight.clock_read_ns > 0.0);
        assert!(preflight.swap_used_bytes <= preflight.swap_bytes);
        assert!(preflight.settings.values().all(|value| !value.is_empty()));
    }
}
