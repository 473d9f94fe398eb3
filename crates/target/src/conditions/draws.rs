//! What chance decides: how long a response waits and what goes wrong with it. The n-th response of
//! a server gets the n-th draw, so that a seed decides what happens whatever the threads do.

use std::sync::atomic::{AtomicU64, Ordering};

use ablaze_random::{SplitMix64, unit};

use crate::conditions::{Delay, Fault, FaultShare};

/// The draws of one server.
#[derive(Debug)]
pub struct Draws {
    seed: u64,
    taken: AtomicU64,
}

/// What is drawn for one response: numbers from 0 up to, but not including, 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draw {
    /// Decides about the delay.
    pub delay: f64,
    /// Decides about the fault.
    pub fault: f64,
}

impl Draws {
    /// The draws of this seed, from the first on.
    pub fn new(seed: u64) -> Self {
        Self { seed, taken: AtomicU64::new(0) }
    }

    /// Those for the next response, whichever thread gives it.
    pub fn take(&self) -> Draw {
        let number = self.taken.fetch_add(1, Ordering::Relaxed).wrapping_mul(2);
        Draw {
            delay: unit(SplitMix64::at(self.seed, number)),
            fault: unit(SplitMix64::at(self.seed, number.wrapping_add(1))),
        }
    }
}

impl Delay {
    /// The delay that `unit`, a number from 0 to below 1, stands for, ns: the inverse of the
    /// distribution function. A stall depends on the clock alone: see [`Delay::held_up_until`].
    pub fn drawn_ns(&self, unit: f64) -> u64 {
        let ns = |duration: &std::time::Duration| duration.as_nanos() as f64;
        let drawn = match self {
            Self::Constant(constant) => ns(constant),
            Self::Uniform(low, high) => ns(low) + unit * (ns(high) - ns(low)),
            // The argument lies above 0, because `unit` lies below 1.
            Self::Exponential(mean) => -(1.0 - unit).ln() * ns(mean),
            Self::Bimodal(_, second, share) if unit < *share => ns(second),
            Self::Bimodal(first, _, _) => ns(first),
            Self::Stall(_, _) => 0.0,
        };
        drawn.round() as u64
    }

    /// When what happens at `now_ns` can go on: at once, unless the server stalls. The first
    /// stall begins at `started_ns`.
    pub fn held_up_until(&self, now_ns: u64, started_ns: u64) -> u64 {
        let Self::Stall(length, period) = self else { return now_ns };
        let (length_ns, period_ns) = (length.as_nanos() as u64, period.as_nanos() as u64);
        let since_ns = now_ns.saturating_sub(started_ns).checked_rem(period_ns).unwrap_or(0);
        now_ns + length_ns.saturating_sub(since_ns)
    }
}

