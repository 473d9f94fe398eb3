//! Our own client, in pieces of several sizes and under several windows.

use std::collections::BTreeMap;

use ablaze_target::Options;
use ablaze_wire::http1::patch::Digits;
use ablaze_wire::http2::client::{self, Connection, End, ResponseHead, Sink};
use ablaze_wire::http2::request::{Request, RequestSet};

use super::by_hand::Side;
use super::options;

const REQUESTS: u32 = 40;
const BODIES: [usize; 4] = [1, 5_000, 70_000, 200_000];

/// The contents by request, and how many have ended.
#[derive(Default)]
struct Responses {
    bodies: BTreeMap<u32, Vec<u8>>,
    ended: u32,
}

impl Sink for Responses {
    fn head(&mut self, _: u32, head: ResponseHead) {
        assert_eq!(head.status, 200);
    }

    fn data(&mut self, tag: u32, content: &[u8]) {
        self.bodies.entry(tag).or_default().extend_from_slice(content);
    }

    fn ended(&mut self, _: u32, end: End) {
        assert_eq!(end, End::Complete);
        self.ended += 1;
    }
}

fn body(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| b'a' + (at % 23) as u8).collect()
}

#[test]
fn every_response_is_whole() {
    let request = |method, path| Request::new(method, "http", "localhost", path);
    let mut requests: Vec<Request> =
        BODIES.iter().map(|&bytes| request("POST", "/echo").body(body(bytes))).collect();
    requests.push(request("GET", "/hello").field("accept", "*/*"));
    let set = RequestSet::new(&requests);
    for (window, piece_bytes) in [(1 << 20, usize::MAX), (65_535, 1_000), (1_000, 17)] {
        let mut side = Side::new(&Options { max_streams: 7, ..options() });
        let options = client::Options {
            stream_window_bytes: window,
            connection_window_bytes: 65_535,
            ..client::Options::default()
        };
        let (mut out, mut responses) = (Vec::new(), Responses::default());
        let mut connection = Connection::new(options, &mut out);
        let mut digits = Digits::new(1, 1);
        let mut sent = 0;
        while responses.ended < REQUESTS {
            while sent < REQUESTS
                && connection.peer_settings().is_some()
                && connection.free_streams() > 0
            {
                let which = sent as usize % requests.len();
                connection.request(&set, which, sent.into(), &mut digits, sent, &mut out).unwrap();
                sent += 1;
            }
            connection.upload(&set, &mut out);
            let (asked, answered) = (std::mem::take(&mut out), side.take_written());
            assert!(!asked.is_empty() || !answered.is_empty(), "they wait for each other");
            asked.chunks(piece_bytes).for_each(|piece| side.receive(piece));
            assert_eq!(side.end, None);
            for piece in answered.chunks(piece_bytes) {
                connection.receive(piece, &mut out, &mut responses).unwrap();
            }
        }
        assert_eq!(responses.bodies.len(), REQUESTS as usize);
        for (tag, content) in responses.bodies {
            match BODIES.get(tag as usize % requests.len()) {
                Some(&bytes) => assert!(content == body(bytes), "{tag}, window {window}"),
                None => assert_eq!(content, b"hello, world!\n"),
            }
        }
        assert!(side.is_idle() && connection.is_quiet());
    }
}
