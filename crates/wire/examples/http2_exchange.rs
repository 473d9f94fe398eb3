//! Repeats HTTP/2 exchanges, 100 streams a turn, to time them or to count their instructions:
//!
//! ```text
//! cargo build --release -p ablaze-wire --example http2_exchange
//! target/release/examples/http2_exchange same-head 10000000
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null \
//!     target/release/examples/http2_exchange same-head 100000
//! ```
//!
//! Each is a GET and a response of a head and 14 bytes of content in a frame of their own. Steps:
//! - `write-only`: the requests and the peer's bytes alone, to be subtracted;
//! - `same-head`: a head as nginx writes it, every field added to the table, always the same;
//! - `indexed-head`: a head that refers to the table, as most other servers write it;
//! - `other-head`: a head that differs from the last one each time, so it has to be decoded;
//! - `pieces`: `same-head`, cut into pieces of 1,000 bytes.

use std::hint::black_box;
use std::time::Instant;

use ablaze_wire::http1::patch::Digits;
use ablaze_wire::http2::client::{Connection, End, Options, ResponseHead, Sink};
use ablaze_wire::http2::frame::{FrameHead, flag, kind};
use ablaze_wire::http2::hpack::encoder::{self, Indexing, Name};
use ablaze_wire::http2::request::{Request, RequestSet};

const STREAMS: u64 = 100;

#[derive(Default)]
struct Count {
    statuses: u64,
    content_bytes: u64,
    ended: u64,
}

impl Sink for Count {
    #[inline]
    fn head(&mut self, _: u32, head: ResponseHead) {
        self.statuses += u64::from(head.status);
    }

    #[inline]
    fn data(&mut self, _: u32, content: &[u8]) {
        self.content_bytes += content.len() as u64;
    }

    #[inline]
    fn ended(&mut self, _: u32, end: End) {
        self.ended += u64::from(end == End::Complete);
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (step, count) = (arguments.next(), arguments.next().and_then(|n| n.parse::<u64>().ok()));
    let (Some(step), Some(count)) = (step, count) else {
        eprintln!(
            "usage: http2_exchange write-only|same-head|indexed-head|other-head|pieces COUNT"
        );
        std::process::exit(2);
    };
    let responses: Vec<Vec<u8>> = match step.as_str() {
        "other-head" => (0..60).map(|second| response(&adding_block(second))).collect(),
        "indexed-head" => vec![response(&[0x88, 0xc0, 0xbf, 0xbe])],
        _ => vec![response(&adding_block(0))],
    };
    let piece_bytes = if step == "pieces" { 1_000 } else { usize::MAX };
    let request = Request::new("GET", "http", "127.0.0.1:8080", "/hello")
        .field("user-agent", "ablaze")
        .field("accept", "*/*");
    let set = RequestSet::new(&[request]);
    let mut out = Vec::new();
    let mut arrives =
        FrameHead { payload_bytes: 0, kind: kind::SETTINGS, flags: 0, stream: 0 }.bytes().to_vec();
    let mut connection = Connection::new(Options::default(), &mut out);
    let mut sink = Count::default();
    if step == "indexed-head" {
        // The entries it refers to.
        let mut digits = Digits::new(1, 1);
        connection.request(&set, 0, 0, &mut digits, 0, &mut out).expect("room for one");
        arrives.extend_from_slice(&response(&adding_block(0)));
    }
    let read_only = step == "write-only";
    connection.receive(&arrives, &mut out, &mut sink).expect("a right response");
    let ended_before = sink.ended;

    let mut digits = Digits::new(1, 1);
    let start = Instant::now();
    for turn in 0..count / STREAMS {
        arrives.clear();
        out.clear();
        for number in 0..STREAMS {
            let stream = if read_only {
                number as u32
            } else {
                connection
                    .request(&set, 0, number, &mut digits, number as u32, &mut out)
                    .expect("room for all")
            };
            let which = (turn * STREAMS + number) as usize % responses.len();
            append(&mut arrives, &responses[which], stream);
        }
        if read_only {
            black_box(&arrives);
        } else {
            for piece in arrives.chunks(piece_bytes) {
                connection
                    .receive(black_box(piece), &mut out, &mut sink)
                    .expect("a right response");
            }
        }
    }
    let exchanges = count / STREAMS * STREAMS;
    let ns = start.elapsed().as_nanos() as f64 / exchanges as f64;
    assert!(read_only || sink.ended - ended_before == exchanges);
    println!("{step}: {ns:.1} ns per exchange, {} bytes of content", sink.content_bytes);
}

/// As nginx writes it.
fn adding_block(second: u32) -> Vec<u8> {
    let date = format!("Mon, 21 Oct 2013 20:13:{second:02} GMT");
    let mut block = Vec::new();
    encoder::indexed(&mut block, 8);
    encoder::literal(&mut block, Indexing::Keep, Name::Index(54), b"nginx/1.22.1");
    encoder::literal(&mut block, Indexing::Keep, Name::Index(33), date.as_bytes());
    encoder::literal(&mut block, Indexing::Keep, Name::Index(31), b"text/plain");
    encoder::literal(&mut block, Indexing::Keep, Name::Index(28), b"14");
    block
}

/// HEADERS and DATA on stream 1.
fn response(block: &[u8]) -> Vec<u8> {
    let head = |payload: &[u8], kind, flags| {
        FrameHead { payload_bytes: payload.len() as u32, kind, flags, stream: 1 }.bytes()
    };
    let content = b"Hello, World!\n";
    let mut frames = head(block, kind::HEADERS, flag::END_HEADERS).to_vec();
    frames.extend_from_slice(block);
    frames.extend_from_slice(&head(content, kind::DATA, flag::END_STREAM));
    frames.extend_from_slice(content);
    frames
}

/// The same on another stream.
fn append(out: &mut Vec<u8>, response: &[u8], stream: u32) {
    let start = out.len();
    out.extend_from_slice(response);
    let second = out.len() - 14 - 9;
    for frame in [start, second] {
        out[frame + 5..frame + 9].copy_from_slice(&stream.to_be_bytes());
    }
}
