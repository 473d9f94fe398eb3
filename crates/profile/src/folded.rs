//! Folded stacks in CPU time per request: what makes two profiles comparable, however long they were
//! and however many samples they have.

use std::collections::BTreeMap;
use std::fmt::Write;

use ablaze_model::profiling::Profile;

use crate::names::readable_stack;

/// The unit of the counts in folded lines: so fine that rounding hides nothing.
pub const PER_MICROSECOND: f64 = 1e6;

/// CPU time per request by stack, ns, in alphabetical order of the stacks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PerRequest {
    /// Stacks as folded: functions from the outermost to the innermost, with `;` between.
    pub stacks: BTreeMap<String, f64>,
}

impl PerRequest {
    /// Of a profile, its stacks as people read them: its samples share the CPU time per request by their weights, so that all together
    /// are exactly that.
    pub fn of(profile: &Profile) -> Self {
        let whole: u64 = profile.stacks.iter().map(|stack| stack.weight).sum();
        let mut stacks = BTreeMap::new();
        for stack in profile.stacks.iter().filter(|_| whole > 0) {
            let share = stack.weight as f64 / whole as f64;
            *stacks.entry(readable_stack(&stack.frames)).or_insert(0.0) +=
                share * profile.cpu_per_request_ns;
        }
        Self { stacks }
    }

    /// All of it, ns.
    pub fn total_ns(&self) -> f64 {
        self.stacks.values().sum()
    }

    /// What passes through functions that `is` picks, ns: on the processor in them or in what they
    /// called. A stack counts once, however often the function is in it.
    pub fn through_ns(&self, is: impl Fn(&str) -> bool) -> f64 {
        let through = self.stacks.iter().filter(|(frames, _)| frames.split(';').any(&is));
        through.map(|(_, ns)| ns).sum()
    }

    /// Lines of a stack and its CPU time per request in picoseconds, which flame graph tools read.
    pub fn lines(&self) -> String {
        let mut lines = String::new();
        for (frames, ns) in &self.stacks {
            let _ = writeln!(lines, "{frames} {}", picoseconds(*ns));
        }
        lines
    }
}

/// Whole picoseconds.
pub(crate) fn picoseconds(ns: f64) -> u64 {
    (ns * PER_MICROSECOND / 1e3).round() as u64
}

#[cfg(test)]
pub(crate) mod sample {
    use ablaze_model::profiling::{Profile, Stack, Whom};

    /// A profile of these stacks with their samples, each of a millisecond, over this many requests.
    pub(crate) fn profile(stacks: &[(&str, u64)], requests: u64) -> Profile {
        let stack = |(frames, samples): &(&str, u64)| Stack {
            frames: (*frames).to_owned(),
            samples: *samples,
            weight: samples * 1_000_000,
        };
        let stacks: Vec<Stack> = stacks.iter().map(stack).collect();
        let samples = stacks.iter().map(|stack| stack.samples).sum();
        let cpu_ns = stacks.iter().map(|stack| stack.weight).sum();
        Profile {
            of: Whom::Target,
            name: "server".to_owned(),
            pids: vec![1],
            event: "cpu-clock".to_owned(),
            frequency_hz: 1000,
            kernel: true,
            samples,
            lost: 0,
            broken: 0,
            broken_ends: None,
            requests,
            cpu_ns,
            cpu_per_request_ns: cpu_ns as f64 / requests as f64,
            stacks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_share_the_cpu_time_of_a_request() {
        // 4 samples of 1 ms over 1,000 requests: 4 µs each.
        let mut profile = sample::profile(&[("main;read", 3), ("main;write", 1)], 1_000);
        let per_request = PerRequest::of(&profile);
        assert_eq!(per_request.stacks["main;read"], 3_000.0);
        assert_eq!(per_request.total_ns(), 4_000.0);
        // The kernel's own account of the time is the better one.
        profile.cpu_per_request_ns = 5_000.0;
        let per_request = PerRequest::of(&profile);
        assert_eq!(per_request.stacks["main;write"], 1_250.0);
        assert_eq!(per_request.lines(), "main;read 3750000\nmain;write 1250000\n");
    }

    #[test]
    fn a_function_that_calls_itself_counts_once() {
        let profile = sample::profile(&[("f;f;g", 1), ("f", 1), ("h", 2)], 4_000);
        let per_request = PerRequest::of(&profile);
        assert_eq!(per_request.through_ns(|name| name == "f"), 500.0);
        assert_eq!(per_request.through_ns(|name| name == "nosuch"), 0.0);
    }

    #[test]
    fn nothing_sampled_is_nothing() {
        let profile = sample::profile(&[], 10);
        assert_eq!(PerRequest::of(&profile), PerRequest::default());
        assert_eq!(PerRequest::default().lines(), "");
    }
}
