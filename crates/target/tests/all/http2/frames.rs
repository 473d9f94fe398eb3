//! What each frame does, right and wrong, by RFC 9113.

use ablaze_target::Options;
use ablaze_target::filler;
use ablaze_target::protocol::Next;
use ablaze_wire::http2::frame::{PREFACE, flag, kind, setting};
use proptest::prelude::*;

use super::by_hand::{
    Frame, Side, block, bodies, data, frame, get, post, request_fields, settings, window_update,
};
use super::options;

const PROTOCOL_ERROR: u32 = 1;
const FLOW_CONTROL_ERROR: u32 = 3;
const STREAM_CLOSED: u32 = 5;
const FRAME_SIZE_ERROR: u32 = 6;
const REFUSED_STREAM: u32 = 7;
const COMPRESSION_ERROR: u32 = 9;

fn open() -> Side {
    Side::open(&options(), &[])
}

#[test]
fn a_response_is_a_head_and_a_body_and_its_head_is_short_the_second_time() {
    let mut side = open();
    side.receive(&get(1, "/hello"));
    let frames = side.frames();
    assert_eq!((frames[0].kind, frames[0].stream), (kind::HEADERS, 1));
    assert_eq!(frames[0].flags, flag::END_HEADERS);
    let fields = side.fields(&frames[0].payload);
    assert_eq!(fields[0], ":status: 200");
    assert!(fields.contains(&"content-length: 14".to_owned()), "{fields:?}");
    assert!(fields.contains(&"server: ablaze".to_owned()), "{fields:?}");
    assert!(fields.iter().any(|field| field.starts_with("date: ")), "{fields:?}");
    assert!(!fields.iter().any(|field| field.starts_with("connection")), "{fields:?}");
    assert_eq!((&frames[1].payload[..], frames[1].ends_stream()), (&b"hello, world!\n"[..], true));
    for stream in [3, 5, 7] {
        side.receive(&get(stream, "/hello"));
        let frames = side.frames();
        assert_eq!(frames[0].payload.len(), 5, "every field is an index");
        assert_eq!(side.fields(&frames[0].payload), fields);
    }
    // Another response in between changes the table; every block is still what it says.
    side.receive(&[get(9, "/status/404"), get(11, "/hello"), get(13, "/hello")].concat());
    let heads: Vec<_> =
        side.frames().into_iter().filter(|frame| frame.kind == kind::HEADERS).collect();
    assert_eq!(side.fields(&heads[0].payload)[0], ":status: 404");
    assert_eq!(side.fields(&heads[1].payload), fields);
    assert_eq!(side.fields(&heads[2].payload), fields);
    assert!(side.is_idle());
}

#[test]
fn everything_arrives_in_pieces_of_any_length() {
    let body: Vec<u8> = (0..3000u32).map(|at| at as u8).collect();
    let padded = [&[7][..], b"padded body", &[0; 7]].concat();
    let split = block(&request_fields("GET", "/bytes/100"));
    let (one, other) = split.split_at(9);
    let input = [
        PREFACE.to_vec(),
        settings(&[(setting::ENABLE_PUSH, 0)]),
        get(1, "/hello"),
        frame(kind::PING, 0, 0, b"12345678"),
        post(3, "/echo", &[("content-length", "3000")]),
        data(3, &body[..1000], false),
        frame(kind::HEADERS, flag::END_STREAM, 5, one),
        frame(kind::CONTINUATION, flag::END_HEADERS, 5, other),
        data(3, &body[1000..], true),
        post(7, "/echo", &[]),
        frame(kind::DATA, flag::PADDED, 7, &padded),
        frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, 7, &block(&[("x-end", "1")])),
        frame(0x77, 0, 0, b"unknown"),
        frame(kind::PRIORITY, 0, 99, &[0; 5]),
    ]
    .concat();
    for step in [1, 2, 13, 1000, usize::MAX] {
        let mut side = Side::new(&options());
        for piece in input.chunks(step.min(input.len())) {
            side.receive(piece);
        }
        assert_eq!(side.end, None, "{step}");
        let frames = side.frames();
        assert_eq!(frames[0].kind, kind::SETTINGS);
        assert_eq!(bodies(&frames, 1), b"hello, world!\n");
        assert!(bodies(&frames, 3) == body, "{step}");
        assert_eq!(bodies(&frames, 5).len(), 100);
        assert_eq!(bodies(&frames, 7), b"padded body");
        let pong = Frame { kind: kind::PING, flags: 1, stream: 0, payload: b"12345678".to_vec() };
        assert!(frames.contains(&pong));
        assert!(side.is_idle());
    }
}

