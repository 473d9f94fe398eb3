//! A run in whose last moments nothing came back, although requests were on their way: what they waited for is not known,
//! as the run ended first, and their times are in no figure.

use ablaze_model::Run;

use super::{FEWEST_USUAL, HERE, filled, gravity, is_idle, pauses};
use crate::DiagnosisId::{D07, D13, D23};
use crate::diagnosis::d02_no_response::{self, STOPPED};
use crate::finding::Finding;
use crate::live::figures::{elapsed_s, in_flight, server_stopped};
use crate::words::{amount, counted, grouped, percent, time};

/// A shorter silence is no stall.
const PAUSE_NS: u64 = 200_000_000;
/// The silence is longer than any response took, by this factor: else those in flight may be slow ones.
const LONGER: f64 = 2.0;
/// Less than this share of the requests that are in flight on average is not everything.
const OF_THOSE_IN_FLIGHT: f64 = 0.5;

/// Requests `finished` in each slice.
pub(super) fn found(run: &Run, finished: &[u64]) -> Option<Finding> {
    let (record, slices) = (&run.record, &run.record.slices);
    let last = finished.iter().rposition(|number| *number > 0)?;
    let from_ns = (last + 1) as u64 * slices.slice_ns;
    let silent_ns = run.elapsed_ns.checked_sub(from_ns)?;
    let silent_s = silent_ns as f64 / 1e9;
    let per_s = record.responses as f64 / (elapsed_s(run) - silent_s);
    let in_flight_at_end = record.unfinished.saturating_sub(record.never_sent);
    let longest_ns = record.answered.latency().max_ns()?;
    let failed_meanwhile = slices.slices[last + 1..].iter().any(|slice| slice.failures > 0);
    if silent_ns < PAUSE_NS
        || (silent_ns as f64) < longest_ns as f64 * LONGER
        || per_s * silent_s < FEWEST_USUAL as f64
        || in_flight_at_end == 0
        || (in_flight_at_end as f64) < in_flight(run)? * OF_THOSE_IN_FLIGHT
        // With no request left to send, fewer responses are to come.
        || record.drain_ns.is_some()
        || run.was_paused_between(from_ns, run.elapsed_ns)
        || is_idle(run, from_ns, run.elapsed_ns)
        || failed_meanwhile
        // Responses that stopped in the middle hold their places (D29).
        || record.stopped.unfinished * 2 >= in_flight_at_end
        || d02_no_response::is_silent(run)
    {
        return None;
    }
    let share = silent_s / elapsed_s(run);
    let never_sent = match record.never_sent {
        0 => String::new(),
        count => format!(", and {} that were due were not sent", grouped(count)),
    };
    let stopped = server_stopped(run);
    let evidence = format!(
        "No response came in at least the last {} of the run ({}), and until then about {}/s. {} in flight at the end{never_sent}; all \
         responses that came took at most {}.{}",
        time(silent_s * 1e3),
        percent(share),
        amount(per_s),
        match in_flight_at_end {
            1 => "1 request was".to_owned(),
            more => format!("{} were", counted(more, "request")),
        },
        time(longest_ns as f64 / 1e6),
        stopped.as_ref().map_or(String::new(), |stopped| format!(" {}", stopped.said))
    );
    let covered = pauses::own(run, silent_s).is_some_and(|own| own.cover(silent_s, silent_s));
    let is_stopped = stopped.is_some_and(|stopped| stopped.all_lasted(silent_s));
    let silent_slices = (silent_ns / slices.slice_ns.max(1)) as usize;
    if !is_stopped && !covered && filled::as_ever(run, silent_slices) {
        // They have findings of their own (D02, D29), and no more is known.
        return None;
    }
    let (cause, fix) = match (is_stopped, covered, in_flight_at_end) {
        (true, _, _) => STOPPED,
        (false, true, _) => HERE,
        (false, false, 1) => (
            "The run ended before a response came. The server may not respond to that request at all, or have stopped; \
             its time is in no figure.",
            LONGER_RUN,
        ),
        (false, false, _) if filled::perhaps(run) => (
            "The run ended before it was over: a server, a machine or a network that stood still for a moment, a server that \
             stopped for good, and requests that each got no answer until they held all places look the same. The times of \
             the requests that waited are in no figure.",
            LONGER_RUN,
        ),
        (false, false, _) => (
            "The run ended before it was over: a server, a machine or a network that stood still for a moment, and a \
             server that stopped for good, look the same. The times of the requests that waited are in no figure.",
            LONGER_RUN,
        ),
    };
    let finding = Finding::new(D07, gravity(share), evidence, cause, fix);
    let finding = if covered { finding } else { finding.not_explained_by(D23) };
    Some(finding.not_explained_by(D13))
}

const LONGER_RUN: &str = "See in the server's log what it did at that time, and measure again, for longer: the times then have a pause in them, \
                          and a server that stays silent is told as one that does not respond.";

