//! One connection of an HTTP/3 client with the QUIC below it, sans I/O (RFC 9114).
//!
//! Datagrams that arrived go in with [`Connection::receive`], what is to be sent is fetched with [`Connection::transmit`], and
//! [`Connection::expired`] is called when [`Connection::deadline_ns`] has come: after any call but those that only ask, both
//! may have changed. What arrives goes to a [`Sink`]. Times are those of the caller's clock, ns.
//!
//! Reading order: this file (what the owner can do), [`sink`] (what it is told), [`ended`] (why a connection is over),
//! `receive` (what comes in), `responses` (what each event does to its stream), `upload` (requests within the server's windows),
//! `streams`, `own_streams`; [`requests`], [`connector`] and `tls` are what a connection is made of.

pub mod connector;
pub mod ended;
mod opening;
mod own_streams;
mod parameters;
mod receive;
pub mod requests;
mod responses;
pub mod sink;
mod streams;
mod tls;
mod upload;

use std::net::SocketAddr;

use ablaze_wire::http1::patch::Digits;
use ablaze_wire::http2::request::RequestText;
use ablaze_wire::http3::control::PeerStreams;
use ablaze_wire::http3::error::ErrorCode;
use ablaze_wire::http3::request::write_text;
use ablaze_wire::http3::response::Sections;
use bytes::Bytes;
use quinn_proto::{ConnectionHandle, Endpoint, StreamId, VarInt};
use std::collections::VecDeque;

pub use ablaze_wire::http2::client::NoRoom;
pub use ablaze_wire::http3::settings::PeerSettings;
pub use connector::{Connector, Options, StartError};
pub use ended::{Ended, Why};
pub use opening::{Limited, Raised};
pub use requests::{NotSent, RequestSet};
pub use sink::{End, ResponseHead, Sink};

use crate::clock::Clock;
use crate::datagrams::{Transmit, segments_max};
use crate::unpaced;
use opening::Opening;
use own_streams::OwnStreams;
use responses::PeerStreamEntry;
use streams::Streams;
use tls::Known;

/// One connection.
pub struct Connection {
    endpoint: Endpoint,
    handle: ConnectionHandle,
    quic: quinn_proto::Connection,
    clock: Clock,
    remote: SocketAddr,
    core: Core,
    began_ns: u64,
    opening: Opening,
    handshake: Option<Handshake>,
    raised: Option<Raised>,
    ended: Option<Ended>,
    /// What quinn-proto would send to others than the server: nothing, on a client.
    aside: Vec<u8>,
}

/// HTTP/3 of a connection.
struct Core {
    options: Options,
    streams: Streams,
    /// Streams that the server permits and no request has yet, in order.
    ready: VecDeque<StreamId>,
    sections: Sections,
    peer_streams: PeerStreams,
    peer_stream_entries: Vec<PeerStreamEntry>,
    own: OwnStreams,
    peer: Option<PeerSettings>,
    /// The first stream that the server will not process.
    goaway: Option<u64>,
    /// Requests that could not be handed over whole.
    uploads: usize,
    window_stalls: u64,
    /// The request that is written anew; empty between two.
    draft: Vec<u8>,
}

/// What a handshake agreed on, and how long it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handshake {
    /// The application protocol.
    pub alpn: Vec<u8>,
    /// The version of QUIC.
    pub version: u32,
    /// The number of the TLS cipher suite.
    pub suite: u16,
    /// The number of the key exchange group.
    pub group: Option<u16>,
    /// Streams for requests that the server permitted from the beginning.
    pub streams_permitted: u64,
    /// When it began, ns.
    pub began_ns: u64,
    /// When the server asked to repeat it with a token (Retry; RFC 9000, 8.1.2), if it did, ns.
    pub retried_ns: Option<u64>,
    /// Whether the server had to stop until more had come from here.
    pub limited: Option<Limited>,
    /// When it was complete, ns.
    pub done_ns: u64,
}

/// What QUIC counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Packets that were sent; a datagram can carry several.
    pub packets_sent: u64,
    /// Of these, how many were declared lost (RFC 9002, 6).
    pub packets_lost: u64,
    /// Their bytes.
    pub bytes_lost: u64,
    /// Times that loss, or marks of the network, made the congestion window smaller.
    pub congestion_events: u64,
    /// Smoothed round-trip time (RFC 9002, 5.3), ns.
    pub rtt_ns: u64,
    /// Congestion window, bytes.
    pub window_bytes: u64,
    /// Size of the datagrams.
    pub datagram_bytes: u64,
}

