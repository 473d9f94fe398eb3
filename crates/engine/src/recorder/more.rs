//! What only some runs keep of an exchange, off the way of the others: its group's part, a line of its own, and that
//! it was sent again; the phases of one that had to connect; and the rate of a slice.

use ablaze_model::failure::FailureKind;
use ablaze_model::plan::Plan;
use ablaze_model::record::{FirstFailure, Record, RequestLine};

use ablaze_wire::http1::response;

use super::Recorder;
use crate::connection::{Connection, Exchange};

/// How a connection ended whose requests are sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// The server closed it, or did not process them.
    Closed,
    /// The far end reset it.
    Reset,
    /// Behind a response that announced the close, where the server processes nothing (RFC 9112, 9.6).
    Announced,
    /// It was given up here, for a request before them that failed.
    AfterFailure,
    /// It was closed here, for bytes that belonged to no response.
    AfterSurplus,
}

/// What a line says of how its exchange ended.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kept {
    /// With this response.
    Response { status: u16, body_bytes: u64 },
    /// Without one.
    Failure(FailureKind),
}

/// What shows the end of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyEnd {
    /// An announced length; or nobody knows yet.
    Length,
    /// A mark behind it: the last chunk, or the end of a stream.
    Marked,
    /// The end of the connection.
    Connection,
}

/// Whether the first request says which codings it takes: all do then.
pub(super) fn asks_for_codings(plan: &Plan) -> bool {
    let head = plan.requests.templates.first();
    let head = head.map(|template| &template.bytes[..template.head_bytes]);
    head.is_some_and(|head| response::field(head, "Accept-Encoding").is_some())
}

impl Recorder {
    /// The longest that a response took so far; of the warm-up, about the median.
    pub fn slowest_ns(&self) -> u64 {
        let connected_ns = self.connected_total.max_ns().unwrap_or(0);
        self.record.answered.total.max_ns().unwrap_or(0).max(connected_ns).max(self.median_ns)
    }

    /// A connection that had not opened when the run ended.
    pub fn unopened(&mut self, opening_ns: u64, at: u64) {
        let run_ns = at.saturating_sub(self.window_start_ns);
        self.record.silent.note_connecting(at.saturating_sub(opening_ns), run_ns);
    }

    /// A failure, also one that belongs to no exchange of the window: connecting before it was unreachable. The slice that is open
    /// has it, or the first one there will be.
    pub fn count_failure(&mut self, at: u64, kind: FailureKind, errno: i32, connecting: bool) {
        self.record.failures[kind as usize] += 1;
        self.slice_failures += 1;
        if connecting {
            self.count_connecting(kind);
        }
        if self.record.first_failure.is_none() {
            self.record.first_failure = Some(FirstFailure { at_ns: at, kind, errno, connecting });
        }
    }

    /// The window has closed. Bytes that leave or come from now on, such as those that end connections, are no part of the
    /// run.
    pub fn close_window(&mut self) {
        self.bytes_at_end = Some((self.record.sent_bytes, self.record.received_bytes));
    }

    /// Whether what happens now is no part of the run any more.
    pub fn window_has_closed(&self) -> bool {
        self.bytes_at_end.is_some()
    }

    /// The bytes are those of the window.
    pub(super) fn leave_out_what_came_later(&mut self) {
        if let Some((sent, received)) = self.bytes_at_end {
            (self.record.sent_bytes, self.record.received_bytes) = (sent, received);
        }
    }

    /// A slice has ended: what it comes to per second, with those without a response before it. One that the end of the run
    /// cut short says too little.
    pub fn keep_rate(&mut self, responses: u64, slice_ns: u64) {
        let rates = &mut self.record.worker_rates;
        let is_whole = slice_ns >= self.record.slices.slice_ns / 2 || rates.count() == 0;
        self.rateless_ns += slice_ns;
        if responses > 0 && self.rateless_ns > 0 && is_whole {
            rates.record((responses as f64 * 1e9 / self.rateless_ns as f64) as u64);
            self.rateless_ns = 0;
        }
    }