/// The fault that `unit`, a number from 0 to below 1, stands for, if any: the shares lie side by
/// side from 0 on.
pub fn drawn_fault(shares: &[FaultShare], unit: f64) -> Option<Fault> {
    let mut end = 0.0;
    shares.iter().find_map(|FaultShare { fault, share }| {
        end += share;
        (unit < end).then_some(*fault)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const N: usize = 100_000;
    const MS: Duration = Duration::from_millis(1);

    /// Delays of the first responses of a seed, in milliseconds.
    fn delays_ms(delay: Delay) -> Vec<f64> {
        let draws = Draws::new(1);
        (0..N).map(|_| delay.drawn_ns(draws.take().delay) as f64 / 1e6).collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    fn variance(values: &[f64]) -> f64 {
        let mean = mean(values);
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64
    }

    /// Asserts that mean and variance of the draws are those of the distribution, whose fourth
    /// central moment is `fourth`. Five standard errors: by the normal approximation (the mean's
    /// is sqrt(v/n), the variance's sqrt((fourth - v²)/n)), a right generator would fail each of
    /// the two with a probability of 6e-7 if its seed were not fixed. As it is fixed, never.
    fn assert_moments(values: &[f64], expected_mean: f64, expected_variance: f64, fourth: f64) {
        let n = values.len() as f64;
        let mean_error = (mean(values) - expected_mean).abs() / (expected_variance / n).sqrt();
        assert!(mean_error < 5.0, "mean {} is not {expected_mean}", mean(values));
        let error = ((fourth - expected_variance.powi(2)) / n).sqrt();
        let variance_error = (variance(values) - expected_variance).abs() / error;
        assert!(variance_error < 5.0, "variance {} is not {expected_variance}", variance(values));
    }

    #[test]
    fn a_seed_decides_all_draws() {
        let draws = |seed| {
            let draws = Draws::new(seed);
            [(); 100].map(|()| draws.take())
        };
        assert_eq!(draws(7), draws(7));
        assert_ne!(draws(7), draws(8));
        assert!(draws(7).iter().all(|draw| draw.delay != draw.fault));
    }

    #[test]
    fn constant_is_constant() {
        assert!(delays_ms(Delay::Constant(3 * MS)).iter().all(|delay| *delay == 3.0));
    }

    #[test]
    fn uniform_has_its_moments_and_bounds() {
        let values = delays_ms(Delay::Uniform(2 * MS, 8 * MS));
        // Width 6: variance 6²/12, fourth central moment 6⁴/80.
        assert_moments(&values, 5.0, 3.0, 16.2);
        assert!(values.iter().all(|value| (2.0..=8.0).contains(value)));
    }

    #[test]
    fn exponential_has_its_moments() {
        let values = delays_ms(Delay::Exponential(4 * MS));
        // Variance mean², fourth central moment 9 mean⁴.
        assert_moments(&values, 4.0, 16.0, 9.0 * 256.0);
        // Its median is mean ln 2: as many above as below, within 5 standard errors.
        let below = values.iter().filter(|value| **value < 4.0 * 2f64.ln()).count() as f64;
        assert!((below - N as f64 / 2.0).abs() < 5.0 * (N as f64 / 4.0).sqrt(), "{below}");
    }

    #[test]
    fn bimodal_has_its_moments_and_two_values() {
        let (share, other) = (0.1f64, 0.9f64);
        let values = delays_ms(Delay::Bimodal(MS, 11 * MS, share));
        // A Bernoulli variable times 10, plus 1.
        let variance = 100.0 * share * other;
        let fourth = 1e4 * share * other * (share.powi(3) + other.powi(3));
        assert_moments(&values, 2.0, variance, fourth);
        assert!(values.iter().all(|value| *value == 1.0 || *value == 11.0));
    }

    #[test]
    fn faults_strike_as_often_as_asked_for() {
        let shares = [
            FaultShare { fault: Fault::Garbage, share: 0.01 },
            FaultShare { fault: Fault::ResetBefore, share: 0.2 },
            FaultShare { fault: Fault::Trickle, share: 0.3 },
        ];
        let draws = Draws::new(1);
        let drawn: Vec<_> = (0..N).map(|_| drawn_fault(&shares, draws.take().fault)).collect();
        for FaultShare { fault, share } in shares {
            let count = drawn.iter().filter(|drawn| **drawn == Some(fault)).count() as f64;
            // Binomial; five standard deviations, as above.
            let deviation = (N as f64 * share * (1.0 - share)).sqrt();
            assert!((count - N as f64 * share).abs() < 5.0 * deviation, "{fault:?}: {count}");
        }
        let always = [FaultShare { fault: Fault::Garbage, share: 1.0 }];
        assert!((0..N).all(|_| drawn_fault(&always, draws.take().fault).is_some()));
        assert_eq!(drawn_fault(&[], 0.0), None);
    }

    #[test]
    fn a_stall_holds_up_until_its_end_and_no_longer() {
        let stall = Delay::Stall(2 * MS, 10 * MS);
        let (started, ms) = (5_000_000_000, 1_000_000);
        let known = [(0, 2), (1, 2), (2, 2), (3, 3), (9, 9), (10, 12), (11, 12), (12, 12)];
        for (at, until) in known {
            let held = stall.held_up_until(started + at * ms, started);
            assert_eq!(held, started + until * ms, "at {at} ms");
        }
        assert_eq!(Delay::Constant(MS).held_up_until(7, 0), 7);
    }
}