impl Connection {
    /// Begins a connection to a server of this name. Its first datagram is ready to be fetched.
    ///
    /// # Errors
    /// When the address or the name is none.
    pub fn new(
        connector: &Connector,
        remote: SocketAddr,
        server_name: &str,
        now_ns: u64,
    ) -> Result<Self, StartError> {
        let Connector { endpoint, client, options, clock, discovers } = connector;
        let mut endpoint = Endpoint::new(endpoint.clone(), None, *discovers, None);
        let now = clock.instant(now_ns);
        let (handle, quic) = endpoint
            .connect(now, client.clone(), remote, server_name)
            .map_err(StartError::Connect)?;
        let core = Core {
            options: *options,
            streams: Streams::new(options.streams),
            ready: VecDeque::new(),
            sections: Sections::new(options.table_bytes, options.field_section_bytes),
            peer_streams: PeerStreams::default(),
            peer_stream_entries: Vec::new(),
            own: OwnStreams::new(options.table_bytes, options.field_section_bytes),
            peer: None,
            goaway: None,
            uploads: 0,
            window_stalls: 0,
            draft: Vec::new(),
        };
        Ok(Self {
            endpoint,
            handle,
            quic,
            clock: *clock,
            remote,
            core,
            began_ns: now_ns,
            opening: Opening::default(),
            handshake: None,
            raised: None,
            ended: None,
            aside: Vec::new(),
        })
    }

    /// Whether the handshake is complete and the connection is not over: requests can be sent.
    #[inline]
    pub fn stands(&self) -> bool {
        self.handshake.is_some() && self.ended.is_none()
    }

    /// What the handshake agreed on, once it is complete.
    pub fn handshake(&self) -> Option<&Handshake> {
        self.handshake.as_ref()
    }

    /// The last time that the server permitted more streams at once than before, if it did.
    pub fn raised(&self) -> Option<Raised> {
        self.raised
    }

    /// Whether the server takes part in HTTP/3: its SETTINGS came, or it confirmed the handshake (RFC 9001, 4.1.2).
    pub fn began(&self) -> bool {
        self.core.peer.is_some() || self.quic.stats().frame_rx.handshake_done > 0
    }

    /// How many requests can be sent now.
    #[inline]
    pub fn free_streams(&self) -> u32 {
        // No more than the options permit.
        self.core.ready.len() as u32
    }

    /// Sends request `request` of the set; the number of its stream, of which the first is 0. `tag` is what the sink will
    /// call it. `number` and `digits` fill its patched fields in. What the server's windows do not permit yet follows when they do.
    ///
    /// # Errors
    /// When there is no room for a request, or the server takes none of this size. Nothing will be sent then.
    ///
    /// # Panics
    /// When the set has no such request.
    #[inline]
    pub fn request(
        &mut self,
        set: &RequestSet,
        request: usize,
        number: u64,
        digits: &mut Digits,
        tag: u32,
    ) -> Result<u64, NotSent> {
        let prepared = set.get(request);
        self.permits(prepared.section_bytes)?;
        let stream = self.take_stream()?;
        let pieces = prepared.pieces(number, digits);
        Ok(self.send(stream, tag, prepared.response_has_no_body, pieces))
    }

    /// Sends a request that is not of a set, over `http` or `https`; the number of its stream. Otherwise as
    /// [`Connection::request`]; the set is that of the other requests on the connection.
    ///
    /// # Errors
    /// As there.
    pub fn request_text(
        &mut self,
        _set: &RequestSet,
        text: &RequestText<'_>,
        scheme: &str,
        tag: u32,
    ) -> Result<u64, NotSent> {
        let draft = &mut self.core.draft;
        draft.clear();
        let section_bytes = write_text(text, scheme, draft);
        self.permits(section_bytes)?;
        let stream = self.take_stream()?;
        let pieces = [Bytes::copy_from_slice(&self.core.draft), Bytes::new()];
        Ok(self.send(stream, tag, text.response_has_no_body(), pieces))
    }

    /// Gives up on a stream: both directions are cancelled, its tag is not named again. Nothing happens if it is over already.
    pub fn reset(&mut self, stream: u64) {
        if self.core.close(stream).is_some() {
            self.core.cancel(&mut self.quic, stream, ErrorCode::REQUEST_CANCELLED, true);
            self.core.top_up(&mut self.quic);
        }
    }