#[test]
fn clients_of_http1_are_answered_beside() {
    for step in [1, usize::MAX] {
        let mut side = Side::new(&options());
        // It begins as the preface does.
        let request = b"PUT /echo HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc";
        for piece in request.chunks(step.min(request.len())) {
            side.receive(piece);
        }
        assert!(side.written_bytes() > 100);
        assert_eq!(side.end, None);
    }
}

#[test]
fn bodies_keep_to_both_windows_and_take_turns() {
    let mut side = Side::open(&options(), &[(setting::INITIAL_WINDOW_SIZE, 10)]);
    side.receive(&[get(1, "/bytes/100"), get(3, "/bytes/100")].concat());
    let frames = side.frames();
    assert_eq!((bodies(&frames, 1).len(), bodies(&frames, 3).len()), (10, 10));
    side.receive(&window_update(3, 15));
    assert_eq!(bodies(&side.frames(), 3).len(), 15);
    // All streams at once, those to come too (RFC 9113, 6.9.2).
    side.receive(&settings(&[(setting::INITIAL_WINDOW_SIZE, 30)]));
    let frames = side.frames();
    assert_eq!((bodies(&frames, 1).len(), bodies(&frames, 3).len()), (20, 20));
    // Below what was used already: nothing leaves until the window is above 0 again.
    side.receive(&settings(&[(setting::INITIAL_WINDOW_SIZE, 0)]));
    side.receive(&window_update(1, 29));
    assert_eq!(bodies(&side.frames(), 1).len(), 0);
    side.receive(&window_update(1, 2));
    assert_eq!(bodies(&side.frames(), 1).len(), 1);
    side.receive(&window_update(1, 1000));
    let frames = side.frames();
    assert_eq!(bodies(&frames, 1).len(), 69);
    assert!(frames.last().unwrap().ends_stream());

    // The connection's window is 65,535 whatever the streams' are.
    let mut side = Side::open(&options(), &[(setting::INITIAL_WINDOW_SIZE, 1 << 30)]);
    side.receive(&[get(1, "/bytes/100000"), get(3, "/bytes/100000")].concat());
    let frames = side.frames();
    let sent = (bodies(&frames, 1).len(), bodies(&frames, 3).len());
    assert_eq!(sent.0 + sent.1, 65_535);
    assert!(sent.0.abs_diff(sent.1) <= 16_384, "{sent:?}");
    assert!(frames.iter().all(|frame| frame.payload.len() <= 16_384));
    side.receive(&window_update(0, 1 << 20));
    let frames = side.frames();
    assert_eq!(sent.0 + bodies(&frames, 1).len(), 100_000);
    let rest = bodies(&frames, 1);
    assert!(rest.iter().zip(sent.0 as u64..).all(|(byte, at)| *byte == filler::byte_at(at)));
    assert!(side.is_idle());
}

#[test]
fn streams_beyond_the_limit_are_refused_and_may_come_again() {
    let options = Options { max_streams: 2, ..options() };
    let mut side = Side::open(&options, &[(setting::INITIAL_WINDOW_SIZE, 0)]);
    side.receive(&[get(1, "/hello"), get(3, "/hello"), get(5, "/hello")].concat());
    assert_eq!(side.resets(), [(5, REFUSED_STREAM)]);
    side.receive(&window_update(1, 14));
    assert_eq!(bodies(&side.frames(), 1).len(), 14);
    side.receive(&get(7, "/status/204"));
    assert!(side.frames()[0].ends_stream());
}

#[test]
fn a_client_that_resets_its_stream_gets_no_more_of_it() {
    let mut side = Side::open(&options(), &[(setting::INITIAL_WINDOW_SIZE, 0)]);
    side.receive(&get(1, "/hello"));
    side.frames();
    side.receive(&frame(kind::RST_STREAM, 0, 1, &8u32.to_be_bytes()));
    assert!(side.is_idle());
    side.receive(&window_update(1, 100));
    assert_eq!((side.frames().len(), side.end), (0, None));
}

