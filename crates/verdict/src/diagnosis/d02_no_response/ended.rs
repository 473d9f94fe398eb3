//! A server whose process ended, and which of the failures that explains.

use ablaze_model::{FailureKind, Run};

use super::causes::by_kind;
use super::silent::places;
use crate::live::figures::server_ended;
use crate::words::{counted, grouped};

/// What was seen, the cause and the fix.
pub(super) const ENDED: (&str, &str, &str) = (
    "The process that served ended during the run.",
    "Its connections broke with it, and new ones were refused while nothing listened there.",
    "See in the server's log why it ended, and measure again: the rate is that of the whole run, silence included.",
);

/// Whether it ended, and connections were refused then.
pub(super) fn is_seen(run: &Run, failed: &[(FailureKind, u64)]) -> bool {
    server_ended(run) && failed.iter().any(|(kind, _)| *kind == FailureKind::Refused)
}

/// Whether most of what failed did so because of that: connections that were refused, and connections that broke, one for each
/// place at most. What failed otherwise, or broke more often, did so while the process was there.
pub(super) fn is_why(run: &Run, failed: &[(FailureKind, u64)]) -> bool {
    let all: u64 = failed.iter().map(|(_, count)| count).sum();
    let refused = count_of(failed, &[FailureKind::Refused]);
    is_seen(run, failed) && (refused + count_of(failed, &BROKE).min(places(run))) * 2 > all
}

/// Connections that broke, of whatever is counted so.
const BROKE: [FailureKind; 6] = [
    FailureKind::Reset,
    FailureKind::ClosedWithoutResponse,
    FailureKind::ShortHead,
    FailureKind::ShortBody,
    FailureKind::TlsTruncated,
    FailureKind::GoAway,
];

fn count_of(failed: &[(FailureKind, u64)], kinds: &[FailureKind]) -> u64 {
    failed.iter().filter(|(kind, _)| kinds.contains(kind)).map(|(_, count)| count).sum()
}

/// The cause, and how many requests it cannot have been that of.
pub(super) fn cause(run: &Run, failed: &[(FailureKind, u64)]) -> String {
    let (broke, most) = (count_of(failed, &BROKE), places(run));
    let others: Vec<(FailureKind, u64)> = failed
        .iter()
        .filter(|(kind, _)| *kind != FailureKind::Refused && !BROKE.contains(kind))
        .copied()
        .collect();
    let before = match broke > most {
        true => format!(
            " No more than {} were under way at a time: of {} that failed as connections broke, at least {} failed while the \
             process was there.",
            counted(most, "request"),
            grouped(broke),
            grouped(broke - most)
        ),
        false => String::new(),
    };
    let others = match others.is_empty() {
        true => String::new(),
        false => format!(" It does not explain those that failed otherwise: {}.", by_kind(&others)),
    };
    format!("{}{before}{others}", ENDED.1)
}

#[cfg(test)]
mod tests {
    use super::super::on_run;
    use super::*;
    use crate::finding::Finding;
    use crate::live::sample;

    /// A run of 100 connections whose server ended, with these failures.
    fn with(failed: &[(FailureKind, u64)]) -> Finding {
        let mut run = sample::run();
        sample::monitor(&mut run).target.processes[0].ended = true;
        run.record.responses = 10_000;
        run.record.first_malformed = b"\x00\xffgarbage".to_vec();
        for (kind, count) in failed {
            run.record.failures[*kind as usize] = *count;
        }
        on_run(&run).unwrap()
    }

    /// It failed all the time, and crashed in the last moment.
    #[test]
    fn what_failed_before_the_server_ended_has_its_own_cause() {
        use FailureKind::{Malformed, Refused, Reset, ShortBody, Timeout};
        let crashed = with(&[(Refused, 80), (Reset, 100)]);
        assert_eq!(crashed.cause, ENDED.1);
        // Another process listened later, and answered: it is there in the last slices.
        assert!(!crashed.cause.contains("any longer"), "{crashed:?}");
        // 75 bodies that were cut short on 100 connections may have been; 175 were not.
        assert_eq!(with(&[(Refused, 4_000), (ShortBody, 75)]).cause, ENDED.1);
        let cut = with(&[(Refused, 4_000), (ShortBody, 175), (Timeout, 3)]).cause;
        assert!(cut.contains("of 175 that failed as connections broke, at least 75 failed while"));
        assert!(cut.ends_with("those that failed otherwise: 3 timed out."), "{cut}");
        let malformed = with(&[(Malformed, 4_000), (Refused, 12)]);
        assert!(malformed.cause.contains("were not HTTP/1"), "{malformed:?}");
        assert!(malformed.evidence.ends_with(ENDED.0), "{malformed:?}");
        // 100 connections break 100 times when it ends.
        let reset = with(&[(Reset, 4_000), (Refused, 12)]);
        assert!(reset.cause.contains("reset some connections"), "{reset:?}");
        assert!(reset.evidence.ends_with(ENDED.0), "{reset:?}");
    }
}
