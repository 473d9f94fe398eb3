//! What comes in: datagrams and the passing of time, and what QUIC makes of them.

use std::cell::RefCell;

use ablaze_wire::http3::error::ErrorKind;
use bytes::BytesMut;
use quinn_proto::{DatagramEvent, Dir, EcnCodepoint, Event, Side, StreamEvent};

use super::sink::Sink;
use super::tls::VERSION;
use super::{Connection, Ended, Handshake, Raised, Why};
use crate::datagrams::Received;

thread_local! {
    /// quinn-proto takes datagrams that it owns: they are parts of this buffer, which is used again once all of them have
    /// been read. It is not a connection's, as ten thousand of these would need 600 MB.
    static INBOX: RefCell<BytesMut> = RefCell::default();
}

impl Connection {
    /// Takes datagrams that arrived. Responses and everything else go to the sink.
    pub fn receive(&mut self, received: Received<'_>, now_ns: u64, sink: &mut impl Sink) {
        let now = self.clock.instant(now_ns);
        let ecn = EcnCodepoint::from_bits(received.ecn);
        if self.handshake.is_none() {
            self.opening.received(received.bytes.len(), received.segment_bytes, now_ns);
        }
        INBOX.with_borrow_mut(|inbox| {
            inbox.extend_from_slice(received.bytes);
            while !inbox.is_empty() {
                let bytes = inbox.len().min(received.segment_bytes.max(1));
                let datagram = inbox.split_to(bytes);
                let event =
                    self.endpoint.handle(now, self.remote, None, ecn, datagram, &mut self.aside);
                if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
                    self.quic.handle_event(event);
                }
                self.aside.clear();
            }
        });
        if self.handshake.is_none() {
            self.look_for_retry(now_ns);
        }
        self.settle(now_ns, sink);
    }

    /// The time of [`Connection::deadline_ns`] has come.
    pub fn expired(&mut self, now_ns: u64, sink: &mut impl Sink) {
        self.quic.handle_timeout(self.clock.instant(now_ns));
        self.settle(now_ns, sink);
    }

    #[cold]
    fn look_for_retry(&mut self, now_ns: u64) {
        let retried_ns = &self.opening.retried_ns;
        if retried_ns.is_none() && self.known().is_some_and(|known| known.retried) {
            self.opening.retried_ns = Some(now_ns);
        }
    }

    /// Does what QUIC has to say.
    fn settle(&mut self, now_ns: u64, sink: &mut impl Sink) {
        while let Some(event) = self.quic.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(self.handle, event) {
                self.quic.handle_event(event);
            }
        }
        let live = self.core.streams.live_count();
        while let Some(event) = self.quic.poll() {
            if let Err(kind) = self.event(event, now_ns, sink) {
                self.fail(now_ns, kind);
            }
        }
        if let Err(kind) = self.core.own.write(&mut self.quic) {
            self.fail(now_ns, kind);
        }
        if self.stands() {
            self.core.top_up(&mut self.quic);
            self.look_at_limit(now_ns);
            self.ask_for_streams(live);
        }
    }

    /// The server broke the rules of HTTP/3, and is told which.
    #[cold]
    fn fail(&mut self, now_ns: u64, kind: ErrorKind) {
        let reason = kind.code().name().unwrap_or_default().as_bytes();
        self.close_with(now_ns, kind.code(), reason, Why::Http3(kind));
    }

    /// Streams that are open or could be are what the server permits at once: as long as that is less than the options ask
    /// for, every rise is noted.
    #[inline]
    fn look_at_limit(&mut self, now_ns: u64) {
        let permitted = self.core.streams.live_count() + self.core.ready.len() as u32;
        let Some(handshake) = &self.handshake else { return };
        let before =
            self.raised.map_or(handshake.streams_permitted, |raised| raised.streams.into());
        if u64::from(permitted) > before {
            let after_ns = now_ns.saturating_sub(handshake.done_ns);
            self.raised = Some(Raised { streams: permitted, after_ns });
        }
    }

    /// Where streams have ended, `before` were open, and the server permits no other: it will when it knows that they have
    /// ended, and an acknowledgement alone may take 25 ms to leave (RFC 9000, 13.2.1). It leaves at once with a PING.
    #[inline]
    fn ask_for_streams(&mut self, before: u32) {
        let live = self.core.streams.live_count();
        let may_have_more = live < self.core.options.streams && self.core.goaway.is_none();
        if live < before && self.core.ready.is_empty() && may_have_more {
            self.quic.ping();
        }
    }

    #[inline]
    fn event(&mut self, event: Event, now_ns: u64, sink: &mut impl Sink) -> Result<(), ErrorKind> {
        if matches!(self.ended, Some(Ended { why: Why::Http3(_) | Why::Closed | Why::NoHttp3, .. }))
        {
            // What came behind it does not count.
            return Ok(());
        }
        match event {
            Event::Stream(StreamEvent::Readable { id }) if id.initiator() == Side::Client => {
                return self.core.read_response(&mut self.quic, id, sink);
            }
            Event::Stream(StreamEvent::Readable { id }) => {
                return self.core.read_peer_stream(&mut self.quic, id, sink);
            }
            Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                while let Some(id) = self.quic.streams().accept(Dir::Uni) {
                    self.core.read_peer_stream(&mut self.quic, id, sink)?;
                }
            }
            Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) => {
                return Err(ErrorKind::ServerRequest);
            }
            Event::Stream(StreamEvent::Writable { id }) => self.core.go_on(&mut self.quic, id),
            Event::Stream(StreamEvent::Stopped { id, .. }) => {
                self.core.stopped(&mut self.quic, id);
            }
            // There may be more streams now: `settle` takes them.
            Event::Stream(StreamEvent::Available { .. } | StreamEvent::Finished { .. }) => {}
            Event::Connected => self.connected(now_ns),
            Event::ConnectionLost { reason } => {
                let tls = self.known().and_then(|known| known.error);
                let ended = Ended::of(reason, tls);
                self.end(if self.handshake.is_none() { ended.in_handshake() } else { ended });
            }
            Event::HandshakeDataReady | Event::DatagramReceived | Event::DatagramsUnblocked => {}
        }
        Ok(())
    }

    /// The handshake is complete.
    #[cold]
    fn connected(&mut self, now_ns: u64) {
        let Some(known) = self.known() else { return };
        self.handshake = Some(Handshake {
            alpn: known.alpn.unwrap_or_default(),
            version: VERSION,
            suite: known.suite.unwrap_or(0),
            group: known.group,
            streams_permitted: known.streams_permitted.unwrap_or(0),
            began_ns: self.began_ns,
            retried_ns: self.opening.retried_ns,
            limited: self.opening.limited(),
            done_ns: now_ns,
        });
    }
}
