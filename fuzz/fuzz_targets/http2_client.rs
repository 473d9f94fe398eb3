//! A client's connection: whatever the peer says, it does not panic; what it tells and writes does
//! not depend on how the bytes are cut; each request ends at most once and is not named
//! afterwards; and what it writes is bounded by what it reads.
#![no_main]

use std::collections::HashSet;

use ablaze_wire::http1::patch::Digits;
use ablaze_wire::http2::client::{ResponseHead, Connection, End, Options, Sink};
use ablaze_wire::http2::error::{ErrorCode, ErrorKind};
use ablaze_wire::http2::frame::{FrameHead, HEAD_BYTES};
use ablaze_wire::http2::request::{Request, RequestSet};
use libfuzzer_sys::fuzz_target;

const STREAMS: u32 = 6;

/// Everything told, as text; content that comes one after the other counts as one piece.
#[derive(Default)]
struct Notes {
    told: Vec<String>,
    content: Option<(u32, Vec<u8>)>,
    answering: HashSet<u32>,
    over: HashSet<u32>,
    wants_fields: bool,
}

impl Notes {
    fn note(&mut self, tag: Option<u32>, what: String) {
        if let Some((tag, bytes)) = self.content.take() {
            self.told.push(format!("{tag} data {bytes:?}"));
        }
        if let Some(tag) = tag {
            assert!(tag < STREAMS && !self.over.contains(&tag), "{tag}: {what}");
        }
        self.told.push(what);
    }
}

impl Sink for Notes {
    fn head(&mut self, tag: u32, head: ResponseHead) {
        assert!((200..=999).contains(&head.status));
        assert!(self.answering.insert(tag), "one final head");
        self.note(Some(tag), format!("{tag} {head:?}"));
    }

    fn data(&mut self, tag: u32, content: &[u8]) {
        assert!(self.answering.contains(&tag) && !self.over.contains(&tag) && !content.is_empty());
        match &mut self.content {
            Some((last, bytes)) if *last == tag => bytes.extend_from_slice(content),
            _ => {
                self.note(Some(tag), format!("{tag} content"));
                self.content = Some((tag, content.to_vec()));
            }
        }
    }

    fn ended(&mut self, tag: u32, end: End) {
        assert!(end != End::Complete || self.answering.contains(&tag));
        self.note(Some(tag), format!("{tag} {end:?}"));
        self.over.insert(tag);
    }

    fn interim(&mut self, tag: u32, status: u16) {
        assert!((100..200).contains(&status));
        self.note(Some(tag), format!("{tag} interim {status}"));
    }

    fn trailers(&mut self, tag: u32) {
        self.note(Some(tag), format!("{tag} trailers"));
    }

    fn wants_fields(&self, tag: u32) -> bool {
        self.wants_fields && tag % 2 == 0
    }

    fn field(&mut self, tag: u32, name: &[u8], value: &[u8]) {
        self.note(Some(tag), format!("{tag} {name:?} {value:?}"));
    }

    fn goaway(&mut self, last_stream: u32, code: ErrorCode, debug: &[u8]) {
        self.note(None, format!("goaway {last_stream} {code} {debug:?}"));
    }
}

// The first byte says how the connection is and how the bytes are cut; the others are what the
// peer says, behind its first SETTINGS if a bit says so.
fuzz_target!(|input: &[u8]| {
    let Some((&choice, bytes)) = input.split_first() else { return };
    let spoken = if choice & 0x80 == 0 {
        [&[0, 0, 0, 4, 0, 0, 0, 0, 0][..], bytes].concat()
    } else {
        bytes.to_vec()
    };
    let whole = converse(choice, &spoken, spoken.len().max(1));
    let cut = converse(choice, &spoken, usize::from(choice & 0x0f) + 1);
    assert_eq!(whole, cut);
});

type Outcome = (Vec<String>, Vec<u8>, Result<(), ErrorKind>);

fn converse(choice: u8, bytes: &[u8], piece_bytes: usize) -> Outcome {
    let small = choice & 0x40 != 0;
    let options = Options {
        streams: STREAMS,
        header_table_bytes: if small { 100 } else { 4_096 },
        stream_window_bytes: if small { 50 } else { 0x7fff_ffff },
        header_list_bytes: if small { 200 } else { 65_536 },
        ..Options::default()
    };
    let request = |method| Request::new(method, "http", "localhost", "/");
    let set = RequestSet::new(&[request("GET"), request("HEAD"), request("POST").body([7; 99])]);
    let mut out = Vec::new();
    let mut digits = Digits::new(1, 1);
    let mut notes = Notes { wants_fields: choice & 0x20 != 0, ..Notes::default() };
    let mut connection = Connection::new(options, &mut out);
    for tag in 0..STREAMS {
        connection
            .request(&set, tag as usize % 3, 0, &mut digits, tag, &mut out)
            .expect("room for all");
    }
    // One was given up.
    connection.reset(3, &mut out);
    let before = out.len();
    let mut result = Ok(());
    for piece in bytes.chunks(piece_bytes) {
        result = connection.receive(piece, &mut out, &mut notes);
        if result.is_err() {
            break;
        }
    }
    notes.note(None, "the end".to_owned());
    assert!(out.len() - before <= bytes.len() * 3 + 100, "{} for {}", out.len(), bytes.len());
    let mut written = &out[24..];
    while let Some(head) = written.first_chunk::<HEAD_BYTES>() {
        written = &written[HEAD_BYTES + FrameHead::read(head).payload_bytes as usize..];
    }
    assert!(written.is_empty(), "whole frames");
    let mut open: Vec<u32> = connection.open_streams().map(|(tag, _)| tag).collect();
    open.sort_unstable();
    let expected: Vec<u32> =
        (0..STREAMS).filter(|tag| *tag != 1 && !notes.over.contains(tag)).collect();
    assert_eq!(open, expected);
    (notes.told, out, result)
}