    /// The phases of an exchange for which a connection was made.
    pub(super) fn answered_with_its_connection(&mut self, exchange: &Exchange, total_ns: u64) {
        self.connected_total.record(total_ns);
        let answered = &mut self.record.answered;
        let connected_ns = exchange.connect_ns + exchange.tls_ns;
        answered.processing.record(total_ns.saturating_sub(connected_ns));
        if !exchange.made_connection {
            return;
        }
        answered.connect.record(exchange.connect_ns);
        if let Some(each) = &mut self.record.each_connection {
            each.first_byte.record(exchange.first_byte_ns.saturating_sub(exchange.started_ns));
        }
        let answered = &mut self.record.answered;
        if exchange.tls_ns > 0 {
            let tls = answered.tls.get_or_insert_default();
            tls.record(exchange.connect_ns, exchange.tls_ns);
        }
    }

    /// A connection ended, or the run did while it stood.
    pub fn connection_ended<S>(&mut self, connection: &Connection<S>, at: u64) {
        if let Some(each) = &mut self.record.each_connection {
            each.ended(connection.responses, connection.opening_ns, at);
        }
    }

    /// A response is complete, and its request has not been sent whole.
    pub fn answered_early(&mut self, exchange: &Exchange) {
        self.record.answered_early.count += u64::from(!self.is_of_warmup(exchange));
    }

    /// An exchange is sent again, as its connection ended in such a way.
    pub fn repeated(&mut self, exchange: &Exchange, lost: Lost) {
        let is_new = exchange.started_ns == 0 && self.window_is_open();
        let counts = is_new || exchange.started_ns >= self.window_start_ns;
        self.record.repeated += u64::from(counts);
        let of_these = match lost {
            Lost::Closed => return,
            Lost::Announced => &mut self.record.repeated_after_announced,
            Lost::Reset => &mut self.record.repeated_after_reset,
            Lost::AfterFailure => &mut self.record.repeated_after_failure,
            Lost::AfterSurplus => &mut self.record.repeated_after_surplus,
        };
        *of_these += u64::from(counts);
    }

    /// An exchange fails, as its connection was ended by the far end after so long an idle time, and it may not be sent
    /// again.
    pub fn not_repeated(&mut self, exchange: &Exchange, idle_ns: u64, reset: bool) {
        // One that was to leave with the next turn has no times yet.
        let is_of_window = exchange.started_ns == 0 || exchange.started_ns >= self.window_start_ns;
        if is_of_window && self.window_is_open() {
            self.record.ended_idle.failed.note(idle_ns);
            self.record.ended_idle.failed_by_reset += u64::from(reset);
        }
    }

    /// The far end closed or reset a connection with nothing on it, after so long an idle time.
    pub fn ended_unused(&mut self, idle_ns: u64) {
        if self.window_is_open() {
            self.record.ended_idle.unused.note(idle_ns);
        }
    }

    /// A request timed out that was never sent, because the server permitted no stream.
    #[cold]
    pub fn streamless_timeout(&mut self, exchange: &Exchange, at: u64) {
        let of_window = exchange.started_ns >= self.window_start_ns;
        match at > self.window_end_ns {
            _ if !of_window => {}
            true => self.record.streamless.unfinished += 1,
            false => self.record.streamless.timed_out += 1,
        }
    }

    /// A request is still waiting when the run ends, because the server permitted no stream.
    #[cold]
    pub fn streamless_unfinished(&mut self, exchange: &Exchange) {
        let from_ns = exchange.timed_from_ns();
        let counts = (self.window_start_ns.max(1)..=self.window_end_ns).contains(&from_ns);
        self.record.streamless.unfinished += u64::from(counts);
    }

