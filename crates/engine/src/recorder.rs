//! Keeps what happened, on the hot path: a few increments per exchange, nothing allocated,
//! nothing shared but a snapshot of fixed size every slice.

mod circumstances;
mod expected;
mod groups;
mod live;
mod more;
mod snapshot;
mod warmup;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ablaze_stats::{Latency, touched};

use self::expected::Expected;
use self::groups::GroupRecorder;
pub use self::live::{Read, Reader, Teller, line};
pub use self::more::{BodyEnd, Lost};
use self::more::{Kept, asks_for_codings};
pub use self::snapshot::Snapshot;
use self::warmup::WarmupLeft;
use crate::connection::Exchange;
use ablaze_model::failure::FailureKind;
use ablaze_model::plan::{ClockStarts, Plan};
use ablaze_model::record::{Record, Stopped, StoppedResponse};

/// A worker's histograms, counters and time slices.
#[derive(Debug)]
pub struct Recorder {
    record: Record,
    /// Exchanges begun before this are not recorded.
    window_start_ns: u64,
    /// Responses that end after this are unfinished.
    window_end_ns: u64,
    /// Responses that took longer than this timed out, however late anybody looked.
    timeout_ns: u64,
    /// When the last exchange that is recorded ended.
    last_finish_ns: u64,
    expected: Expected,
    statuses: Box<[u64; 1000]>,
    /// Body length of the response before, and how many in a row had it: most runs have one length.
    body_bytes: u64,
    body_bytes_times: u64,
    keep_every_request: bool,
    /// What is kept of each group of requests; `None` without groups.
    groups: Option<Box<GroupRecorder>>,
    /// Whether any of these two asks for more of a response: one question on the way of every response.
    keeps_more: bool,
    warmup: WarmupLeft,
    /// Total time of exchanges that had to connect; `record.answered.total` has the others, whose processing time it is.
    connected_total: Latency,
    slice: Latency,
    slice_failures: u64,
    /// Time of the slices that have no rate yet: it is that of the next response, too.
    rateless_ns: u64,
    slice_start_ns: u64,
    slice_end_ns: u64,
    /// Running estimate of the median total time, ns.
    median_ns: u64,
    snapshot: Arc<Snapshot>,
    /// Whoever follows the run hears of every slice.
    teller: Option<Box<Teller>>,
    /// What had been sent and received when the window closed.
    bytes_at_end: Option<(u64, u64)>,
    /// Requests say which codings they take, so that those that come are noted.
    notes_codings: bool,
}

/// At most this many slices are kept; then pairs are joined into slices of twice the length.
const SLICES_KEPT: usize = 36_000;

impl Recorder {
    /// An empty recorder for a worker of this Plan.
    pub fn new(plan: &Plan, snapshot: Arc<Snapshot>, teller: Option<Teller>) -> Self {
        let mut record = Record::new();
        let connections = &plan.connections;
        // A connection for one request has no figures of its own.
        if connections.clock_starts == ClockStarts::BeforeConnecting && connections.keep_alive {
            record.each_connection = Some(Box::default());
        }
        if plan.load.is_open() {
            record.answered.intended = Some(Box::default());
            record.failed.intended = Some(Box::default());
        }
        record.slices.reserve(1024);
        let mut groups = GroupRecorder::of(plan);
        if let (Some(groups), Some(_)) = (&mut groups, &teller) {
            groups.keep_slices();
        }
        Self {
            record,
            window_start_ns: u64::MAX,
            window_end_ns: u64::MAX,
            timeout_ns: match plan.limits.timeout_ns {
                0 => u64::MAX,
                timeout_ns => timeout_ns,
            },
            last_finish_ns: 0,
            expected: Expected::of(plan),
            statuses: Box::new([0; 1000]),
            body_bytes: 0,
            body_bytes_times: 0,
            keep_every_request: plan.keep_every_request,
            keeps_more: plan.keep_every_request || groups.is_some(),
            groups,
            warmup: WarmupLeft::default(),
            connected_total: Latency::new(4),
            slice: Latency::new(touched::DIGITS),
            slice_failures: 0,
            rateless_ns: 0,
            slice_start_ns: u64::MAX,
            slice_end_ns: u64::MAX,
            median_ns: 0,
            snapshot,
            teller: teller.map(Box::new),
            bytes_at_end: None,
            notes_codings: asks_for_codings(plan),
        }
    }

    /// The window opens: what is begun from now on is recorded, and answered if it ends until `end_ns`.
    /// `in_flight` exchanges of the warm-up are still to end.
    pub fn open_window(&mut self, at: u64, end_ns: u64, in_flight: u32) {
        self.warmup = WarmupLeft::with(in_flight);
        self.window_start_ns = at;
        self.window_end_ns = end_ns;
        self.slice_start_ns = at;
        self.slice_end_ns = at + self.record.slices.slice_ns;
        self.last_finish_ns = at;
        self.record.received_bytes = 0;
        self.record.body_bytes = 0;
        self.record.sent_bytes = 0;
        self.record.event_age.clear();
        if let Some(groups) = &mut self.groups {
            groups.open_window();
        }
        self.snapshot.window_start_ns.store(at, Ordering::Relaxed);
    }

