//! Closed loops whose places wait for the time limit again and again: few requests, as each takes so long, and much of the
//! time in flight. The rate is that of the other places, and depends on the limit.

use ablaze_model::record::Stopped;
use ablaze_model::{FailureKind, Run};

use super::stopped::{self, STOPPED};
use super::{fix, opening, over_quic, queued, through, windows};
use crate::DiagnosisId::D02;
use crate::finding::{Finding, Severity};
use crate::live::figures::asked_in_flight;
use crate::words::{counted, percent, time};

/// Less of the time is that of single requests.
pub(super) const NOTICED: f64 = 0.05;

/// Times that add up to more than this share of what was in flight were not measured.
const CONTRADICTION: f64 = 1.05;

const NOT_COMPLETED: &str = "The server did not complete these responses within the time limit: the rate is that of the other \
                             places, and changes with the limit.";

/// The share of the time of all places of a closed loop that requests without a valid response took, if most of those that
/// failed are among these `told` ones: what else failed has findings of its own.
///
/// The time of all places is that of the whole run, also where a place had no request left to send: beside the last request
/// of a run of so many requests, all others are empty for as long as it takes.
pub(super) fn share_of_time(run: &Run, told: u64) -> Option<f64> {
    let record = &run.record;
    if run.plan.load.is_open() || record.in_flight_ns == 0 || told * 2 <= record.failures_total() {
        return None;
    }
    let failed_ns = record.failed.total.sum_ns() as f64;
    let in_flight_ns = record.in_flight_ns as f64;
    // More than all of it is a contradiction (D01).
    if failed_ns > CONTRADICTION * in_flight_ns {
        return None;
    }
    let places = asked_in_flight(run).unwrap_or(0) as f64;
    let of_all_ns = (places * run.elapsed_ns as f64).max(in_flight_ns);
    Some(((failed_ns + still_silent_ns(run)) / of_all_ns).min(1.0))
}

/// For how long the requests had waited that were in flight when the run ended, if the oldest had for longer than responses take.
pub(super) fn still_silent_ns(run: &Run) -> f64 {
    let record = &run.record;
    let longest_answered_ns = record.answered.total.max_ns().unwrap_or(0);
    if record.unfinished == 0
        || record.unfinished_oldest_ns <= longest_answered_ns.saturating_mul(2)
    {
        return 0.0;
    }
    let ended_ns = record.answered.total.sum_ns() as f64 + record.failed.total.sum_ns() as f64;
    (record.in_flight_ns as f64 - ended_ns).max(0.0)
}

