//! Users as a part of the Plan: how many walk which journey, when they come, how long they think, and what stays with them
//! from one iteration to the next.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Plan;

/// Who walks journeys, beside what every run has. The default is a run whose connections each walk the one journey, over and
/// over.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Users {
    /// They come one after the other over the measured time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ramp: Option<Ramp>,
    /// How long they think between two steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think_time: Option<ThinkTime>,
    /// How many journeys each of them walks at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u64>,
    /// Whether cookies and captures stay from one iteration to the next.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keep_session: bool,
    /// The file that each walks once before the clock starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// The journeys, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub journeys: Vec<WeightedJourney>,
    /// Whether users may have nothing in flight in the middle of the run, for one of these reasons or because a step says so:
    /// then the number of connections is not that of requests in flight.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pause: bool,
}

impl Plan {
    /// Users on each connection, where a run has users: as many as it may have streams. Over HTTP/1 each has its own.
    pub fn users_per_connection(&self) -> u32 {
        self.streams().unwrap_or(1).max(1)
    }

    /// Users of all workers together, where a run has users.
    pub fn users(&self) -> u64 {
        u64::from(self.load.connections()) * u64::from(self.users_per_connection())
    }
}

/// One of several journeys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WeightedJourney {
    /// What it is called: its file without folder and ending.
    pub name: String,
    /// How many of the users, or of the arrivals, walk it, in proportion to the others.
    pub weight: u64,
}

/// Users that come over the measured time: the first of them at its beginning, the last at its end, the others evenly in
/// between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ramp {
    /// How many there are from the beginning.
    pub from: u32,
    /// How many there are at the end.
    pub to: u32,
    /// How long it takes.
    pub over_ns: u64,
}

impl Ramp {
    /// How long after the beginning a user comes, by its number from 0.
    pub fn comes_after_ns(&self, user: u32) -> u64 {
        let (first, last) = (u64::from(self.from), u64::from(self.to));
        let behind = (u64::from(user) + 1).saturating_sub(first);
        let all = last.saturating_sub(first).max(1);
        (u128::from(self.over_ns) * u128::from(behind) / u128::from(all)) as u64
    }

    /// How many users there are so long after the beginning.
    pub fn users_after(&self, ns: u64) -> u32 {
        let grown =
            u128::from(self.to.saturating_sub(self.from)) * u128::from(ns.min(self.over_ns));
        self.from.saturating_add((grown / u128::from(self.over_ns.max(1))) as u32).min(self.to)
    }
}

/// How long a user does nothing between two steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkTime {
    /// Always as long.
    Constant {
        /// How long.
        ns: u64,
    },
    /// Anything between two times, each as likely.
    Uniform {
        /// The shortest.
        from_ns: u64,
        /// The longest.
        to_ns: u64,
    },
    /// Exponentially distributed, as the gaps between independent events are.
    Exponential {
        /// The mean.
        mean_ns: u64,
    },
}

impl ThinkTime {
    /// The time for a random number, all of whose bits count.
    pub fn ns(&self, random: u64) -> u64 {
        // From 0 to 1, without 1.
        let share = (random >> 11) as f64 / (1u64 << 53) as f64;
        match *self {
            Self::Constant { ns } => ns,
            Self::Uniform { from_ns, to_ns } => {
                from_ns + (share * (to_ns.saturating_sub(from_ns)) as f64) as u64
            }
            Self::Exponential { mean_ns } => (-(1.0 - share).ln() * mean_ns as f64) as u64,
        }
    }
}

/// Which of a route's steps make up which journey.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ways {
    /// The steps of each journey; empty where all steps are one.
    pub journeys: Vec<Range<usize>>,
    /// Which journey users, or arrivals, take in turn; empty where there is one.
    pub order: Vec<u32>,
    /// The steps of the setup, behind all others.
    pub setup: Option<Range<usize>>,
    /// Whether a user keeps the row of data that it had in its setup.
    pub row_per_user: bool,
}

impl Ways {
    /// The journey that a user, or an arrival, of this number walks.
    pub fn journey_of(&self, number: u64) -> usize {
        match self.order.len() {
            0 => 0,
            length => self.order[(number % length as u64) as usize] as usize,
        }
    }

    /// The steps of a journey, of so many in all.
    pub fn steps_of(&self, journey: usize, all: usize) -> Range<usize> {
        self.journeys.get(journey).cloned().unwrap_or(0..self.main_steps(all))
    }

    /// How many of all steps belong to journeys: those of the setup stand behind them.
    pub fn main_steps(&self, all: usize) -> usize {
        self.setup.as_ref().map_or(all, |setup| setup.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_has_its_first_users_at_once_and_the_last_at_the_end() {
        let ramp = Ramp { from: 10, to: 1_000, over_ns: 990_000 };
        assert_eq!((0..10).map(|user| ramp.comes_after_ns(user)).max(), Some(0));
        assert_eq!(ramp.comes_after_ns(10), 1_000);
        assert_eq!(ramp.comes_after_ns(999), 990_000);
        for user in 10..1_000 {
            let at = ramp.comes_after_ns(user);
            assert_eq!(ramp.users_after(at), user + 1, "user {user} is there when it comes");
            assert_eq!(ramp.users_after(at - 1), user, "and not before");
        }
        assert_eq!(ramp.users_after(u64::MAX), 1_000);
    }

    #[test]
    fn think_times_have_the_mean_that_was_asked_for() {
        assert_eq!(ThinkTime::Constant { ns: 7 }.ns(u64::MAX), 7);
        let even = |think: ThinkTime| {
            let parts = 1u64 << 16;
            let sum: u128 = (0..parts).map(|n| u128::from(think.ns((n << 48) | (1 << 47)))).sum();
            (sum / u128::from(parts)) as f64
        };
        let uniform = even(ThinkTime::Uniform { from_ns: 500_000, to_ns: 2_000_000 });
        assert!((uniform / 1_250_000.0 - 1.0).abs() < 1e-3, "{uniform}");
        let exponential = even(ThinkTime::Exponential { mean_ns: 1_000_000 });
        assert!((exponential / 1_000_000.0 - 1.0).abs() < 1e-3, "{exponential}");
    }

    #[test]
    fn every_step_belongs_to_one_journey_or_the_setup() {
        let one = Ways::default();
        assert_eq!((one.journey_of(7), one.steps_of(0, 3), one.main_steps(3)), (0, 0..3, 3));
        let ways = Ways {
            journeys: vec![0..2, 2..3],
            order: vec![0, 1, 0],
            setup: Some(3..4),
            row_per_user: false,
        };
        let taken: Vec<usize> = (0..6).map(|number| ways.journey_of(number)).collect();
        assert_eq!(taken, [0, 1, 0, 0, 1, 0]);
        assert_eq!((ways.steps_of(1, 4), ways.main_steps(4)), (2..3, 3));
    }
}