    /// Whether what begins now is recorded.
    pub fn window_is_open(&self) -> bool {
        self.window_start_ns != u64::MAX
    }

    /// An exchange was answered. `body_bytes`, without transfer coding, are added to those received.
    // HTTP/1 and HTTP/2 both end here; in each it is to cost what it would if it were alone.
    #[inline(always)]
    pub fn answered(
        &mut self,
        exchange: &Exchange,
        at: u64,
        status: u16,
        body_bytes: u64,
        reused: bool,
    ) {
        let total_ns = at.saturating_sub(exchange.started_ns);
        self.follow_median(total_ns);
        if exchange.started_ns < self.window_start_ns {
            return self.warmup.ended(body_bytes);
        }
        self.record.body_bytes += body_bytes;
        let overdue = total_ns > self.timeout_ns && !exchange.repeated;
        if overdue || at > self.window_end_ns {
            return self.came_too_late(exchange, at, body_bytes);
        }
        self.last_finish_ns = at;
        let wait_ns = exchange.first_byte_ns.saturating_sub(exchange.sent_ns);
        let record = &mut self.record;
        if record.responses == 0 {
            record.first_response_at_ns = at;
            record.first_body_bytes = Some(body_bytes);
        }
        record.responses += 1;
        record.reused += u64::from(reused);
        let status = usize::from(status.min(999));
        self.statuses[status] += 1;
        record.unexpected += u64::from(!self.expected.is(status, exchange.template));
        if self.keeps_more {
            // Here, where the status need not be remembered for it.
            self.keep_more(exchange, at, status, body_bytes);
        }
        let record = &mut self.record;
        record.answered.wait.record(wait_ns);
        record.answered.receive.record(at.saturating_sub(exchange.first_byte_ns));
        if exchange.connect_ns == 0 {
            record.answered.total.record(total_ns);
        } else {
            self.answered_with_its_connection(exchange, total_ns);
        }
        let record = &mut self.record;
        match &mut record.answered.intended {
            None => self.slice.record(total_ns),
            Some(intended) => {
                self.slice.record(intended.record(exchange.intended_ns, exchange.started_ns, at))
            }
        }
        if body_bytes == self.body_bytes {
            self.body_bytes_times += 1;
        } else {
            self.other_body_length(body_bytes);
        }
    }

    /// Responses that count so far, and those that came whole behind their time.
    pub fn so_far(&self) -> (u64, u64) {
        (self.record.responses, self.record.circumstances.came_late)
    }

    /// An exchange ended without a valid response.
    pub fn failed(
        &mut self,
        exchange: &Exchange,
        at: u64,
        kind: FailureKind,
        errno: i32,
        connecting: bool,
    ) {
        if self.window_has_closed() {
            // It was in flight when the run ended, and has been counted as that.
            return;
        }
        if exchange.started_ns < self.window_start_ns {
            return self.warmup.ended(0);
        }
        let found_here = matches!(kind, FailureKind::Timeout | FailureKind::RequestTooLarge);
        if found_here && at > self.window_end_ns {
            // Found by a turn that went on behind the window.
            return self.unfinished(exchange, self.window_end_ns);
        }
        self.last_finish_ns = at;
        self.count_failure(at, kind, errno, connecting);
        let total_ns = at.saturating_sub(exchange.started_ns);
        let wait_ns = exchange.first_byte_ns.saturating_sub(exchange.sent_ns);
        let failed = &mut self.record.failed;
        failed.total.record(total_ns);
        let connected_ns = exchange.connect_ns + exchange.tls_ns;
        failed.processing.record(total_ns.saturating_sub(connected_ns));
        if let Some(intended) = &mut failed.intended {
            intended.record(exchange.intended_ns, exchange.started_ns, at);
        }
        if exchange.first_byte_ns > 0 {
            failed.wait.record(wait_ns);
            failed.receive.record(at.saturating_sub(exchange.first_byte_ns));
        }
        if exchange.connect_ns > 0 && exchange.made_connection {
            failed.connect.record(exchange.connect_ns);
        }
        if exchange.tls_ns > 0 && exchange.made_connection {
            failed.tls.get_or_insert_default().record(exchange.connect_ns, exchange.tls_ns);
        }
        if let Some(groups) = &mut self.groups {
            groups.failed(exchange, at, kind);
        }
        if self.keep_every_request {
            self.keep_line(exchange, at, Kept::Failure(kind));
        }
    }

