//! 408 (Request Timeout): a server may send it on a connection on which it waits for a request (RFC 9110, 15.5.9). If the next
//! request leaves at that moment, it looks like the answer to it.

use ablaze_model::Run;

use crate::live::figures;
use crate::live::options::{Opt, spelled};
use crate::words::counted;

pub(super) const CAUSE: &str = "The server says that it waited too long for a request. It may have said so to a connection that was idle, \
                                before the request came to it, which it then did not answer; or the requests came too slowly or \
                                not whole. Which of these does not show.";

/// Whether all that did not succeed are such responses on connections that were used before.
pub(super) fn are_all(run: &Run, others: &[(u16, u64)]) -> bool {
    can_be_idle(run) && others.iter().all(|(status, _)| *status == 408)
}

/// What is said of them beside their number.
pub(super) fn may_be(run: &Run, others: &[(u16, u64)]) -> String {
    if !can_be_idle(run) || others.iter().all(|(status, _)| *status != 408) {
        return String::new();
    }
    let timeouts = run.record.circumstances.idle_timeouts;
    let idle = match timeouts {
        0 => String::new(),
        count => format!(
            " On {} a 408 came with no request under way.",
            counted(count, "other connection")
        ),
    };
    let unasked = match run.record.surplus_responses.saturating_sub(timeouts) {
        0 => String::new(),
        count => format!(
            " On {} another response came behind one, for which nobody had asked; of what status was not recorded.",
            counted(count, "other connection")
        ),
    };
    format!(
        "{idle}{unasked} A 408 that was sent before the request came is counted as its response, too."
    )
}

/// What a server that closes idle connections needs, without a full stop.
pub(in crate::diagnosis) fn fix(run: &Run) -> String {
    let keep = "Have the server keep idle connections open longer than they are idle here";
    match run.plan.load.connections() {
        0 | 1 => keep.to_owned(),
        _ => format!(
            "{keep}, or lower {}, so that each is used more often",
            spelled(run, Opt::Connections)
        ),
    }
}

/// Over HTTP/1 nothing tells which request a response belongs to, and connections were idle between two: not in a closed loop,
/// where the next request leaves as soon as a response is complete. There it can only be one that the server sends behind a
/// response, as it closes the connection.
fn can_be_idle(run: &Run) -> bool {
    let record = &run.record;
    run.plan.streams().is_none()
        && run.plan.connections.keep_alive
        && record.reused > 0
        && (figures::asked_in_flight(run).is_none()
            || record.circumstances.idle_timeouts > 0
            || record.surplus_responses > 0)
}
