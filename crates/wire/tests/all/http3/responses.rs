//! Responses on their streams, whole and in any pieces, and those that are of no use (RFC 9114, 4.1 to 4.3).

use ablaze_wire::http2::field::FieldFault;
use ablaze_wire::http2::hpack::encoder::Name;
use ablaze_wire::http2::hpack::static_table::Found;
use ablaze_wire::http3::error::{ErrorKind, StreamFault};
use ablaze_wire::http3::frame::{kind, write_head};
use ablaze_wire::http3::qpack::encoder::{begin, indexed, literal};
use ablaze_wire::http3::qpack::static_table::find;
use ablaze_wire::http3::response::{Fault, Response, ResponseHead, Sections, Sink};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Seen {
    heads: Vec<(u16, Option<u64>)>,
    interims: Vec<u16>,
    content: Vec<u8>,
    trailers: u32,
    fields: Option<Vec<(String, String)>>,
}

impl Sink for Seen {
    fn head(&mut self, head: ResponseHead) {
        self.heads.push((head.status, head.content_length));
    }

    fn data(&mut self, content: &[u8]) {
        self.content.extend_from_slice(content);
    }

    fn interim(&mut self, status: u16) {
        self.interims.push(status);
    }

    fn trailers(&mut self) {
        self.trailers += 1;
    }

    fn wants_fields(&self) -> bool {
        self.fields.is_some()
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        self.fields.get_or_insert_default().push((text(name), text(value)));
    }
}

fn frame(kind: u64, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_head(&mut bytes, kind, payload.len() as u64);
    bytes.extend_from_slice(payload);
    bytes
}

fn headers(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut section = Vec::new();
    begin(&mut section);
    for (name, value) in fields {
        match find(name.as_bytes(), value.as_bytes()) {
            Found::Field(index) => indexed(&mut section, index),
            Found::Name(index) => {
                literal(&mut section, false, Name::Index(index), value.as_bytes())
            }
            Found::Nothing => {
                literal(&mut section, false, Name::Literal(name.as_bytes()), value.as_bytes());
            }
        }
    }
    frame(kind::HEADERS, &section)
}

fn read(bytes: &[u8], piece_bytes: usize, is_head: bool, seen: Seen) -> Result<Seen, Fault> {
    let mut sections = Sections::new(0, 16_384);
    let mut seen = seen;
    let mut response = Response::new(is_head);
    for piece in bytes.chunks(piece_bytes.max(1)) {
        response.receive(0, piece, &mut sections, &mut seen, &mut Vec::new())?;
    }
    response.end()?;
    Ok(seen)
}

/// The same in one piece and byte by byte.
fn both_ways(parts: &[Vec<u8>]) -> Result<Seen, Fault> {
    let bytes = parts.concat();
    let at_once = read(&bytes, bytes.len(), false, Seen::default());
    assert_eq!(at_once, read(&bytes, 1, false, Seen::default()));
    at_once
}

fn stream_fault(parts: &[Vec<u8>]) -> StreamFault {
    match both_ways(parts) {
        Err(Fault::Stream(fault)) => fault,
        other => panic!("{other:?}"),
    }
}