    /// Tags of the streams that are open: requests without an end when a connection breaks. With
    /// each, whether its response has begun.
    pub fn open_streams(&self) -> impl Iterator<Item = (u32, bool)> + '_ {
        self.core.streams.live().map(|stream| (stream.tag, stream.response.has_begun()))
    }

    /// Streams that are open.
    #[inline]
    pub fn streams_live(&self) -> u32 {
        self.core.streams.live_count()
    }

    /// Requests that were not handed over to QUIC whole yet.
    pub fn uploads_unfinished(&self) -> usize {
        self.core.uploads
    }

    /// Requests that cannot go on until the server enlarges a window: that of their stream, and that
    /// of the connection.
    #[inline]
    pub fn uploads_held(&self) -> (u32, u32) {
        if self.core.uploads == 0 { (0, 0) } else { self.core.uploads_held() }
    }

    /// How often content could not be sent because the server's window, the stream's or the
    /// connection's, was used up.
    pub fn window_stalls(&self) -> u64 {
        self.core.window_stalls
    }

    /// Whether no request can be sent on it any more: it ends when its streams have ended.
    #[inline]
    pub fn is_draining(&self) -> bool {
        self.core.goaway.is_some() || self.ended.is_some()
    }

    /// What the server asked us to keep to; None until its SETTINGS came.
    pub fn peer_settings(&self) -> Option<&PeerSettings> {
        self.core.peer.as_ref()
    }

    /// When [`Connection::expired`] is to be called, ns; `None` while nothing is waited for.
    #[inline]
    pub fn deadline_ns(&mut self) -> Option<u64> {
        let at = self.quic.poll_timeout()?;
        Some(self.clock.ns(at))
    }

    /// Fills `out` with datagrams to send, at most [`datagrams::SEGMENTS_MAX`](crate::datagrams::SEGMENTS_MAX) and
    /// [`datagrams::BYTES_MAX`](crate::datagrams::BYTES_MAX) bytes of them; to be called until there are none (`None`, with
    /// `out` empty).
    #[inline]
    pub fn transmit(&mut self, now_ns: u64, out: &mut Vec<u8>) -> Option<Transmit> {
        out.clear();
        let datagram_bytes = self.quic.current_mtu();
        let most = segments_max(datagram_bytes);
        let controller = self.quic.congestion_state();
        let permitted = unpaced::datagrams_permitted(controller, datagram_bytes).unwrap_or(most);
        let now = self.clock.instant(now_ns);
        let transmit = self.quic.poll_transmit(now, permitted.min(most), out)?;
        if self.handshake.is_none() {
            self.opening.sent(transmit.size);
        }
        Some(Transmit {
            segment_bytes: transmit.segment_size.unwrap_or(transmit.size),
            ecn: transmit.ecn.map_or(0, |ecn| ecn as u8),
        })
    }

    /// Closes the connection without an error. What is still to be sent is one datagram that says so; open streams have not been
    /// ended.
    pub fn close(&mut self, now_ns: u64) {
        self.close_with(now_ns, ErrorCode::NO_ERROR, &[], Why::Closed);
    }

    /// Why the connection is over, if it is.
    pub fn ended(&self) -> Option<&Ended> {
        self.ended.as_ref()
    }

    /// What QUIC counted so far.
    pub fn counts(&self) -> Counts {
        let path = self.quic.stats().path;
        Counts {
            packets_sent: path.sent_packets,
            packets_lost: path.lost_packets,
            bytes_lost: path.lost_bytes,
            congestion_events: path.congestion_events,
            rtt_ns: path.rtt.as_nanos() as u64,
            window_bytes: self.quic.congestion_state().metrics().congestion_window,
            datagram_bytes: path.current_mtu.into(),
        }
    }

    /// A stream for a request.
    #[inline]
    fn take_stream(&mut self) -> Result<StreamId, NoRoom> {
        match self.core.ready.pop_front() {
            Some(stream) => Ok(stream),
            None if self.is_draining() => Err(NoRoom::Draining),
            None => Err(NoRoom::Streams),
        }
    }

    /// Says why, and is over.
    fn close_with(&mut self, now_ns: u64, code: ErrorCode, reason: &'static [u8], why: Why) {
        if self.ended.is_none() {
            let now = self.clock.instant(now_ns);
            self.quic.close(now, varint(code), Bytes::from_static(reason));
            self.end(Ended { why, said: String::new() });
        }
    }

    fn end(&mut self, ended: Ended) {
        self.core.ready.clear();
        self.ended.get_or_insert(ended);
    }

    /// What the TLS session knows.
    fn known(&self) -> Option<Known> {
        let known = self.quic.crypto_session().handshake_data()?;
        known.downcast::<Known>().ok().map(|known| *known)
    }
}

/// A code as quinn-proto wants it: those that are sent are small.
fn varint(code: ErrorCode) -> VarInt {
    VarInt::from_u64(code.0).unwrap_or(VarInt::MAX)
}
