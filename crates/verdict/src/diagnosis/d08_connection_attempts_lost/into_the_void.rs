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
    /// So many were, by whomever; `None` where nobody counted.
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
            sent_again: counter(run, "TcpRetransSegs").map(|all| all.saturating_sub(first_packets)),
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
            Some(count) => Some(format!(
                "{came}, as responses do to requests that timers send again because the server did not consider their \
                 connections open; but only {} sent again (TcpRetransSegs, of this network namespace), where these responses \
                 would take {}: others, or all, were late for another reason.",
                match count {
                    1 => "1 segment was".to_owned(),
                    more => format!("{} were", counted(more, "segment")),
                },
                grouped(self.needed)
            )),
            None => Some(format!(
                "{came}. Either timers sent their requests again, because the server did not consider their connections open, or \
                 it took that long for them: it was not counted what was sent again."
            )),
        }
    }
}
