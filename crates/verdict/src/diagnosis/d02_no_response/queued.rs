//! Requests on connections that the server's process had not accepted: the kernel made them, and nobody read from them.

use ablaze_model::{FailureKind, Run};

use crate::live::figures::target;
use crate::live::options::{Opt, spelled};
use crate::words::counted;

use super::{begun, gone};

/// Shorter than this part of a wait is soon.
const SOON: f64 = 0.25;

/// Responses that take longer than this part of the time limit are nearly as slow as those that time out.
const NEARLY: f64 = 0.5;

const NOT_ACCEPTED: &str = "The kernel makes connections and takes requests for a server; its process had not accepted these, and \
                            knew nothing of the requests on them.";
const BY_WORKERS: &str = "The kernel makes connections and takes requests for a server; its process had not accepted these, and knew \
                          nothing of the requests on them. A server that gives each connection a worker of its own accepts no more \
                          than it has workers, as long as those stay open.";
const OF_OTHERS: &str = "The server's accept queue was full of other connections, such as those of a load before this one, and its \
                         process had not accepted these: the attempts of this run were dropped, and no request was sent.";

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
    if are_nearly_as_slow(run) {
        return None;
    }
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
    if begun::is_unopened(run) {
        return is_full_of_others(run).then(|| of_others(waiting));
    }
    let none_came = run.record.responses == 0 && run.record.first_head.is_empty();
    Some(Queued {
        evidence: format!(
            "{} waited in the server's accept queue when it was last looked at{full}.",
            counted(waiting, "connection")
        ),
        cause: if none_came { NOT_ACCEPTED } else { BY_WORKERS },
        fix: match none_came {
            true => "See what keeps the server from accepting (a stack of its threads shows it); where each connection takes a \
                     worker, other connections may hold all of them."
                .to_owned(),
            false => format!(
                "Give the server as many workers as there are connections, or use no more connections ({}) than it has \
                 workers; if it has enough, see what keeps it from accepting.",
                spelled(run, Opt::Connections)
            ),
        },
    })
}

/// A full queue in which no connection of this run is.
fn of_others(waiting: u64) -> Queued {
    Queued {
        evidence: format!(
            "{} waited in the server's accept queue when it was last looked at, all that it holds, and none of this run had opened.",
            counted(waiting, "connection")
        ),
        cause: OF_OTHERS,
        fix: "See what keeps the server from accepting, or wait until it has worked off its queue (`ss -lnt` shows it: Recv-Q, of \
              at most Send-Q); then measure again."
            .to_owned(),
    }
}

/// Whether the accept queue was full, and no connection of this run ever opened.
pub fn is_full_of_others(run: &Run) -> bool {
    let listener = target(run).and_then(|target| target.listener.as_ref());
    let is_full = listener.is_some_and(|listener| {
        let queue = listener.waiting.zip(listener.backlog);
        listener.sockets == 1 && queue.is_some_and(|(waiting, most)| waiting > most)
    });
    is_full && run.plan.http3.is_none() && begun::is_unopened(run)
}

/// Whether responses take about as long as the time limit: then those that are a little slower time out, each opens its
/// connection anew, and one look at the queue may meet those that are opened just then.
fn are_nearly_as_slow(run: &Run) -> bool {
    let record = &run.record;
    let slow_ns = record.answered.total.quantile_ns(0.9).unwrap_or(0);
    record.responses > 0
        && record.failures_of(FailureKind::Timeout) > 0
        && slow_ns as f64 >= run.plan.limits.timeout_ns as f64 * NEARLY
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
        (run.record.unfinished, run.record.connections_opened) = (100, 100);
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

    /// A load before this one has filled it: none of these is of this run.
    #[test]
    fn connections_of_others_carry_no_requests_of_this_run() {
        let mut run = with_waiting(Some(2));
        sample::monitor(&mut run).target.listener.as_mut().unwrap().backlog = Some(1);
        run.record = Record::new();
        run.record.failures[FailureKind::Timeout as usize] = 20;
        let text = said(&run);
        assert!(text.contains("none of this run had opened"), "{text}");
        assert!(!text.contains("requests on them") && !text.contains("workers"), "{text}");
        assert!(is_full_of_others(&run));
        run.record = Record::new();
        run.record.unfinished = 20;
        assert!(said(&run).contains("full of other connections"), "{}", said(&run));
        let mut opened = run.clone();
        opened.record.connections_opened = 1;
        assert!(!is_full_of_others(&opened));
        // It is not seen to be full.
        sample::monitor(&mut run).target.listener.as_mut().unwrap().backlog = Some(20);
        assert!(said(&run).contains("nobody has that address"), "{}", said(&run));
        assert!(!is_full_of_others(&run));
        // Of a server that responded to nothing no number of connections is known that it takes.
        let mut run = with_waiting(Some(90));
        run.record = Record::new();
        (run.record.unfinished, run.record.connections_opened) = (100, 100);
        let text = said(&run);
        assert!(
            text.contains("had not accepted these") && !text.contains("no more conn"),
            "{text}"
        );
    }

    /// Responses take 200 ms, and the limit is 202 ms: what is opened again just then is accepted at once.
    #[test]
    fn one_look_at_a_queue_proves_nothing_where_responses_are_as_slow_as_the_limit() {
        let mut run = with_waiting(Some(90));
        run.record.failures[FailureKind::Timeout as usize] = 900;
        run.plan.limits.timeout_ns = 202_000_000;
        assert!(said(&run).contains("had not accepted"), "{}", said(&run));
        run.record.answered.total.clear();
        run.record.answered.total.record_many(200_000_000, 20_000);
        let text = said(&run);
        assert!(!text.contains("accept") && !text.contains("workers"), "{text}");
    }

    #[test]
    fn a_queue_that_is_full_needs_no_more() {
        let mut run = with_waiting(Some(2));
        sample::monitor(&mut run).target.listener.as_mut().unwrap().backlog = Some(1);
        run.record = Record::new();
        (run.record.unfinished, run.record.connections_opened) = (20, 2);
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
