//! Repeats one step of the hot path, to count its instructions under callgrind:
//!
//! ```text
//! cargo build --release -p ablaze-wire --example instructions
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null \
//!     target/release/examples/instructions scan 100000
//! ```
//!
//! The figure per step is the difference between two numbers of repetitions, divided by that
//! of the repetitions. Steps: `empty` (the loop alone), `scan` (a head read), `last-head` (a head
//! recognised), `patch` (`{seq}` and `{rand:8}` filled in), `chunked`, `request-head`.

use std::hint::black_box;

use ablaze_wire::http1::builder::RequestBuilder;
use ablaze_wire::http1::chunked::Chunked;
use ablaze_wire::http1::patch::{Patcher, Random};
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
        eprintln!("usage: instructions empty|scan|last-head|patch|chunked|request-head COUNT");
        std::process::exit(2);
    };
    let template = RequestBuilder::new("GET", "/{seq}?{rand:8}").build().expect("a request");
    let patcher = Patcher::new(&template);
    let mut copy = template.bytes.clone();
    let mut random = Random::new(1, 1);
    let mut last_head = LastHead::new();
    for number in 0..count {
        match step.as_str() {
            "scan" => {
                let _ = black_box(scan(black_box(ANSWER), 0, false, 65_536));
            }
            "last-head" => {
                let _ = black_box(last_head.scan(black_box(ANSWER), 0, false, 65_536));
            }
            "patch" => patcher.apply(black_box(&mut copy), black_box(number), &mut random),
            "chunked" => {
                let _ = black_box(Chunked::new().feed(black_box(CHUNKED)));
            }
            "request-head" => {
                let _ = black_box(request_head::scan(black_box(REQUEST)));
            }
            _ => {}
        }
    }
    black_box(copy);
}
