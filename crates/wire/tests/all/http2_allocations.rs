//! A connection that has warmed up allocates nothing: twice as many exchanges allocate as much as
//! once.

// Tests through and through; clippy knows only functions marked #[test] for such.
#![allow(clippy::unwrap_used)]

use ablaze_testing::allocations::of_this_thread;
use ablaze_wire::http1::builder::RequestBuilder;
use ablaze_wire::http1::patch::Digits;
use ablaze_wire::http2::client::{Connection, End, Options, ResponseHead, Sink};
use ablaze_wire::http2::frame::{flag, kind, setting};
use ablaze_wire::http2::hpack::encoder::{self, Indexing, Name};
use ablaze_wire::http2::request::{Request, RequestSet};

use crate::http2::frames::{block, data, frame, get, headers, settings, window_update};

/// Counts, and keeps nothing.
#[derive(Default)]
struct Count {
    ended: u64,
    content_bytes: u64,
    fields: bool,
}

impl Sink for Count {
    fn head(&mut self, _: u32, _: ResponseHead) {}

    fn data(&mut self, _: u32, content: &[u8]) {
        self.content_bytes += content.len() as u64;
    }

    fn ended(&mut self, _: u32, end: End) {
        assert_eq!(end, End::Complete);
        self.ended += 1;
    }

    fn wants_fields(&self, _: u32) -> bool {
        self.fields
    }
}

/// Allocations of the second half of the exchanges. `response` writes what the peer says on a
/// stream; `piece_bytes` of it arrive at once.
fn allocations(
    request: &Request,
    fields: bool,
    piece_bytes: usize,
    response: impl Fn(&mut Vec<u8>, u32, usize),
) -> u64 {
    const TURNS: usize = 2_000;
    const STREAMS: usize = 10;
    let set = RequestSet::new(std::slice::from_ref(request));
    let mut out = Vec::with_capacity(1 << 20);
    let mut arrives = Vec::with_capacity(1 << 20);
    let mut connection = Connection::new(Options::default(), &mut out);
    let mut sink = Count { fields, ..Count::default() };
    let mut digits = Digits::new(1, 1);
    let mut before = 0;
    arrives.extend(settings(&[(setting::INITIAL_WINDOW_SIZE, 1 << 20)]));
    arrives.extend(frame(kind::SETTINGS, flag::ACK, 0, &[]));
    for turn in 0..TURNS {
        if turn == TURNS / 2 {
            before = of_this_thread();
            assert!(before > 0, "what warms up is counted");
        }
        for number in 0..STREAMS {
            let number = (turn * STREAMS + number) as u64;
            let stream = connection.request(&set, 0, number, &mut digits, 7, &mut out).unwrap();
            response(&mut arrives, stream, turn);
        }
        for piece in arrives.chunks(piece_bytes) {
            connection.receive(piece, &mut out, &mut sink).unwrap();
            connection.upload(&set, &mut out);
        }
        arrives.clear();
        out.clear();
    }
    assert_eq!(sink.ended, (TURNS * STREAMS) as u64);
    of_this_thread() - before
}

#[test]
fn nothing_is_allocated_per_exchange() {
    // Frames are made before the run: making them allocates.
    let all_heads: Vec<Vec<u8>> = (0..40).map(|second| nginx_head(second, true)).collect();
    let open_heads = [nginx_head(1, false), nginx_head(2, false)];
    let content = data(0, true, b"Hello, World!\n");
    let copy = |out: &mut Vec<u8>, stream: u32, frame: &[u8]| {
        let start = out.len();
        out.extend_from_slice(frame);
        out[start + 5..start + 9].copy_from_slice(&stream.to_be_bytes());
    };
    let hello = |out: &mut Vec<u8>, stream: u32, _: usize| {
        copy(out, stream, &all_heads[0]);
        copy(out, stream, &content);
    };
    let changing = |out: &mut Vec<u8>, stream: u32, turn: usize| {
        copy(out, stream, &all_heads[turn % all_heads.len()]);
        copy(out, stream, &content);
    };
    assert_eq!(allocations(&get(), false, 1 << 20, hello), 0, "the same head");
    assert_eq!(allocations(&get(), false, 1 << 20, changing), 0, "heads that change");
    assert_eq!(allocations(&get(), true, 1 << 20, changing), 0, "fields shown");
    assert_eq!(allocations(&get(), false, 13, changing), 0, "in pieces");

    let patched = RequestBuilder::new("POST", "/{rand:8}?{seq}")
        .body_length_header("Content-Length")
        .body("{rand:8}".repeat(20))
        .build()
        .unwrap();
    let patched = Request::from_template(&patched, "http", "localhost").unwrap();
    let update = window_update(0, 160);
    let uploaded = |out: &mut Vec<u8>, stream: u32, turn: usize| {
        changing(out, stream, turn);
        out.extend_from_slice(&update);
    };
    assert_eq!(allocations(&patched, false, 1_000, uploaded), 0, "patched requests with bodies");

    let trailers = headers(0, true, &block(&[("x-trailer", "1")]));
    let chatter = [settings(&[]), frame(kind::PING, 0, 0, &[0; 8])].concat();
    let pieces = data(0, false, &[b'x'; 5_000]);
    let long = |out: &mut Vec<u8>, stream: u32, turn: usize| {
        out.extend_from_slice(&chatter);
        copy(out, stream, &open_heads[turn % 2]);
        copy(out, stream, &pieces);
        copy(out, stream, &trailers);
    };
    assert_eq!(allocations(&get(), false, 2_000, long), 0, "trailers, settings and pings");
}

/// As nginx writes it: every field is added to the table, each time.
fn nginx_head(second: usize, with_length: bool) -> Vec<u8> {
    let date = format!("Mon, 21 Oct 2013 20:13:{second:02} GMT");
    let mut block = Vec::new();
    encoder::indexed(&mut block, 8);
    encoder::literal(&mut block, Indexing::Keep, Name::Index(54), b"nginx/1.22.1");
    encoder::literal(&mut block, Indexing::Keep, Name::Index(33), date.as_bytes());
    encoder::literal(&mut block, Indexing::Keep, Name::Index(31), b"text/plain");
    if with_length {
        encoder::literal(&mut block, Indexing::Keep, Name::Index(28), b"14");
    }
    headers(0, false, &block)
}
