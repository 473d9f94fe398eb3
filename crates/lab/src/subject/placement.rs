//! Which processors the tester gets and which the target: their own where there are enough, so
//! that neither waits for the other.

use ablaze_model::LoadSpec;
use serde::{Deserialize, Serialize};

/// Processors by number; empty leaves the choice to the kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The tester's.
    pub tester: Vec<u32>,
    /// The target's.
    pub target: Vec<u32>,
    /// How many there are for both; 0 is unknown.
    #[serde(default)]
    pub allowed: u32,
}

impl Placement {
    /// Shares the allowed processors out: to a target of so many threads as many of the highest
    /// ones, but not more than half; the rest to the tester. With one processor nobody gets one.
    pub fn of(allowed: &[u32], target_threads: u32) -> Self {
        let count = allowed.len() as u32;
        if count < 2 {
            return Self { allowed: count, ..Self::default() };
        }
        let to_target = (target_threads.max(1) as usize).min(allowed.len() / 2);
        let (tester, target) = allowed.split_at(allowed.len() - to_target);
        Self { tester: tester.to_vec(), target: target.to_vec(), allowed: count }
    }

    /// Takes the tester's processors back where the load names its own, or asks for more threads than
    /// there are processors for it: it runs anywhere then.
    pub fn for_loads<'a>(mut self, loads: impl IntoIterator<Item = &'a LoadSpec>) -> Self {
        let own = self.tester.len();
        let elsewhere = |load: &LoadSpec| {
            let threads = load.workers.threads.unwrap_or(1) as usize;
            !load.workers.cpus.is_empty() || threads > own
        };
        if loads.into_iter().any(elsewhere) {
            self.tester.clear();
        }
        self
    }

    /// How many processors the target has.
    pub fn of_target(&self) -> u32 {
        if self.target.is_empty() { self.allowed } else { self.target.len() as u32 }
    }

    /// How many processors the tester has.
    pub fn of_tester(&self) -> u32 {
        if self.tester.is_empty() { self.allowed } else { self.tester.len() as u32 }
    }

    /// In words, for reports.
    pub fn in_words(&self) -> String {
        let cpus = |cpus: &[u32]| {
            let numbers: Vec<String> = cpus.iter().map(u32::to_string).collect();
            format!("CPU{} {}", if cpus.len() == 1 { "" } else { "s" }, numbers.join(", "))
        };
        match (self.target.is_empty(), self.tester.is_empty()) {
            (true, true) => "tester and target on the same CPUs".to_owned(),
            (false, true) => format!("target on {}, tester anywhere", cpus(&self.target)),
            (true, false) => format!("tester on {}, target anywhere", cpus(&self.tester)),
            (false, false) => {
                format!("target on {}, tester on {}", cpus(&self.target), cpus(&self.tester))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_gets_its_own_where_there_are_enough() {
        let of = |allowed: &[u32], threads| {
            let placement = Placement::of(allowed, threads);
            (placement.tester, placement.target)
        };
        assert_eq!(of(&[0, 1], 1), (vec![0], vec![1]));
        assert_eq!(of(&[0, 1], 4), (vec![0], vec![1]));
        assert_eq!(of(&[0, 1, 2, 5], 1), (vec![0, 1, 2], vec![5]));
        assert_eq!(of(&[0, 1, 2, 5], 2), (vec![0, 1], vec![2, 5]));
        assert_eq!(of(&[3], 1), (vec![], vec![]));
        assert_eq!(Placement::of(&[0, 1], 1).in_words(), "target on CPU 1, tester on CPU 0");
    }

    /// What is said of the tester's processors holds for every load.
    #[test]
    fn a_tester_of_more_threads_than_processors_runs_anywhere_and_that_is_said() {
        let asked = |threads| {
            let mut load = LoadSpec::default();
            load.workers.threads = Some(threads);
            load
        };
        let of = |allowed: &[u32], threads: &[u32]| {
            let loads: Vec<_> = threads.iter().map(|threads| asked(*threads)).collect();
            Placement::of(allowed, 1).for_loads(&loads).in_words()
        };
        assert_eq!(of(&[0, 1], &[2]), "target on CPU 1, tester anywhere");
        assert_eq!(of(&[0, 1], &[1]), "target on CPU 1, tester on CPU 0");
        assert_eq!(of(&[0, 1, 2, 3], &[1, 2]), "target on CPU 3, tester on CPUs 0, 1, 2");
        assert_eq!(of(&[0, 1, 2, 3], &[1, 2, 4]), "target on CPU 3, tester anywhere");
        let mut pinned = LoadSpec::default();
        pinned.workers.cpus = vec![1];
        let placement = Placement::of(&[0, 1], 1).for_loads(&[pinned]);
        assert_eq!(placement.in_words(), "target on CPU 1, tester anywhere");
    }
}
