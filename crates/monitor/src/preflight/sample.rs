//! A short watch over the machine: who uses its processors now, what the kernel's counters rise
//! by, and how late a thread that sleeps for a millisecond wakes up.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use serde::Serialize;

use crate::kernel::{self, Reading};
use crate::proc_text::name_in;
use ablaze_model::monitor::Kernel;
use ablaze_sys::{clock, usage};

/// What is asked of each sleep.
const SLEEP: Duration = Duration::from_millis(1);
/// At most this many neighbours are reported, the busiest.
const MOST_NEIGHBOURS: usize = 8;
/// Less CPU time than this share of the watch is nobody's disturbance.
const LEAST_SHARE: f64 = 0.01;

/// What happened while the machine was watched.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sample {
    /// How long it was watched, ns.
    pub length_ns: u64,
    /// What the kernel's counters rose by.
    pub kernel: Kernel,
    /// Other processes that used a processor, the busiest first, at most eight; `None` where no
    /// process but this one is to be seen.
    pub neighbours: Option<Vec<Neighbour>>,
    /// How late sleeps of 1 ms ended.
    pub lateness: Option<Lateness>,
}

/// A process that used a processor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Neighbour {
    /// Its process ID.
    pub pid: u32,
    /// Its name, as ps(1) shows it.
    pub name: String,
    /// CPU time of all its threads within the watch, ns.
    pub cpu_ns: u64,
}

/// By how much sleeps ended later than asked, the timer slack included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Lateness {
    /// Sleeps.
    pub sleeps: u64,
    /// Half of them were later than this, ns.
    pub p50_ns: u64,
    /// One in a hundred was later than this, ns.
    pub p99_ns: u64,
    /// The latest, ns.
    pub max_ns: u64,
}

impl Sample {
    pub(super) fn take(length: Duration) -> Self {
        let begun_ns = clock::monotonic_ns();
        let (cpu_before, before) = (cpu_times_ns(), Reading::now());
        let mut late_ns = Vec::new();
        while clock::monotonic_ns() - begun_ns < length.as_nanos() as u64 {
            let asleep_ns = clock::monotonic_ns();
            std::thread::sleep(SLEEP);
            let slept_ns = clock::monotonic_ns() - asleep_ns;
            late_ns.push(slept_ns.saturating_sub(SLEEP.as_nanos() as u64));
        }
        let (cpu_after, after) = (cpu_times_ns(), Reading::now());
        let length_ns = clock::monotonic_ns() - begun_ns;
        Self {
            length_ns,
            kernel: kernel::between(&before, &after),
            neighbours: (cpu_after.len() > 1).then(|| busiest(&cpu_before, &cpu_after, length_ns)),
            lateness: lateness(late_ns),
        }
    }
}

impl Neighbour {
    /// The share of a core that it used in a watch of this length.
    pub fn share(&self, length_ns: u64) -> f64 {
        self.cpu_ns as f64 / length_ns.max(1) as f64
    }
}

/// What one reading of the clock costs, the mean over a thousand, ns.
pub(super) fn clock_read_ns() -> f64 {
    const READINGS: u64 = 1000;
    let begun_ns = clock::monotonic_ns();
    let last_ns = (0..READINGS).fold(0, |_, _| std::hint::black_box(clock::monotonic_ns()));
    last_ns.saturating_sub(begun_ns) as f64 / READINGS as f64
}

/// CPU time of every process in sight so far, by number.
fn cpu_times_ns() -> BTreeMap<u32, u64> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries
        .filter_map(|entry| {
            let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            Some((pid, usage::clock_ns(process_clock(pid)?)?))
        })
        .collect()
}

/// The CPU clock of a process: its number inverted above three bits, of which 2 stands for the
/// scheduler's own account (clock_getcpuclockid(3); CPUCLOCK_SCHED in linux/posix-timers_types.h).
fn process_clock(pid: u32) -> Option<libc::clockid_t> {
    let pid = i32::try_from(pid).ok()?;
    Some((!pid).wrapping_shl(3) | 2)
}

fn busiest(
    before: &BTreeMap<u32, u64>,
    after: &BTreeMap<u32, u64>,
    length_ns: u64,
) -> Vec<Neighbour> {
    let mut used: Vec<(u64, u32)> = after
        .iter()
        .filter(|(pid, _)| **pid != std::process::id())
        // One that began meanwhile has used all of its time meanwhile.
        .map(|(pid, ns)| (ns.saturating_sub(before.get(pid).copied().unwrap_or(0)), *pid))
        .filter(|(ns, _)| *ns as f64 >= LEAST_SHARE * length_ns as f64)
        .collect();
    used.sort_unstable_by(|left, right| right.cmp(left));
    used.truncate(MOST_NEIGHBOURS);
    used.into_iter()
        .map(|(cpu_ns, pid)| Neighbour {
            pid,
            name: name_in(&format!("/proc/{pid}")).unwrap_or_else(|| "(ended)".to_owned()),
            cpu_ns,
        })
        .collect()
}

fn lateness(mut late_ns: Vec<u64>) -> Option<Lateness> {
    late_ns.sort_unstable();
    // Nearest rank: the smallest value that the share of all does not exceed.
    let rank = |percent: usize| late_ns.get((late_ns.len() * percent).div_ceil(100).max(1) - 1);
    Some(Lateness {
        sleeps: late_ns.len() as u64,
        p50_ns: *rank(50)?,
        p99_ns: *rank(99)?,
        max_ns: *late_ns.last()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_nearest_ranks() {
        let late = lateness((1..=200).rev().collect()).unwrap();
        assert_eq!((late.sleeps, late.p50_ns, late.p99_ns, late.max_ns), (200, 100, 198, 200));
        assert_eq!(lateness(vec![7]).unwrap().p99_ns, 7);
        assert_eq!(lateness(Vec::new()), None);
    }

    #[test]
    fn a_process_that_spins_is_seen_and_this_one_is_not() {
        let mut spinner =
            std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        // On a crowded machine its turn may take a while to come.
        let seen = (0..50).any(|_| {
            let sample = Sample::take(Duration::from_millis(100));
            let neighbours = sample.neighbours.unwrap();
            assert!(neighbours.iter().all(|neighbour| neighbour.pid != std::process::id()));
            neighbours.iter().any(|one| one.pid == spinner.id() && one.name == "sh")
        });
        spinner.kill().unwrap();
        spinner.wait().unwrap();
        assert!(seen);
    }

    #[test]
    fn the_clock_of_a_process_is_that_of_getrusage() {
        let begun = usage::clock_ns(process_clock(std::process::id()).unwrap()).unwrap();
        let own = usage::thread_usage().unwrap();
        while usage::thread_usage().unwrap().user_ns < own.user_ns + 5_000_000 {}
        let now = usage::clock_ns(process_clock(std::process::id()).unwrap()).unwrap();
        assert!(now - begun >= 5_000_000, "{}", now - begun);
    }
}