#[cfg(test)]
mod tests {
    use ablaze_model::FailureKind;
    use ablaze_model::monitor::{Gap, Heartbeat};
    use ablaze_model::record::{Silent, Slice};

    use super::super::on_run;
    use super::*;
    use crate::finding::Severity;
    use crate::live::sample;

    /// Ten seconds of 100 connections at 2,000/s, with nothing in the last slices of 100 ms.
    fn silent_for(slices: usize) -> Run {
        let mut run = sample::run();
        let all = &mut run.record.slices.slices;
        let from = all.len() - slices;
        all[from..].fill(Slice::default());
        run.record.unfinished = 100;
        run
    }

    #[test]
    fn a_silence_at_the_end_is_found_and_has_no_cause() {
        let found = on_run(&silent_for(5)).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        let said = &found.evidence;
        assert!(
            said.starts_with("No response came in at least the last 500 ms of the run (5.0 %)"),
            "{said}"
        );
        assert!(said.contains("100 requests were in flight at the end"), "{said}");
        assert!(found.cause.contains("look the same"), "{found:?}");
        // A slice may be empty because the run ended in the middle of it.
        assert_eq!(on_run(&silent_for(1)), None);
        assert_eq!(on_run(&silent_for(0)), None);
        let mut run = silent_for(5);
        sample::open_loop(&mut run, 2_000.0);
        (run.record.unfinished, run.record.never_sent) = (1_000, 900);
        let said = on_run(&run).unwrap().evidence;
        assert!(
            said.contains(
                "100 requests were in flight at the end, and 900 that were due were not sent"
            ),
            "{said}"
        );
    }

    #[test]
    fn what_may_be_slow_or_is_told_otherwise_is_no_stall() {
        // As slow as others were.
        let mut run = silent_for(5);
        run.record.answered.total.record(300_000_000);
        run.record.answered.processing.record(300_000_000);
        assert_eq!(on_run(&run), None);
        // Nothing was left to send.
        let mut run = silent_for(5);
        run.record.drain_ns = Some(0);
        assert_eq!(on_run(&run), None);
        // D02 has it.
        let mut run = silent_for(20);
        run.record.silent = Silent { count: 100, longest_ns: 2_000_000_000, ..Silent::default() };
        assert_eq!(on_run(&run), None);
        // Responses that stopped partway hold all places.
        let mut run = silent_for(5);
        run.record.stopped.unfinished = 100;
        assert_eq!(on_run(&run), None);
        // Its requests failed.
        let mut run = silent_for(5);
        run.record.slices.slices[98].failures = 100;
        assert_eq!(on_run(&run), None);
        // Users who think.
        let mut run = silent_for(5);
        run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns);
        run.record.unfinished = 3;
        assert_eq!(on_run(&run), None);
    }

    /// Ten connections, and of 1,125 requests 20 got nothing for 1.1 s: all places were in such a one nearly all the time.
    #[test]
    fn places_that_requests_without_an_answer_fill_one_by_one_do_not_stand_still() {
        let mut run = sample::run();
        run.elapsed_ns = 2_500_000_000;
        run.plan.load = ablaze_model::plan::Load::Closed { connections: 10, pipeline: 1 };
        run.plan.limits.timeout_ns = 1_100_000_000;
        let record = &mut run.record;
        (record.responses, record.unfinished) = (1_105, 10);
        record.in_flight_ns = 10 * u128::from(run.elapsed_ns);
        record.answered.total.clear();
        record.answered.total.record_many(200_000, 1_105);
        record.failed.total.record_many(1_100_000_000, 20);
        record.failures[FailureKind::Timeout as usize] = 20;
        record.slices.slices = vec![Slice::default(); 25];
        for at in [0, 11, 22] {
            record.slices.slices[at].responses = 368;
        }
        for at in [11, 22] {
            record.slices.slices[at].failures = 10;
        }
        assert_eq!(on_run(&run), None);
        // None did before: that all places are held one by one is still not excluded, and no moment is known to be over.
        run.record.failures[FailureKind::Timeout as usize] = 0;
        run.record.failed.total.clear();
        run.record.slices.slices[..23].fill(Slice { responses: 48, ..Slice::default() });
        let found = on_run(&run).unwrap();
        assert!(found.cause.contains("requests that each got no answer until"), "{found:?}");
        // Ten of 100 places are in use: what was due was sent, and did not come back either.
        sample::open_loop(&mut run, 480.0);
        assert!(!on_run(&run).unwrap().cause.contains("each got no answer"));
    }

    #[test]
    fn a_pause_of_this_machine_explains_it() {
        let mut run = silent_for(5);
        let gap = Gap { at_clock_ns: 9_500_000_000, length_ns: 490_000_000, waited_ns: None };
        let heartbeat = Heartbeat {
            beats: 900,
            gaps_ns: gap.length_ns,
            longest: vec![gap],
            ..Heartbeat::default()
        };
        sample::monitor(&mut run).heartbeat = Some(heartbeat);
        assert_eq!(on_run(&run).unwrap().cause, HERE.0);
    }
}
