//! Requests that a [`Walk`] says: users are asked what they send next, and told what came back.
//!
//! What they write goes into a buffer of their connection's own, which is not written to before its bytes have left:
//! such requests are sent as patched ones are. A connection has one in flight, unless its user has more to send behind it
//! ([`Walk::has_more`]) and the Plan has a pipeline. A walk that only watches is told, and asked nothing.

use ablaze_model::failure::FailureKind;
use ablaze_net::{Io, OutBuffer, Outgoing, Slot};

use super::Http1;
use crate::connection::{Exchange, Stage};
use crate::walk::{Answered, Next, Walk, Written};
use crate::worker::Worker;

/// A buffer begins with this many bytes, and grows with what is written to it.
const BUFFER_BYTES: usize = 1024;

/// Requests longer than this are sent with notice: see [`sends`](super::sends).
const SILENT_BYTES: u32 = 4 * 1024;

/// What users send.
#[derive(Debug, Default)]
pub(super) struct Letters {
    /// One per place.
    letters: Vec<Letter>,
    /// Where a request is written first: its length is not known before.
    draft: Vec<u8>,
    /// A user has a request on another of its connections than the one that it was asked for.
    moved_to: Option<Slot>,
}

/// The request of one place.
#[derive(Debug)]
struct Letter {
    buffer: OutBuffer,
    capacity: usize,
    /// How to send it, and again.
    outgoing: Outgoing,
}

impl Letters {
    /// A buffer for each place.
    pub fn lease_all<I: Io>(&mut self, io: &mut I, places: usize) {
        let nothing = Outgoing::Constant { start: 0, len: 0 };
        self.letters = (0..places)
            .map(|_| Letter {
                buffer: io.lease(BUFFER_BYTES),
                capacity: BUFFER_BYTES,
                outgoing: nothing,
            })
            .collect();
    }

    /// Copies the draft to a place.
    fn post<I: Io>(&mut self, io: &mut I, place: usize) -> Outgoing {
        let (letter, length) = (&mut self.letters[place], self.draft.len());
        if length > letter.capacity {
            io.release(letter.buffer);
            letter.capacity = length.next_power_of_two();
            letter.buffer = io.lease(letter.capacity);
        }
        io.leased(letter.buffer)[..length].copy_from_slice(&self.draft);
        Outgoing::Leased { buffer: letter.buffer, len: length as u32 }
    }
}

impl<S: Walk> Worker<Http1<S>> {
    /// Asks the user of a connection that has nothing in flight what it does next. Returns how many requests it sends, at most
    /// `most`, which have their places then; 0 also if it sends on another connection, to which
    /// [`follow_user`](Self::follow_user) goes.
    pub(super) fn take_step(&mut self, slot: Slot, most: u32) -> u32 {
        let connection = &self.connections[slot as usize];
        if connection.in_flight > 0 || connection.is_left {
            return 0;
        }
        let user = self.connections[slot as usize].user;
        loop {
            match self.protocol.bodies.sink().next(user, self.now_ns) {
                Next::Send { template, number, due_ns, origin } => {
                    let to = self.move_user(slot, origin);
                    self.place_step(to, template, (number, due_ns));
                    if to == slot {
                        return 1 + self.take_more_steps(slot, most);
                    }
                    self.protocol.letters.moved_to = Some(to);
                    return 0;
                }
                Next::Pause { until_ns } => {
                    if !std::mem::replace(&mut self.connections[slot as usize].pauses, true) {
                        self.pause(slot, until_ns);
                    }
                    return 0;
                }
                Next::Start if self.closed_for_new => return 0,
                Next::Start => {
                    let Some((number, due_ns)) = self.take_request() else { return 0 };
                    self.protocol.bodies.sink().start(user, number, due_ns, self.now_ns);
                }
            }
        }
    }

    /// What the user of a connection sends behind its first request, without waiting for the response; returns how many.
    fn take_more_steps(&mut self, slot: Slot, most: u32) -> u32 {
        let user = self.connections[slot as usize].user;
        let mut count = 0;
        while self.connections[slot as usize].in_flight < most
            && !self.closed_for_new
            && self.protocol.bodies.sink().has_more(user)
        {
            let Some((number, due_ns)) = self.take_request() else { break };
            self.protocol.bodies.sink().start(user, number, due_ns, self.now_ns);
            let next = self.protocol.bodies.sink().next(user, self.now_ns);
            let Next::Send { template, number, due_ns, .. } = next else { break };
            self.place_step(slot, template, (number, due_ns));
            count += 1;
        }
        count
    }

