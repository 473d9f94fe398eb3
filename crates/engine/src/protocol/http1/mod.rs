//! HTTP/1 on a worker's connections: exchanges keyed by connection and place in the pipeline, a ring.
//!
//! `sends` feeds connections without writing to what is still read, `sending` takes requests and sends
//! them, `receiving` finds heads and bodies in what arrives, `heads` is about heads (known, new, in
//! pieces), `responses` about responses that are complete, `endings` about exchanges and connections
//! that fail, `stopped` about responses that stop in the middle, `walking` about users who are asked what they
//! send.

mod endings;
mod heads;
mod receiving;
mod responses;
mod sending;
mod sends;
mod stopped;
mod walking;

use ablaze_model::record::Record;
use ablaze_net::{CloseHow, CloseReason, Io, Receive, Slot};
use ablaze_wire::http1::chunked::Chunked;
use ablaze_wire::http1::response::Ending;

use self::heads::{KnownHead, Spill};
use self::sends::Sends;
use self::walking::Letters;
use super::{Failure, Made, Protocol};
use crate::connection::Stage;
use crate::control::Heads;
use crate::sink::Bodies;
use crate::walk::Walk;
use crate::worker::waiting::{Arrivals, Gathering};
use crate::worker::{Assignment, Worker};

/// HTTP/1 of one worker.
pub(crate) struct Http1<S> {
    /// Heads of the responses before, one per template: an equal one needs no scan.
    heads: Vec<KnownHead>,
    /// Beginnings of heads that came in pieces.
    spills: Vec<Spill>,
    free_spills: Vec<u32>,
    /// Who wants to see heads; none of them is known then.
    shown: Option<Heads>,
    sends: Sends,
    bodies: Bodies<S>,
    /// What users send, where a walk says it.
    letters: Letters,
    /// Whether a walk says it.
    asks: bool,
}

/// HTTP/1 of one connection.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct State {
    /// Where the reading of the current response is.
    reading: Reading,
    /// Status and persistence of the current response, from its head.
    status: u16,
    /// The server keeps the connection after the current response.
    server_keeps: bool,
    /// Why it does not, as far as the head tells.
    ending: Ending,
    /// A byte of the current response has arrived.
    response_began: bool,
    /// Whole interim responses have arrived, and nothing that shows a final one.
    only_interim: bool,
    /// Bytes came that belong to no response.
    surplus: bool,
    /// The response is complete but its request not yet sent whole.
    held: bool,
    /// The server ended the connection within TLS (close_notify), before its FIN: the socket is closed from here.
    ended_by_server: bool,
    /// Sends that asked for notice and have not had it.
    sends_under_way: u32,
    /// Ring position of the oldest exchange in flight.
    oldest: u32,
    /// Bytes of the current response's body so far.
    body_bytes: u64,
    /// When a part of a response last came that was not its end.
    progress_ns: u64,
    /// Index of the spill holding the beginning of a split head.
    spill: Option<u32>,
}

/// Where the reading of a response is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Reading {
    /// In the head, or before it.
    #[default]
    Head,
    /// In a body of known length: this many bytes are still to come.
    Length(u64),
    /// In a chunked body.
    Chunked(Chunked),
    /// In a body that ends when the server closes.
    ToEnd,
}

impl<S: Walk> Http1<S> {
    /// For one worker.
    pub fn new(assignment: &Assignment, sink: S) -> Self {
        let plan = &assignment.plan;
        let templates = &plan.requests.templates;
        let asks = S::WALKS && !sink.only_watches();
        Self {
            heads: templates.iter().take(64).map(|_| KnownHead::default()).collect(),
            spills: Vec::new(),
            free_spills: Vec::new(),
            shown: assignment.heads.clone(),
            sends: Sends::of(plan, plan.places_per_connection(), asks),
            letters: Letters::default(),
            asks,
            bodies: Bodies::new(sink, assignment.places()),
        }
    }
}

impl super::State for State {
    fn ending(&mut self) {
        self.held = false;
    }

    fn socket_gone(&mut self) {
        *self = Self { oldest: self.oldest, ..Self::default() };
    }
}

impl<S: Walk> Protocol for Http1<S> {
    type State = State;
    type Sink = S;

    const FIRST_MODE: Receive = if S::LISTENS { Receive::Stream } else { Receive::Head };

    fn state(&self) -> State {
        State::default()
    }

    fn prepare<I: Io>(worker: &mut Worker<Self>, io: &mut I) {
        let places = worker.exchanges.len();
        worker.outbox.lease_all(io, places);
        if S::WALKS && worker.protocol.asks {
            worker.protocol.letters.lease_all(io, places);
        }
    }

