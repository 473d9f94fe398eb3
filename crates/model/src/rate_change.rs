//! A rate over time: as it was asked for, and as the person at the terminal changed it while the run went on.

use serde::{Deserialize, Serialize};

use crate::plan::RateProfile;

/// A change of an open loop's rate while the run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RateChange {
    /// From when on it holds, ns since the clock started.
    pub at_ns: u64,
    /// The rate from then on, in rates that were asked for at the same moment: 1 is the rate asked for, 0 a pause.
    pub times_asked: f64,
}

/// A stretch of time in which a rate is constant or changes evenly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatePiece {
    /// Where it begins, seconds since the clock started; it goes on until the next one, the last one for ever.
    pub begin_s: f64,
    /// Arrivals before it.
    pub arrivals_before: f64,
    /// Rate at its beginning, per second.
    pub rate_per_s: f64,
    /// How much the rate grows, per second and second.
    pub growth: f64,
}

impl RatePiece {
    /// The rate at this moment, seconds since the clock started.
    fn rate_at(&self, at_s: f64) -> f64 {
        (self.rate_per_s + self.growth * (at_s - self.begin_s)).max(0.0)
    }

    /// Arrivals until this moment.
    fn arrivals_until(&self, at_s: f64) -> f64 {
        let length_s = at_s - self.begin_s;
        self.arrivals_before + (self.rate_per_s + self.rate_at(at_s)) / 2.0 * length_s
    }
}

impl RateProfile {
    /// The rate over time; `duration_ns` is the time that a change of the rate takes that was asked for. The changes are in
    /// order of time.
    pub fn pieces(&self, duration_ns: u64, changes: &[RateChange]) -> Vec<RatePiece> {
        let asked = self.asked_pieces((duration_ns as f64 / 1e9).max(1e-9));
        let at_s = |change: &RateChange| change.at_ns as f64 / 1e9;
        let mut begins: Vec<f64> = asked.iter().map(|piece| piece.0).collect();
        begins.extend(changes.iter().map(at_s));
        begins.sort_by(f64::total_cmp);
        begins.dedup();
        let mut pieces: Vec<RatePiece> = Vec::with_capacity(begins.len());
        for begin_s in begins {
            let (of_s, from_per_s, growth) =
                asked.iter().rev().find(|piece| piece.0 <= begin_s).copied().unwrap_or_default();
            let change = changes.iter().rev().find(|change| at_s(change) <= begin_s);
            let times = change.map_or(1.0, |change| change.times_asked.max(0.0));
            pieces.push(RatePiece {
                begin_s,
                arrivals_before: pieces.last().map_or(0.0, |last| last.arrivals_until(begin_s)),
                rate_per_s: (from_per_s + growth * (begin_s - of_s)).max(0.0) * times,
                growth: growth * times,
            });
        }
        pieces
    }

    /// Arrivals per second from the start to this time, on average.
    pub fn mean_per_s(&self, duration_ns: u64, changes: &[RateChange], until_ns: u64) -> f64 {
        if changes.is_empty() || until_ns == 0 {
            return (self.from_per_s + self.to_per_s) / 2.0;
        }
        self.arrivals_until(duration_ns, changes, until_ns) / (until_ns as f64 / 1e9)
    }

    /// Arrivals that are due until this time, whatever is to come.
    pub fn arrivals_until(&self, duration_ns: u64, changes: &[RateChange], until_ns: u64) -> f64 {
        let until_s = until_ns as f64 / 1e9;
        let pieces = self.pieces(duration_ns, changes);
        let last = pieces.iter().rev().find(|piece| piece.begin_s <= until_s);
        last.map_or(0.0, |last| last.arrivals_until(until_s))
    }

    /// Begin, rate and growth of each piece that was asked for.
    fn asked_pieces(&self, length_s: f64) -> Vec<(f64, f64, f64)> {
        let (from, to) = (self.from_per_s, self.to_per_s);
        match self.steps {
            _ if from == to => vec![(0.0, from, 0.0)],
            0 | 1 => vec![(0.0, from, (to - from) / length_s), (length_s, to, 0.0)],
            steps => {
                let step_s = length_s / f64::from(steps);
                let rate = |step: u32| from + (to - from) * f64::from(step) / f64::from(steps - 1);
                (0..steps).map(|step| (step_s * f64::from(step), rate(step), 0.0)).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn change(at_ns: u64, times_asked: f64) -> RateChange {
        RateChange { at_ns, times_asked }
    }

    #[test]
    fn the_mean_is_that_of_the_rates_that_held() {
        let rate = RateProfile::constant(100.0);
        assert_eq!(rate.mean_per_s(10 * S, &[], 10 * S), 100.0);
        // Half of the time at twice the rate, a quarter in a pause.
        let changes = [change(5 * S / 2, 2.0), change(15 * S / 2, 0.0)];
        assert_eq!(rate.mean_per_s(10 * S, &changes, 10 * S), (250.0 + 1000.0) / 10.0);
        // A change that never came to hold.
        assert_eq!(rate.mean_per_s(10 * S, &[change(20 * S, 5.0)], 10 * S), 100.0);
    }

    #[test]
    fn a_ramp_goes_on_behind_a_pause_where_it_would_be() {
        let ramp = RateProfile { from_per_s: 0.0, to_per_s: 100.0, steps: 0 };
        let pieces = ramp.pieces(10 * S, &[change(2 * S, 0.0), change(4 * S, 1.0)]);
        let begins: Vec<f64> = pieces.iter().map(|piece| piece.begin_s).collect();
        assert_eq!(begins, [0.0, 2.0, 4.0, 10.0]);
        let rates: Vec<f64> = pieces.iter().map(|piece| piece.rate_per_s).collect();
        assert_eq!(rates, [0.0, 0.0, 40.0, 100.0]);
        // The area under the line, without the two seconds: 20, 20, and 420 more.
        let before: Vec<f64> = pieces.iter().map(|piece| piece.arrivals_before).collect();
        assert_eq!(before, [0.0, 20.0, 20.0, 440.0]);
    }
}