#[test]
fn requests_that_are_malformed_end_their_stream_and_nothing_else() {
    let fine = request_fields("GET", "/hello");
    let with = |more: &[(&'static str, &'static str)]| [&fine[..], more].concat();
    let blocks = [
        block(&[]),
        block(&fine[1..]),
        block(&fine[..2]),
        block(&with(&[(":path", "/again")])),
        block(&with(&[("x", "1"), (":scheme", "http")])),
        block(&with(&[(":status", "200")])),
        block(&with(&[("connection", "close")])),
        block(&with(&[("transfer-encoding", "chunked")])),
        block(&with(&[("Upper", "case")])),
        block(&with(&[("x", "a\nb")])),
        block(&with(&[("content-length", "5")])),
        block(&[(":method", "GET"), (":scheme", "http"), (":path", "hello")]),
    ];
    let mut side = open();
    for (stream, block) in (1..).step_by(2).zip(blocks) {
        side.receive(&frame(kind::HEADERS, 5, stream, &block));
        assert_eq!(side.resets(), [(stream, PROTOCOL_ERROR)], "{stream}");
    }
    // A body of another length than was said.
    side.receive(&post(101, "/echo", &[("content-length", "3")]));
    side.receive(&data(101, b"ab", true));
    assert_eq!(side.resets(), [(101, PROTOCOL_ERROR)]);
    side.receive(&post(103, "/echo", &[("content-length", "3")]));
    side.receive(&data(103, b"abcd", false));
    assert_eq!(side.resets(), [(103, PROTOCOL_ERROR)]);
    // What was sent before the client knew is passed over.
    side.receive(&data(103, b"more", true));
    side.receive(&get(105, "/hello"));
    assert_eq!(bodies(&side.frames(), 105).len(), 14);
    assert_eq!(side.end, None);
}

#[test]
fn what_breaks_the_protocol_ends_the_connection_with_its_code() {
    let zeros = [0; 16_385];
    let oversized = frame(kind::DATA, 0, 1, &zeros);
    let cases: Vec<(&str, Vec<u8>, u32)> = vec![
        ("data on stream 0", data(0, b"x", false), PROTOCOL_ERROR),
        ("data on an idle stream", data(1, b"x", false), PROTOCOL_ERROR),
        ("headers on stream 0", get(0, "/"), PROTOCOL_ERROR),
        ("headers on an even stream", get(2, "/"), PROTOCOL_ERROR),
        ("a stream twice", [get(1, "/"), get(1, "/")].concat(), STREAM_CLOSED),
        ("data behind the end", [get(1, "/"), data(1, b"x", true)].concat(), STREAM_CLOSED),
        ("a longer frame than permitted", oversized, FRAME_SIZE_ERROR),
        ("a ping of 7 bytes", frame(kind::PING, 0, 0, b"1234567"), FRAME_SIZE_ERROR),
        ("a ping on a stream", frame(kind::PING, 0, 1, b"12345678"), PROTOCOL_ERROR),
        ("settings of 5 bytes", frame(kind::SETTINGS, 0, 0, b"12345"), FRAME_SIZE_ERROR),
        ("an acknowledgement with content", frame(kind::SETTINGS, 1, 0, &[0; 6]), FRAME_SIZE_ERROR),
        (
            "a window of 2^31",
            settings(&[(setting::INITIAL_WINDOW_SIZE, 1 << 31)]),
            FLOW_CONTROL_ERROR,
        ),
        ("a short largest frame", settings(&[(setting::MAX_FRAME_SIZE, 100)]), PROTOCOL_ERROR),
        ("a push", frame(kind::PUSH_PROMISE, 4, 1, &[0; 4]), PROTOCOL_ERROR),
        ("a window enlarged by 0", window_update(0, 0), PROTOCOL_ERROR),
        ("a window above 2^31-1", window_update(0, (1 << 31) - 1), FLOW_CONTROL_ERROR),
        ("a window of an idle stream", window_update(9, 1), PROTOCOL_ERROR),
        ("a reset of an idle stream", frame(kind::RST_STREAM, 0, 9, &[0; 4]), PROTOCOL_ERROR),
        ("a continuation of nothing", frame(kind::CONTINUATION, 4, 1, b""), PROTOCOL_ERROR),
        (
            "a ping in a block",
            [frame(kind::HEADERS, 1, 1, b""), frame(kind::PING, 0, 0, &[0; 8])].concat(),
            PROTOCOL_ERROR,
        ),
        (
            "an index that is not there",
            frame(kind::HEADERS, 5, 1, &[0xff, 0x40]),
            COMPRESSION_ERROR,
        ),
        ("padding longer than its frame", frame(kind::HEADERS, 0xd, 1, &[9, 0x82]), PROTOCOL_ERROR),
        ("a priority of 4 bytes", frame(kind::PRIORITY, 0, 1, &[0; 4]), FRAME_SIZE_ERROR),
        ("a goaway of 7 bytes", frame(kind::GOAWAY, 0, 0, &[0; 7]), FRAME_SIZE_ERROR),
    ];
    for (what, bytes, code) in cases {
        let mut side = open();
        side.receive(&bytes);
        assert_eq!(side.end, Some(Next::Close { unread: true }), "{what}");
        assert_eq!(side.goaway_code(), Some(code), "{what}");
    }
    let mut side = Side::new(&options());
    side.receive(&[PREFACE, &get(1, "/")[..]].concat());
    assert_eq!(side.goaway_code(), Some(PROTOCOL_ERROR), "settings come first");
}

