//! A run in the middle of which hardly anything finished for a while: a twentieth, or less, of what finishes in the same time
//! before and behind it. No cause is stated: a server that stands still again and again, one that gets through one request at a
//! time, and requests that all are slow at that time look the same from here.

use ablaze_model::Run;

use super::{FEWEST_USUAL, chance, gravity, in_a_row, is_idle};
use crate::DiagnosisId::{D07, D13, D23};
use crate::finding::Finding;
use crate::live::figures::{asked_in_flight, elapsed_s, in_flight};
use crate::live::options::{Opt, spelled};
use crate::words::{amount, counted, grouped, listed, percent, time};

/// Slices in which no more than this share of the usual number finished.
const HARDLY: f64 = 0.05;
/// One behind the other, so that they are no moment.
const FEWEST_SLICES: usize = 5;
/// As many on either side, in which at least this share of the usual number finished, show that it was over.
const AS_USUAL: f64 = 0.5;
/// Connections that wait for slow responses in step finish all at once: here no more than this share of the places in a slice.
const TOGETHER: f64 = 0.4;
/// So many are named.
const NAMED: usize = 3;

/// Requests `finished` in each slice.
pub(super) fn found(run: &Run, finished: &[u64]) -> Option<Finding> {
    let slices = &run.record.slices;
    let usual = usual(finished)?;
    let found: Vec<(usize, usize)> = stretches(finished, usual)
        .into_iter()
        .filter(|stretch| is_between(finished, *stretch, usual) && was_asked_for(run, *stretch))
        .filter(|stretch| !goes_on_slowly(run, finished, *stretch))
        .collect();
    let all: usize = found.iter().map(|(_, length)| length).sum();
    if all == 0 || chance::explains(run, &found) {
        return None;
    }
    let meanwhile: u64 = found.iter().map(|(at, length)| sum(finished, *at, *length)).sum();
    let slice_s = slices.slice_ns as f64 / 1e9;
    let share = all as f64 * slice_s / elapsed_s(run);
    let named = found.iter().take(NAMED).map(|(at, length)| {
        format!(
            "{} starting at {} s",
            time(*length as f64 * slice_s * 1e3),
            amount(*at as f64 * slice_s)
        )
    });
    let more = match found.len().saturating_sub(NAMED) as u64 {
        0 => String::new(),
        more => format!(", and {} more", counted(more, "time")),
    };
    let evidence = format!(
        "Hardly any request finished for {}{more}: {} in all that time, with {} requests in flight on average over the run; before it \
         and later again {} or more finished per {} ms. That is {} of the run.",
        listed(named),
        grouped(meanwhile),
        amount(in_flight(run)?),
        grouped((usual as f64 * AS_USUAL).ceil() as u64),
        slices.slice_ns / 1_000_000,
        percent(share),
    );
    let cause = "Something held up nearly all requests for that time, and the rate is a mean of it and of the rest. What it was this \
                 run does not show: a server, a machine or a network that stands still again and again, a lock that lets one \
                 request through at a time, and requests that are all slow at that time look the same.";
    let fix = format!(
        "See in the server's log what it did at that time. Run it again, for longer, to see whether it comes back; at a rate ({}) \
         what is sent meanwhile shows whether all requests wait or some.",
        spelled(run, Opt::Rate)
    );
    let finding = Finding::new(D07, gravity(share), evidence, cause, fix);
    // A share of the whole run says nothing of that time.
    Some(finding.not_explained_by(D13).not_explained_by(D23))
}

/// How many a usual slice has: hardly anything may finish for more than half of the run, but a quarter is as usual.
fn usual(finished: &[u64]) -> Option<u64> {
    let mut usual = finished.to_vec();
    usual.sort_unstable();
    usual.get(usual.len() * 3 / 4).copied().filter(|usual| *usual >= FEWEST_USUAL)
}

/// Where hardly anything finished: begin and length.
fn stretches(finished: &[u64], usual: u64) -> Vec<(usize, usize)> {
    let most = (usual as f64 * HARDLY) as u64;
    let mut found = in_a_row((0..finished.len()).filter(|at| finished[*at] <= most));
    // Where nothing finished at all, it is judged as a stall.
    found.retain(|(at, length)| *length >= FEWEST_SLICES && sum(finished, *at, *length) > 0);
    found
}

