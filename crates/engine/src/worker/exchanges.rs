//! Exchanges and connections begin and end here.

use ablaze_net::{CloseHow, CloseReason, Io, Receive, Slot};

use super::{Worker, close_at_once};
use crate::connection::{Exchange, Reading, Stage};
use ablaze_model::failure::FailureKind;
use ablaze_model::plan::Close;

/// How long a server that announced its close is waited for (`Close::Await`).
const AWAIT_CLOSE_NS: u64 = 1_000_000_000;

/// Attempts to connect a slot before the clock starts; after that it is tried again when the
/// load runs, where its failures count.
const SETUP_ATTEMPTS: u32 = 3;

impl Worker {
    /// Opens a connection before the load, or plans to, as the ramp wants it.
    pub(super) fn set_up<I: Io>(&mut self, io: &mut I, slot: Slot, begun: u64, now: u64) {
        let ramp_ns = self.plan.connections.ramp_ns.saturating_mul(u64::from(slot));
        let due = begun.saturating_add(ramp_ns);
        if due > now {
            self.rest(slot, due);
        } else {
            self.open_empty(io, slot);
            self.stamp(io.now());
        }
    }

    /// Begins the load on every connection.
    pub(super) fn start_all<I: Io>(&mut self, io: &mut I, now: u64, end_ns: u64) {
        if let Some(open) = &mut self.open_loop {
            open.start(now, end_ns);
            self.now_ns = now;
        }
        let ramp_ns = if self.connects_first() { 0 } else { self.plan.connections.ramp_ns };
        for slot in 0..self.connections.len() as Slot {
            let due = now.saturating_add(ramp_ns.saturating_mul(u64::from(slot)));
            match self.connections[slot as usize].stage {
                Stage::Open if self.http2.is_spoken() => self.feed_streams(io, slot),
                Stage::Open if self.is_idle(slot) => self.feed(io, slot),
                Stage::Free if due > now => self.rest(slot, due),
                Stage::Free => self.open_next(io, slot),
                _ => {}
            }
        }
        let at = io.now();
        self.flush_frames(io, at);
        self.stamp(at);
    }

    /// The clock starts. What is in flight belongs to the warm-up, wholly: what began at this very
    /// moment too, and the bytes of its bodies so far.
    pub(super) fn open_window(&mut self, at: u64) {
        for exchange in &mut self.exchanges {
            exchange.started_ns = exchange.started_ns.min(at.saturating_sub(1));
        }
        for connection in &mut self.connections {
            connection.body_bytes = 0;
        }
        self.open_window_of_streams(at);
        self.recorder.open_window(at);
    }

    /// No request is left for a place of a closed loop: from when on fewer than 95 % of them are
    /// in use is kept.
    pub(super) fn note_draining(&mut self) {
        let places = self.exchanges.len() as u64;
        let few = u64::from(self.in_flight) * 100 < places * 95;
        if self.closed_for_new && few && self.draining_since_ns.is_none() {
            self.draining_since_ns = Some(self.now_ns);
        }
    }

    /// What is in flight on the slot leaves now, or with the current batch: "sent" is the time
    /// just before the system call that submits it.
    #[inline]
    pub(super) fn note_leaving<I: Io>(&mut self, io: &mut I, slot: Slot) {
        if I::SENDS_AT_ONCE {
            self.stamp_slot(slot, io.now());
        } else {
            self.unstamped.push(slot);
        }
    }

    /// Opens a free slot with the next requests as its first bytes, if there are any left: those
    /// to repeat, or new ones.
    pub(super) fn open_next<I: Io>(&mut self, io: &mut I, slot: Slot) {
        if self.http2.is_spoken() {
            return self.open_next_for_streams(io, slot);
        }
        if self.connections[slot as usize].in_flight == 0
            && self.take_exchanges(slot, self.pipeline) == 0
        {
            self.note_draining();
            self.note_vacant(slot);
            return;
        }
        let connection = &mut self.connections[slot as usize];
        connection.requests = u64::from(connection.in_flight);
        let (oldest, in_flight) = (connection.oldest, connection.in_flight);
        let place = self.place(slot, oldest);
        let single = in_flight == 1 && !self.sends.notify;
        let first = single.then(|| self.outgoing(io, place));
        self.open(io, slot, first);
    }

