//! Repeats one step of the hot path, to count its instructions under callgrind:
//!
//! ```text
//! cargo build --release -p ablaze-wire --example instructions
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null \
//!     target/release/examples/instructions scan 100000
//! ```
//!
//! The figure per step is the difference between two numbers of repetitions, divided by that
//! of the repetitions. Steps:
//! - `empty`: the loop alone;
//! - `scan`: a head read, and `scan-oracle`: the same head read by `httparse`;
//! - `last-head`: a head recognised;
//! - `patch`: `{seq}` and `{rand:8}` filled in, and `patch-nothing`: the same with a constant
//!   request, to be subtracted;
//! - `chunked`: a body of one chunk of 14 bytes;
//! - `request-head`: a request of three fields.

use std::hint::black_box;

use ablaze_wire::http1::builder::RequestBuilder;
use ablaze_wire::http1::chunked::Chunked;
use ablaze_wire::http1::patch::{Digits, Patcher};
use ablaze_wire::http1::request_head;
use ablaze_wire::http1::response::{LastHead, scan};

/// What nginx says to a GET of a small static file, and the body.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\n\
    Date: Mon, 01 Jan 2024 00:00:00 GMT\r\nContent-Type: text/plain\r\nContent-Length: 14\r\n\
    Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\nConnection: keep-alive\r\n\
    ETag: \"65920080-e\"\r\nAccept-Ranges: bytes\r\n\r\nHello, World!\n";
const REQUEST: &[u8] =
    b"GET /hello HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: ablaze\r\nAccept: */*\r\n\r\n";
const CHUNKED: &[u8] = b"e\r\nHello, World!\n\r\n0\r\n\r\n";

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (step, count) = (arguments.next(), arguments.next().and_then(|n| n.parse::<u64>().ok()));
    let (Some(step), Some(count)) = (step, count) else {
        eprintln!(
            "usage: instructions empty|scan|last-head|scan-oracle|patch|patch-nothing|chunked|request-head COUNT"
        );
        std::process::exit(2);
    };
    let template = RequestBuilder::new("GET", "/{seq}?{rand:8}").build().expect("a request");
    let patcher = Patcher::new(&template);
    let constant = RequestBuilder::new("GET", "/").build().expect("a request");
    let no_patcher = Patcher::new(&constant);
    let mut copy = template.bytes.clone();
    let mut digits = Digits::new(1, 1);
    let mut last_head = LastHead::new();
    match step.as_str() {
        "scan" => repeat(count, |_| scan(black_box(ANSWER), 0, false, 65_536)),
        "last-head" => repeat(count, |_| last_head.scan(black_box(ANSWER), 0, false, 65_536)),
        "scan-oracle" => repeat(count, |_| {
            let mut headers = [httparse::EMPTY_HEADER; 16];
            httparse::Response::new(&mut headers).parse(black_box(ANSWER)).is_ok()
        }),
        "patch" => repeat(count, |number| patcher.apply(black_box(&mut copy), number, &mut digits)),
        "patch-nothing" => {
            repeat(count, |number| no_patcher.apply(black_box(&mut copy), number, &mut digits))
        }
        "chunked" => repeat(count, |_| Chunked::new().feed(black_box(CHUNKED))),
        "request-head" => repeat(count, |_| request_head::scan(black_box(REQUEST))),
        _ => repeat(count, |_| ()),
    }
}

fn repeat<T>(count: u64, mut step: impl FnMut(u64) -> T) {
    for number in 0..count {
        black_box(step(black_box(number)));
    }
}
