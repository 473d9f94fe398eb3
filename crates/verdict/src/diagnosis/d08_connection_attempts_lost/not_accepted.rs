//! A server that accepts no more: its full queue is not worked off, and a longer one, or a lower rate, changes nothing.

use ablaze_model::Run;

use crate::live::figures::target;

const KEPT: &str = "Connections are kept here, and those in the queue were not accepted in all that time: the server accepts no more \
                    of them.";
const NONE: &str = "No more connections opened than wait in the queue, and no byte came: the server accepted none.";
const NO_RESPONSE: &str = "No byte came from the server in the whole run: it accepts no connections, or so slowly that none got a \
                           response in time. A queue that holds more holds more requests without a response.";

/// How many connections the server left in a full queue, and what that means; `None` where it may have worked the queue off.
pub(super) fn found(run: &Run) -> Option<(u64, &'static str)> {
    let waiting = in_full_queue(run)?;
    let record = &run.record;
    // What came before the clock started is in no count.
    let nothing_came =
        record.responses == 0 && record.received_bytes == 0 && !run.plan.sends_before_clock();
    let cause = match nothing_came {
        true if record.connections_opened <= waiting => NONE,
        true => NO_RESPONSE,
        false => KEPT,
    };
    (nothing_came || are_kept(run)).then_some((waiting, cause))
}

/// How many waited there when it was last looked at.
fn in_full_queue(run: &Run) -> Option<u64> {
    let listener = target(run)?.listener.as_ref().filter(|listener| listener.sockets == 1)?;
    listener.waiting.filter(|waiting| listener.backlog.is_some_and(|most| *waiting > most))
}

/// Whether the load keeps its connections: those in the queue have waited since they were opened.
fn are_kept(run: &Run) -> bool {
    let record = &run.record;
    let are_kept = run.plan.connections.keep_alive && record.reused * 2 >= record.responses;
    // An open loop opens more all the time, and so does one whose connections fail.
    let at_once = !run.plan.load.is_open()
        && record.connections_opened <= u64::from(run.plan.load.connections());
    are_kept && at_once
}