/// Whether as much as usual came both before and behind it. It may take a while until it does again: what waited in a queue
/// comes back first.
fn is_between(finished: &[u64], (at, length): (usize, usize), usual: u64) -> bool {
    let least = usual as f64 * AS_USUAL;
    let [before, behind] = [&finished[..at], &finished[at + length..]];
    [before, behind]
        .into_iter()
        .all(|side| side.iter().filter(|number| **number as f64 >= least).count() >= FEWEST_SLICES)
}

/// Whether as much was asked for as ever, and nothing failed meanwhile: what fails has findings of its own.
fn was_asked_for(run: &Run, (at, length): (usize, usize)) -> bool {
    let slices = &run.record.slices;
    let (from_ns, to_ns) = (at as u64 * slices.slice_ns, (at + length) as u64 * slices.slice_ns);
    let failed = slices.slices[at..].iter().take(length + 1).any(|slice| slice.failures > 0);
    !failed && !run.was_paused_between(from_ns, to_ns) && !is_idle(run, from_ns, to_ns)
}

/// Whether many places at once got through requests that are slow, one behind the other. The first and the last slice are in
/// part as usual.
fn goes_on_slowly(run: &Run, finished: &[u64], (at, length): (usize, usize)) -> bool {
    let inner = &finished[at + 1..at + length - 1];
    let most = inner.iter().max().copied().unwrap_or(0);
    asked_in_flight(run).is_some_and(|places| most as f64 > places as f64 * TOGETHER)
}

fn sum(finished: &[u64], at: usize, length: usize) -> u64 {
    finished[at..].iter().take(length).sum()
}

#[cfg(test)]
mod tests {
    use ablaze_model::record::Slice;

    use super::super::on_run;
    use super::*;
    use crate::finding::Severity;
    use crate::live::sample;

    /// Ten seconds of 100 connections at 2,000/s, in which `count` came back in each of these slices.
    fn with(slices: std::ops::Range<usize>, count: u64) -> Run {
        let mut run = sample::run();
        run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns);
        run.record.slices.slices[slices].fill(Slice { responses: count, ..Slice::default() });
        run
    }

    #[test]
    fn hardly_anything_for_seconds_is_told_without_a_cause() {
        // One response per 90 ms.
        let found = on_run(&with(30..50, 1)).unwrap();
        assert_eq!((found.id, found.severity), (D07, Severity::Suspect));
        let said = "for 2.00 s starting at 3.00 s: 20 in all that time";
        assert!(found.evidence.contains(said), "{found:?}");
        assert!(
            found.evidence.contains("before it and later again 100 or more finished per 100 ms"),
            "{found:?}"
        );
        // For more than half of the run.
        assert!(on_run(&with(20..80, 1)).is_some());
        assert!(found.cause.contains("this run does not show"), "{found:?}");
        let mut some_empty = with(30..50, 1);
        some_empty.record.slices.slices[33] = Slice::default();
        assert!(on_run(&some_empty).unwrap().evidence.contains("19 in all that time"));
    }

    #[test]
    fn a_moment_half_the_rate_and_a_run_that_began_or_ended_so_are_not_told() {
        assert_eq!(on_run(&with(30..34, 1)), None);
        assert_eq!(on_run(&with(30..50, 100)), None);
        assert_eq!(on_run(&with(0..20, 1)), None);
        assert_eq!(on_run(&with(80..100, 1)), None);
        let mut failed = with(30..50, 1);
        failed.record.slices.slices[35].failures = 3;
        assert_eq!(on_run(&failed), None);
    }

    #[test]
    fn requests_that_are_slow_by_chance_at_the_same_time_are_not_told() {
        // Two places, and most of their time in requests of a second.
        let mut run = with(30..36, 1);
        run.plan.load = ablaze_model::plan::Load::Closed { connections: 2, pipeline: 1 };
        run.record.in_flight_ns = 2 * u128::from(run.elapsed_ns);
        run.record.answered.total.record_many(1_000_000_000, 15);
        assert_eq!(on_run(&run), None);
    }
}
