//! Which processors the tester gets and which the target: their own where there are enough, so
//! that neither waits for the other.

use serde::{Deserialize, Serialize};

/// Processors by number; empty leaves the choice to the kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The tester's.
    pub tester: Vec<u32>,
    /// The target's.
    pub target: Vec<u32>,
}

impl Placement {
    /// Shares the allowed processors out: to a target of so many threads as many of the highest
    /// ones, but not more than half; the rest to the tester. With one processor nobody gets one.
    pub fn of(allowed: &[u32], target_threads: u32) -> Self {
        if allowed.len() < 2 {
            return Self::default();
        }
        let to_target = (target_threads.max(1) as usize).min(allowed.len() / 2);
        let (tester, target) = allowed.split_at(allowed.len() - to_target);
        Self { tester: tester.to_vec(), target: target.to_vec() }
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
}
