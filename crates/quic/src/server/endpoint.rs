//! The connections behind one socket: which datagram is whose, who is due, what is to leave.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ablaze_wire::http3::error::ErrorCode;
use bytes::BytesMut;
use quinn_proto::{ConnectionHandle, DatagramEvent, EcnCodepoint, Incoming, ServerConfig};

use crate::datagrams::segments_max;
use crate::unpaced;

use super::connection::Connection;
use super::datagrams::{Datagram, Transmit, leaving};
use super::settings::Settings;
use super::timers::Timers;

/// Handshakes under way beyond which a client has to show that it receives at its address before anything is kept for it.
const UNPROVEN_MAX: usize = 1_000;
/// Kinds of devices that are remembered.
const DEVICES_MAX: usize = 16;
/// Answers of the endpoint itself that wait to be sent; more are not made.
const ANSWERS_MAX: usize = 1_000;

/// What is said on a connection: the requests of its client and their responses.
pub trait Conversation: Sized {
    /// What all conversations of an endpoint share.
    type Around;

    /// Of a connection that begins.
    fn new(around: &mut Self::Around) -> Self;

    /// Takes what came ([`Connection::next_event`]), and sends what can be sent. Called whenever something happened,
    /// and when [`Self::due_ns`] has come.
    fn go_on(&mut self, connection: &mut Connection, around: &mut Self::Around, now_ns: u64);

    /// When it wants to go on although nothing came.
    fn due_ns(&self) -> Option<u64>;

    /// No further request is taken; those under way are answered.
    fn finish(&mut self);

    /// The longest datagram that the network device toward a client takes, where that is known. Asked once for each connection.
    fn device_bytes_max(_around: &mut Self::Around, _client: SocketAddr) -> Option<u16> {
        None
    }
}

/// What happened on the connections of an endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Handshakes that were completed.
    pub handshakes: u64,
    /// Clients that were asked to show that they receive at their address (Retry).
    pub retries: u64,
    /// Connections that ended before their handshake was complete.
    pub failed: u64,
}

/// All connections behind one socket.
#[derive(Debug)]
pub struct Endpoint<C> {
    quic: quinn_proto::Endpoint,
    settings: Settings,
    /// How connections behave, by what the device toward the client takes.
    through_devices: Vec<(Option<u16>, Arc<ServerConfig>)>,
    /// By the numbers that QUIC gives them, which are used again.
    held: Vec<Option<Box<Held<C>>>>,
    live: usize,
    unproven: usize,
    /// Those to be looked at, and those that may have something to send.
    touched: Vec<usize>,
    sending: VecDeque<usize>,
    answers: VecDeque<(Transmit, Vec<u8>)>,
    timers: Timers,
    counts: Counts,
    finishing: bool,
    /// A time as both clocks have it.
    origin: (Instant, u64),
    scratch: Vec<u8>,
}

#[derive(Debug)]
struct Held<C> {
    connection: Connection,
    conversation: C,
    is_touched: bool,
    is_sending: bool,
    /// Its place among the timers, ns.
    timer_ns: u64,
    has_stood: bool,
}

impl<C: Conversation> Endpoint<C> {
    /// Without connections; `now_ns` is what the owner's clock says.
    pub fn new(settings: Settings, now_ns: u64) -> Self {
        let server = Some(settings.server.clone());
        Self {
            quic: quinn_proto::Endpoint::new(settings.endpoint.clone(), server, true, None),
            settings,
            through_devices: Vec::new(),
            held: Vec::new(),
            live: 0,
            unproven: 0,
            touched: Vec::new(),
            sending: VecDeque::new(),
            answers: VecDeque::new(),
            timers: Timers::default(),
            counts: Counts::default(),
            finishing: false,
            origin: (Instant::now(), now_ns),
            scratch: Vec::new(),
        }
    }

