//! The server's side of an HTTP/2 connection: whatever a client says, it does not panic or run in
//! circles; it writes whole frames, in an order that streams permit, with heads that can be
//! decoded; what waits to be written is bounded; and where every response could leave at once, the
//! bytes do not depend on how the input was cut.
#![no_main]

use std::collections::HashMap;
use std::io::IoSlice;
use std::sync::{Arc, LazyLock};

use ablaze_target::Options;
use ablaze_target::handler::{Response, Handler, Method, Reply, Request};
use ablaze_target::http1::response::{FixedResponse, FixedBody};
use ablaze_target::http1::date::Date;
use ablaze_target::http1::output::Output;
use ablaze_target::protocol::{Next, Protocol};
use ablaze_target::registry::Registry;
use ablaze_target::routes::Routes;
use ablaze_target::service::Service;
use ablaze_wire::http2::frame::{
    FrameHead, HEAD_BYTES, PAYLOAD_BYTES_MIN, PREFACE, WINDOW_MAX, flag, kind,
};
use ablaze_wire::http2::hpack::decoder::Decoder;
use libfuzzer_sys::fuzz_target;

/// Responses may have any length; this much of them is looked at.
const HEARD_BYTES_MAX: usize = 1 << 20;
const TURNS_MAX: usize = 1_000;
/// Output that is put together before it is written, and how much longer it can get by the response
/// that crosses that line and by what the frames of one read bring about.
const OUTPUT_BYTES_MAX: u64 = 256 * 1024;
const ANSWER_BYTES_MAX: u64 = 20_000;
const BYTES_PER_BYTE_MAX: u64 = 60;

static DATE: LazyLock<Date> = LazyLock::new(Date::now);

/// Responses that are there before they are asked for, chosen by all that can be told of a request.
struct Choice(Vec<FixedResponse>);

impl Choice {
    fn new(options: &Options) -> Self {
        let statuses = [200, 204, 404];
        let fixed =
            |status| FixedResponse::under(options, status, "a/b", FixedBody::Bytes(b"response"));
        Self(statuses.map(fixed).to_vec())
    }
}

impl Handler for Choice {
    fn wants_body(&self, _: Method, path: &[u8]) -> bool {
        path.len() % 2 == 0
    }

    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        let sum = |bytes: &[u8]| bytes.iter().map(|&byte| usize::from(byte)).sum::<usize>();
        let which = sum(request.head) + sum(request.path) + sum(request.body);
        Response::Fixed(&self.0[which % self.0.len()]).into()
    }
}

/// The built-in routes, but for those that take time.
struct Timeless(Routes);

impl Handler for Timeless {
    fn wants_body(&self, method: Method, path: &[u8]) -> bool {
        self.0.wants_body(method, path)
    }

    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        if request.path == b"/stream" {
            return self.0.reply(&Request { path: b"/chunked/100000", query: b"", ..*request });
        }
        Reply { delay_ns: 0, ..self.0.reply(request) }
    }
}

// The first byte says how the server is, the second how the bytes are cut and what comes first;
// the others are what the client says.
fuzz_target!(|input: &[u8]| {
    let [server, choice, bytes @ ..] = input else { return };
    let first: &[u8] = match choice >> 6 {
        0 => b"\0\0\0\x04\0\0\0\0\0",
        // A large window for the connection, and a request.
        1 => b"\0\0\0\x04\0\0\0\0\0\0\0\x04\x08\0\0\0\0\0\x3f\xff\0\0\0\0\x03\x01\x05\0\0\0\x01\x82\x86\x84",
        // And one whose body is to come.
        2 => b"\0\0\0\x04\0\0\0\0\0\0\0\x03\x01\x04\0\0\0\x01\x83\x86\x84",
        _ => b"",
    };
    let spoken = [&PREFACE[..], first, bytes].concat();
    let piece_bytes = usize::from(choice & 0x3f) + 1;
    let options = options(*server);
    if server & 1 == 0 {
        let whole = converse(&options, Choice::new(&options), &spoken, usize::MAX);
        let cut = converse(&options, Choice::new(&options), &spoken, piece_bytes);
        // The end is announced behind all that came at once.
        let lasts = options.keep_alive && options.max_requests.is_none();
        if lasts && whole.at_once && cut.at_once {
            assert!(whole.bytes == cut.bytes, "the bytes depend on the cut");
            assert_eq!(whole.end, cut.end, "the end depends on the cut");
        }
    } else {
        converse(&options, Timeless(Routes::new(&options)), &spoken, usize::MAX);
        converse(&options, Timeless(Routes::new(&options)), &spoken, piece_bytes);
    }
});

fn options(server: u8) -> Options {
    let bit = |bit: u8| server >> bit & 1 == 1;
    Options {
        http2: true,
        max_requests: bit(1).then_some(3),
        max_streams: if bit(2) { 2 } else { 1_000 },
        keep_alive: !bit(3),
        head_bytes: bit(4).then_some(250),
        echo_everywhere: bit(5),
        max_body_bytes: if bit(6) { 100 } else { 1 << 20 },
        max_head_bytes: if bit(7) { 200 } else { 16_384 },
        ..Options::default()
    }
}

/// What a client gets.
struct Heard {
    bytes: Vec<u8>,
    end: Option<Next>,
    /// No response had to wait for anything.
    at_once: bool,
}