fn connection_fault(parts: &[Vec<u8>]) -> ErrorKind {
    match both_ways(parts) {
        Err(Fault::Connection(kind)) => kind,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_response_with_everything_is_the_same_however_it_comes() {
    let bytes = [
        frame(0x21, b"practice"),
        headers(&[(":status", "103"), ("link", "</x>")]),
        headers(&[(":status", "200"), ("content-length", "12"), ("x-own", "value")]),
        frame(kind::DATA, b"hello, "),
        frame(0x21 + 0x1f, b""),
        frame(kind::DATA, b""),
        frame(kind::DATA, b"world"),
        headers(&[("x-checksum", "7")]),
        frame(0x21, b"more practice"),
    ]
    .concat();
    let expected = Seen {
        heads: vec![(200, Some(12))],
        interims: vec![103],
        content: b"hello, world".to_vec(),
        trailers: 1,
        fields: None,
    };
    for piece_bytes in 1..bytes.len() {
        assert_eq!(read(&bytes, piece_bytes, false, Seen::default()), Ok(expected.clone()));
    }
    for cut in 1..bytes.len() {
        // Only behind the head, between frames, with all its content, is it whole.
        let result = read(&bytes[..cut], 7, false, Seen::default());
        let whole = result.as_ref().is_ok_and(|seen| seen.content == b"hello, world");
        assert_eq!(result.is_ok(), whole, "{cut}");
    }
    let with_fields = Seen { fields: Some(Vec::new()), ..Seen::default() };
    let fields = read(&bytes, 5, false, with_fields).unwrap().fields.unwrap();
    let names: Vec<&str> = fields.iter().map(|(name, _)| &name[..]).collect();
    assert_eq!(names, [":status", "link", ":status", "content-length", "x-own", "x-checksum"]);
}

#[test]
fn a_head_that_comes_again_is_recognised_and_another_is_not() {
    let mut sections = Sections::new(0, 16_384);
    let mut response = Response::new(false);
    for round in 0..50 {
        let length = (round % 7).to_string();
        let head = headers(&[(":status", "200"), ("content-length", &length)]);
        let mut seen = Seen::default();
        response.restart(false);
        let content = frame(kind::DATA, &vec![b'x'; round % 7]);
        for bytes in [head, content] {
            response.receive(4, &bytes, &mut sections, &mut seen, &mut Vec::new()).unwrap();
        }
        assert_eq!(response.end(), Ok(()));
        assert_eq!(seen.heads, [(200, Some(round as u64 % 7))]);
    }
}

#[test]
fn messages_that_are_malformed() {
    let ok = || headers(&[(":status", "200")]);
    let field = |fault| StreamFault::Field(fault);
    assert_eq!(stream_fault(&[headers(&[("x", "y")])]), StreamFault::NoStatus);
    assert_eq!(stream_fault(&[headers(&[(":status", "101")])]), StreamFault::SwitchingProtocols);
    assert_eq!(stream_fault(&[headers(&[(":status", "100")])]), StreamFault::NoFinalHead);
    assert_eq!(stream_fault(&[frame(0x21, b"")]), StreamFault::NoFinalHead);
    let late = headers(&[("x", "y"), (":status", "200")]);
    assert_eq!(stream_fault(&[late]), field(FieldFault::LatePseudo));
    let twice = headers(&[(":status", "200"), (":status", "200")]);
    assert_eq!(stream_fault(&[twice]), field(FieldFault::RepeatedPseudo));
    let of_http1 = headers(&[(":status", "200"), ("connection", "close")]);
    assert_eq!(stream_fault(&[of_http1]), field(FieldFault::ConnectionSpecific));
    let trailers = [ok(), headers(&[(":status", "200")])];
    assert_eq!(stream_fault(&trailers), field(FieldFault::MisplacedPseudo));
    let long = headers(&[(":status", "200"), ("x", &"y".repeat(20_000))]);
    assert_eq!(stream_fault(&[long]), StreamFault::FieldsTooLarge);
    for (promised, content) in [("5", "four"), ("3", "four"), ("1", "")] {
        let head = headers(&[(":status", "200"), ("content-length", promised)]);
        let parts = [head, frame(kind::DATA, content.as_bytes())];
        assert_eq!(stream_fault(&parts), StreamFault::ContentLength, "{promised}");
    }
}

/// As over HTTP/2.
#[test]
fn content_where_there_is_none() {
    let refused = |status, is_head| {
        let bytes = [headers(&[(":status", status)]), frame(kind::DATA, b"hello")].concat();
        match read(&bytes, bytes.len(), is_head, Seen::default()) {
            Err(Fault::Stream(fault)) => Some(fault),
            Ok(_) => None,
            Err(other) => panic!("{other:?}"),
        }
    };
    for (status, is_head) in [("200", true), ("204", false), ("304", false)] {
        assert_eq!(refused(status, is_head), Some(StreamFault::DataForbidden), "{status}");
    }
    assert_eq!(refused("200", false), None);
    // An empty frame is no content.
    let empty = [headers(&[(":status", "204")]), frame(kind::DATA, b"")].concat();
    assert!(read(&empty, empty.len(), false, Seen::default()).is_ok());
}

#[test]
fn frames_that_end_the_connection() {
    let ok = || headers(&[(":status", "200")]);
    assert_eq!(connection_fault(&[frame(kind::DATA, b"x")]), ErrorKind::FrameUnexpected);
    let behind_trailers = [ok(), headers(&[("x", "y")]), frame(kind::DATA, b"x")];
    assert_eq!(connection_fault(&behind_trailers), ErrorKind::FrameUnexpected);
    let third = [ok(), headers(&[("x", "y")]), headers(&[("x", "y")])];
    assert_eq!(connection_fault(&third), ErrorKind::FrameUnexpected);
    let wrong = [0x3, 0x4, 0x7, 0xd, 0x2, 0x6, 0x8, 0x9];
    for wrong in wrong {
        assert_eq!(connection_fault(&[ok(), frame(wrong, b"x")]), ErrorKind::FrameUnexpected);
    }
    assert_eq!(connection_fault(&[frame(kind::PUSH_PROMISE, b"x")]), ErrorKind::Push);
    let broken = frame(kind::HEADERS, &[0, 0, 0xff]);
    assert!(matches!(connection_fault(&[broken]), ErrorKind::Qpack(_)));
    let mut cut = ok();
    cut.extend_from_slice(&frame(kind::DATA, b"more")[..3]);
    assert_eq!(connection_fault(&[cut]), ErrorKind::FrameCut);
}

#[test]
fn responses_without_content() {
    let promised = headers(&[(":status", "200"), ("content-length", "1000")]);
    assert!(read(&promised, 3, true, Seen::default()).is_ok());
    assert!(read(&promised, 3, false, Seen::default()).is_err());
    let unchanged = headers(&[(":status", "304"), ("content-length", "1000")]);
    assert_eq!(read(&unchanged, 3, false, Seen::default()).unwrap().heads, [(304, Some(1_000))]);
}

proptest! {
    #[test]
    fn any_bytes_are_survived_and_say_the_same_in_pieces(
        bytes in vec(prop_oneof![0..10u8, any::<u8>()], 0..300),
        piece_bytes in 1..50usize,
    ) {
        let at_once = read(&bytes, bytes.len(), false, Seen::default());
        prop_assert_eq!(at_once, read(&bytes, piece_bytes, false, Seen::default()));
    }
}
