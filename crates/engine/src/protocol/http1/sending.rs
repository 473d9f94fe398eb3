//! Requests leave: taken for the free places of a connection and sent, one send for several where
//! their bytes lie one behind the other.

use ablaze_net::{Io, Outgoing, Slot};

use super::Http1;
use crate::connection::{Exchange, Stage};
use crate::protocol::Made;
use crate::walk::Walk;
use crate::worker::Worker;

impl<S: Walk> Worker<Http1<S>> {
    /// Opens a free slot with the next requests as its first bytes, if there are any left: those
    /// to repeat, or new ones.
    pub(super) fn open_next_requests<I: Io>(&mut self, io: &mut I, slot: Slot) {
        if self.connections[slot as usize].in_flight == 0
            && self.take_exchanges(slot, self.pipeline) == 0
        {
            if S::WALKS && self.follow_user(io, slot) {
                return;
            }
            self.note_draining();
            self.note_vacant(slot);
            return;
        }
        let connection = &mut self.connections[slot as usize];
        connection.requests = u64::from(connection.in_flight);
        let (oldest, in_flight) = (connection.state.oldest, connection.in_flight);
        let place = self.place(slot, oldest);
        let single = in_flight == 1 && !self.protocol.sends.notify && !self.asks_users();
        let first = single.then(|| self.outgoing(io, place));
        self.open(io, slot, first);
    }

    /// A connection stands: its first request is on its way already, or leaves now.
    pub(super) fn send_first<I: Io>(&mut self, io: &mut I, slot: Slot, made: Made, at: u64) {
        let connection = &self.connections[slot as usize];
        let (oldest, in_flight) = (connection.state.oldest, connection.in_flight);
        if in_flight == 0 {
            self.feed(io, slot);
            return;
        }
        let sends_now = in_flight > 1 || self.protocol.sends.notify || self.asks_users();
        for position in 0..in_flight {
            let place = self.place(slot, oldest + position);
            let exchange = &mut self.exchanges[place];
            exchange.connect_ns = made.connect_ns;
            exchange.tls_ns = made.tls_ns;
            exchange.made_connection = position == 0;
            exchange.sent_ns = if sends_now { 0 } else { at };
        }
        if sends_now {
            self.note_leaving(io, slot);
            self.send_places(io, slot, 0, in_flight);
        } else {
            let place = self.place(slot, oldest);
            let bytes = self.outbox.sent_bytes(place, self.exchanges[place].template);
            self.recorder.record().sent_bytes += u64::from(bytes);
        }
    }

    /// Takes numbers for the places of a connection until `most` are in flight, up to its limit;
    /// returns how many.
    #[inline]
    pub(super) fn take_exchanges(&mut self, slot: Slot, most: u32) -> u32 {
        if self.asks_users() {
            return self.take_step(slot, most);
        }
        let mut count = 0;
        while {
            let connection = &self.connections[slot as usize];
            connection.in_flight < most
                && connection.requests < self.requests_per_connection
                && !self.closed_for_new
        } {
            let Some((number, intended_ns)) = self.take_request() else { break };
            let connection = &mut self.connections[slot as usize];
            let ring = (connection.state.oldest + connection.in_flight) % self.pipeline;
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
        if self.asks_users() {
            return self.send_letters(io, slot, first, count);
        }
        let notify = self.protocol.sends.notify;
        let oldest = self.connections[slot as usize].state.oldest;
        if self.outbox.copies() >= count && count > 1 {
            let bytes = self.outbox.constant(0, count);
            self.recorder.record().sent_bytes += u64::from(bytes.len());
            self.connections[slot as usize].state.sends_under_way += u32::from(notify);
            io.send(slot, bytes, notify);
            return;
        }
        for position in first..first + count {
            let place = self.place(slot, oldest + position);
            let bytes = self.outgoing(io, place);
            self.recorder.record().sent_bytes += u64::from(bytes.len());
            self.connections[slot as usize].state.sends_under_way += u32::from(notify);
            io.send(slot, bytes, notify);
        }
    }

    /// The bytes of the exchange at this place.
    #[inline]
    fn outgoing<I: Io>(&mut self, io: &mut I, place: usize) -> Outgoing {
        let Exchange { template, number, repeated, .. } = self.exchanges[place];
        if self.outbox.is_constant(template) {
            self.outbox.constant(template, 1)
        } else if repeated {
            self.outbox.again(place, template)
        } else {
            let bytes = self.outbox.patched(io, place, template, number);
            if S::WALKS {
                self.tell_sent(io, place, bytes);
            }
            bytes
        }
    }

    #[inline]
    pub(super) fn place(&self, slot: Slot, ring: u32) -> usize {
        (slot * self.pipeline + ring % self.pipeline) as usize
    }

    /// What is in flight on a slot leaves, or connecting for it begins.
    #[inline]
    pub(super) fn stamp_in_flight(&mut self, slot: Slot, at: u64) {
        let connection = &self.connections[slot as usize];
        let opening = connection.stage == Stage::Opening;
        let (oldest, in_flight) = (connection.state.oldest, connection.in_flight);
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
}
