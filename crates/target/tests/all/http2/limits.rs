//! What a client cannot have of a server: floods, heads and bodies without end, windows overrun.

use ablaze_target::Options;
use ablaze_wire::http2::frame::{flag, kind, setting};
use ablaze_wire::http2::hpack::encoder::{Indexing, Name, indexed, literal};

use super::by_hand::{
    Side, block, bodies, data, frame, get, post, request_fields, settings, window_update,
};
use super::options;

const ENHANCE_YOUR_CALM: u32 = 11;

fn open() -> Side {
    Side::open(&options(), &[])
}

#[test]
fn floods_end_and_grow_nothing() {
    let empty_block = frame(kind::HEADERS, flag::END_STREAM, 1, b"");
    let mut lengthening = Vec::new();
    literal(&mut lengthening, Indexing::Without, Name::Literal(b"x"), &[b'y'; 16_000]);
    let floods: Vec<(&str, Vec<u8>, Vec<u8>)> = vec![
        ("pings", Vec::new(), frame(kind::PING, 0, 0, &[0; 8])),
        ("settings", Vec::new(), settings(&[(setting::HEADER_TABLE_SIZE, 100)])),
        ("unknown frames", Vec::new(), frame(0x77, 0, 0, b"")),
        ("window updates", get(1, "/hello"), window_update(1, 1)),
        ("empty data", post(1, "/echo", &[]), data(1, b"", false)),
        ("empty continuations", empty_block.clone(), frame(kind::CONTINUATION, 0, 1, b"")),
        ("long continuations", empty_block, frame(kind::CONTINUATION, 0, 1, &lengthening)),
        ("priorities", Vec::new(), frame(kind::PRIORITY, 0, 1, &[0; 5])),
    ];
    for (what, begin, flood) in floods {
        let mut side = open();
        side.receive(&begin);
        side.frames();
        let mut sent = 0;
        while side.end.is_none() {
            side.receive(&flood);
            sent += 1;
            assert!(sent < 50_000, "{what} never ends");
            assert!(side.written_bytes() < 1 << 20, "{what}");
        }
        assert_eq!(side.goaway_code(), Some(ENHANCE_YOUR_CALM), "{what}");
    }
}

#[test]
fn a_head_that_grows_when_it_is_decoded_is_refused() {
    // One entry of 4,000 bytes, referred to again and again: 100 bytes that mean 400 KB.
    let mut bomb = block(&request_fields("GET", "/hello"));
    literal(&mut bomb, Indexing::Keep, Name::Literal(b"x"), &[b'y'; 3_900]);
    for _ in 0..100 {
        indexed(&mut bomb, 62);
    }
    let mut side = open();
    side.receive(&frame(kind::HEADERS, 5, 1, &bomb));
    let frames = side.frames();
    assert_eq!(side.fields(&frames[0].payload)[0], ":status: 431");
    side.receive(&get(3, "/hello"));
    assert_eq!(bodies(&side.frames(), 3).len(), 14);
}

#[test]
fn a_body_that_is_too_long_is_refused_with_a_response() {
    let options = Options { max_body_bytes: 10, ..options() };
    for announced in [true, false] {
        let mut side = Side::open(&options, &[]);
        let length = [("content-length", "11")];
        side.receive(&post(1, "/echo", if announced { &length } else { &[] }));
        side.receive(&data(1, b"hello, world", false));
        let frames = side.frames();
        assert_eq!(side.fields(&frames[0].payload)[0], ":status: 413");
        // The response is whole, and the rest of the body is not wanted (RFC 9113, 8.1).
        let reset = frames.last().unwrap();
        assert_eq!((reset.kind, &reset.payload[..]), (kind::RST_STREAM, &[0; 4][..]));
        side.receive(&data(1, b"more", true));
        side.receive(&get(3, "/hello"));
        assert_eq!(bodies(&side.frames(), 3).len(), 14);
    }
}

#[test]
fn a_body_on_its_way_when_it_is_refused_is_passed_over() {
    let options = Options { max_body_bytes: 10, ..options() };
    let upload = [post(1, "/echo", &[("content-length", "24")]), data(1, b"hello, world", false)];
    // The response leaves behind all that came with the request, or when there is room for it.
    for window in [1000, 0] {
        let mut side = Side::open(&options, &[(setting::INITIAL_WINDOW_SIZE, window)]);
        side.receive(&upload.concat());
        side.receive(&data(1, b"hello, world", true));
        side.receive(&window_update(1, 1000));
        let frames = side.frames();
        assert_eq!(side.fields(&frames[0].payload)[0], ":status: 413");
        assert!(!bodies(&frames, 1).is_empty());
        assert_eq!(frames.last().unwrap().kind, kind::RST_STREAM);
        side.receive(&[get(3, "/hello"), window_update(3, 14)].concat());
        assert_eq!(bodies(&side.frames(), 3).len(), 14);
        assert_eq!((side.end, side.is_idle()), (None, true));
    }
}

#[test]
fn leave_to_send_a_body_is_given_once_and_the_response_follows() {
    let mut side = open();
    side.receive(&post(1, "/echo", &[("expect", "100-continue")]));
    let frames = side.frames();
    assert_eq!(side.fields(&frames[0].payload), [":status: 100"]);
    assert_eq!((frames.len(), frames[0].flags), (1, flag::END_HEADERS));
    side.receive(&data(1, b"hello", true));
    let frames = side.frames();
    assert_eq!(side.fields(&frames[0].payload)[0], ":status: 200");
    assert_eq!(bodies(&frames, 1), b"hello");
}

#[test]
fn uploads_are_given_room_as_they_come() {
    let mut side = open();
    side.receive(&post(1, "/hello", &[]));
    let mut given = (0u64, 0u64);
    let piece = [7; 16_384];
    for _ in 0..1000 {
        side.receive(&data(1, &piece, false));
        for frame in side.frames() {
            assert_eq!(frame.kind, kind::WINDOW_UPDATE);
            let more = u64::from(u32::from_be_bytes(frame.payload[..].try_into().unwrap()));
            *if frame.stream == 0 { &mut given.0 } else { &mut given.1 } += more;
        }
    }
    let sent = 1000 * piece.len() as u64;
    assert!(sent - given.0 <= 2 << 20 && sent - given.1 <= 1 << 19, "{given:?} of {sent}");
    side.receive(&data(1, b"", true));
    assert_eq!(bodies(&side.frames(), 1), b"hello, world!\n");
}

#[test]
fn more_than_the_window_is_an_error() {
    // Padding counts, and DATA of a stream that was dropped does too.
    let mut side = open();
    let piece = frame(kind::DATA, flag::PADDED, 1, &[[255].as_slice(), &[0; 255]].concat());
    side.receive(&post(1, "/hello", &[]));
    for _ in 0..100_000 {
        side.receive(&piece);
        if side.end.is_some() {
            break;
        }
    }
    // Frames of padding alone are no content.
    assert_eq!(side.goaway_code(), Some(ENHANCE_YOUR_CALM));
}