    /// Takes what was received. [`Self::run`] follows.
    pub fn receive(&mut self, datagram: &Datagram<'_>, around: &mut C::Around, now_ns: u64) {
        let now = self.instant(now_ns);
        let ecn = EcnCodepoint::from_bits(datagram.ecn);
        for payload in datagram.bytes.chunks(datagram.segment_bytes.max(1)) {
            let mut answer = std::mem::take(&mut self.scratch);
            answer.clear();
            let bytes = BytesMut::from(payload);
            let event = self.quic.handle(now, datagram.from, datagram.at, ecn, bytes, &mut answer);
            self.scratch = answer;
            match event {
                Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                    if let Some(Some(held)) = self.held.get_mut(handle.0) {
                        held.connection.quic.handle_event(event);
                        self.touch(handle.0);
                    }
                }
                Some(DatagramEvent::NewConnection(incoming)) => {
                    self.incoming(incoming, around, now)
                }
                Some(DatagramEvent::Response(transmit)) => self.answer(&transmit),
                None => {}
            }
        }
    }

    /// Has connections go on to which something happened, or whose time has come.
    pub fn run(&mut self, around: &mut C::Around, now_ns: u64) {
        while let Some((due_ns, place)) = self.timers.pop(now_ns) {
            if let Some(Some(held)) = self.held.get_mut(place)
                && held.timer_ns == due_ns
            {
                held.timer_ns = u64::MAX;
                self.touch(place);
            }
        }
        let mut touched = std::mem::take(&mut self.touched);
        for &place in &touched {
            self.go_on(place, around, now_ns);
        }
        touched.clear();
        self.touched = touched;
    }

    /// When [`Self::run`] is to be called although nothing came, ns.
    pub fn due_ns(&self) -> Option<u64> {
        self.timers.first_due_ns()
    }

    /// Puts datagrams that are to leave into `out`, which is empty. To be called until there are none.
    pub fn transmit(&mut self, out: &mut Vec<u8>, now_ns: u64) -> Option<Transmit> {
        if let Some((transmit, bytes)) = self.answers.pop_front() {
            out.extend_from_slice(&bytes);
            return Some(transmit);
        }
        let now = self.instant(now_ns);
        while let Some(&place) = self.sending.front() {
            if let Some(Some(held)) = self.held.get_mut(place) {
                let quic = &mut held.connection.quic;
                let datagram_bytes = quic.current_mtu();
                let most = segments_max(datagram_bytes);
                let permitted =
                    unpaced::datagrams_permitted(quic.congestion_state(), datagram_bytes);
                let most = permitted.map_or(most, |permitted| permitted.min(most));
                if let Some(transmit) = quic.poll_transmit(now, most, out) {
                    return Some(leaving(&transmit));
                }
                held.is_sending = false;
            }
            self.sending.pop_front();
            self.settle(place);
        }
        None
    }

    /// No further connections or requests are taken.
    pub fn finish(&mut self) {
        self.finishing = true;
        for place in 0..self.held.len() {
            if let Some(held) = &mut self.held[place] {
                held.conversation.finish();
                self.touch(place);
            }
        }
    }

    /// Ends all connections. [`Self::run`] follows, and their last datagrams are to be sent.
    pub fn close_all(&mut self) {
        for place in 0..self.held.len() {
            if let Some(held) = &mut self.held[place] {
                held.connection.close(ErrorCode::NO_ERROR);
                self.touch(place);
            }
        }
    }

    /// Whether no connection is open. Closed ones may linger, to answer what comes late (RFC 9000, 10.2).
    pub fn is_quiet(&self) -> bool {
        self.held.iter().flatten().all(|held| held.connection.is_closed())
    }

    /// Connections, also those that are closed and linger.
    pub fn connections(&self) -> usize {
        self.live
    }

    /// What happened since the last call.
    pub fn take_counts(&mut self) -> Counts {
        std::mem::take(&mut self.counts)
    }

    fn instant(&self, now_ns: u64) -> Instant {
        let (instant, ns) = self.origin;
        instant + Duration::from_nanos(now_ns.saturating_sub(ns))
    }

    fn nanoseconds(&self, instant: Instant) -> u64 {
        let (origin, ns) = self.origin;
        ns + instant.saturating_duration_since(origin).as_nanos() as u64
    }

    fn touch(&mut self, place: usize) {
        if let Some(Some(held)) = self.held.get_mut(place)
            && !std::mem::replace(&mut held.is_touched, true)
        {
            self.touched.push(place);
        }
    }

    /// Someone begins a connection.
    fn incoming(&mut self, incoming: Incoming, around: &mut C::Around, now: Instant) {
        let mut answer = std::mem::take(&mut self.scratch);
        answer.clear();
        let unproven = !incoming.remote_address_validated() && incoming.may_retry();
        let transmit = if self.finishing {
            Some(self.quic.refuse(incoming, &mut answer))
        } else if unproven && (self.settings.retry || self.unproven >= UNPROVEN_MAX) {
            self.counts.retries += 1;
            self.quic.retry(incoming, &mut answer).ok()
        } else {
            let device_bytes_max = C::device_bytes_max(around, incoming.remote_address());
            let config = self.through_device(device_bytes_max);
            match self.quic.accept(incoming, now, &mut answer, Some(config)) {
                Ok((handle, quic)) => {
                    self.hold(handle.0, quic, around);
                    None
                }
                Err(error) => {
                    self.counts.failed += 1;
                    error.response
                }
            }
        };
        self.scratch = answer;
        if let Some(transmit) = transmit {
            self.answer(&transmit);
        }
    }

    fn through_device(&mut self, bytes_max: Option<u16>) -> Arc<ServerConfig> {
        if let Some((_, known)) = self.through_devices.iter().find(|(of, _)| *of == bytes_max) {
            return known.clone();
        }
        // A machine has few devices.
        self.through_devices.truncate(DEVICES_MAX - 1);
        let config = self.settings.through_device(bytes_max);
        self.through_devices.push((bytes_max, config.clone()));
        config
    }

    fn hold(&mut self, place: usize, quic: quinn_proto::Connection, around: &mut C::Around) {
        if self.held.len() <= place {
            self.held.resize_with(place + 1, || None);
        }
        self.held[place] = Some(Box::new(Held {
            connection: Connection::new(quic, self.settings.section_bytes_max),
            conversation: C::new(around),
            is_touched: false,
            is_sending: false,
            timer_ns: u64::MAX,
            has_stood: false,
        }));
        self.live += 1;
        self.unproven += 1;
        self.touch(place);
    }

    /// The endpoint itself says something, which is in `scratch`.
    fn answer(&mut self, transmit: &quinn_proto::Transmit) {
        if self.answers.len() < ANSWERS_MAX {
            let bytes = self.scratch[..transmit.size].to_vec();
            self.answers.push_back((leaving(transmit), bytes));
        }
    }

    fn go_on(&mut self, place: usize, around: &mut C::Around, now_ns: u64) {
        let now = self.instant(now_ns);
        let Some(Some(held)) = self.held.get_mut(place) else { return };
        held.is_touched = false;
        let Held { connection, conversation, has_stood, .. } = &mut **held;
        if connection.quic.poll_timeout().is_some_and(|due| due <= now) {
            connection.quic.handle_timeout(now);
        }
        if connection.read_events() {
            self.counts.handshakes += 1;
            self.unproven = self.unproven.saturating_sub(1);
            *has_stood = true;
        }
        if !connection.is_closed() {
            conversation.go_on(connection, around, now_ns);
        }
        connection.close_if_asked(now);
        if !std::mem::replace(&mut held.is_sending, true) {
            self.sending.push_back(place);
        }
    }

    /// A connection has sent what it could: what it tells the endpoint, and when it is to be looked at again.
    fn settle(&mut self, place: usize) {
        let Some(Some(held)) = self.held.get_mut(place) else { return };
        let quic = &mut held.connection.quic;
        while let Some(event) = quic.poll_endpoint_events() {
            if let Some(event) = self.quic.handle_event(ConnectionHandle(place), event) {
                quic.handle_event(event);
                if !std::mem::replace(&mut held.is_sending, true) {
                    self.sending.push_back(place);
                }
            }
        }
        if quic.is_drained() {
            let has_stood = held.has_stood;
            self.held[place] = None;
            self.live -= 1;
            if !has_stood {
                self.counts.failed += 1;
                self.unproven = self.unproven.saturating_sub(1);
            }
            return;
        }
        let own_ns = quic.poll_timeout();
        let theirs_ns = held.conversation.due_ns().filter(|_| !held.connection.is_closed());
        let scheduled_ns = held.timer_ns;
        let own_ns = own_ns.map(|due| self.nanoseconds(due));
        let due_ns = own_ns.into_iter().chain(theirs_ns).min().unwrap_or(u64::MAX);
        if due_ns < scheduled_ns {
            self.timers.add(due_ns, place);
            if let Some(Some(held)) = self.held.get_mut(place) {
                held.timer_ns = due_ns;
            }
        }
    }
}