    /// Opens a free slot for requests to come.
    pub(super) fn open_empty<I: Io>(&mut self, io: &mut I, slot: Slot) {
        self.open(io, slot, None);
    }

    fn open<I: Io>(&mut self, io: &mut I, slot: Slot, first: Option<ablaze_net::Outgoing>) {
        let mode = self.expected_mode;
        let connection = &mut self.connections[slot as usize];
        connection.stage = Stage::Opening;
        connection.address = self.address;
        connection.opening_ns = 0;
        connection.mode = mode;
        connection.deadline_ns = u64::MAX;
        self.begin_session(slot);
        self.note_leaving(io, slot);
        io.open(slot, self.address as u16, first, mode);
    }

    /// Takes numbers for the places of a connection until `most` are in flight, up to its limit;
    /// returns how many.
    #[inline]
    pub(super) fn take_exchanges(&mut self, slot: Slot, most: u32) -> u32 {
        let mut count = 0;
        while {
            let connection = &self.connections[slot as usize];
            connection.in_flight < most
                && connection.requests < self.requests_per_connection
                && !self.closed_for_new
        } {
            let next = if self.open_loop.is_some() {
                self.take_arrival()
            } else {
                self.schedule.take().map(|number| (number, 0))
            };
            let Some((number, intended_ns)) = next else {
                self.closed_for_new = self.open_loop.is_none();
                break;
            };
            let connection = &mut self.connections[slot as usize];
            let ring = (connection.oldest + connection.in_flight) % self.pipeline;
            self.exchanges[(slot * self.pipeline + ring) as usize] = Exchange {
                number,
                intended_ns,
                template: self.outbox.template_of(number),
                ..Exchange::default()
            };
            connection.in_flight += 1;
            connection.requests += 1;
            self.in_flight += 1;
            count += 1;
        }
        count
    }

    /// Sends the exchanges at `first..first + count` of a connection's places in flight.
    #[inline]
    pub(super) fn send_places<I: Io>(&mut self, io: &mut I, slot: Slot, first: u32, count: u32) {
        let notify = self.sends.notify;
        let oldest = self.connections[slot as usize].oldest;
        if self.outbox.copies() >= count && count > 1 {
            let bytes = self.outbox.constant(0, count);
            self.recorder.record().sent_bytes += u64::from(bytes.len());
            self.connections[slot as usize].sends_under_way += u32::from(notify);
            io.send(slot, bytes, notify);
            return;
        }
        for position in first..first + count {
            let place = self.place(slot, oldest + position);
            let bytes = self.outgoing(io, place);
            self.recorder.record().sent_bytes += u64::from(bytes.len());
            self.connections[slot as usize].sends_under_way += u32::from(notify);
            io.send(slot, bytes, notify);
        }
    }

    /// The bytes of the exchange at this place.
    #[inline]
    fn outgoing<I: Io>(&mut self, io: &mut I, place: usize) -> ablaze_net::Outgoing {
        let Exchange { template, number, repeated, .. } = self.exchanges[place];
        if self.outbox.is_constant(template) {
            self.outbox.constant(template, 1)
        } else if repeated {
            self.outbox.again(place, template)
        } else {
            self.outbox.patched(io, place, template, number)
        }
    }

    #[inline]
    pub(super) fn place(&self, slot: Slot, ring: u32) -> usize {
        (slot * self.pipeline + ring % self.pipeline) as usize
    }

    /// Gives everything that left with this batch its time.
    pub(super) fn stamp(&mut self, at: u64) {
        for index in 0..self.unstamped.len() {
            self.stamp_slot(self.unstamped[index], at);
        }
        self.unstamped.clear();
    }

