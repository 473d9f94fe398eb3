//! Two machines' clocks side by side: how far one is ahead of the other, with a bound on the error, from pings that
//! took the way there and back. After Cristian, "Probabilistic clock synchronization" (1989): the ping that came back
//! soonest says most, and half of its round trip bounds how wrong it can be.

use serde::{Deserialize, Serialize};

/// How far a worker's clock is ahead of the coordinator's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// What is added to the coordinator's time to have the worker's, ns. Both count from some moment of their own.
    pub ahead_ns: i64,
    /// How wrong that can be, ns.
    pub bound_ns: u64,
}

/// A ping and its way back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ping {
    /// When it left the coordinator, by its clock, ns.
    pub sent_ns: u64,
    /// When the worker read its own clock, ns.
    pub there_ns: u64,
    /// When the answer was back, by the coordinator's clock, ns.
    pub back_ns: u64,
}

impl Ping {
    fn round_trip_ns(&self) -> u64 {
        self.back_ns.saturating_sub(self.sent_ns)
    }
}

impl Clock {
    /// What these pings say; `None` where there are none.
    pub fn of(pings: &[Ping]) -> Option<Self> {
        let best = pings.iter().min_by_key(|ping| ping.round_trip_ns())?;
        let half_ns = best.round_trip_ns().div_ceil(2);
        // The worker looked at its clock somewhere between the two moments.
        let middle_ns = best.sent_ns + best.round_trip_ns() / 2;
        Some(Self { ahead_ns: best.there_ns as i64 - middle_ns as i64, bound_ns: half_ns })
    }

    /// The worker's time at this moment of the coordinator's.
    pub fn there_ns(&self, here_ns: u64) -> u64 {
        here_ns.saturating_add_signed(self.ahead_ns)
    }

    /// The coordinator's time at this moment of the worker's.
    pub fn here_ns(&self, there_ns: u64) -> u64 {
        there_ns.saturating_add_signed(self.ahead_ns.saturating_neg())
    }

    /// How far the two clocks moved apart between two comparisons, ns, if that is more than both can be wrong.
    pub fn drifted_ns(&self, later: &Self) -> Option<u64> {
        let apart_ns = self.ahead_ns.abs_diff(later.ahead_ns);
        (apart_ns > self.bound_ns + later.bound_ns).then_some(apart_ns)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_bound_holds_however_long_the_ways_are(
            ahead_ns in -1_000_000_000_000i64..1_000_000_000_000,
            ways in prop::collection::vec((0..5_000_000u64, 0..5_000_000u64), 1..12),
        ) {
            let mut now_ns = 2_000_000_000_000u64;
            let pings: Vec<Ping> = ways.iter().map(|(there, back)| {
                let sent_ns = now_ns;
                now_ns += there + back + 1_000;
                Ping {
                    sent_ns,
                    there_ns: (sent_ns + there).saturating_add_signed(ahead_ns),
                    back_ns: sent_ns + there + back,
                }
            }).collect();
            let clock = Clock::of(&pings).unwrap();
            prop_assert!(clock.ahead_ns.abs_diff(ahead_ns) <= clock.bound_ns);
            let shortest = ways.iter().map(|(there, back)| there + back).min().unwrap();
            prop_assert_eq!(clock.bound_ns, shortest.div_ceil(2));
            prop_assert_eq!(clock.here_ns(clock.there_ns(now_ns)), now_ns);
        }
    }

    #[test]
    fn clocks_drift_only_where_the_bounds_do_not_explain_it() {
        let at = |ahead_ns, bound_ns| Clock { ahead_ns, bound_ns };
        assert_eq!(at(0, 100).drifted_ns(&at(150, 60)), None);
        assert_eq!(at(0, 100).drifted_ns(&at(-161, 60)), Some(161));
        assert_eq!(Clock::of(&[]), None);
    }
}
