//! Requests that went out before the server knew of their connections: when a full accept queue drops the last packet of
//! opening, the client's kernel takes the connection to stand, and its timers send the request again.

use ablaze_model::Run;

use crate::diagnosis::d09_retransmission;
use crate::live::figures::{counter, monitor};
use crate::words::{counted, grouped};

/// Responses as late as these timers make them.
pub(super) struct Void {
    pub(super) responses: u64,
    /// So many segments timers have to send again for them.
    needed: u64,
    /// So many were, by whomever, for requests that were answered; `None` where that is not known.
    sent_again: Option<u64>,
}

impl Void {
    pub(super) fn of(run: &Run) -> Self {
        let connections = monitor(run).and_then(|monitor| monitor.connections.as_ref());
        let none = connections.is_some_and(|seen| seen.last.with_retransmissions == 0);
        let times = &run.record.answered.processing;
        let Some(median_ns) = times.quantile_ns(0.5).filter(|_| !none) else {
            return Self { responses: 0, needed: 0, sent_again: None };
        };
        let first_packets = counter(run, "TcpExtTCPSynRetrans").unwrap_or(0);
        Self {
            responses: d09_retransmission::after_timers(times, median_ns),
            needed: d09_retransmission::timers_run_out(times, median_ns),
            sent_again: counter(run, "TcpRetransSegs")
                .map(|all| all.saturating_sub(first_packets))
                .zip(for_waiting(run))
                .map(|(all, waiting)| all.saturating_sub(waiting)),
        }
    }

    /// Whether the kernel counted as many as it takes: a response may be late by as much for another reason.
    pub(super) fn is_certain(&self) -> bool {
        self.responses > 0 && self.sent_again.is_some_and(|count| count >= self.needed)
    }

    pub(super) fn in_words(&self) -> Option<String> {
        let came = format!(
            "{} came {} s later than the median",
            counted(self.responses, "response"),
            d09_retransmission::times()
        );
        match self.sent_again {
            _ if self.responses == 0 => None,
            Some(_) if self.is_certain() => Some(format!(
                "{came}: the client considered their connections open while the server did not, and timers sent the requests \
                 again."
            )),
            Some(0) => Some(format!(
                "{came}. As far as the kernel's counters tell (TcpRetransSegs, of this network namespace), no segment was sent \
                 again for requests that were answered: they took that long for another reason than a timer."
            )),
            Some(count) => Some(format!(
                "{came}. Timers may have sent some of their requests again, because the server did not consider their connections \
                 open, but not all: that takes {}, and {} for requests that were answered, as far as the kernel's counters tell \
                 (TcpRetransSegs, of this network namespace). The others took that long for another reason.",
                counted(self.needed, "segment"),
                match count {
                    1 => "1 was sent again".to_owned(),
                    more => format!("{} were sent again", grouped(more)),
                }
            )),
            None => Some(format!(
                "{came}. Either timers sent their requests again, because the server did not consider their connections open, or \
                 it took that long for them, or some of each: how many segments were sent again for them is not known."
            )),
        }
    }
}

/// What was sent again for requests that still waited in the end: with a connection for each, those that stand then are theirs.
/// `None` where kept ones do not tell them from others.
fn for_waiting(run: &Run) -> Option<u64> {
    if run.record.silent.count == 0 {
        return Some(0);
    }
    let seen = monitor(run)?.connections.as_ref()?.last;
    (!run.plan.connections.keep_alive).then_some(seen.retransmissions)
}
