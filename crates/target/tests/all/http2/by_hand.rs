//! A connection without sockets: frames are written by hand, and what comes back is taken apart.

use std::io::IoSlice;
use std::sync::Arc;

use ablaze_target::Options;
use ablaze_target::counters::Counters;
use ablaze_target::http1::date::Date;
use ablaze_target::http1::output::Output;
use ablaze_target::protocol::{Next, Protocol};
use ablaze_target::registry::Registry;
use ablaze_target::routes::Routes;
use ablaze_target::service::Service;
use ablaze_wire::http2::frame::{FrameHead, HEAD_BYTES, PREFACE, flag, kind, write_head};
use ablaze_wire::http2::hpack::decoder::Decoder;
use ablaze_wire::http2::hpack::encoder::{Indexing, Name, literal};

/// A frame that came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Frame {
    pub fn ends_stream(&self) -> bool {
        self.flags & flag::END_STREAM != 0
    }
}

/// A server's side of a connection.
pub struct Side {
    service: Service<Routes>,
    protocol: Protocol,
    date: Date,
    written: Vec<u8>,
    decoder: Decoder<()>,
    /// Pauses that were asked for, ns.
    pub waits: Vec<u64>,
    pub end: Option<Next>,
}

impl Side {
    pub fn new(options: &Options) -> Self {
        let registry = Arc::new(Registry::default());
        let service = Service::new(Routes::new(options), options, None, registry);
        Self {
            protocol: Protocol::new(&service),
            service,
            date: Date::now(),
            written: Vec::new(),
            decoder: Decoder::new(),
            waits: Vec::new(),
            end: None,
        }
    }

    /// Of a connection that has agreed on HTTP/2 before its first byte, as TLS can.
    pub fn agreed(options: &Options) -> Self {
        Self { protocol: Protocol::Http2(Box::default()), ..Self::new(options) }
    }

    /// Preface and settings are exchanged; what the server said to that is dropped.
    pub fn open(options: &Options, settings: &[(u16, u32)]) -> Self {
        let mut side = Self::new(options);
        side.receive(&[PREFACE, &self::settings(settings)[..]].concat());
        assert_eq!(side.end, None);
        side.frames();
        side
    }

    pub fn is_idle(&self) -> bool {
        self.protocol.is_idle()
    }

    /// Faults that struck since the last call.
    pub fn struck(&mut self) -> u64 {
        let counters = Counters::default();
        self.protocol.count_into(&counters);
        counters.read().faults
    }

    /// The server is about to stop.
    pub fn finish(&mut self) {
        self.protocol.finish();
    }

    pub fn say_goodbye(&mut self) {
        let mut out = Output::default();
        self.protocol.say_goodbye(&mut out);
        self.write(&mut out);
    }

    pub fn receive(&mut self, bytes: &[u8]) {
        if self.end.is_some() {
            return;
        }
        let mut out = Output::default();
        let mut next = self.protocol.receive(bytes, &self.service, &self.date, &mut out);
        for _ in 0..1_000_000 {
            self.write(&mut out);
            match next {
                Next::Read => return,
                Next::ReadFor(wait_ns) => return self.waits.push(wait_ns),
                Next::Proceed | Next::Wait(_) => {}
                Next::Close { .. } | Next::Reset => return self.end = Some(next),
            }
            next = self.protocol.proceed(&self.service, &self.date, &mut out);
        }
        panic!("it never wants to read again");
    }

    fn write(&mut self, out: &mut Output) {
        while !out.is_empty() {
            let mut slices = [IoSlice::new(&[]); 4];
            let used = out.slices(&mut slices);
            let bytes: usize = slices[..used].iter().map(|slice| slice.len()).sum();
            slices[..used].iter().for_each(|slice| self.written.extend_from_slice(slice));
            out.wrote(bytes);
        }
    }

    /// The bytes that came back since the last call.
    pub fn take_written(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.written)
    }

    /// Bytes that came back and were not looked at.
    pub fn written_bytes(&self) -> usize {
        self.written.len()
    }

    /// The frames that came back since the last call.
    pub fn frames(&mut self) -> Vec<Frame> {
        let written = self.take_written();
        let mut rest = &written[..];
        let mut frames = Vec::new();
        while !rest.is_empty() {
            let (head, behind) = rest.split_first_chunk::<HEAD_BYTES>().unwrap();
            let head = FrameHead::read(head);
            let (payload, behind) = behind.split_at(head.payload_bytes as usize);
            let FrameHead { kind, flags, stream, .. } = head;
            frames.push(Frame { kind, flags, stream, payload: payload.to_vec() });
            rest = behind;
        }
        frames
    }

    /// The fields of a block, as `name: value`.
    pub fn fields(&mut self, block: &[u8]) -> Vec<String> {
        let mut fields = Vec::new();
        let show = |name: &[u8], value: &[u8]| {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            format!("{}: {}", text(name), text(value))
        };
        self.decoder.decode(block, |field| fields.push(show(field.name, field.value))).unwrap();
        fields
    }

    /// The code of the GOAWAY that came back last.
    pub fn goaway_code(&mut self) -> Option<u32> {
        let frames = self.frames();
        let goaway = frames.iter().rfind(|frame| frame.kind == kind::GOAWAY)?;
        Some(u32::from_be_bytes(goaway.payload[4..8].try_into().unwrap()))
    }

    /// The codes of the streams that were reset.
    pub fn resets(&mut self) -> Vec<(u32, u32)> {
        let frames = self.frames();
        let resets = frames.iter().filter(|frame| frame.kind == kind::RST_STREAM);
        let code = |frame: &Frame| u32::from_be_bytes(frame.payload[..].try_into().unwrap());
        resets.map(|frame| (frame.stream, code(frame))).collect()
    }
}

/// Content of a stream.
pub fn bodies(frames: &[Frame], stream: u32) -> Vec<u8> {
    let data = frames.iter().filter(|frame| frame.kind == kind::DATA && frame.stream == stream);
    data.flat_map(|frame| frame.payload.clone()).collect()
}

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_head(&mut bytes, kind, flags, stream, payload.len() as u32);
    bytes.extend_from_slice(payload);
    bytes
}

pub fn settings(settings: &[(u16, u32)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    ablaze_wire::http2::frame::write_settings(&mut bytes, settings);
    bytes
}

pub fn window_update(stream: u32, increment: u32) -> Vec<u8> {
    frame(kind::WINDOW_UPDATE, 0, stream, &increment.to_be_bytes())
}

/// A block of these fields, none of them put into the table.
pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in fields {
        literal(&mut bytes, Indexing::Without, Name::Literal(name.as_bytes()), value.as_bytes());
    }
    bytes
}

pub fn request_fields<'a>(method: &'a str, path: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![(":method", method), (":scheme", "http"), (":path", path), (":authority", "t")]
}

/// HEADERS of a request without a body.
pub fn get(stream: u32, path: &str) -> Vec<u8> {
    let block = block(&request_fields("GET", path));
    frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, stream, &block)
}

/// HEADERS of a request whose body follows.
pub fn post(stream: u32, path: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let fields = [&request_fields("POST", path)[..], more].concat();
    frame(kind::HEADERS, flag::END_HEADERS, stream, &block(&fields))
}

pub fn data(stream: u32, content: &[u8], end: bool) -> Vec<u8> {
    frame(kind::DATA, if end { flag::END_STREAM } else { 0 }, stream, content)
}