#[test]
fn the_end_is_announced_and_open_streams_are_answered() {
    let mut side = Side::open(&options(), &[(setting::INITIAL_WINDOW_SIZE, 0)]);
    side.receive(&get(1, "/hello"));
    side.frames();
    side.finish();
    side.receive(&frame(kind::PING, 0, 0, &[0; 8]));
    assert_eq!((side.goaway_code(), side.end), (Some(0), None));
    side.receive(&get(3, "/hello"));
    assert_eq!(side.resets(), [(3, REFUSED_STREAM)]);
    side.receive(&window_update(1, 100));
    assert_eq!(bodies(&side.frames(), 1).len(), 14);
    assert_eq!(side.end, Some(Next::Close { unread: true }));
    let mut idle = open();
    idle.say_goodbye();
    assert_eq!(idle.goaway_code(), Some(0));
}

/// RFC 9113, 6.8: the last stream that a GOAWAY names must not rise.
#[test]
fn a_second_goaway_names_no_higher_stream() {
    let mut side = Side::open(&options(), &[(setting::INITIAL_WINDOW_SIZE, 0)]);
    side.receive(&get(1, "/hello"));
    side.frames();
    side.finish();
    // One that was on its way, and then what cannot be: DATA on stream 0.
    side.receive(&frame(kind::PING, 0, 0, &[0; 8]));
    side.receive(&get(3, "/hello"));
    side.receive(&frame(kind::DATA, 0, 0, b"x"));
    let frames = side.frames();
    let goaways = frames.iter().filter(|frame| frame.kind == kind::GOAWAY);
    let last: Vec<_> = goaways.map(|frame| frame.payload[..4].to_vec()).collect();
    assert_eq!(last, [[0, 0, 0, 1], [0, 0, 0, 1]]);
}

#[test]
fn connections_end_after_their_last_request() {
    let closing = Options { keep_alive: false, ..options() };
    let counting = Options { max_requests: Some(3), ..options() };
    for (options, served) in [(closing, 1), (counting, 3)] {
        let mut side = Side::open(&options, &[]);
        for stream in (1..).step_by(2).take(served) {
            assert_eq!(side.end, None);
            side.receive(&get(stream, "/hello"));
        }
        assert_eq!(side.end, Some(Next::Close { unread: true }));
        assert_eq!(side.goaway_code(), Some(0));
    }
}

#[test]
fn delays_hold_up_their_stream_only() {
    let mut side = open();
    side.receive(&[get(1, "/delay/20ms"), get(3, "/hello")].concat());
    let frames = side.frames();
    assert_eq!((bodies(&frames, 1).len(), bodies(&frames, 3).len()), (0, 14));
    let wait_ns = *side.waits.last().unwrap();
    assert!(wait_ns > 10_000_000 && wait_ns <= 20_000_000, "{wait_ns}");
    assert!(!side.is_idle());
    std::thread::sleep(std::time::Duration::from_millis(25));
    side.receive(&frame(kind::PING, 0, 0, &[0; 8]));
    assert_eq!(bodies(&side.frames(), 1).len(), 14);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever comes: responses or an end, never a panic or a loop, and never more than was asked.
    #[test]
    fn nothing_that_comes_does_harm(
        frames in prop::collection::vec(
            (0u8..11, any::<u8>(), 0u32..12, prop::collection::vec(any::<u8>(), 0..60), 0u8..6),
            0..40,
        ),
        step in 1usize..400,
    ) {
        let mut input = Vec::new();
        for (kind, flags, stream, payload, how) in frames {
            match how {
                0 => input.extend(get(stream | 1, "/bytes/1000")),
                1 => input.extend(post(stream | 1, "/echo", &[])),
                2 => input.extend(data(stream | 1, &payload, flags & 1 == 1)),
                3 => input.extend(window_update(stream, 1 + u32::from(flags))),
                _ => input.extend(frame(kind, flags, stream, &payload)),
            }
        }
        let mut side = open();
        for piece in input.chunks(step) {
            side.receive(piece);
        }
        side.frames();
    }
}
