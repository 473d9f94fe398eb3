//! Between two stages of a target that keeps running: what a stage asked too much is still being worked off when it
//! has ended, and would be taken for the next one's. So single requests are sent until they are answered as fast
//! as before the first stage. Used by `running`, and between two runs of an
//! experiment at a rate.

use std::time::{Duration, Instant};

use ablaze_model::experiment::LONGEST_STAGE;
use ablaze_model::spec::Shape;
use ablaze_model::{LoadSpec, Run};
use ablaze_report::number::{counted, rate, time};

use crate::experiment::Failure;

/// So many requests before the first stage say how fast one is answered; the one before them finds cold caches.
const USUAL: usize = 3;
/// So many in a row have to be answered as fast: some workers of a server may be free while others are not.
const IN_A_ROW: usize = 3;
/// A request is as fast as before if it takes at most this many times as long, and [`SPARE_NS`].
const TIMES: u64 = 2;
/// More of them, as long as they take no longer than this altogether: errors that come of no load are seen then.
const LEARNT_IN: Duration = Duration::from_millis(500);
const MOST_LEARNT: usize = 20;
/// What a machine adds to one request.
const SPARE_NS: u64 = 1_000_000;
/// Pauses between requests: the first, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];
/// It is waited for at least this long before the search is given up.
const AT_LEAST: Duration = Duration::from_secs(10);
/// A request that is not answered within this time, or that of a stage, is given up.
const PROBE_NS: u64 = 2_000_000_000;

/// How fast a target responds to a single request.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    usual: Option<Probe>,
    /// Some had no response before any load, too.
    some_fail: bool,
}

/// One request that was answered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Probe {
    ns: u64,
    /// Whether its status was expected; of what is usual, whether that of each was.
    expected: bool,
}

/// How waiting for a target ended.
pub(crate) enum Waited {
    /// It responds as before.
    Recovered,
    /// It did not, and why the search ends.
    InVain(String),
}

impl Recovery {
    /// Of a target that was seen to respond within this time.
    pub(crate) fn of(ns: u64) -> Self {
        Self { usual: Some(Probe { ns, expected: false }), some_fail: false }
    }

    /// Whether it is known how fast the target responds.
    pub(crate) fn is_known(&self) -> bool {
        self.usual.is_some()
    }

    /// Learns how fast the target responds before it was asked for anything else.
    ///
    /// # Errors
    /// When interrupted.
    pub(crate) fn learn(
        &mut self,
        probe: &mut dyn FnMut() -> Result<Run, Failure>,
    ) -> Result<(), Failure> {
        let began = Instant::now();
        for number in 0..=MOST_LEARNT {
            if number > USUAL && began.elapsed() > LEARNT_IN {
                break;
            }
            match probe().map(|run| Probe::of(&run)) {
                // How fast it is the first of them say; how it errs, all.
                Ok(Some(now)) if number > 0 => {
                    self.usual = Some(match self.usual {
                        None => now,
                        Some(usual) => Probe {
                            ns: if number > USUAL { usual.ns } else { usual.ns.max(now.ns) },
                            expected: usual.expected && now.expected,
                        },
                    });
                }
                Ok(Some(_)) => {}
                Ok(None) => self.some_fail |= number > 0,
                Err(Failure::Interrupted) => return Err(Failure::Interrupted),
                // Whoever does not respond now is found out by the first stage.
                Err(Failure::Impossible(_)) => return Ok(()),
            }
        }
        Ok(())
    }

