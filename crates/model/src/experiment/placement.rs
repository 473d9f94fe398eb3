//! Which processors the client gets and which the target: their own where there are enough, so
//! that neither waits for the other.

use serde::{Deserialize, Serialize};

use crate::LoadSpec;

/// Processors by number; empty leaves the choice to the kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The client's.
    #[serde(alias = "tester")]
    pub client: Vec<u32>,
    /// The target's.
    pub target: Vec<u32>,
    /// How many there are for both; 0 is unknown.
    #[serde(default)]
    pub allowed: u32,
}

impl Placement {
    /// Shares the allowed processors out: to the target one per thread, of the highest
    /// ones, but not more than half; the rest to the client. With one processor nobody gets one.
    pub fn of(allowed: &[u32], target_threads: u32) -> Self {
        let count = allowed.len() as u32;
        if count < 2 {
            return Self { allowed: count, ..Self::default() };
        }
        let to_target = (target_threads.max(1) as usize).min(allowed.len() / 2);
        let (client, target) = allowed.split_at(allowed.len() - to_target);
        Self { client: client.to_vec(), target: target.to_vec(), allowed: count }
    }

    /// Takes the client's processors back where the load names its own, or asks for more threads than
    /// there are processors for it: it runs anywhere then.
    pub fn for_loads<'a>(mut self, loads: impl IntoIterator<Item = &'a LoadSpec>) -> Self {
        let own = self.client.len();
        let elsewhere = |load: &LoadSpec| {
            let threads = load.workers.threads.unwrap_or(1) as usize;
            !load.workers.cpus.is_empty() || threads > own
        };
        if loads.into_iter().any(elsewhere) {
            self.client.clear();
        }
        self
    }

    /// How many processors the target has.
    pub fn of_target(&self) -> u32 {
        if self.target.is_empty() { self.allowed } else { self.target.len() as u32 }
    }

    /// How many processors the client has.
    pub fn of_client(&self) -> u32 {
        if self.client.is_empty() { self.allowed } else { self.client.len() as u32 }
    }

    /// In words, for reports.
    pub fn in_words(&self) -> String {
        let cpus = |cpus: &[u32]| {
            let numbers: Vec<String> = cpus.iter().map(u32::to_string).collect();
            format!("CPU{} {}", if cpus.len() == 1 { "" } else { "s" }, numbers.join(", "))
        };
        match (self.target.is_empty(), self.client.is_empty()) {
            (true, true) => "client and target on the same CPUs".to_owned(),
            (false, true) => format!("target on {}, client anywhere", cpus(&self.target)),
            (true, false) => format!("client on {}, target anywhere", cpus(&self.client)),
            (false, false) => {
                format!("target on {}, client on {}", cpus(&self.target), cpus(&self.client))
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
            (placement.client, placement.target)
        };
        assert_eq!(of(&[0, 1], 1), (vec![0], vec![1]));
        assert_eq!(of(&[0, 1], 4), (vec![0], vec![1]));
        assert_eq!(of(&[0, 1, 2, 5], 1), (vec![0, 1, 2], vec![5]));
        assert_eq!(of(&[0, 1, 2, 5], 2), (vec![0, 1], vec![2, 5]));
        assert_eq!(of(&[3], 1), (vec![], vec![]));
        assert_eq!(Placement::of(&[0, 1], 1).in_words(), "target on CPU 1, client on CPU 0");
    }

    /// What is said of the client's processors holds for every load.
    #[test]
    fn a_client_of_more_threads_than_processors_runs_anywhere_and_that_is_said() {
        let asked = |threads| {
            let mut load = LoadSpec::default();
            load.workers.threads = Some(threads);
            load
        };
        let of = |allowed: &[u32], threads: &[u32]| {
            let loads: Vec<_> = threads.iter().map(|threads| asked(*threads)).collect();
            Placement::of(allowed, 1).for_loads(&loads).in_words()
        };
        assert_eq!(of(&[0, 1], &[2]), "target on CPU 1, client anywhere");
        assert_eq!(of(&[0, 1], &[1]), "target on CPU 1, client on CPU 0");
        assert_eq!(of(&[0, 1, 2, 3], &[1, 2]), "target on CPU 3, client on CPUs 0, 1, 2");
        assert_eq!(of(&[0, 1, 2, 3], &[1, 2, 4]), "target on CPU 3, client anywhere");
        let mut pinned = LoadSpec::default();
        pinned.workers.cpus = vec![1];
        let placement = Placement::of(&[0, 1], 1).for_loads(&[pinned]);
        assert_eq!(placement.in_words(), "target on CPU 1, client anywhere");
    }
}