    /// An exchange still in flight when the run ended.
    pub fn unfinished(&mut self, exchange: &Exchange, at: u64) {
        let from_ns = exchange.timed_from_ns();
        if from_ns > self.window_end_ns {
            // Begun by a turn that went on behind the window: no request of the run.
            return;
        }
        if exchange.sent_ns > 0 && exchange.first_byte_ns == 0 {
            let of_warmup = exchange.started_ns < self.window_start_ns;
            let run_ns = at.saturating_sub(self.window_start_ns);
            self.record.silent.note(at.saturating_sub(exchange.sent_ns), of_warmup, run_ns);
        }
        if from_ns < self.window_start_ns || from_ns == 0 {
            return;
        }
        let age_ns = at.saturating_sub(from_ns);
        self.record.unfinished += 1;
        if let Some(groups) = &mut self.groups {
            groups.unfinished(exchange);
        }
        self.record.unfinished_oldest_ns = self.record.unfinished_oldest_ns.max(age_ns);
        let left_in_time = (1..=self.window_end_ns).contains(&exchange.started_ns);
        if left_in_time {
            self.record.in_flight_ns += u128::from(at.saturating_sub(exchange.started_ns));
        } else {
            self.record.never_sent += u64::from(exchange.intended_ns > 0);
        }
    }

    /// An exchange that timed out, or is in flight when the run ends, has a part of its response.
    pub fn stopped(
        &mut self,
        exchange: &Exchange,
        response: StoppedResponse,
        timed_out: bool,
        ends: BodyEnd,
    ) {
        if exchange.started_ns < self.window_start_ns {
            return;
        }
        let stopped = &mut self.record.stopped;
        stopped.partway += u64::from(timed_out);
        stopped.endless += u64::from(timed_out && ends == BodyEnd::Connection);
        stopped.begun += u64::from(!timed_out);
        stopped.begun_without_length += u64::from(!timed_out && ends != BodyEnd::Length);
        if response.silent_ns < Stopped::SILENCE_NS {
            return;
        }
        stopped.timed_out += u64::from(timed_out);
        stopped.unfinished += u64::from(!timed_out);
        stopped.note(Some(response));
    }

    /// The counters that the worker increments itself.
    pub fn record(&mut self) -> &mut Record {
        &mut self.record
    }

    /// Running estimate of the median total time, ns; 0 before the first response.
    pub fn median_ns(&self) -> u64 {
        self.median_ns
    }

    /// When the last exchange that is recorded ended; the window's start if there was none.
    pub fn last_finish_ns(&self) -> u64 {
        self.last_finish_ns
    }

    /// When the current slice ends.
    #[inline]
    pub fn slice_end_ns(&self) -> u64 {
        self.slice_end_ns
    }

    /// Closes slices that have ended. A thread that comes late to the end of the window has none behind it.
    pub fn roll_slices(&mut self, now: u64) {
        let now = now.min(self.window_end_ns);
        while now >= self.slice_end_ns {
            self.close_slice(self.slice_end_ns);
        }
    }

    /// The run is over: everything recorded.
    pub fn finish(mut self, now: u64) -> Record {
        self.leave_out_what_came_later();
        if self.slice_start_ns != u64::MAX {
            self.roll_slices(now);
            if self.slice.count() + self.slice_failures > 0 {
                self.close_slice(now.min(self.window_end_ns));
            }
        }
        let answered = &mut self.record.answered;
        answered.processing.merge(&answered.total);
        answered.total.merge(&self.connected_total);
        if self.body_bytes_times > 0 {
            self.record.add_body_length(self.body_bytes, self.body_bytes_times);
        }
        for (status, &count) in self.statuses.iter().enumerate().filter(|(_, count)| **count > 0) {
            self.record.statuses.insert(status as u16, count);
        }
        self.tell_the_rest();
        self.record.groups = self.groups.map(|groups| groups.finish()).unwrap_or_default();
        self.record.in_flight_ns +=
            self.record.answered.total.sum_ns() + self.record.failed.total.sum_ns();
        self.record
    }

    fn close_slice(&mut self, end_ns: u64) {
        let slice = self.record.slices.push(self.slice_failures, &self.slice, SLICES_KEPT);
        self.tell_slice(end_ns);
        self.keep_rate(slice.responses, end_ns - self.slice_start_ns);
        self.slice.clear();
        self.slice_failures = 0;
        self.slice_start_ns = end_ns;
        self.slice_end_ns = end_ns + self.record.slices.slice_ns;
    }

    /// Moves the estimate a 64th of itself towards the value: it settles where as many values
    /// lie above as below, the median (after "Frugal Streaming for Estimating Quantiles", Ma,
    /// Muthukrishnan, Sandler 2013, with a relative step).
    #[inline]
    fn follow_median(&mut self, total_ns: u64) {
        if self.median_ns == 0 {
            self.median_ns = total_ns;
        } else if total_ns > self.median_ns {
            self.median_ns += (self.median_ns >> 6) + 1;
        } else {
            self.median_ns -= self.median_ns >> 6;
        }
    }

    #[cold]
    fn other_body_length(&mut self, body_bytes: u64) {
        if self.body_bytes_times > 0 {
            self.record.add_body_length(self.body_bytes, self.body_bytes_times);
        }
        self.body_bytes = body_bytes;
        self.body_bytes_times = 1;
    }
}