    /// A connection is given up because these bytes came, which belong to no response; `idle` is whether no request was
    /// under way on it.
    pub fn surplus(&mut self, bytes: &[u8], idle: bool) {
        let counts = u64::from(self.window_is_open());
        self.record.surplus += counts;
        let is_response = bytes.starts_with(b"HTTP/1.");
        let says_timeout = is_response && bytes.get(8..12) == Some(b" 408");
        self.record.circumstances.idle_timeouts += counts * u64::from(idle && says_timeout);
        self.record.surplus_responses += counts * u64::from(is_response);
    }

    /// A response that was read after its time or the window's was over: the thread looked late.
    #[cold]
    #[inline(never)]
    pub(super) fn came_too_late(&mut self, exchange: &Exchange, at: u64, body_bytes: u64) {
        self.add_body_of_group(exchange.template, body_bytes);
        match at > self.window_end_ns {
            true => self.unfinished(exchange, self.window_end_ns),
            false => {
                // Behind the end of the window it is unfinished, and no timeout.
                self.record.circumstances.came_late += u64::from(!self.window_has_closed());
                self.failed(exchange, at, FailureKind::Timeout, 0, false);
            }
        }
    }

    /// The beginning of what came instead of a response, for reports.
    pub fn keep_malformed(&mut self, bytes: &[u8]) {
        if self.record.first_malformed.is_empty() {
            let kept = bytes.len().min(Record::MALFORMED_KEPT);
            self.record.first_malformed = bytes[..kept].to_vec();
        }
    }

    /// The head of a response that is not known yet, for reports: the first is kept, with what codings come.
    pub fn keep_head(&mut self, head: &[u8]) {
        if self.record.first_head.is_empty() {
            self.record.first_head = head.to_vec();
        }
        if self.notes_codings {
            self.note_coding(head);
        }
    }

    /// A head that was not known yet: whether the coding of its body is new.
    #[cold]
    fn note_coding(&mut self, head: &[u8]) {
        let coding = response::field(head, "Content-Encoding").unwrap_or(b"identity");
        let codings = &mut self.record.content_codings;
        if codings.iter().any(|own| own.as_bytes().eq_ignore_ascii_case(coding)) {
            return;
        }
        let coding = String::from_utf8_lossy(coding).to_ascii_lowercase();
        self.record.add_content_coding(coding);
    }

    /// Whether such a head is kept already.
    pub fn has_head(&self) -> bool {
        !self.record.first_head.is_empty()
    }

