//! A server that was away for a part of the run: nothing but failures for a while, responses before or after it, and
//! responses again. To fail takes no time, so a closed loop has few failures in all that while.

use ablaze_model::record::Slice;
use ablaze_model::{FailureKind, Run};

use super::causes;
use super::gone::gone;
use super::silent::places;
use crate::DiagnosisId::D02;
use crate::finding::{Finding, Severity};
use crate::live::figures::{self, elapsed_s, weighed_s};
use crate::words::{counted, listed, percent, time};

/// So many responses would have come in it at the rate of the rest of the run: fewer may be chance.
const FEWEST_MISSED: f64 = 20.0;
/// And in each part without a response, of several, so many.
const FEWEST_MISSED_AT_ONCE: f64 = 10.0;
/// It is longer than any response took, by this factor: else it may be a slow one.
const LONGER: f64 = 2.0;
/// A smaller share of the run makes no figure wrong by more than runs differ.
const LITTLE: f64 = 0.01;
/// So many times are named.
const NAMED: usize = 3;

/// Parts of the run in which requests failed and no response came.
pub(super) struct Away {
    /// From when to when each was, in seconds.
    times: Vec<(f64, f64)>,
    lost_s: f64,
    share: f64,
    failed: u64,
    /// The kinds of all failures of the run.
    kinds: Vec<(FailureKind, u64)>,
    /// The last of these times is the end of the run.
    to_the_end: bool,
}

/// When the server was away, if it was and came back: with the end of the run, where it was away then once more.
pub(super) fn away(run: &Run) -> Option<Away> {
    let mut away = came_back(run)?;
    if let Some(gone) = gone(run) {
        away.times.push((gone.from_s, gone.ended_s));
        away.lost_s += gone.silent_s;
        away.share = away.lost_s / elapsed_s(run);
        away.failed += gone.failed;
        away.to_the_end = true;
    }
    Some(away)
}

fn came_back(run: &Run) -> Option<Away> {
    let slices = &run.record.slices;
    let slice_s = slices.slice_ns as f64 / 1e9;
    let longest_s = run.record.answered.latency().max_ns()? as f64 / 1e9;
    let mut parts: Vec<(usize, usize)> = silences(&slices.slices)
        .into_iter()
        .filter(|(from, to)| (to - from) as f64 * slice_s > LONGER * longest_s)
        .filter(|(from, to)| {
            let from_to_ns = (*from as u64 * slices.slice_ns, *to as u64 * slices.slice_ns);
            !run.was_paused_between(from_to_ns.0, from_to_ns.1)
        })
        .collect();
    let of_s = elapsed_s(run);
    // Little of the run is lost where little was due.
    let weighed = |(from, to): &(usize, usize)| {
        weighed_s(run, *from as u64 * slices.slice_ns, *to as u64 * slices.slice_ns)
    };
    let in_parts_s: f64 = parts.iter().map(weighed).sum();
    let per_s = run.record.responses as f64 / (of_s - in_parts_s).max(slice_s);
    // Where few were due, and those failed, nothing else was asked of the server.
    parts.retain(|part| per_s * weighed(part) >= FEWEST_MISSED_AT_ONCE);
    let lost_s = parts.iter().map(|(from, to)| (to - from) as f64).sum::<f64>() * slice_s;
    let missed_s: f64 = parts.iter().map(weighed).sum();
    if parts.is_empty() || per_s * missed_s < FEWEST_MISSED || lost_s < LITTLE * of_s {
        return None;
    }
    let failures = |(from, to): &(usize, usize)| -> u64 {
        slices.slices[*from..*to].iter().map(|slice| slice.failures).sum()
    };
    let failed: u64 = parts.iter().map(failures).sum();
    let kinds = FailureKind::ALL.into_iter().map(|kind| (kind, run.record.failures_of(kind)));
    let kinds: Vec<_> = kinds.filter(|(_, count)| *count > 0).collect();
    // Who waited for a time limit in vain is told of by its length (D07), and by the time that it took.
    let timeouts = run.record.failures_of(FailureKind::Timeout);
    if timeouts * 2 > run.record.failures_total() || super::are_of_this_machine(run) {
        return None;
    }
    let in_s = |at: usize| at as f64 * slice_s;
    let times = parts.iter().map(|(from, to)| (in_s(*from), in_s(*to))).collect();
    Some(Away { times, lost_s, share: lost_s / of_s, failed, kinds, to_the_end: false })
}

