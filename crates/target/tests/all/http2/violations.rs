//! What a client must not do, by sections of RFC 9113: each ends its stream or the connection, with
//! the code that the section names, and leaves what it does not concern as it was.

use ablaze_target::Options;
use ablaze_target::protocol::Next;
use ablaze_wire::http2::error::ErrorCode;
use ablaze_wire::http2::frame::{flag, kind, setting};
use ablaze_wire::http2::hpack::encoder::{Indexing, Name, indexed, literal};

use super::by_hand::{Side, block, bodies, data, frame, get, post, settings, window_update};
use super::options;

const CANCEL: [u8; 4] = ErrorCode::CANCEL.0.to_be_bytes();

fn open() -> Side {
    Side::open(&options(), &[])
}

/// HEADERS that end their stream, with this block.
fn ask(stream: u32, block: &[u8]) -> Vec<u8> {
    frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, stream, block)
}

/// GET, http and /, by the static table, and more.
fn request_block(more: &[(&str, &str)]) -> Vec<u8> {
    [&[0x82, 0x86, 0x84][..], &block(more)].concat()
}

fn reset(stream: u32) -> Vec<u8> {
    frame(kind::RST_STREAM, 0, stream, &CANCEL)
}

/// The head of a request with a body of three bytes.
fn upload_head() -> Vec<u8> {
    post(1, "/echo", &[("content-length", "3")])
}

#[test]
fn some_end_the_connection() {
    use ErrorCode as Code;
    let plain = [0x82, 0x86, 0x84];
    let push = settings(&[(setting::ENABLE_PUSH, 2)]);
    let interrupted = [frame(kind::HEADERS, 0, 1, &[0x82]), ask(1, &plain)].concat();
    let table = [
        ("5.1", [ask(5, &plain), ask(3, &plain)].concat(), Code::STREAM_CLOSED),
        ("5.1", [ask(1, &plain), ask(1, &plain)].concat(), Code::STREAM_CLOSED),
        ("5.1", [ask(1, &plain), data(1, b"x", true)].concat(), Code::STREAM_CLOSED),
        ("6.4", frame(kind::RST_STREAM, 0, 1, &[0; 5]), Code::FRAME_SIZE_ERROR),
        ("6.5.2", push, Code::PROTOCOL_ERROR),
        ("6.10", interrupted, Code::PROTOCOL_ERROR),
    ];
    for (section, bytes, code) in table {
        let mut side = open();
        side.receive(&bytes);
        assert_eq!(side.end, Some(Next::Close { unread: true }), "RFC 9113, {section}");
        assert_eq!(side.goaway_code(), Some(code.0), "RFC 9113, {section}");
    }
}

#[test]
fn a_connection_that_does_not_begin_as_agreed_ends() {
    let requests = [&b"GET / HTTP/1.1\r\n\r\n"[..], b"PRI * HTTP/2.0\r\n\r\nSN\r\n\r\n"];
    for request in requests {
        for piece_bytes in [1, usize::MAX] {
            let mut side = Side::agreed(&options());
            request.chunks(piece_bytes.min(request.len())).for_each(|piece| side.receive(piece));
            assert_eq!(side.end, Some(Next::Close { unread: true }), "RFC 9113, 3.4");
            assert_eq!(side.goaway_code(), Some(ErrorCode::PROTOCOL_ERROR.0), "RFC 9113, 3.4");
        }
    }
}

#[test]
fn some_end_a_stream_and_nothing_else() {
    let malformed = ErrorCode::PROTOCOL_ERROR;
    let trailers = |end, block: &[u8]| {
        let end = if end { flag::END_STREAM } else { 0 };
        [upload_head(), frame(kind::HEADERS, flag::END_HEADERS | end, 1, block)].concat()
    };
    let table = [
        ("8.1.1", [upload_head(), data(1, b"xx", true)].concat(), malformed),
        ("8.1.1", [upload_head(), data(1, b"xxxx", false)].concat(), malformed),
        ("8.1.1", ask(1, &request_block(&[("content-length", "3")])), malformed),
        ("8.1", trailers(false, &block(&[("a", "b")])), malformed),
        ("8.1", trailers(true, &[0x82]), malformed),
        ("8.2.1", ask(1, &request_block(&[("Upper", "b")])), malformed),
        ("8.2.2", ask(1, &request_block(&[("connection", "close")])), malformed),
        ("8.3", ask(1, &[&block(&[("a", "b")])[..], &[0x82, 0x86, 0x84]].concat()), malformed),
        ("8.3", ask(1, &[0x82, 0x82, 0x86, 0x84]), malformed),
        ("8.3", ask(1, &[0x82, 0x86, 0x84, 0x88]), malformed),
        ("8.3.1", ask(1, &[0x82, 0x86]), malformed),
        ("8.3.1", ask(1, &[0x86, 0x84]), malformed),
        ("8.5", ask(1, &block(&[(":method", "CONNECT"), (":path", "/")])), malformed),
        ("8.5", ask(1, &block(&[(":method", "CONNECT")])), malformed),
        ("6.9", [upload_head(), window_update(1, 0)].concat(), malformed),
        (
            "6.9.1",
            [upload_head(), window_update(1, 0x7fff_ffff)].concat(),
            ErrorCode::FLOW_CONTROL_ERROR,
        ),
        (
            "6.3",
            [upload_head(), frame(kind::PRIORITY, 0, 1, &[0; 4])].concat(),
            ErrorCode::FRAME_SIZE_ERROR,
        ),
    ];
    for (section, bytes, code) in table {
        let mut side = open();
        side.receive(&bytes);
        assert_eq!(side.resets(), [(1, code.0)], "RFC 9113, {section}");
        // Others go on, and what comes late is ignored.
        side.receive(&[data(1, b"late", true), get(3, "/hello")].concat());
        assert_eq!(bodies(&side.frames(), 3).len(), 14, "RFC 9113, {section}");
        assert_eq!((side.end, side.is_idle()), (None, true), "RFC 9113, {section}");
    }
}

