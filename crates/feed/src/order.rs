//! Which row a request takes.

use ablaze_random::SplitMix64;
use serde::{Deserialize, Serialize};

/// Which row a request takes: a function of its number, so that workers need not talk to each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// One after the other, over and over.
    #[default]
    Sequential,
    /// Any, each equally likely, the same for the same seed.
    Random,
    /// One after the other, each at most once: the run ends when there is none left.
    Unique,
}

impl Order {
    /// The row of request `number`, of `rows` (more than 0). Unique rows are as many as requests.
    #[inline]
    pub fn row(self, number: u64, rows: usize, seed: u64) -> usize {
        let rows = rows as u64;
        let row = match self {
            Self::Sequential | Self::Unique => number % rows,
            // The upper half of a product is less biased than a remainder (Lemire, "Fast Random Integer
            // Generation in an Interval", 2019).
            Self::Random => {
                let random = u128::from(SplitMix64::at(seed, number));
                ((random * u128::from(rows)) >> 64) as u64
            }
        };
        row as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_in_turn_begin_again() {
        let rows: Vec<usize> = (0..5).map(|n| Order::Sequential.row(n, 3, 1)).collect();
        assert_eq!(rows, [0, 1, 2, 0, 1]);
    }

    #[test]
    fn random_rows_are_each_taken_and_the_same_for_a_seed() {
        let draw = |seed| (0..3_000).map(|n| Order::Random.row(n, 10, seed)).collect::<Vec<_>>();
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        for row in 0..10 {
            let times = draw(7).iter().filter(|drawn| **drawn == row).count();
            // 300 expected, standard deviation 16.4.
            assert!((200..400).contains(&times), "row {row}: {times}");
        }
    }
}