/// No response for a part of the run, and failures in it.
pub(super) fn found(run: &Run) -> Option<Finding> {
    let away = away(run)?;
    let is_nobody = |(kind, _): &(FailureKind, u64)| {
        matches!(
            kind,
            FailureKind::Refused | FailureKind::Reset | FailureKind::ClosedWithoutResponse
        )
    };
    let refused = run.record.failures_of(FailureKind::Refused);
    // Each place has one connection that breaks when the server ends. What is reset more often was accepted before.
    let broke = run.record.failures_total() - refused;
    let nobody = refused > 0
        && away.kinds.iter().all(is_nobody)
        && broke <= places(run) * away.times.len() as u64;
    let cause = match figures::server_ended(run) {
        true if nobody && away.to_the_end => {
            "The server's process ended, and nothing listened there until another one did; at the end none did."
        }
        true if nobody => {
            "The server's process ended, and nothing listened there until another one did."
        }
        false if nobody && away.to_the_end => {
            "Nothing listened there for these times (the server ended or closed its listening socket, one listened again, and \
             at the end none did), or something in front of it rejected connections."
        }
        false if nobody => {
            "Nothing listened there for that time (the server ended or closed its listening socket, and one listened \
             again), or something in front of it rejected connections."
        }
        _ if away.to_the_end => {
            "The server, or something in front of it, did not respond for these times."
        }
        _ => "The server, or something in front of it, did not respond for that time.",
    };
    let fix = "See in the server's log what happened then, and measure again: the rate is that of the whole run, this \
               time included, and the percentiles are without it.";
    Some(Finding::new(D02, away.severity(), away.evidence(), cause, fix))
}

impl Away {
    pub(super) fn severity(&self) -> Severity {
        if self.share > super::MOST { Severity::Invalid } else { Severity::Suspect }
    }

    /// As a sentence.
    pub(super) fn evidence(&self) -> String {
        let named = self.times.iter().take(NAMED).map(|(from_s, to_s)| match *from_s {
            0.0 => format!("until {}", time(to_s * 1e3)),
            from_s => format!("from {} to {}", time(from_s * 1e3), time(to_s * 1e3)),
        });
        let more = match self.times.len().saturating_sub(NAMED) as u64 {
            0 => String::new(),
            more => format!(", and {} more", counted(more, "time")),
        };
        let end = if self.to_the_end { ", the last time until the run ended" } else { "" };
        let kinds = causes::by_kind(&self.kinds);
        format!(
            "No response came {}{more}{end}: at least {} of the run ({}), in which {} failed. Failures of the whole run: {kinds}.",
            listed(named),
            percent(self.share),
            time(self.lost_s * 1e3),
            counted(self.failed, "request")
        )
    }
}

