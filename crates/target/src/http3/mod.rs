//! One connection's HTTP/3 (RFC 9114), on the streams that `ablaze_quic::server` has: the same handler, routes and
//! conditions respond as over HTTP/1 and HTTP/2.
//!
//! `heads` reads the field sections of requests, `answering` has requests answered, `encoder` writes the field sections of
//! responses, `streams` is what is under way, `sending` has responses leave as the client's windows permit, `spoiling`
//! makes faults. `worker` has the socket: a thread that waits for datagrams.

mod answering;
mod encoder;
mod heads;
mod sending;
mod spoiling;
pub mod start;
mod streams;
pub mod worker;

use std::collections::HashMap;
use std::marker::PhantomData;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use ablaze_quic::server::{Connection, Conversation, Event};
use ablaze_wire::http2::floods::{Flood, Floods};
use ablaze_wire::http3::error::ErrorCode;

use crate::counters::Counters;
use crate::handler::{Handler, path_and_query};
use crate::http1::date::Date;
use crate::http1::rendering::RequestBody;
use crate::service::{Refused, Service};
use crate::udp;
use encoder::HeadEncoder;
use heads::RequestHeads;
use streams::{Streams, Upload};

/// What is set aside at once for a body of an announced length.
const RESERVED_BYTES_MAX: u64 = 1 << 20;

/// Clients of which is remembered what the device toward them takes.
const CLIENTS_MAX: usize = 1_024;

/// What all connections of a worker share.
#[derive(Debug)]
pub struct Around<H> {
    service: Arc<Service<H>>,
    counters: Arc<Counters>,
    date: Date,
    heads: RequestHeads,
    encoder: HeadEncoder,
    /// By client: the longest datagram that the device toward it takes.
    devices: HashMap<IpAddr, Option<u16>>,
}

/// One connection's state.
#[derive(Debug)]
pub struct Http3<H> {
    streams: Streams,
    floods: Floods,
    answered_ever: u64,
    /// The first stream behind those that were taken.
    next_stream: u64,
    /// No further request is taken.
    last: bool,
    /// The connection ends with this when everything was delivered.
    end: Option<ErrorCode>,
    of: PhantomData<fn() -> H>,
}

impl<H> Around<H> {
    /// For a worker.
    pub fn new(service: Arc<Service<H>>, counters: Arc<Counters>) -> Self {
        Self {
            service,
            counters,
            date: Date::now(),
            heads: RequestHeads::new(),
            encoder: HeadEncoder::default(),
            devices: HashMap::new(),
        }
    }
}

impl<H: Handler> Conversation for Http3<H> {
    type Around = Around<H>;

    fn new(around: &mut Around<H>) -> Self {
        around.counters.connections.one();
        Self {
            streams: Streams::default(),
            floods: Floods::default(),
            answered_ever: 0,
            next_stream: 0,
            last: false,
            end: None,
            of: PhantomData,
        }
    }

    fn go_on(&mut self, connection: &mut Connection, around: &mut Around<H>, now_ns: u64) {
        while let Some(event) = connection.next_event() {
            self.take(event, connection, around, now_ns);
        }
        while let Some(stream) = self.streams.pop_due(now_ns) {
            self.advance(stream, connection, now_ns);
        }
        if !connection.stands() {
            return;
        }
        if self.last {
            connection.goaway(self.next_stream);
            if self.streams.is_empty() {
                self.end.get_or_insert(ErrorCode::NO_ERROR);
            }
        }
        if let Some(code) = self.end
            && connection.is_delivered()
        {
            connection.close(code);
        }
    }

    fn due_ns(&self) -> Option<u64> {
        self.streams.first_due_ns()
    }

    fn finish(&mut self) {
        self.last = true;
    }

    fn device_bytes_max(around: &mut Around<H>, client: SocketAddr) -> Option<u16> {
        if around.devices.len() >= CLIENTS_MAX {
            around.devices.clear();
        }
        *around.devices.entry(client.ip()).or_insert_with(|| udp::longest_to(client))
    }
}