    /// A request of a user gets the next place of a connection.
    fn place_step(&mut self, slot: Slot, template: u32, (number, due_ns): (u64, u64)) {
        let connection = &mut self.connections[slot as usize];
        let ring = (connection.state.oldest + connection.in_flight) % self.pipeline;
        connection.in_flight += 1;
        connection.requests += 1;
        self.in_flight += 1;
        self.exchanges[(slot * self.pipeline + ring) as usize] =
            Exchange { number, intended_ns: due_ns, template, ..Exchange::default() };
    }

    /// A connection has nothing to send: whether that is because its user pauses, or is at another one, whose request
    /// leaves then or as soon as it can.
    pub(super) fn follow_user<I: Io>(&mut self, io: &mut I, slot: Slot) -> bool {
        if let Some(to) = self.protocol.letters.moved_to.take() {
            match self.connections[to as usize].stage {
                Stage::Open => {
                    self.note_leaving(io, to);
                    self.send_letters(io, to, 0, 1);
                }
                Stage::Free => self.open_next_requests(io, to),
                Stage::Closing => self.connections[to as usize].is_awaited = true,
                // On the way to one of these.
                Stage::Opening | Stage::Resting => {}
            }
        }
        let connection = &mut self.connections[slot as usize];
        connection.is_idle_from(self.now_ns);
        connection.pauses || connection.is_left
    }

    /// Sends the requests at `first..first + count` of a connection's places in flight.
    pub(super) fn send_letters<I: Io>(&mut self, io: &mut I, slot: Slot, first: u32, count: u32) {
        let oldest = self.connections[slot as usize].state.oldest;
        for position in first..first + count {
            let place = self.place(slot, oldest + position);
            if !self.exchanges[place].repeated {
                let outgoing = self.write_letter(io, slot, place);
                self.protocol.letters.letters[place].outgoing = outgoing;
            }
            let bytes = self.protocol.letters.letters[place].outgoing;
            let notify = self.protocol.sends.notify || bytes.len() > SILENT_BYTES;
            self.recorder.record().sent_bytes += u64::from(bytes.len());
            self.connections[slot as usize].state.sends_under_way += u32::from(notify);
            io.send(slot, bytes, notify);
        }
    }

    /// Has the user of a connection write its request, and says what to send.
    fn write_letter<I: Io>(&mut self, io: &mut I, slot: Slot, place: usize) -> Outgoing {
        let Exchange { template, number, .. } = self.exchanges[place];
        let letters = &mut self.protocol.letters;
        letters.draft.clear();
        let user = self.connections[slot as usize].user;
        match self.protocol.bodies.sink().write(user, template, &mut letters.draft) {
            Written::Constant => self.outbox.constant(template, 1),
            Written::Here => letters.post(io, place),
            Written::Filled => {
                let bytes = self.outbox.patched(io, place, template, number);
                self.tell_sent(io, place, bytes);
                bytes
            }
        }
    }

    /// Whether users are asked what they send.
    #[inline(always)]
    pub(super) fn asks_users(&self) -> bool {
        S::WALKS && self.protocol.asks
    }

    /// A request of the Plan was put together.
    pub(super) fn tell_sent<I: Io>(&mut self, io: &mut I, place: usize, bytes: Outgoing) {
        if let Outgoing::Leased { buffer, len } = bytes {
            let bytes = &io.leased(buffer)[..len as usize];
            self.protocol.bodies.sink().sent(place, bytes);
        }
    }

    /// The head of the response to the oldest request.
    pub(super) fn tell_head(&mut self, slot: Slot, status: u16, head: &[u8]) {
        if status < 200 && status != 101 {
            return;
        }
        let connection = &self.connections[slot as usize];
        let place = (slot * self.pipeline + connection.state.oldest) as usize;
        let template = self.exchanges[place].template;
        self.protocol.bodies.sink().head(connection.user, place, template, status, head);
    }

    /// The response to the oldest request is complete.
    pub(super) fn tell_answered(&mut self, slot: Slot, at: u64, body_bytes: u64, counts: bool) {
        let connection = &self.connections[slot as usize];
        let place = (slot * self.pipeline + connection.state.oldest) as usize;
        let exchange = &self.exchanges[place];
        let total_ns = at.saturating_sub(exchange.started_ns);
        let number = exchange.number;
        let answered = Answered { place, number, counts, total_ns, body_bytes, at_ns: at };
        self.protocol.bodies.sink().answered(connection.user, exchange.template, answered);
    }

    /// The response is complete, behind its time: it counts as a timeout, for whoever walks, too.
    #[cold]
    pub(super) fn tell_late(&mut self, slot: Slot, at: u64) {
        let connection = &self.connections[slot as usize];
        let place = (slot * self.pipeline + connection.state.oldest) as usize;
        let (user, template) = (connection.user, self.exchanges[place].template);
        self.protocol.bodies.sink().failed(user, template, FailureKind::Timeout, at);
    }
}
