//! Requests that a [`Walk`] says, and those that have another length each time: written anew, as the text that HTTP/1 has for
//! them, and kept until they are answered.
//!
//! A connection carries as many users as it may have streams: a user's place has the same tag on its connections to every
//! origin, and the user is at one of them. A walk that only watches is told, and asked nothing.

use ablaze_net::{Io, Slot};
use ablaze_wire::http2::request::RequestText;

use super::{Multiplexer, OfSlot, Place, Session, Streams};
use crate::connection::{Exchange, Stage};
use crate::walk::{Next, Walk, Written};
use crate::worker::{Assignment, Worker};

/// What users send.
#[derive(Debug, Default)]
pub(super) struct Letters {
    /// By place; empty where the template of the Plan is sent as it is.
    texts: Vec<Vec<u8>>,
    /// The scheme of each origin.
    schemes: Vec<&'static str>,
    /// Whether users are asked.
    asks: bool,
    /// Connections that users have come to from others, to send there.
    moved_to: Vec<Slot>,
}

impl Letters {
    /// For one worker, where a walk says what is sent or sees what comes back.
    pub fn of<S: Walk>(assignment: &Assignment, sink: &S) -> Self {
        if !S::WALKS {
            return Self::default();
        }
        let plan = &assignment.plan;
        let others = plan.target.others.iter().map(|origin| origin.tls.is_some());
        let is_secured = std::iter::once(plan.tls.is_some()).chain(others);
        Self {
            texts: vec![Vec::new(); assignment.places()],
            schemes: is_secured.map(|is| if is { "https" } else { "http" }).collect(),
            asks: !sink.only_watches(),
            moved_to: Vec::new(),
        }
    }

    /// The request of a place on a connection to an origin, unless it is a template as it is.
    pub fn text(&self, place: usize, origin: u16) -> Option<(RequestText<'_>, &'static str)> {
        let text = self.texts.get(place).filter(|text| !text.is_empty())?;
        Some((RequestText::new(text), self.schemes[usize::from(origin)]))
    }
}

impl<C: Multiplexer, S: Walk> Worker<Streams<C, S>> {
    /// Whether users are asked what they send.
    #[inline(always)]
    pub(super) fn asks_users(&self) -> bool {
        S::WALKS && self.protocol.letters.asks
    }

    /// Before the first connection: all users are at those to the target.
    pub(super) fn seat_users_on_streams(&mut self) {
        if !self.asks_users() {
            return;
        }
        for connection in &mut self.connections {
            let session = &mut connection.state;
            session.asks = true;
            let tags = std::mem::take(&mut session.free);
            if connection.origin == 0 {
                session.asked = tags;
            }
        }
    }

    /// Asks the users of a connection in turn, until one sends a request on it, which has its place then. Those without
    /// anything to do are given numbers of the run, as long as there are any.
    pub(super) fn take_step(&mut self, slot: Slot) -> Option<u32> {
        loop {
            let session = &mut self.connections[slot as usize].state;
            let tag = match session.asked.pop_front() {
                Some(tag) => tag,
                None if self.closed_for_new || session.free.is_empty() => return None,
                None => {
                    let (number, due_ns) = self.take_request()?;
                    let tag = self.connections[slot as usize].state.free.pop_front()?;
                    let user = self.user(slot, tag);
                    self.protocol.bodies.sink().start(user, number, due_ns, self.now_ns);
                    tag
                }
            };
            if self.ask(slot, tag) {
                return Some(tag);
            }
        }
    }

    /// Asks the user of a place what it does next. Whether it sends a request on this connection; where it goes to another,
    /// [`follow_users`](Self::follow_users) does.
    fn ask(&mut self, slot: Slot, tag: u32) -> bool {
        let user = self.user(slot, tag);
        match self.protocol.bodies.sink().next(user, self.now_ns) {
            Next::Start => {
                self.connections[slot as usize].state.free.push_back(tag);
                false
            }
            Next::Pause { until_ns } => {
                self.connections[slot as usize].state.places[tag as usize].pauses = true;
                let place = self.place_of(slot, tag);
                self.pause(place as u32, until_ns);
                false
            }
            Next::Send { template, number, due_ns, origin } => {
                let to = self.seat(slot, origin);
                let connection = &mut self.connections[to as usize];
                connection.is_left = false;
                connection.in_flight += 1;
                connection.state.places[tag as usize] = Place { in_use: true, ..Place::default() };
                self.in_flight += 1;
                let place = self.place_of(to, tag);
                self.exchanges[place] =
                    Exchange { number, intended_ns: due_ns, template, ..Exchange::default() };
                self.write_letter(user, place);
                if to != slot {
                    self.connections[to as usize].state.waiting.push_back(tag);
                    self.protocol.letters.moved_to.push(to);
                }
                to == slot
            }
        }
    }

    fn write_letter(&mut self, user: u32, place: usize) {
        let Exchange { template, number, .. } = self.exchanges[place];
        let text = &mut self.protocol.letters.texts[place];
        text.clear();
        match self.protocol.bodies.sink().write(user, template, text) {
            // Also where it is always the same: its authority and scheme are those of the host that its user is at.
            Written::Constant | Written::Filled => {
                text.clear();
                self.outbox.write(template, number, text);
                self.protocol.bodies.sink().sent(place, text);
            }
            Written::Here => {}
        }
    }

    /// A request of the Plan got its place. Unless all that are made of its template are the same, it is written now, so that
    /// it is the same when it is sent again.
    pub(super) fn write_planned(&mut self, place: usize) {
        let Exchange { template, number, .. } = self.exchanges[place];
        let text = &mut self.protocol.letters.texts[place];
        text.clear();
        if !self.outbox.is_constant(template) {
            self.outbox.write(template, number, text);
            self.protocol.bodies.sink().sent(place, text);
        }
    }

    /// Users have come to other connections than those where they were asked: what they send leaves there, or as soon as it
    /// can.
    pub(super) fn follow_users<I: Io>(&mut self, io: &mut I) {
        while let Some(to) = self.protocol.letters.moved_to.pop() {
            match self.connections[to as usize].stage {
                Stage::Open => self.feed_connection(io, to),
                Stage::Free => self.open_for_streams(io, to),
                // On the way to one of these.
                Stage::Opening | Stage::Resting | Stage::Closing => {}
            }
        }
    }

    /// The pause of the user of a place is over.
    pub(super) fn go_on_with_user<I: Io>(&mut self, io: &mut I, place: u32) {
        let (slot, tag) = (place / self.pipeline, place % self.pipeline);
        let session = &mut self.connections[slot as usize].state;
        if !std::mem::take(&mut session.places[tag as usize].pauses) {
            return;
        }
        session.asked.push_back(tag);
        match self.connections[slot as usize].stage {
            Stage::Open => self.feed_streams(io, slot),
            Stage::Free => self.open_next_for_streams(io, slot),
            // On the way to one of these, where its user is asked.
            _ => {}
        }
    }

    /// The user of a place.
    pub(super) fn user(&self, slot: Slot, tag: u32) -> u32 {
        self.connections[slot as usize].user * self.pipeline + tag
    }
}

impl<T: OfSlot> Session<T> {
    /// Users pause no more.
    pub(super) fn forget_pauses(&mut self) {
        for (tag, place) in self.places.iter_mut().enumerate() {
            if std::mem::take(&mut place.pauses) {
                self.asked.push_back(tag as u32);
            }
        }
    }

    /// Whether there is anything for a user to do that comes only when it is asked.
    pub(super) fn has_idle_users(&self) -> bool {
        !self.asks || !self.free.is_empty()
    }
}