impl<H: Handler> Http3<H> {
    fn take(
        &mut self,
        event: Event,
        connection: &mut Connection,
        around: &mut Around<H>,
        now_ns: u64,
    ) {
        match event {
            Event::Head(stream, section) => self.head(stream, &section, connection, around, now_ns),
            Event::HeadTooLong(stream) => {
                self.note(stream);
                self.refuse(stream, Refused::HeadTooLong, connection, around, now_ns);
            }
            Event::Content(stream, content) => {
                self.content(stream, &content, connection, around, now_ns);
            }
            Event::Trailers(stream, section) => match around.heads.read_trailers(&section) {
                Err(kind) => connection.fail(kind),
                // Pseudo-header fields are for heads alone (RFC 9114, 4.3).
                Ok(Some(_)) if self.streams.upload(stream).is_some() => {
                    self.malformed(stream, connection);
                }
                Ok(_) => {}
            },
            Event::End(stream) => self.complete(stream, connection, around, now_ns),
            Event::Cancelled(stream) => {
                self.streams.close(stream);
                self.count_reset(connection);
            }
            Event::Room(stream) => self.advance(stream, connection, now_ns),
        }
    }

    /// A client whose requests come to nothing costs more than it brings (RFC 9114, 10.5).
    fn count_reset(&mut self, connection: &mut Connection) {
        if self.floods.count(Flood::Reset).is_err() {
            connection.close(ErrorCode::EXCESSIVE_LOAD);
        }
    }

    /// What a malformed request comes to (RFC 9114, 4.1.2).
    fn malformed(&mut self, stream: u64, connection: &mut Connection) {
        self.streams.close(stream);
        connection.reset(stream, ErrorCode::MESSAGE_ERROR);
        self.count_reset(connection);
    }

    fn note(&mut self, stream: u64) {
        self.next_stream = self.next_stream.max(stream + 4);
    }

    fn head(
        &mut self,
        stream: u64,
        section: &[u8],
        connection: &mut Connection,
        around: &mut Around<H>,
        now_ns: u64,
    ) {
        if self.last {
            return connection.reset(stream, ErrorCode::REQUEST_REJECTED);
        }
        self.note(stream);
        let most = around.service.max_head_bytes;
        if let Err(kind) = around.heads.read(section, most) {
            return connection.fail(kind);
        }
        let says = around.heads.says();
        if says.too_long {
            return self.refuse(stream, Refused::HeadTooLong, connection, around, now_ns);
        }
        if says.fault().is_some() {
            connection.reset(stream, ErrorCode::MESSAGE_ERROR);
            return self.count_reset(connection);
        }
        let (path, _) = path_and_query(&says.text[says.target.clone()]);
        let wanted = around.service.wants_body(says.method(), path);
        let upload = Upload {
            head: says.text.clone(),
            method: says.method(),
            target: says.target.clone(),
            body: Vec::with_capacity(match says.content_length {
                Some(bytes) if wanted => bytes.min(RESERVED_BYTES_MAX) as usize,
                _ => 0,
            }),
            keep_bytes_max: wanted.then_some(around.service.max_body_bytes),
            content_left: says.content_length,
        };
        let too_long = wanted && says.content_length > Some(around.service.max_body_bytes);
        let expects = says.expect_continue;
        if too_long {
            return self.refuse(stream, Refused::BodyTooLong, connection, around, now_ns);
        }
        self.streams.begin(stream, upload);
        if expects {
            self.say_continue(stream, connection, around);
        }
    }

    fn content(
        &mut self,
        stream: u64,
        content: &[u8],
        connection: &mut Connection,
        around: &mut Around<H>,
        now_ns: u64,
    ) {
        let Some(upload) = self.streams.upload(stream) else { return };
        self.floods.content();
        if !upload.take(content.len() as u64) {
            return self.malformed(stream, connection);
        }
        let Some(most) = upload.keep_bytes_max else { return };
        if (upload.body.len() + content.len()) as u64 > most {
            return self.refuse(stream, Refused::BodyTooLong, connection, around, now_ns);
        }
        upload.body.extend_from_slice(content);
    }

    fn complete(
        &mut self,
        stream: u64,
        connection: &mut Connection,
        around: &mut Around<H>,
        now_ns: u64,
    ) {
        let Some(upload) = self.streams.end_upload(stream) else { return };
        if upload.content_left.is_some_and(|left| left > 0) {
            return self.malformed(stream, connection);
        }
        let Upload { head, method, target, body, .. } = upload;
        let body = RequestBody::Owned(body);
        self.respond(stream, method, &head, target, body, connection, around, now_ns);
    }
}