/// Few of the requests timed out, and held much of the time.
/// What stopped partway (`stuck`) or waited for a stream is not counted: more is known of it than the limit.
pub(super) fn held(run: &Run, stuck: &Stopped) -> Option<Finding> {
    let timeouts = run.record.failures_of(FailureKind::Timeout);
    let told_elsewhere =
        super::d29_stuck_connection::timed_out(stuck) + run.record.without_stream().timed_out;
    let share = share_of_time(run, timeouts.saturating_sub(told_elsewhere))
        .filter(|share| *share >= NOTICED)?;
    let longest_ns = run.record.failed.total.max_ns()?;
    let mut evidence = format!(
        "{} timed out, after up to {}: {} of the time of all places was that of {}.",
        counted(timeouts, "request"),
        time(longest_ns as f64 / 1e6),
        percent(share),
        match still_silent_ns(run) {
            0.0 => "failed requests",
            _ => "failed requests and of those that still waited at the end",
        }
    );
    let severity = if share >= super::MOST { Severity::Invalid } else { Severity::Suspect };
    if stopped::is_why(run, stopped::of_timeouts_s(run), &mut evidence) {
        return Some(Finding::new(D02, severity, evidence, STOPPED.0, STOPPED.1));
    }
    if windows::are_why(run, &mut evidence) {
        return Some(Finding::new(D02, severity, evidence, windows::CAUSE, windows::FIX));
    }
    if let Some(silence) = over_quic::silence(run, longest_ns as f64 / 1e9) {
        let evidence = format!("{evidence} {}", silence.evidence);
        return Some(Finding::new(D02, severity, evidence, silence.cause, silence.fix));
    }
    if let Some(queued) = queued::mostly_queued(run, timeouts) {
        let evidence = format!("{evidence} {}", queued.evidence);
        return Some(Finding::new(D02, severity, evidence, queued.cause, queued.fix));
    }
    let unopened = opening::unopened(run);
    if unopened > 0 {
        let cause = opening::of_unopened(run, unopened);
        return Some(Finding::new(D02, severity, evidence, cause, opening::fix(run, unopened)));
    }
    Some(Finding::new(
        D02,
        severity,
        evidence,
        through::of_both(run, NOT_COMPLETED.to_owned()),
        fix(run),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;
    use ablaze_model::record::FirstFailure;

    /// A hundred places, so many of which wait for a second again and again.
    fn with_waiting(places: u64) -> Run {
        let mut run = sample::run();
        run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns);
        let timeouts = places * run.elapsed_ns / 1_000_000_000;
        run.record.failures[FailureKind::Timeout as usize] = timeouts;
        run.record.failed.total.record_many(1_000_000_000, timeouts);
        // Ten of a hundred requests or more are told by their number.
        run.record.responses = 1_000_000;
        run
    }

    #[test]
    fn the_time_limit_of_some_places_makes_the_rate() {
        let severity =
            |places| super::super::on_run(&with_waiting(places)).map(|found| found.severity);
        assert_eq!(severity(4), None);
        assert_eq!(severity(6), Some(Severity::Suspect));
        assert_eq!(severity(70), Some(Severity::Invalid));
        let found = super::super::on_run(&with_waiting(70)).unwrap();
        assert!(
            found.evidence.starts_with("700 requests timed out, after up to 1.00 s: 70 %"),
            "{found:?}"
        );
        // Nobody waits for a place of an open loop.
        let mut run = with_waiting(70);
        sample::open_loop(&mut run, 100_000.0);
        assert_eq!(super::super::on_run(&run), None);
    }

    /// With responses of 50 ms one in ten requests times out, and seven of ten places never had a response.
    #[test]
    fn most_of_the_time_makes_a_rate_invalid_though_most_requests_had_a_response() {
        let mut run = with_waiting(70);
        run.record.responses = 6_000;
        let found = super::super::on_run(&run).unwrap();
        assert_eq!(found.severity, Severity::Invalid);
        assert!(found.evidence.contains("70 % of the time of all places"), "{found:?}");
    }

    /// Behind the last of a run of so many requests, 99 places have nothing to send for as long as it takes.
    #[test]
    fn places_without_a_request_left_count_as_time_too() {
        let mut run = with_waiting(0);
        let last_ns = run.elapsed_ns * 9 / 10;
        run.plan.limits.requests = Some(run.record.responses + 1);
        run.record.failures[FailureKind::Timeout as usize] = 1;
        run.record.failed.total.record(last_ns);
        run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns / 10) + u128::from(last_ns);
        // 0.9 of the 100 times 1.0 that places had, not of the 10.9 in which something was in flight.
        let share = share_of_time(&run, 1).unwrap();
        assert!((share - 0.009).abs() < 1e-6, "{share}");
        assert_eq!(super::super::on_run(&run), None);
    }

    /// Nine of ten places wait twice: once until the limit, and again when the run ends.
    #[test]
    fn requests_that_still_wait_at_the_end_are_time_without_a_response() {
        let mut run = with_waiting(0);
        run.plan.load = ablaze_model::plan::Load::Closed { connections: 10, pipeline: 1 };
        let half_ns = run.elapsed_ns / 2;
        run.record.failures[FailureKind::Timeout as usize] = 9;
        run.record.failed.total.record_many(half_ns, 9);
        run.record.unfinished = 10;
        run.record.unfinished_oldest_ns = half_ns;
        run.record.answered.total = ablaze_stats::Latency::new(3);
        run.record.answered.total.record_many(1_000_000, run.elapsed_ns / 1_000_000);
        run.record.in_flight_ns = 10 * u128::from(run.elapsed_ns);
        let share = share_of_time(&run, 9).unwrap();
        assert!((share - 0.9).abs() < 1e-3, "{share}");
        let found = super::super::on_run(&run).unwrap();
        assert_eq!(found.severity, Severity::Invalid);
        assert!(found.evidence.contains("that still waited at the end"), "{found:?}");
    }

    /// Six of ten connections are dropped by a firewall; the others are used again and again.
    #[test]
    fn requests_for_which_no_connection_opened_were_not_sent() {
        let mut run = with_waiting(70);
        run.record.connections_opened = 30;
        let first =
            FirstFailure { at_ns: 1, kind: FailureKind::Timeout, errno: 0, connecting: true };
        run.record.first_failure = Some(first);
        let found = held(&run, &Stopped::default()).unwrap();
        assert!(found.cause.starts_with("At least 670 of the requests"), "{found:?}");
        assert!(found.cause.contains("dropped on the way"), "{found:?}");
        assert!(!found.fix.contains("log"), "{found:?}");
        run.plan.target.unix_socket = Some("/run/there".into());
        let found = held(&run, &Stopped::default()).unwrap();
        assert!(!format!("{} {}", found.cause, found.fix).contains("syn-sent"), "{found:?}");
        assert!(!found.cause.contains("packets"), "{found:?}");
    }

    #[test]
    fn connections_that_nobody_accepts_are_named() {
        let mut run = with_waiting(70);
        sample::monitor(&mut run).target.listener.as_mut().unwrap().waiting = Some(70);
        assert!(held(&run, &Stopped::default()).unwrap().cause.contains("had not accepted"));
    }
}
