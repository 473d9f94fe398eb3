//! A server's connection: whatever a client says, it does not panic; what it tells and writes does
//! not depend on how the bytes are cut; streams are told of in order; and what it writes by
//! itself is bounded by what it reads.
#![no_main]

use std::collections::HashMap;

use ablaze_wire::http2::error::{ErrorCode, ErrorKind};
use ablaze_wire::http2::frame::{FrameHead, HEAD_BYTES, PREFACE};
use ablaze_wire::http2::server::{AnswerBlock, Connection, Options, RequestHead, Sink};
use libfuzzer_sys::fuzz_target;

#[derive(Default, Debug, PartialEq)]
struct Notes {
    /// By stream: the head, the content, and whether the request is complete.
    requests: HashMap<u32, (String, Vec<u8>, bool)>,
    resets: Vec<(u32, ErrorCode)>,
    highest: u32,
}

impl Sink for Notes {
    fn request(&mut self, stream: u32, head: &RequestHead) {
        assert!(stream % 2 == 1 && stream > self.highest);
        assert!(!head.method.is_empty());
        self.highest = stream;
        self.requests.insert(stream, (format!("{head:?}"), Vec::new(), false));
    }

    fn data(&mut self, stream: u32, content: &[u8]) {
        let (_, bytes, complete) = self.requests.get_mut(&stream).expect("a request");
        assert!(!*complete && !content.is_empty());
        bytes.extend_from_slice(content);
    }

    fn ended(&mut self, stream: u32) {
        let (_, _, complete) = self.requests.get_mut(&stream).expect("a request");
        assert!(!std::mem::replace(complete, true));
    }

    fn reset(&mut self, stream: u32, code: ErrorCode) {
        assert!(self.requests.remove(&stream).is_some());
        self.resets.push((stream, code));
    }

    fn writable(&mut self, stream: u32) {
        assert!(stream == 0 || self.requests.contains_key(&stream));
    }
}

// The first byte says how the bytes are cut and what comes first; the others are what the client
// says.
fuzz_target!(|input: &[u8]| {
    let Some((&choice, bytes)) = input.split_first() else { return };
    let first: &[u8] = match choice >> 6 {
        0 | 1 => &[0, 0, 0, 4, 0, 0, 0, 0, 0],
        // And a request.
        2 => b"\0\0\0\x04\0\0\0\0\0\0\0\x03\x01\x04\0\0\0\x01\x82\x86\x84",
        _ => &[],
    };
    let spoken = [&PREFACE[..], first, bytes].concat();
    let whole = converse(choice, &spoken, spoken.len());
    assert_eq!(whole, converse(choice, &spoken, usize::from(choice & 0x0f) + 1));
});

fn converse(choice: u8, bytes: &[u8], piece_bytes: usize) -> (Notes, Vec<u8>, Result<(), ErrorKind>) {
    let small = choice & 0x20 != 0;
    let options = Options {
        streams: 3,
        stream_window_bytes: if small { 50 } else { 1 << 20 },
        header_list_bytes: if small { 200 } else { 65_536 },
        header_table_bytes: if small { 100 } else { 4_096 },
        ..Options::default()
    };
    let mut out = Vec::new();
    let mut notes = Notes::default();
    let mut connection = Connection::new(options, &mut out);
    let before = out.len();
    let result =
        bytes.chunks(piece_bytes).try_for_each(|piece| connection.receive(piece, &mut out, &mut notes));
    assert!(out.len() - before <= bytes.len() * 3 + 100, "{} for {}", out.len(), bytes.len());
    if result.is_ok() {
        // What is complete can be answered.
        let head = AnswerBlock::new(200).field("server", "fuzzed");
        let mut complete: Vec<u32> =
            notes.requests.iter().filter(|(_, (_, _, all))| *all).map(|(id, _)| *id).collect();
        complete.sort_unstable();
        for stream in complete {
            assert!(connection.answer(stream, &head, false, &mut out));
            let room = connection.room(stream);
            assert_eq!(connection.send(stream, b"content", true, &mut out), room.min(7));
        }
    }
    let mut written = &out[..];
    while let Some(head) = written.first_chunk::<HEAD_BYTES>() {
        written = &written[HEAD_BYTES + FrameHead::read(head).payload_bytes as usize..];
    }
    assert!(written.is_empty(), "whole frames");
    (notes, out, result)
}