    /// Bytes of a body came for an exchange that fails, or is in flight at the end.
    pub fn add_body(&mut self, exchange: &Exchange, body_bytes: u64) {
        if self.is_of_warmup(exchange) {
            return self.warmup.add_body(body_bytes);
        }
        self.record.body_bytes += body_bytes;
        self.add_body_of_group(exchange.template, body_bytes);
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
            let expected = self.expected.is(status, exchange.template);
            groups.answered(exchange, at, status, expected);
            groups.add_body(exchange.template, body_bytes);
        }
        if self.keep_every_request {
            self.keep_line(exchange, at, Kept::Response { status: status as u16, body_bytes });
        }
    }

    #[cold]
    pub(super) fn keep_line(&mut self, exchange: &Exchange, at: u64, kept: Kept) {
        let (status, body_bytes, failure) = match kept {
            Kept::Response { status, body_bytes } => (status, body_bytes, None),
            Kept::Failure(kind) => (0, 0, Some(kind)),
        };
        let wait_ns = exchange.first_byte_ns.saturating_sub(exchange.sent_ns);
        self.record.every_request.push(RequestLine {
            started_ns: exchange.started_ns - self.window_start_ns,
            connect_ns: exchange.connect_ns + exchange.tls_ns,
            total_ns: at.saturating_sub(exchange.started_ns),
            wait_ns: if exchange.first_byte_ns > 0 { wait_ns } else { 0 },
            template: exchange.template,
            status,
            failure,
            body_bytes,
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ablaze_model::plan::Plan;
    use ablaze_tamper::plans;
    use ablaze_wire::http1::builder::RequestBuilder;

    use super::super::Snapshot;
    use super::*;

    const MS: u64 = 1_000_000;

    fn plan() -> Plan {
        let get = RequestBuilder::new("GET", "/").header("Host", "there").build().unwrap();
        plans::plan(get, 1, 1)
    }

    /// What came of one response, begun at 10 ms, in a window from 10 to 25 ms or without an end.
    fn after_ms(end_ms: u64) -> (u64, u64, u64) {
        let plan = plan();
        let mut recorder = Recorder::new(&plan, Arc::new(Snapshot::default()), None);
        recorder.open_window(10 * MS, 25 * MS, 0);
        let exchange = Exchange { started_ns: 10 * MS, sent_ns: 10 * MS, ..Exchange::default() };
        let mut exchange = Exchange { first_byte_ns: end_ms * MS, ..exchange };
        if end_ms > 30 {
            // Nothing bounds the window.
            recorder.open_window(10 * MS, u64::MAX, 0);
            exchange.first_byte_ns = 20 * MS;
        }
        recorder.answered(&exchange, end_ms * MS, 200, 5, false);
        // What its connection sent next.
        let next = Exchange { started_ns: end_ms * MS, ..Exchange::default() };
        if (26..=30).contains(&end_ms) {
            recorder.unfinished(&next, 25 * MS);
        }
        let record = recorder.record();
        let timeouts = record.failures_of(FailureKind::Timeout);
        assert_eq!(record.circumstances.came_late, timeouts, "{end_ms}");
        (record.responses, timeouts, record.unfinished)
    }

    /// A run that was interrupted has no end of its window that says so.
    #[test]
    fn what_is_read_when_the_window_was_closed_is_no_late_response() {
        let mut recorder = Recorder::new(&plan(), Arc::new(Snapshot::default()), None);
        recorder.open_window(10 * MS, u64::MAX, 0);
        recorder.close_window();
        let exchange = Exchange { started_ns: 10 * MS, sent_ns: 10 * MS, ..Exchange::default() };
        recorder.answered(&exchange, 40 * MS, 200, 5, false);
        let record = recorder.record();
        let late = record.circumstances.came_late;
        assert_eq!((record.failures_of(FailureKind::Timeout), late), (0, 0));
    }

    /// A thread that had no processor at the end of the run looks at the clock long after it.
    #[test]
    fn slices_end_with_the_window() {
        for late_ms in [1_000, 1_001, 1_850] {
            let plan = plan();
            let mut recorder = Recorder::new(&plan, Arc::new(Snapshot::default()), None);
            recorder.open_window(0, 1_000 * MS, 0);
            recorder.roll_slices(450 * MS);
            recorder.roll_slices(late_ms * MS);
            assert_eq!(recorder.record().slices.slices.len(), 10, "{late_ms} ms");
        }
    }

    /// 5 responses every 300 ms are 16.7 a second, whatever the slices between them had.
    #[test]
    fn slices_without_a_response_are_time_of_the_next_rate() {
        let mut recorder = Recorder::new(&plan(), Arc::new(Snapshot::default()), None);
        for slice in 1..=9 {
            recorder.keep_rate(if slice % 3 == 0 { 5 } else { 0 }, 100 * MS);
        }
        let rates = &recorder.record().worker_rates;
        assert_eq!((rates.count(), rates.min_ns(), rates.max_ns()), (3, Some(16), Some(16)));
    }

    #[test]
    fn no_response_takes_longer_than_its_timeout_or_the_window() {
        assert_eq!(plan().limits.timeout_ns, 20 * MS);
        assert_eq!(after_ms(25), (1, 0, 0));
        assert_eq!(after_ms(26), (0, 0, 1), "behind the window");
        assert_eq!(after_ms(31), (0, 1, 0), "behind its time");
    }
}