    /// Waits until single requests are answered as fast as before the first stage, `at_most` so long.
    ///
    /// # Errors
    /// When interrupted.
    pub(crate) fn wait(
        &self,
        asked_per_s: f64,
        at_most: Duration,
        rest: fn(Duration),
        probe: &mut dyn FnMut() -> Result<Run, Failure>,
    ) -> Result<Waited, Failure> {
        let Some(usual) = self.usual else { return Ok(Waited::Recovered) };
        let (mut spent, mut pause, mut in_a_row) = (Duration::ZERO, PAUSES[0], 0);
        let (mut asked, mut unexpected, mut what) = (0_u64, 0_u64, "request");
        loop {
            let began = Instant::now();
            let last = match probe() {
                Ok(run) if run.record.journeys.is_some() => {
                    what = "journey";
                    Probe::of(&run).ok_or_else(|| "was not answered".to_owned())
                }
                Ok(run) => Probe::of(&run).ok_or_else(|| "was not answered".to_owned()),
                Err(Failure::Interrupted) => return Err(Failure::Interrupted),
                Err(Failure::Impossible(why)) => Err(format!("failed ({why})")),
            };
            spent += began.elapsed();
            asked += 1;
            unexpected += u64::from(last.as_ref().is_ok_and(|last| !last.expected));
            in_a_row = match &last {
                Ok(last) if last.is_like(usual) => in_a_row + 1,
                // One that says nothing of the load.
                Err(_) if self.some_fail => in_a_row,
                _ => 0,
            };
            if in_a_row >= IN_A_ROW {
                return Ok(Waited::Recovered);
            }
            if in_a_row > 0 {
                continue;
            }
            if spent >= at_most {
                if usual.expected && unexpected > 0 {
                    return Ok(Waited::InVain(format!(
                        "the target did not recover from {}/s: of {} since, one at a time, {unexpected} had an unexpected \
                         status; before the first stage, none had. Start it again, and use lower rates (--from, --to)",
                        rate(asked_per_s),
                        counted(asked, what)
                    )));
                }
                let now = match last {
                    Ok(last) => format!("took {}", time(last.ns as f64)),
                    Err(why) => why,
                };
                return Ok(Waited::InVain(format!(
                    "the target did not recover from {}/s: {} later, a single {what} {now}; before the \
                     first stage, one took {}. Start it again, and use lower rates (--from, --to)",
                    rate(asked_per_s),
                    time(spent.as_nanos() as f64),
                    time(usual.ns as f64)
                )));
            }
            rest(pause);
            spent += pause;
            pause = (pause * 2).min(PAUSES[1]);
        }
    }
}

impl Probe {
    fn of(run: &Run) -> Option<Self> {
        let ns = run.record.answered.latency().max_ns()?;
        Some(Self { ns, expected: run.record.unexpected == 0 })
    }

    fn is_like(self, usual: Self) -> bool {
        self.ns <= usual.ns * TIMES + SPARE_NS && (self.expected || !usual.expected)
    }
}

/// How long it is waited for a target at most.
pub(crate) fn longest_wait(stage_ns: u64) -> Duration {
    AT_LEAST.max(Duration::from_nanos(stage_ns.saturating_mul(LONGEST_STAGE)))
}

/// A single request, as those of a stage are made.
pub(crate) fn single(stage: &LoadSpec) -> LoadSpec {
    let mut load = stage.clone();
    let timeout_ns = load.limits.timeout_ns.min(PROBE_NS.max(load.limits.duration_ns.unwrap_or(0)));
    load.shape = Shape::Closed { connections: Some(1) };
    load.in_flight = 1;
    load.limits.requests = Some(1);
    load.limits.duration_ns = None;
    load.limits.warmup_ns = 0;
    load.limits.timeout_ns = timeout_ns;
    load.connections.ramp_ns = 0;
    load.workers.threads = None;
    load.keep_every_request = false;
    load.monitored = false;
    load
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests of which each takes 1 ms, with a status as its number says; `None` has no response.
    fn probes(expected: impl Fn(u64) -> Option<bool>) -> impl FnMut() -> Result<Run, Failure> {
        let mut number = 0;
        move || {
            let mut run = ablaze_model::by_hand::run();
            run.record.answered.total.clear();
            run.record.unexpected = 0;
            if let Some(expected) = expected(number) {
                run.record.answered.total.record(1_000_000);
                run.record.unexpected = u64::from(!expected);
            }
            number += 1;
            Ok(run)
        }
    }

    fn waited(recovery: &Recovery, expected: impl Fn(u64) -> Option<bool>) -> Option<String> {
        let waited = recovery.wait(100.0, Duration::from_secs(10), |_| {}, &mut probes(expected));
        match waited.unwrap_or_else(|_| panic!("interrupted")) {
            Waited::Recovered => None,
            Waited::InVain(why) => Some(why),
        }
    }

    fn learnt(expected: impl Fn(u64) -> Option<bool>) -> Recovery {
        let mut recovery = Recovery::default();
        assert!(recovery.learn(&mut probes(expected)).is_ok());
        recovery
    }

    /// A journey whose steps fail now and then at any rate: the load is not why, and waiting does not help.
    #[test]
    fn errors_that_were_there_before_any_load_are_no_lack_of_recovery() {
        let each_third = |number: u64| Some(!number.is_multiple_of(3));
        assert_eq!(waited(&learnt(each_third), each_third), None);
        // Where the first few were as expected, too.
        let later = learnt(|number| Some(number < 9 || !number.is_multiple_of(3)));
        assert_eq!(waited(&later, each_third), None);
        let no_response = |number: u64| (!number.is_multiple_of(3)).then_some(true);
        assert_eq!(waited(&learnt(no_response), no_response), None);
        let why = waited(&learnt(|_| Some(true)), each_third).unwrap();
        assert!(
            why.contains("had an unexpected status; before the first stage, none had"),
            "{why}"
        );
    }
}