/// Slices in a row without a response and with failures, as the first of them and the one behind: not the last of the run.
fn silences(slices: &[Slice]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut began = None;
    for (at, slice) in slices.iter().enumerate() {
        match (slice.responses, began) {
            (0, None) => began = Some(at),
            (0, Some(_)) => {}
            (_, Some(from)) => {
                if slices[from..at].iter().any(|slice| slice.failures > 0) {
                    found.push((from, at));
                }
                began = None;
            }
            (_, None) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::on_run;
    use super::*;
    use crate::live::sample;
    use ablaze_model::plan::Load;

    /// Away from slice to slice, with one refused connection in each.
    fn without(from: usize, to: usize) -> Run {
        let mut run = sample::run();
        for slice in &mut run.record.slices.slices[from..to] {
            *slice = Slice { failures: 1, ..Default::default() };
        }
        run.record.failures[FailureKind::Refused as usize] = (to - from) as u64;
        run
    }

    #[test]
    fn a_server_that_comes_back_was_away_though_few_requests_failed() {
        let found = on_run(&without(30, 60)).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        assert!(
            found.evidence.starts_with(
                "No response came from 3.00 s to 6.00 s: at least 30 % of the run (3.00 s), in which 30 requests failed."
            ),
            "{}",
            found.evidence
        );
        assert!(found.cause.contains("Nothing listened there for that time"), "{}", found.cause);
        assert_eq!(on_run(&without(30, 90)).unwrap().severity, Severity::Invalid);
        // At the start it is the same.
        let found = on_run(&without(0, 30)).unwrap();
        assert!(
            found.evidence.starts_with("No response came until 3.00 s: at least 30 %"),
            "{found:?}"
        );
    }

    /// Killed and started again, and killed once more before the end.
    #[test]
    fn a_server_that_is_away_at_the_end_as_well_was_away_all_these_times() {
        let mut run = without(20, 45);
        for slice in &mut run.record.slices.slices[70..] {
            *slice = Slice { failures: 1, ..Default::default() };
        }
        run.record.failures[FailureKind::Refused as usize] = 51;
        run.record.failures[FailureKind::Reset as usize] = 4;
        let check = |run: &Run| {
            let found = on_run(run).unwrap();
            let said = "No response came from 2.00 s to 4.50 s and from 7.00 s to 10.0 s, the last time until the run ended: at \
                        least 55 % of the run (5.50 s), in which 55 requests failed. Failures of the whole run: 51 refused and 4 \
                        reset.";
            assert!(found.evidence.starts_with(said), "{found:?}");
            assert!(!found.evidence.contains("at the latest"), "{found:?}");
            assert_eq!(found.severity, Severity::Invalid);
            found
        };
        let found = check(&run);
        assert!(found.cause.contains("and at the end none did"), "{found:?}");
        sample::monitor(&mut run).target.processes[0].ended = true;
        assert!(check(&run).cause.starts_with("The server's process ended"));
        // More than one in a hundred requests.
        run.record.responses = 1_500;
        check(&run);
    }

    /// At 5/s one request is due in three slices, and each third one is dropped.
    #[test]
    fn slices_in_which_one_request_was_due_are_no_absence() {
        let mut run = sample::run();
        sample::open_loop(&mut run, 5.0);
        for (at, slice) in run.record.slices.slices.iter_mut().enumerate() {
            *slice = match at % 6 {
                0 | 2 => Slice { responses: 1, ..Slice::default() },
                4 => Slice { failures: 1, ..Slice::default() },
                _ => Slice::default(),
            };
        }
        run.record.responses = 34;
        run.record.failures[FailureKind::ClosedWithoutResponse as usize] = 16;
        assert!(away(&run).is_none());
    }

    /// While a service starts again, what is in front of it accepts connections and resets them.
    #[test]
    fn who_resets_connections_again_and_again_was_there() {
        let mut run = without(30, 60);
        sample::monitor(&mut run).target.processes[0].ended = true;
        run.record.failures[FailureKind::Reset as usize] = 100;
        assert!(found(&run).unwrap().cause.contains("nothing listened there until"));
        run.record.failures[FailureKind::Reset as usize] = 101;
        let found = found(&run).unwrap();
        assert!(found.cause.starts_with("The server, or something in front of it"), "{found:?}");
    }

    #[test]
    fn a_moment_or_a_silence_in_which_nothing_failed_is_no_absence() {
        assert_eq!(on_run(&without(30, 30)), None);
        // Requests that were slow together.
        let mut run = without(30, 60);
        run.record.slices.slices[30..60].fill(Slice::default());
        assert_eq!(found(&run).map(|found| found.evidence), None);
        // At the foot of a ramp from 0 to 4,000/s 18 requests are due in three slices.
        let mut run = without(0, 3);
        assert!(found(&run).is_some());
        sample::open_loop(&mut run, 1.0);
        let Load::Open { rate, .. } = &mut run.plan.load else { unreachable!("opened above") };
        (rate.from_per_s, rate.to_per_s) = (0.0, 4_000.0);
        run.plan.limits.duration_ns = Some(run.elapsed_ns);
        assert_eq!(found(&run).map(|found| found.evidence), None);
        // A response that took as long was in flight.
        let mut run = without(30, 60);
        run.record.answered.total.record(2_900_000_000);
        assert_eq!(found(&run).map(|found| found.evidence), None);
    }
}