    #[inline]
    fn stamp_slot(&mut self, slot: Slot, at: u64) {
        let connection = &mut self.connections[slot as usize];
        let opening = connection.stage == Stage::Opening;
        if opening && connection.opening_ns == 0 {
            connection.opening_ns = at;
            let deadline = at.saturating_add(self.plan.limits.timeout_ns.max(1));
            if self.plan.limits.timeout_ns > 0 && deadline < self.next_check_ns {
                self.next_check_ns = deadline;
            }
            if self.http2.is_spoken() {
                return self.stamp_waiting(slot, at);
            }
        }
        let (oldest, in_flight) = (connection.oldest, connection.in_flight);
        for position in 0..in_flight {
            let place = self.place(slot, oldest + position);
            let exchange = &mut self.exchanges[place];
            if exchange.started_ns == 0 {
                exchange.started_ns = at;
            }
            if exchange.sent_ns == 0 && !opening {
                exchange.sent_ns = at;
            }
        }
    }

    /// The oldest exchange of a connection is over; its place is free.
    #[inline]
    pub(super) fn retire(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        connection.oldest = (connection.oldest + 1) % self.pipeline;
        connection.in_flight -= 1;
        self.in_flight -= 1;
    }

    /// The oldest exchange failed.
    pub(super) fn fail_oldest(
        &mut self,
        slot: Slot,
        at: u64,
        kind: FailureKind,
        errno: i32,
        connecting: bool,
    ) {
        if self.http2.is_spoken() {
            return self.fail_oldest_stream(slot, at, kind, errno, connecting);
        }
        let connection = &mut self.connections[slot as usize];
        let body_bytes = std::mem::take(&mut connection.body_bytes);
        let oldest = connection.oldest;
        let place = self.place(slot, oldest);
        let mut exchange = self.exchanges[place];
        exchange.stamp(at);
        self.recorder.record().body_bytes += body_bytes;
        self.recorder.failed(&exchange, at, kind, errno, connecting);
        self.retire(slot);
    }

