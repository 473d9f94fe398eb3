//! Requests without a response, seen while the run lasts.

use ablaze_model::FailureKind;

use super::{SHARE, causes, kinds_of_the_server};
use crate::live::UnderWay;
use crate::words::{counted, grouped, percent};

/// Only failures that no other diagnosis takes at the end: while there were responses, a connection that was closed or reset
/// may have been idle (D18), and what timed out may have stopped in the middle of a response (D29).
pub(super) fn while_it_runs(run: &UnderWay<'_>) -> Option<String> {
    let so_far = run.so_far;
    let is_silent = so_far.responses == 0;
    let counts = |kind: &FailureKind| match kind {
        FailureKind::ClosedWithoutResponse | FailureKind::Reset => is_silent,
        // Who waits for a stream where none is permitted (D40) was never sent.
        FailureKind::Timeout => is_silent && so_far.received_bytes == 0 && !run.asked.has_streams,
        _ => true,
    };
    let failed: Vec<(FailureKind, u64)> = kinds_of_the_server()
        .filter(counts)
        .map(|kind| (kind, so_far.failures[kind as usize]))
        .filter(|(_, count)| *count > 0)
        .collect();
    let unanswered: u64 = failed.iter().map(|(_, count)| count).sum();
    let share = unanswered as f64 / so_far.finished().max(1) as f64;
    (share > SHARE).then(|| {
        let of = counted(so_far.finished(), "request");
        let kinds = causes::by_kind(&failed);
        // Of the others, the whole run tells why.
        let all = so_far.failures_total();
        let others = match all - unanswered {
            0 => String::new(),
            others => format!(", and {} otherwise", grouped(others)),
        };
        let share = percent(all as f64 / so_far.finished() as f64);
        format!("{} of {of} ({share}) got no valid response so far: {kinds}{others}", grouped(all))
    })
}
