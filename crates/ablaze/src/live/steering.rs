//! What the person at the terminal does to a run: ends it, pauses it, changes the rate of an open loop.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ablaze_chart::number::rate;
use ablaze_engine::Control;
use ablaze_model::Plan;
use ablaze_model::plan::{Load, RateProfile};
use ablaze_model::progress::Stage;
use ablaze_model::rate_change::RateChange;

use crate::carry_out::UnderWay;

/// What one press of `+` multiplies the rate by, and one of `-` divides it by.
const STEP: f64 = 1.1;
/// No more of it than this, either way: by then it is another load than the one that was asked for.
const MOST: f64 = 1_000.0;

/// The rate of an open loop as it was asked for and as it was changed: by the keys of a terminal and by browsers, which
/// share it.
#[derive(Debug, Clone)]
pub struct Steering(Arc<Mutex<Steered>>);

#[derive(Debug)]
struct Steered {
    /// Of an open loop, with the time that a change takes that was asked for.
    rate: Option<(RateProfile, u64)>,
    /// What the rate is multiplied by, if it is not paused.
    times_asked: f64,
    is_paused: bool,
    changes: Vec<RateChange>,
    /// Why the rate cannot be changed, where it cannot.
    is_fixed: Option<&'static str>,
}

impl Steering {
    /// Of a run of this plan.
    pub fn of(plan: &Plan) -> Self {
        let duration_ns = plan.limits.duration_ns.unwrap_or(0);
        let rate = match plan.load {
            Load::Open { rate, .. } => Some((rate, duration_ns)),
            Load::Closed { .. } => None,
        };
        Self::of_rate(rate)
    }

    /// The same where others carry the load out, who are not told of changes.
    pub fn of_fleet(plan: &Plan) -> Self {
        let steering = Self::of(plan);
        steering.steered().is_fixed = Some("the rate of a fleet cannot be changed while it runs");
        steering
    }

    /// Of this rate, and the time that a change takes that was asked for; `None` for a closed loop.
    pub fn of_rate(rate: Option<(RateProfile, u64)>) -> Self {
        let steered = Steered {
            rate,
            times_asked: 1.0,
            is_paused: false,
            changes: Vec::new(),
            is_fixed: None,
        };
        Self(Arc::new(Mutex::new(steered)))
    }

    fn steered(&self) -> MutexGuard<'_, Steered> {
        // Nothing panics between two of its changes.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is a rate that can be changed.
    pub fn has_rate(&self) -> bool {
        let steered = self.steered();
        steered.rate.is_some() && steered.is_fixed.is_none()
    }

    /// Whether no request is due at present because of a key.
    pub fn is_paused(&self) -> bool {
        self.steered().is_paused
    }

    /// The changes so far, in order of time.
    pub fn changes(&self) -> Vec<RateChange> {
        self.steered().changes.clone()
    }

    /// Arrivals per second that are due at this time and that were due until then on average; `None` in closed loop.
    pub fn requested_per_s(&self, elapsed_ns: u64) -> Option<(f64, f64)> {
        let steered = self.steered();
        let (rate, duration_ns) = steered.rate.as_ref()?;
        let until = |ns: u64| rate.arrivals_until(*duration_ns, &steered.changes, ns);
        // Of the second before.
        let from_ns = elapsed_ns.saturating_sub(1_000_000_000);
        let seconds = (elapsed_ns - from_ns) as f64 / 1e9;
        let lately =
            if seconds > 0.0 { (until(elapsed_ns) - until(from_ns)) / seconds } else { 0.0 };
        let all = if elapsed_ns > 0 { until(elapsed_ns) * 1e9 / elapsed_ns as f64 } else { 0.0 };
        Some((lately, all))
    }

    /// Does what a key asks for; what there is to say about it, `None` for a key that means nothing.
    pub fn press(&self, key: u8, run: &UnderWay<'_>) -> Option<String> {
        self.steered().press(key, run)
    }

    /// Sets the rate to so many requests a second; what there is to say about it.
    pub fn set(&self, per_s: f64, run: &UnderWay<'_>) -> Option<String> {
        self.steered().set(per_s, run)
    }
}

impl Steered {
    fn set(&mut self, per_s: f64, run: &UnderWay<'_>) -> Option<String> {
        // What a ramp is at changes by itself: a multiple of it is no rate that somebody typed.
        match self.rate {
            Some((asked, _)) if !asked.is_constant() => {
                Some("a rate that changes by itself takes steps only".to_owned())
            }
            Some((asked, _)) => self.turn(per_s / asked.from_per_s, self.is_paused, run),
            None => self.turn(1.0, false, run),
        }
    }

    fn press(&mut self, key: u8, run: &UnderWay<'_>) -> Option<String> {
        let (times_asked, is_paused) = match key {
            b'q' | b'Q' => {
                run.control.stop();
                return Some("ending".to_owned());
            }
            b'+' | b'=' => (self.times_asked * STEP, self.is_paused),
            b'-' | b'_' => (self.times_asked / STEP, self.is_paused),
            b' ' => (self.times_asked, !self.is_paused),
            _ => return None,
        };
        self.turn(times_asked, is_paused, run)
    }

