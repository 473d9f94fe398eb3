//! Why places had no request in flight, as far as it was seen.

use ablaze_model::{FailureKind, Record, Run};

use crate::diagnosis::d02_no_response::by_kind;
use crate::live::figures::{self, asked_in_flight};
use crate::words::{counted, grouped, time};

/// What was seen of the connections that carried no request, and what else to look at.
pub(super) fn because(run: &Run, connections: u64) -> (String, &'static str) {
    let record = &run.record;
    let opened = grouped(record.connections_opened);
    if figures::held_by_warmup(run) {
        let cause = format!(
            "{} of {} places were held for the whole run by requests of the warm-up that got no \
             response.",
            grouped(record.silent.of_warmup),
            grouped(asked_in_flight(run).unwrap_or(connections))
        );
        return (cause, ", and see in the server's log what became of them");
    }
    let early = record.answered_early;
    if figures::held_by_rest(run) {
        let cause = format!(
            "{} came before the server had taken the whole request, and it did not take the rest: a connection carries no \
             other request until the rest has left, or it is closed after 1 s, as {} were. Connections waited {} in total.",
            counted(early.count, "response"),
            grouped(early.closed),
            time(early.waited_ns as f64 / 1e6)
        );
        return (cause, ", and see why the server responds without reading the request");
    }
    let drain_ns = record.drain_ns.unwrap_or(0);
    if drain_ns.saturating_mul(2) >= run.elapsed_ns {
        let cause = format!(
            "For the last {} no request was left for some of the places, and those in flight were waited for.",
            time(drain_ns as f64 / 1e6)
        );
        return (cause, ", or end the run by time");
    }
    // Whichever left places empty more often.
    let reopened = record.connections_opened.saturating_sub(connections);
    if reopened > 0
        && record.failures_total() > 0
        && record.failures_total().saturating_mul(2) >= reopened
    {
        let failed = failures(record, &FailureKind::ALL);
        let cause = format!(
            "{} failed: {}. Their connections ended with them, and a place stays empty until its \
             next connection stands.",
            counted(record.failures_total(), "request"),
            by_kind(&failed)
        );
        return (cause, ", and see first why they failed");
    }
    if record.connections_opened > connections {
        let cause = format!(
            "Connections were opened again and again: {opened} connections for {}. A place has no \
             request in flight until its next connection stands.",
            counted(record.responses, "response")
        );
        return (cause, "; with connections that stay open more would be");
    }
    if let Some(cause) = unopened(run) {
        return (cause, ", and see first why they failed");
    }
    if record.connections_opened < connections && record.failures_total() == 0 {
        let cause = format!(
            "Of {} connections {opened} were opened, and no request failed: the others never carried \
             a request.",
            grouped(connections)
        );
        return (cause, "");
    }
    let failed = match record.failures_total() {
        0 => String::new(),
        failed => {
            let kinds = failures(record, &FailureKind::ALL);
            format!(" {} failed: {}.", counted(failed, "request"), by_kind(&kinds))
        }
    };
    let cause = format!(
        "Most of the places had no request in flight: {opened} connections were opened for {}.{failed} Why, this run does not \
         show.",
        grouped(connections)
    );
    (cause, "")
}

/// What ends an attempt to connect, and nothing else.
const CONNECTING: [FailureKind; 4] = [
    FailureKind::Refused,
    FailureKind::Unreachable,
    FailureKind::LocalPorts,
    FailureKind::LocalDescriptors,
];

/// Attempts to connect that failed, where they were most of what failed.
fn unopened(run: &Run) -> Option<String> {
    let failed = failures(&run.record, &CONNECTING);
    let count: u64 = failed.iter().map(|(_, count)| count).sum();
    (count > 0 && count * 2 >= run.record.failures_total()).then(|| {
        format!(
            "{} failed: {}; {} connections were opened for {}. A place has no request in flight until its connection stands.",
            match count {
                1 => "1 attempt to connect".to_owned(),
                count => format!("{} attempts to connect", grouped(count)),
            },
            by_kind(&failed),
            grouped(run.record.connections_opened),
            grouped(run.plan.connections_max())
        )
    })
}

fn failures(record: &Record, kinds: &[FailureKind]) -> Vec<(FailureKind, u64)> {
    let kinds = kinds.iter().map(|kind| (*kind, record.failures_of(*kind)));
    kinds.filter(|(_, count)| *count > 0).collect()
}

#[cfg(test)]
mod tests {
    use ablaze_model::record::AnsweredEarly;

    use super::*;
    use crate::live::sample;

    #[test]
    fn connections_that_wait_for_a_request_to_leave_are_said() {
        let mut run = sample::run();
        let waited_ns = run.elapsed_ns * 98;
        run.record.in_flight_ns = u128::from(run.elapsed_ns);
        run.record.connections_opened = 300;
        run.record.answered_early = AnsweredEarly { count: 300, closed: 200, waited_ns };
        let (cause, _) = because(&run, 100);
        assert!(cause.contains("before the server had taken the whole request"), "{cause}");
        assert!(cause.contains("as 200 were"), "{cause}");
        // Where they waited for little of that time, it was something else.
        run.record.answered_early.waited_ns = run.elapsed_ns * 10;
        let (cause, _) = because(&run, 100);
        assert!(!cause.contains("whole request"), "{cause}");
    }

    #[test]
    fn attempts_that_were_refused_are_said() {
        let mut run = sample::run();
        run.record.connections_opened = 9;
        run.record.failures[FailureKind::Refused as usize] = 161;
        let (cause, fix) = because(&run, 100);
        assert!(
            cause.starts_with("161 attempts to connect failed: 161 refused; 9 conn"),
            "{cause}"
        );
        assert!(!cause.contains("does not show") && fix.contains("why they failed"), "{cause}");
        // Timeouts may be of either.
        run.record.failures[FailureKind::Timeout as usize] = 500;
        let (cause, _) = because(&run, 100);
        assert!(
            cause.contains("661 requests failed: 161 refused") && cause.contains("500"),
            "{cause}"
        );
        assert!(cause.contains("9 connections were opened for 100"), "{cause}");
    }
}
