//! What only some runs keep of an exchange, off the way of the others: its group's part, and a line of its own.

use ablaze_model::record::RequestLine;

use super::Recorder;
use crate::connection::Exchange;

impl Recorder {
    /// Bytes of a body came for an exchange of this template that fails, or is in flight at the end.
    pub fn add_body(&mut self, template: u32, body_bytes: u64) {
        self.record.body_bytes += body_bytes;
        self.add_body_of_group(template, body_bytes);
    }

    #[cold]
    pub(super) fn add_body_of_group(&mut self, template: u32, body_bytes: u64) {
        if let Some(groups) = &mut self.groups {
            groups.add_body(template, body_bytes);
        }
    }

    /// What only some runs keep of a response. `status` is below 1000.
    #[cold]
    #[inline(never)]
    pub(super) fn keep_more(
        &mut self,
        exchange: &Exchange,
        at: u64,
        status: usize,
        body_bytes: u64,
    ) {
        if let Some(groups) = &mut self.groups {
            groups.answered(exchange, at, status, self.expected[status]);
            groups.add_body(exchange.template, body_bytes);
        }
        if self.keep_every_request {
            self.keep_line(exchange, at, true);
        }
    }

    #[cold]
    pub(super) fn keep_line(&mut self, exchange: &Exchange, at: u64, ok: bool) {
        let wait_ns = exchange.first_byte_ns.saturating_sub(exchange.sent_ns);
        self.record.every_request.push(RequestLine {
            started_ns: exchange.started_ns - self.window_start_ns,
            connect_ns: exchange.connect_ns + exchange.tls_ns,
            total_ns: at.saturating_sub(exchange.started_ns),
            wait_ns: if exchange.first_byte_ns > 0 { wait_ns } else { 0 },
            answered: ok,
        });
    }
}
