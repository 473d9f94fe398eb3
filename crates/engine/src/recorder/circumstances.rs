//! What more is known of some exchanges than the kind of their failure, or that they were in flight at the end.

use ablaze_model::failure::FailureKind;
use ablaze_model::record::{Circumstances, MalformedBy};

use super::Recorder;
use crate::connection::Exchange;

impl Recorder {
    /// A failure of a connection that was being made.
    #[cold]
    pub(super) fn count_connecting(&mut self, kind: FailureKind) {
        let known = &mut self.record.circumstances;
        match kind {
            FailureKind::Reset => known.reset_connecting += 1,
            FailureKind::ClosedWithoutResponse => known.closed_connecting += 1,
            FailureKind::Timeout => known.timed_out_connecting += 1,
            _ => {}
        }
    }

    /// An exchange is about to fail: what more is known of it counts if it does.
    #[cold]
    pub fn circumstance(&mut self, exchange: &Exchange) -> Option<&mut Circumstances> {
        // One that was to leave with the next turn has no times yet.
        let is_of_window = exchange.started_ns == 0 || exchange.started_ns >= self.window_start_ns;
        (is_of_window && self.window_is_open()).then_some(&mut self.record.circumstances)
    }

    /// An exchange is about to fail, as what came is no valid response.
    #[cold]
    pub fn malformed(&mut self, exchange: &Exchange, by: MalformedBy) {
        let counts = self.circumstance(exchange).is_some() && !self.window_has_closed();
        self.record.malformed.add(by, u64::from(counts));
    }

    /// An exchange is unfinished, and its request has not left whole.
    #[cold]
    pub fn unsent_at_the_end(&mut self, exchange: &Exchange) {
        let from_ns = exchange.timed_from_ns();
        let counts = (self.window_start_ns.max(1)..=self.window_end_ns).contains(&from_ns);
        self.record.circumstances.unsent_unfinished += u64::from(counts);
    }

    /// An exchange is unfinished, and only interim responses came to it.
    #[cold]
    pub fn interim_at_the_end(&mut self, exchange: &Exchange, at: u64) {
        let from_ns = exchange.timed_from_ns();
        if from_ns > self.window_end_ns || exchange.sent_ns == 0 {
            return;
        }
        let of_warmup = exchange.started_ns < self.window_start_ns;
        let run_ns = at.saturating_sub(self.window_start_ns);
        self.record.silent.note_interim(at.saturating_sub(exchange.sent_ns), of_warmup, run_ns);
        self.record.circumstances.interim_unfinished += u64::from(!of_warmup);
    }
}