#[test]
fn connect_names_an_authority_and_is_answered() {
    let mut side = open();
    side.receive(&ask(1, &block(&[(":method", "CONNECT"), (":authority", "localhost:1")])));
    let frames = side.frames();
    assert_eq!((frames[0].kind, frames[0].stream), (kind::HEADERS, 1));
    assert_eq!(side.end, None);
}

#[test]
fn the_table_of_headers_stays_right_behind_errors() {
    let options = Options { max_streams: 1, ..options() };
    let mut side = Side::open(&options, &[(setting::INITIAL_WINDOW_SIZE, 0)]);
    side.receive(&get(1, "/hello"));
    // Each puts its path into the table, and is refused.
    for (stream, path) in [(3, "/bytes/3"), (5, "/bytes/5")] {
        let mut head = vec![0x82, 0x86];
        literal(&mut head, Indexing::Keep, Name::Index(4), path.as_bytes());
        side.receive(&ask(stream, &head));
    }
    let refused = ErrorCode::REFUSED_STREAM.0;
    assert_eq!(side.resets(), [(3, refused), (5, refused)]);
    side.receive(&window_update(1, 14));
    side.frames();
    // The younger entry is the first (RFC 7541, 2.3.3).
    for (stream, entry, bytes) in [(7, 63, 3), (9, 62, 5)] {
        let mut head = vec![0x82, 0x86];
        indexed(&mut head, entry);
        side.receive(&[ask(stream, &head), window_update(stream, 100)].concat());
        assert_eq!(bodies(&side.frames(), stream).len(), bytes);
    }
    let mut beyond = vec![0x82, 0x86];
    indexed(&mut beyond, 64);
    side.receive(&ask(11, &beyond));
    assert_eq!(side.goaway_code(), Some(ErrorCode::COMPRESSION_ERROR.0));
}

/// Sends it for one stream after the other until the server has enough, and returns its code.
fn flood(what: impl Fn(u32) -> Vec<u8>) -> Option<u32> {
    let mut side = Side::open(&options(), &[(setting::INITIAL_WINDOW_SIZE, 0)]);
    for stream in (1..60_000).step_by(2) {
        side.receive(&what(stream));
        if side.end.is_some() {
            return side.goaway_code();
        }
        side.frames();
        assert!(side.is_idle(), "none of them is kept");
    }
    panic!("it never ends");
}

#[test]
fn requests_that_are_reset_at_once_are_a_flood() {
    let calm = Some(ErrorCode::ENHANCE_YOUR_CALM.0);
    assert_eq!(flood(|stream| [get(stream, "/hello"), reset(stream)].concat()), calm);
    // No better if the client has the server reset them.
    assert_eq!(flood(|stream| [get(stream, "/hello"), window_update(stream, 0)].concat()), calm);
    let wrong_length = |stream| {
        [post(stream, "/echo", &[("content-length", "3")]), data(stream, b"xx", true)].concat()
    };
    assert_eq!(flood(wrong_length), calm);
    assert_eq!(flood(|stream| ask(stream, &[0x82])), calm);
}

#[test]
fn what_is_answered_is_no_flood() {
    let mut side = open();
    for stream in (1..30_000).step_by(2) {
        // A reset behind the response comes too late.
        side.receive(&[window_update(0, 14), get(stream, "/hello"), reset(stream)].concat());
        assert_eq!(bodies(&side.frames(), stream).len(), 14);
    }
    assert_eq!(side.end, None);
}

#[test]
fn a_client_that_says_goodbye_is_answered_all_the_same() {
    let mut side = Side::open(&options(), &[(setting::INITIAL_WINDOW_SIZE, 0)]);
    side.receive(&get(1, "/hello"));
    side.receive(&frame(kind::GOAWAY, 0, 0, &[0; 8]));
    side.receive(&window_update(1, 14));
    assert_eq!(bodies(&side.frames(), 1).len(), 14);
    assert_eq!((side.end, side.is_idle()), (None, true));
}