    fn open_next<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot) {
        worker.open_next_requests(io, slot);
    }

    fn begin<I: Io>(_worker: &mut Worker<Self>, _io: &mut I, _slot: Slot) {}

    fn stands_early(_worker: &mut Worker<Self>, _slot: Slot) {}

    fn stands<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot, made: Made, at: u64) {
        worker.send_first(io, slot, made, at);
    }

    fn start<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot) {
        if worker.is_idle(slot) {
            worker.feed(io, slot);
        }
    }

    fn take_due<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot) {
        if worker.is_idle(slot) {
            worker.feed(io, slot);
        }
    }

    #[inline]
    fn stamp(worker: &mut Worker<Self>, slot: Slot, at: u64) {
        worker.stamp_in_flight(slot, at);
    }

    #[inline]
    fn flush<I: Io>(_worker: &mut Worker<Self>, _io: &mut I, _at: u64) {}

    #[inline]
    fn sent<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot, at: u64) {
        worker.request_left(io, slot, at);
    }

    #[inline]
    fn received<I: Io>(
        worker: &mut Worker<Self>,
        io: &mut I,
        slot: Slot,
        bytes: &mut [u8],
        at: u64,
    ) {
        worker.read_responses(io, slot, bytes, at);
    }

    fn discarded<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot, bytes: u64, at: u64) {
        worker.skip_discarded(io, slot, bytes, at);
    }

    fn nothing_more(worker: &mut Worker<Self>, slot: Slot, at: u64) {
        worker.end_last_response(slot, at);
        worker.ended_by_server(slot, at);
    }

    fn cut_off(worker: &mut Worker<Self>, slot: Slot, at: u64) {
        worker.cut_body_off(slot, at);
    }

    fn closed(worker: &mut Worker<Self>, slot: Slot, why: CloseReason, at: u64) {
        worker.release_spill(slot);
        let state = worker.connections[slot as usize].state;
        if state.held {
            worker.held_until(slot, at);
        }
        let why = match why {
            CloseReason::Local if state.ended_by_server => CloseReason::Eof,
            why => why,
        };
        match worker.connections[slot as usize].stage {
            Stage::Open => worker.closed_in_use(slot, why, at),
            _ => worker.repeat_or_fail(slot, why, at),
        }
    }

    fn fail_oldest(worker: &mut Worker<Self>, slot: Slot, at: u64, failure: Failure) {
        worker.oldest_failed(slot, at, failure);
    }

    fn oldest_ns(worker: &Worker<Self>, slot: Slot) -> u64 {
        let oldest = worker.connections[slot as usize].state.oldest;
        worker.exchanges[worker.place(slot, oldest)].timed_from_ns()
    }

    fn overdue<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot, now: u64) {
        let connection = &worker.connections[slot as usize];
        if connection.state.held {
            worker.recorder.record().answered_early.closed += 1;
            worker.held_until(slot, now);
            return worker.end_connection(io, slot, CloseHow::Fin);
        }
        if connection.stage == Stage::Open {
            worker.note_stopped(slot, now, true);
            worker.note_unsent(slot);
        }
        worker.give_up(io, slot, now, ablaze_model::failure::FailureKind::Timeout);
    }

    fn counts_until<I: Io>(worker: &mut Worker<Self>, _io: &mut I) {
        for slot in 0..worker.connections.len() as Slot {
            if worker.connections[slot as usize].state.held {
                worker.held_until(slot, worker.now_ns);
            }
        }
    }

    fn answers_warmup(worker: &Worker<Self>, slot: Slot) -> bool {
        let connection = &worker.connections[slot as usize];
        let oldest = worker.place(slot, connection.state.oldest);
        connection.in_flight > 0 && worker.recorder.is_of_warmup(&worker.exchanges[oldest])
    }

    fn window_opens(worker: &mut Worker<Self>, at: u64) {
        for connection in &mut worker.connections {
            connection.state.body_bytes = 0;
        }
        if S::WALKS {
            worker.protocol.bodies.sink().window_opens(at);
        }
    }

    fn unfinished(worker: &mut Worker<Self>, slot: Slot, at: u64) {
        worker.note_in_flight(slot, at);
    }

    fn gathering(worker: &Worker<Self>) -> Gathering {
        let arrivals = match worker.expected_mode {
            Receive::Stream => Arrivals::Small,
            _ => Arrivals::Bulky,
        };
        Gathering { arrivals, events: worker.in_flight, beside: 0 }
    }

    fn is_walking(&self) -> bool {
        S::WALKS && self.bodies.sink_ref().is_walking()
    }

    fn is_preparing(&self) -> bool {
        S::WALKS && self.bodies.sink_ref().is_preparing()
    }

    fn prepared(worker: &mut Worker<Self>) {
        if S::WALKS {
            worker.protocol.bodies.sink().prepared();
            for connection in &mut worker.connections {
                connection.pauses = false;
            }
        }
    }

    fn is_over(&self) -> bool {
        S::WALKS && self.bodies.sink_ref().is_over()
    }

    fn first_address(&self) -> usize {
        if S::WALKS { self.bodies.sink_ref().address() } else { 0 }
    }

    fn go_on_after_pause<I: Io>(worker: &mut Worker<Self>, io: &mut I, slot: Slot) {
        // Users have no pipeline: the place of one is its slot.
        if !std::mem::take(&mut worker.connections[slot as usize].pauses) {
            return;
        }
        match worker.connections[slot as usize].stage {
            Stage::Open if worker.is_idle(slot) => worker.feed(io, slot),
            Stage::Free => worker.open_next_requests(io, slot),
            // On the way to one of these, where its user is asked again.
            _ => {}
        }
    }

    fn report(&mut self, record: &mut Record, closed_ns: u64) {
        if S::WALKS {
            self.bodies.sink().report(record, closed_ns);
        }
    }

    fn into_sink(self) -> S {
        self.bodies.into_sink()
    }
}