    /// The connection is of no use any more: fails the oldest exchange and asks the driver to
    /// close. What else is in flight on it is repeated or fails when it is closed.
    pub(super) fn give_up<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64, kind: FailureKind) {
        let connecting = self.connections[slot as usize].stage == Stage::Opening;
        self.connections[slot as usize].given_up = Some(kind);
        if self.connections[slot as usize].in_flight > 0 {
            self.fail_oldest(slot, at, kind, 0, connecting);
        }
        self.end_connection(io, slot, close_at_once(&self.plan));
    }

    /// Asks the driver to close; [`Worker::after_close`] follows when it has.
    pub(super) fn end_connection<I: Io>(&mut self, io: &mut I, slot: Slot, how: CloseHow) {
        let connection = &mut self.connections[slot as usize];
        connection.stage = Stage::Closing;
        connection.held = false;
        connection.deadline_ns = u64::MAX;
        if how == CloseHow::AwaitPeer {
            connection.deadline_ns = self.now_ns.saturating_add(AWAIT_CLOSE_NS);
            self.next_check_ns = self.next_check_ns.min(connection.deadline_ns);
        }
        io.close(slot, how);
    }

    /// How to close after an answer that announced it, or whose request did.
    pub(super) fn announced_close(&self) -> CloseHow {
        match self.plan.connections.close {
            Close::Await => CloseHow::AwaitPeer,
            Close::Fin => CloseHow::Fin,
            Close::Reset => CloseHow::Reset,
        }
    }

    /// A slot's socket is gone. Settles what was in flight and goes on.
    pub(super) fn after_close<I: Io>(&mut self, io: &mut I, slot: Slot, why: CloseReason, at: u64) {
        let before = self.connections[slot as usize];
        self.release_spill(slot);
        match before.stage {
            Stage::Opening => self.connect_failed(slot, why, at),
            _ if before.reading == Reading::Frames => self.streams_cut(slot, why, at),
            Stage::Open => self.closed_in_use(slot, why, at),
            Stage::Closing | Stage::Free | Stage::Resting => self.repeat_or_fail(slot, why, at),
        }
        let connection = &mut self.connections[slot as usize];
        connection.socket_gone();
        self.go_on(io, slot, at);
    }

    /// What a slot without a socket does next.
    fn go_on<I: Io>(&mut self, io: &mut I, slot: Slot, at: u64) {
        if self.hopeless {
            return;
        }
        let failed_attempts = self.connections[slot as usize].failed_attempts;
        if self.in_setup {
            if failed_attempts >= SETUP_ATTEMPTS {
                self.setup_left -= 1;
            } else if failed_attempts > 0 {
                self.rest(slot, at + rest_ns(failed_attempts));
            } else {
                // It stood, and was closed before the load began; it is opened when needed.
            }
        } else if failed_attempts > 1 {
            self.rest(slot, at + rest_ns(failed_attempts));
        } else {
            self.open_next(io, slot);
        }
    }

    pub(super) fn rest(&mut self, slot: Slot, until: u64) {
        let connection = &mut self.connections[slot as usize];
        connection.stage = Stage::Resting;
        connection.deadline_ns = until;
        self.next_check_ns = self.next_check_ns.min(until);
    }

    fn connect_failed(&mut self, slot: Slot, why: CloseReason, at: u64) {
        let (kind, errno) = match self.connections[slot as usize].given_up {
            Some(kind) if kind.is_of_setup() => (kind, 0),
            _ => failure_of(why),
        };
        if kind == FailureKind::Reset && !self.in_setup {
            // Only a connection that stood can be reset: somebody is there.
            while self.connections[slot as usize].in_flight > 0 {
                self.fail_oldest(slot, at, kind, errno, false);
            }
            return;
        }
        let nothing_stood = self.address_failed(slot);
        let connection = &self.connections[slot as usize];
        // A request is lost only when no address of the name took a connection for it.
        let tried_all =
            !nothing_stood || (connection.failed_attempts as usize).is_multiple_of(self.addresses);
        while !self.in_setup && tried_all && self.connections[slot as usize].in_flight > 0 {
            self.fail_oldest(slot, at, kind, errno, true);
        }
        if nothing_stood {
            let limit =
                self.plan.limits.hopeless_after.max(1).saturating_mul(self.addresses as u32);
            if self.refused_in_a_row >= limit {
                self.lose_hope(at, kind, errno);
            }
        }
    }

    /// The address a slot was connecting to took no connection: unless one stood already, the
    /// next address may be better. Whether none stood.
    pub(super) fn address_failed(&mut self, slot: Slot) -> bool {
        let connection = &mut self.connections[slot as usize];
        connection.failed_attempts += 1;
        let nothing_stood = self.recorder.record().connections_opened == 0;
        if nothing_stood {
            self.refused_in_a_row = self.refused_in_a_row.saturating_add(1);
            // The first to fail moves all on; the others were under way to the same address.
            if connection.address == self.address {
                self.address = (self.address + 1) % self.addresses;
                self.untried_addresses = self.untried_addresses.saturating_sub(1);
            }
        }
        nothing_stood
    }

    /// Gives the run up if every address has failed. The failure is counted here, once, where it
    /// belongs to no exchange of the window.
    pub(super) fn lose_hope(&mut self, at: u64, kind: FailureKind, errno: i32) {
        if self.hopeless || self.untried_addresses > 0 {
            return;
        }
        self.hopeless = true;
        if self.in_setup || !self.recorder.window_is_open() {
            self.recorder.count_failure(at, kind, errno, true);
        }
    }

    fn closed_in_use(&mut self, slot: Slot, why: CloseReason, at: u64) {
        let connection = self.connections[slot as usize];
        if connection.in_flight == 0 {
            return;
        }
        if connection.reading == Reading::ToEnd && why == CloseReason::Eof {
            self.answered(slot, at, connection.body_bytes, false);
            self.repeat_or_fail(slot, why, at);
            return;
        }
        if connection.answer_began {
            let kind = match why {
                CloseReason::Eof => FailureKind::ShortBody,
                other => failure_of(other).0,
            };
            self.fail_oldest(slot, at, kind, failure_of(why).1, false);
        }
        self.repeat_or_fail(slot, why, at);
    }

    /// No byte of an answer came for what is in flight. On a connection that had answered before,
    /// the server may have closed it while idle, which is no fault of anyone (RFC 9112, 9.3.1):
    /// those requests are sent again, once.
    fn repeat_or_fail(&mut self, slot: Slot, why: CloseReason, at: u64) {
        let connection = self.connections[slot as usize];
        let may_repeat = self.plan.connections.repeat
            && connection.answers > 0
            && match why {
                CloseReason::Eof | CloseReason::Local => true,
                CloseReason::Transfer(errno) => {
                    FailureKind::from_errno(errno) == FailureKind::Reset
                }
                CloseReason::Connect(_) | CloseReason::Here(..) => false,
            }
            && self.all_idempotent(slot);
        let (kind, errno) = match (why, connection.given_up) {
            (CloseReason::Local, Some(kind)) => (kind, 0),
            _ => failure_of(why),
        };
        let mut repeats = false;
        for _ in 0..connection.in_flight {
            let ring = self.connections[slot as usize].oldest;
            let place = self.place(slot, ring);
            let exchange = &mut self.exchanges[place];
            if may_repeat && !exchange.repeated {
                *exchange = Exchange {
                    number: exchange.number,
                    intended_ns: exchange.intended_ns,
                    template: exchange.template,
                    started_ns: exchange.started_ns,
                    repeated: true,
                    ..Exchange::default()
                };
                self.recorder.repeated(exchange);
                repeats = true;
                break;
            }
            self.fail_oldest(slot, at, kind, errno, false);
        }
        if !repeats {
            return;
        }
        // The first that may be repeated stands at the front now; those behind it were sent no
        // earlier and answered no sooner.
        let connection = self.connections[slot as usize];
        for position in 1..connection.in_flight {
            let place = self.place(slot, connection.oldest + position);
            let exchange = &mut self.exchanges[place];
            exchange.repeated = true;
            exchange.sent_ns = 0;
            exchange.first_byte_ns = 0;
            self.recorder.repeated(exchange);
        }
    }

    /// Whether everything in flight may be sent again without asking: what a POST does might be done
    /// twice (RFC 9110, 9.2.2).
    fn all_idempotent(&self, slot: Slot) -> bool {
        let connection = &self.connections[slot as usize];
        (0..connection.in_flight).all(|position| {
            let place = self.place(slot, connection.oldest + position);
            self.outbox.is_idempotent(self.exchanges[place].template)
        })
    }

    /// Whether the answer that is expected next is best received at once or with its body
    /// discarded, judged by the body before.
    #[inline]
    pub(super) fn learn_mode(&mut self, body_bytes: u64) -> Receive {
        self.expected_mode = if body_bytes > BULKY_BYTES { Receive::Head } else { Receive::Stream };
        self.expected_mode
    }

    /// What is in flight when the run ends.
    pub(super) fn note_unfinished(&mut self, at: u64) {
        for slot in 0..self.connections.len() as Slot {
            let connection = self.connections[slot as usize];
            self.recorder.record().body_bytes += connection.body_bytes;
            if self.http2.is_spoken() {
                self.note_unfinished_streams(slot, at);
                continue;
            }
            self.note_stopped(slot, at, false);
            for position in 0..connection.in_flight {
                let place = self.place(slot, connection.oldest + position);
                let exchange = self.exchanges[place];
                self.recorder.unfinished(&exchange, at);
            }
        }
        self.note_never_sent(at);
    }
}

/// Bodies longer than this are discarded on the socket rather than copied and skipped.
pub(super) const BULKY_BYTES: u64 = 8 * 1024;

/// How long a slot rests after so many failed attempts to connect: 1 ms, doubling, at most 100 ms.
fn rest_ns(failed_attempts: u32) -> u64 {
    (1_000_000 << (failed_attempts - 1).min(7)).min(100_000_000)
}

/// The kind and errno behind a close.
pub(super) fn failure_of(why: CloseReason) -> (FailureKind, i32) {
    match why {
        // Closed here although something was in flight: the server had announced its close.
        CloseReason::Local | CloseReason::Eof => (FailureKind::ClosedWithoutAnswer, 0),
        CloseReason::Connect(errno) | CloseReason::Transfer(errno) => {
            (FailureKind::from_errno(errno), errno)
        }
        CloseReason::Here(_, errno) => (FailureKind::from_errno(errno), errno),
    }
}
