//! Requests on connections that the server's process had not accepted: the kernel made them, and nobody read from them.

use ablaze_model::Run;

use crate::live::figures::target;
use crate::live::options::{Opt, spelled};
use crate::words::counted;

use super::gone;

/// Shorter than this part of a wait is soon.
const SOON: f64 = 0.25;

/// What the accept queue says of requests that got no response.
pub(super) struct Queued {
    /// What was seen, as a sentence.
    pub evidence: String,
    pub cause: &'static str,
    pub fix: String,
}

/// The same for requests that timed out, or that all waited when the run ended: most of the connections that carry them
/// waited there.
pub(super) fn mostly_queued(run: &Run, unanswered: u64) -> Option<Queued> {
    let connections = u64::from(run.plan.load.connections());
    queued(
        run,
        unanswered.min(connections * u64::from(run.plan.places_per_connection())).div_ceil(2),
    )
}

/// What was seen of the accept queue of a server on this host, if as many connections waited in it as so many requests
/// need, or as many as it holds.
pub(super) fn queued(run: &Run, requests: u64) -> Option<Queued> {
    let listener = target(run)?.listener.as_ref().filter(|_| run.plan.http3.is_none())?;
    let waiting = listener.waiting.filter(|waiting| *waiting > 0)?;
    // Where parts of responses came and no whole one, it is the accepted ones that wait; others were just opened again.
    if run.record.responses == 0 && run.record.received_bytes > 0 {
        return None;
    }
    // Linux lets one more wait than the backlog says; of several sockets each has its own.
    let is_full = listener.sockets == 1 && listener.backlog.is_some_and(|most| waiting > most);
    if passes(run, waiting) {
        return None;
    }
    let needed = requests.div_ceil(u64::from(run.plan.places_per_connection()));
    if waiting < needed && !is_full {
        return None;
    }
    let full = if is_full { ", all that it holds" } else { "" };
    Some(Queued {
        evidence: format!(
            "{} waited in the server's accept queue when it was last looked at{full}.",
            counted(waiting, "connection")
        ),
        cause: "The kernel makes connections and takes requests for a server; its process had not accepted these, and \
                knew nothing of the requests on them. A server that gives each connection a worker of its own accepts \
                no more than it has workers, as long as those stay open.",
        fix: format!(
            "Give the server as many workers as there are connections, or use no more connections ({}) than it has \
             workers; if it has enough, see what keeps it from accepting.",
            spelled(run, Opt::Connections)
        ),
    })
}

/// Whether who waits there is soon accepted: at the rate at which connections were accepted and got a response, the queue is
/// empty within a time much shorter than the wait of those that got none. Where the server fell silent, that rate is the past's.
fn passes(run: &Run, waiting: u64) -> bool {
    let record = &run.record;
    let waited_ns = match record.silent.longest_ns {
        0 => run.plan.limits.timeout_ns.min(run.elapsed_ns),
        longest_ns => longest_ns,
    };
    let kept = u64::from(run.plan.load.connections());
    let replaced = record.connections_opened.saturating_sub(record.failures_total() + kept);
    let drained_ns = waiting as f64 * run.elapsed_ns as f64 / replaced as f64;
    replaced > 0 && drained_ns < waited_ns as f64 * SOON && gone(run).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiagnosisId::D02;
    use crate::live::{judge, sample};
    use ablaze_model::FailureKind;
    use ablaze_model::record::{Record, Silent};

    fn with_waiting(waiting: Option<u64>) -> Run {
        let mut run = sample::run();
        sample::monitor(&mut run).target.listener.as_mut().unwrap().waiting = waiting;
        run
    }

    fn said(run: &Run) -> String {
        let findings = judge(run).findings;
        let found = findings.iter().find(|finding| finding.id == D02).expect("D02");
        format!("{} {} {}", found.evidence, found.cause, found.fix)
    }

    #[test]
    fn connections_that_nobody_accepted_are_told_from_requests_that_nobody_answered() {
        for (waiting, accepted) in
            [(Some(46), false), (Some(45), true), (Some(0), true), (None, true)]
        {
            let mut run = with_waiting(waiting);
            run.record.silent =
                Silent { count: 46, longest_ns: 9_000_000_000, ..Silent::default() };
            let said = said(&run);
            assert_eq!(said.contains("had not accepted"), !accepted, "{waiting:?}: {said}");
            assert_eq!(said.contains("server's log"), accepted, "{waiting:?}: {said}");
        }
    }

    #[test]
    fn timeouts_and_silence_until_the_end_are_those_of_the_queue_too() {
        let mut run = with_waiting(Some(90));
        run.record.failures[FailureKind::Timeout as usize] = 900;
        assert!(said(&run).contains("90 connections waited in the server's accept queue"));
        // Fewer than are in flight: others were accepted, and got no response either.
        let mut run = with_waiting(Some(20));
        run.record.failures[FailureKind::Timeout as usize] = 900;
        assert!(!said(&run).contains("accept queue when"));
        let mut run = with_waiting(Some(100));
        run.record = Record::new();
        run.record.unfinished = 100;
        let text = said(&run);
        assert!(
            text.contains("had not accepted") && !text.contains("longer than the run"),
            "{text}"
        );
    }

    /// Connections of one request each: a serial server has 15 waiting at any time, and accepts them within 20 ms.
    #[test]
    fn a_queue_that_moves_on_does_not_hold_requests_for_a_second() {
        let mut run = with_waiting(Some(90));
        run.record.failures[FailureKind::Timeout as usize] = 900;
        run.record.connections_opened = 20_900;
        let text = said(&run);
        assert!(!text.contains("accept"), "{text}");
        // Where it is full as well, the others' attempts were lost (D08), and those that wait there are accepted soon.
        let mut full = run.clone();
        let listener = sample::monitor(&mut full).target.listener.as_mut().unwrap();
        (listener.waiting, listener.backlog, listener.sockets) = (Some(2), Some(1), 1);
        assert!(!said(&full).contains("had not accepted"));
        // It fell silent for the last two seconds.
        for slice in &mut run.record.slices.slices[80..] {
            *slice = ablaze_model::record::Slice { failures: 45, ..Default::default() };
        }
        assert!(said(&run).contains("had not accepted"));
        // A worker takes the next one when the connection before has had its share of requests: 30 in ten seconds.
        let mut run = with_waiting(Some(90));
        run.record.failures[FailureKind::Timeout as usize] = 900;
        run.record.connections_opened = 1_030;
        assert!(said(&run).contains("had not accepted"));
    }

    #[test]
    fn a_queue_that_is_full_needs_no_more() {
        let mut run = with_waiting(Some(2));
        sample::monitor(&mut run).target.listener.as_mut().unwrap().backlog = Some(1);
        run.record = Record::new();
        run.record.unfinished = 20;
        let text = said(&run);
        assert!(
            text.contains("2 connections waited") && text.contains("all that it holds"),
            "{text}"
        );
        // Who sends parts of responses has accepted connections.
        run.record.received_bytes = 500;
        let text = said(&run);
        assert!(!text.contains("had not accepted"), "{text}");
    }
}