    /// To this multiple of the rate that was asked for; what there is to say about it.
    fn turn(&mut self, times_asked: f64, is_paused: bool, run: &UnderWay<'_>) -> Option<String> {
        let Some((rate_asked, _)) = self.rate else {
            return Some(
                "a closed loop has no rate: its connections wait for the server".to_owned(),
            );
        };
        if let Some(why) = self.is_fixed {
            return Some(why.to_owned());
        }
        if run.progress.stage != Stage::Measuring {
            return Some("the clock does not run yet".to_owned());
        }
        if !(1.0 / MOST..=MOST).contains(&times_asked) {
            return Some("no further than that".to_owned());
        }
        // Pressed and pressed again, it is the rate that was asked for, and not nearly so.
        let times_asked = (times_asked * 1e9).round() / 1e9;
        let after = self.changes.last().map_or(0, |last| last.at_ns + 1);
        let at_ns = (run.progress.elapsed_ns + Control::RATE_CHANGE_AHEAD_NS).max(after);
        // While it is paused, another rate is for later.
        if is_paused != self.is_paused || !is_paused {
            let change =
                RateChange { at_ns, times_asked: if is_paused { 0.0 } else { times_asked } };
            if !run.control.change_rate(change) {
                return None;
            }
            self.changes.push(change);
        }
        (self.times_asked, self.is_paused) = (times_asked, is_paused);
        let to = match rate_asked.is_constant() {
            true => format!("{}/s", rate(rate_asked.from_per_s * times_asked)),
            false => format!("{times_asked:.2} × the rate"),
        };
        Some(if is_paused { format!("paused, to go on with {to}") } else { to })
    }
}

#[cfg(test)]
mod tests {
    use ablaze_model::progress::Progress;

    use super::*;

    fn steering(rate: Option<RateProfile>) -> Steering {
        Steering::of_rate(rate.map(|rate| (rate, 10_000_000_000)))
    }

    fn pressed(steering: &Steering, keys: &[u8]) -> (Control, Vec<Option<String>>) {
        let control = Control::new();
        let mut progress = Progress::default();
        (progress.stage, progress.elapsed_ns) = (Stage::Measuring, 1_000_000_000);
        let run = UnderWay { progress: &progress, control: &control, monitor: None, workers: &[] };
        let said = keys.iter().map(|key| steering.press(*key, &run)).collect();
        (control, said)
    }

    #[test]
    fn keys_change_the_rate_by_a_tenth_and_pause_it() {
        let steering = steering(Some(RateProfile::constant(2_000.0)));
        let (control, said) = pressed(&steering, b"+ - +");
        let said: Vec<&str> = said.iter().flatten().map(String::as_str).collect();
        let expected = [
            "2,200/s",
            "paused, to go on with 2,200/s",
            "paused, to go on with 2,000/s",
            "2,000/s",
            "2,200/s",
        ];
        assert_eq!(said, expected);
        let changes = control.rate_changes();
        let times: Vec<f64> = changes.iter().map(|change| change.times_asked).collect();
        // What is pressed in a pause holds from its end.
        assert_eq!(times, [1.1, 0.0, 1.0, 1.1]);
        assert!(changes.is_sorted_by(|one, other| one.at_ns < other.at_ns));
        assert!(changes[0].at_ns > 1_000_000_000, "{changes:?}");
    }

    #[test]
    fn the_rate_of_a_fleet_is_shown_and_no_key_changes_it() {
        let steering = steering(Some(RateProfile::constant(2_000.0)));
        steering.steered().is_fixed = Some("fixed");
        let (control, said) = pressed(&steering, b"+ -q");
        assert_eq!(said[..3], [(); 3].map(|()| Some("fixed".to_owned())));
        assert!(control.rate_changes().is_empty() && control.stopped());
        assert!(!steering.has_rate() && !steering.is_paused());
        assert_eq!(steering.requested_per_s(1_000_000_000), Some((2_000.0, 2_000.0)));
    }

    #[test]
    fn a_closed_loop_has_no_rate_and_q_ends_it() {
        let steering = steering(None);
        let (control, said) = pressed(&steering, b"+ x");
        assert!(said[0].as_deref().unwrap().contains("no rate") && said[2].is_none());
        assert!(control.rate_changes().is_empty() && !control.stopped());
        assert!(pressed(&steering, b"q").0.stopped());
    }

    #[test]
    fn what_is_requested_follows_the_changes() {
        let steering = steering(Some(RateProfile::constant(1_000.0)));
        assert_eq!(steering.requested_per_s(4_000_000_000), Some((1_000.0, 1_000.0)));
        steering.steered().changes = vec![RateChange { at_ns: 3_000_000_000, times_asked: 2.0 }];
        assert_eq!(steering.requested_per_s(4_000_000_000), Some((2_000.0, 1_250.0)));
    }

    #[test]
    fn what_is_requested_of_a_ramp_is_what_is_due_by_now() {
        let ramp = RateProfile { from_per_s: 0.0, to_per_s: 1_000.0, steps: 0 };
        let (lately, all) = steering(Some(ramp)).requested_per_s(2_000_000_000).unwrap();
        // From 100/s to 200/s in the second before, from nothing to 200/s in all.
        assert!((lately - 150.0).abs() < 1e-6 && (all - 100.0).abs() < 1e-6, "{lately} {all}");
    }
}