fn converse(options: &Options, handler: impl Handler, input: &[u8], piece_bytes: usize) -> Heard {
    let service = Service::new(handler, options, None, Arc::new(Registry::default()));
    let mut protocol = Protocol::new(&service);
    let mut out = Output::default();
    let mut bytes = Vec::new();
    let mut end = None;
    let mut turns = 0;
    'input: for piece in input.chunks(piece_bytes.min(input.len())) {
        let mut next = protocol.receive(piece, &service, &DATE, &mut out);
        loop {
            let by_input = BYTES_PER_BYTE_MAX * piece.len() as u64;
            let left = out.left();
            assert!(left <= OUTPUT_BYTES_MAX + ANSWER_BYTES_MAX + by_input, "{left} bytes wait");
            write(&mut out, &mut bytes);
            match next {
                Next::Read | Next::ReadFor(_) => break,
                Next::Close { .. } | Next::Reset => {
                    end = Some(next);
                    break 'input;
                }
                Next::Proceed | Next::Wait(_) => {
                    turns += 1;
                    assert!(
                        turns < TURNS_MAX || bytes.len() > HEARD_BYTES_MAX,
                        "it runs in circles"
                    );
                    if bytes.len() > HEARD_BYTES_MAX {
                        break 'input;
                    }
                    next = protocol.proceed(&service, &DATE, &mut out);
                }
            }
        }
    }
    let at_once = check(&bytes);
    Heard { bytes, end, at_once }
}

fn write(out: &mut Output, bytes: &mut Vec<u8>) {
    while !out.is_empty() {
        let mut slices = [IoSlice::new(&[]); 3];
        let used = out.slices(&mut slices);
        let offered: usize = slices[..used].iter().map(|slice| slice.len()).sum();
        assert!(offered > 0, "{} bytes are left and none are offered", out.left());
        slices[..used].iter().for_each(|slice| bytes.extend_from_slice(slice));
        out.wrote(offered);
    }
}

/// What a client knows of a stream.
#[derive(Default)]
struct Stream {
    head: bool,
    ended: bool,
    reset: bool,
}

/// The frames are whole and may come in this order (RFC 9113, 5.1 and 8.1). Whether each head is
/// followed by all that belongs to it.
fn check(written: &[u8]) -> bool {
    let mut rest = written;
    let mut streams: HashMap<u32, Stream> = HashMap::new();
    let mut decoder = Decoder::<()>::new();
    let mut at_once = true;
    let mut awaited = None;
    let mut block = Vec::new();
    let mut first = true;
    while !rest.is_empty() {
        let head = FrameHead::read(rest.first_chunk::<HEAD_BYTES>().expect("a whole head"));
        assert!(head.payload_bytes <= PAYLOAD_BYTES_MIN);
        let end = HEAD_BYTES + head.payload_bytes as usize;
        let payload = rest.get(HEAD_BYTES..end).expect("a whole frame");
        rest = &rest[end..];
        assert_eq!(
            first,
            head.kind == kind::SETTINGS && !head.has(flag::ACK),
            "settings first, once"
        );
        first = false;
        assert_eq!(
            head.kind == kind::CONTINUATION,
            !block.is_empty(),
            "blocks are not interrupted"
        );
        if let Some(stream) = awaited.take() {
            let all =
                head.kind == kind::DATA && head.has(flag::END_STREAM) && head.stream == stream;
            at_once &= all;
        }
        let stream = streams.entry(head.stream).or_default();
        match head.kind {
            kind::DATA => {
                assert!(stream.head && !stream.ended && !stream.reset);
                stream.ended |= head.has(flag::END_STREAM);
            }
            kind::HEADERS | kind::CONTINUATION => {
                assert!(!stream.ended && !stream.reset && head.stream % 2 == 1);
                block.extend_from_slice(payload);
                let ends = head.kind == kind::HEADERS && head.has(flag::END_STREAM);
                if head.has(flag::END_HEADERS) {
                    let (status, timeless) = status(&mut decoder, &std::mem::take(&mut block));
                    at_once &= timeless;
                    assert!(!stream.head && (200..=999).contains(&status) || status == 100);
                    stream.head = status != 100;
                }
                stream.ended |= ends;
                awaited = (stream.head && !stream.ended).then_some(head.stream);
            }
            kind::RST_STREAM => {
                assert!(payload.len() == 4 && head.stream % 2 == 1 && !stream.reset);
                stream.reset = true;
            }
            kind::WINDOW_UPDATE => {
                let more = u32::from_be_bytes(payload.try_into().expect("four bytes"));
                assert!((1..=WINDOW_MAX).contains(&more));
            }
            kind::SETTINGS => assert!(payload.is_empty() || !head.has(flag::ACK)),
            kind::PING => assert!(head.has(flag::ACK) && payload.len() == 8),
            kind::GOAWAY => assert!(payload.len() >= 8),
            other => panic!("a frame of type {other}"),
        }
    }
    assert!(block.is_empty(), "whole blocks");
    at_once && awaited.is_none()
}

/// The status that a head says, and whether it is the same at any time: the server's own pages,
/// which tell the time, are not to be stored.
fn status(decoder: &mut Decoder<()>, block: &[u8]) -> (u16, bool) {
    let mut status = None;
    let mut timeless = true;
    let decoded = decoder.decode(block, |field| match status {
        None => {
            assert_eq!(field.name, b":status");
            let text = std::str::from_utf8(field.value).expect("digits");
            status = Some(text.parse().expect("a number"));
        }
        Some(_) => {
            assert!(!field.name.is_empty() && field.name[0] != b':');
            timeless &= field.value != b"no-store";
        }
    });
    assert!(decoded.is_ok(), "{decoded:?}");
    (status.expect("a status"), timeless)
}
