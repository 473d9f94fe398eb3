//! Frames and streams that must not be there, or not so, by sections of RFC 9114 and RFC 9204.

use std::sync::Arc;

use ablaze_tamper::hostile_http3::*;

use crate::hostile::{BACKENDS, ablaze_over};
use crate::hostile_http3::hold::{at_first, hold, row};

const V: &str = "http3-violated";
/// What is said of a frame that must not be on the stream it came on.
const UNEXPECTED: &str = "a frame where its type must not be (RFC 9114, 7.2)";
/// The encoder's and the decoder's stream.
const ENCODER: u8 = 2;
const DECODER: u8 = 3;

#[test]
fn frames_on_a_request_s_stream() {
    hold(&[
        row("DATA before HEADERS", V, UNEXPECTED, |peer, stream| {
            peer.send(stream, &frame(DATA, b"x"), true);
        }),
        row("DATA behind trailers", V, UNEXPECTED, |peer, stream| {
            let trailers = head(&[("x-sum", "1")]);
            let all = [OK, &frame(DATA, b"x"), &trailers, &frame(DATA, b"y")].concat();
            peer.send(stream, &all, true);
        }),
        row("SETTINGS", V, UNEXPECTED, |peer, stream| {
            peer.send(stream, &frame(SETTINGS, b""), true);
        }),
        row("GOAWAY", V, UNEXPECTED, |peer, stream| {
            peer.send(stream, &frame(GOAWAY, &[0]), true);
        }),
        row("PING of HTTP/2", V, UNEXPECTED, |peer, stream| {
            peer.send(stream, &frame(0x6, &[0; 8]), true);
        }),
        row("WINDOW_UPDATE of HTTP/2", V, UNEXPECTED, |peer, stream| {
            peer.send(stream, &[OK, &frame(0x8, &[0; 4])].concat(), true);
        }),
        row("PUSH_PROMISE", V, "a push, which was not permitted", |peer, stream| {
            peer.send(stream, &frame(PUSH_PROMISE, &[0, 0, 0]), true);
        }),
        row("a frame that is cut", V, "a stream ended within a frame", |peer, stream| {
            peer.send(stream, &[OK, &frame(DATA, &[7; 100])[..50]].concat(), true);
        }),
    ]);
}

#[test]
fn field_sections() {
    let section = |bytes: &'static [u8]| {
        move |peer: &mut Peer, stream: StreamId| peer.send(stream, &frame(HEADERS, bytes), true)
    };
    let fields = |fields: &'static [(&str, &str)]| {
        move |peer: &mut Peer, stream: StreamId| peer.send(stream, &head(fields), true)
    };
    hold(&[
        row("no such entry", V, "an entry that is not in the table", section(&[0, 0, 0xff, 0x24])),
        row(
            "a table that is not there",
            V,
            "the prefix of a field section",
            section(&[2, 0, 0x80]),
        ),
        row("a cut field", V, "a field section ends within a field", section(&[0, 0, 0x27])),
        row("a cut prefix", V, "RFC 9204", section(&[0])),
        row("a wrong Huffman code", V, "a Huffman-coded string", section(&[0, 0, 0x51, 0x81, 0])),
        row("no status", V, "the response has no status", fields(&[("x", "y")])),
        row("the status 101", V, "the status 101, which HTTP/3", fields(&[(":status", "101")])),
        row(
            "a field of a connection",
            V,
            "a connection-specific field",
            fields(&[(":status", "200"), ("connection", "close")]),
        ),
        row("nothing", V, "before the head of a final response", |peer, stream| {
            peer.send(stream, b"", true);
        }),
        row("less than announced", V, "not as long as content-length", |peer, stream| {
            let head = head(&[(":status", "200"), ("content-length", "5")]);
            peer.send(stream, &[head, frame(DATA, b"1234")].concat(), true);
        }),
    ]);
}

#[test]
fn streams_of_the_server() {
    let opens = |bytes: &'static [u8]| move |peer: &mut Peer| _ = peer.open(bytes);
    let ended = "ended its control stream or a QPACK stream (RFC 9114, 6.2.1)";
    hold(&[
        at_first("a closed control stream", V, ended, |peer| {
            peer.open(CONTROL);
            peer.control(b"", true);
        }),
        // Once the client has read its beginning: before, nobody knows what it is.
        row("a control stream that is reset", V, ended, |peer, stream| match u64::from(stream) {
            0 => peer.respond(stream, b"fine"),
            _ => peer.reset_control(0x102),
        })
        .with(&["-n", "24", "--streams", "1", "--timeout", "20s"])
        .after_responses(),
        at_first("a closed QPACK stream", V, ended, |peer| {
            peer.open(CONTROL);
            let stream = peer.open(&[ENCODER]);
            peer.send(stream, b"", true);
        }),
        at_first("no SETTINGS", V, "does not begin with SETTINGS", opens(&[0, 7, 1, 0])),
        at_first("SETTINGS twice", V, UNEXPECTED, opens(&[0, 4, 0, 4, 0])),
        at_first("DATA", V, UNEXPECTED, opens(&[0, 4, 0, 0, 1, 7])),
        at_first("a setting of HTTP/2", V, "only HTTP/2 has", opens(&[0, 4, 2, 2, 1])),
        at_first("a setting twice", V, "a setting came twice", opens(&[0, 4, 4, 6, 1, 6, 2])),
        at_first("GOAWAY of a server's", V, "names a stream", opens(&[0, 4, 0, 7, 1, 1])),
        at_first("two control streams", V, "opened a control or QPACK stream twice", |peer| {
            peer.open(CONTROL);
            peer.open(CONTROL);
        }),
        at_first("a push", V, "sent a push, which was not permitted", opens(&[1, 0])),
        at_first("room in the table", V, "the QPACK encoder stream", opens(&[ENCODER, 0x3f, 0x45])),
        at_first("a count of nothing", V, "the QPACK decoder stream", opens(&[DECODER, 1])),
    ]);
}

/// Types of frames and streams that nobody knows are for exactly that (RFC 9114, 7.2.8 and 6.2.3).
#[test]
fn what_is_reserved_is_ignored() {
    struct Greases;
    impl Script for Greases {
        fn connected(&self, peer: &mut Peer) {
            let unknown = frame(0x1f * 7 + 0x21, b"whatever this is");
            peer.open(&[CONTROL, &unknown].concat());
            peer.open(&[&varint(0x1f * 9 + 0x21)[..], b"nobody reads this"].concat());
        }

        fn request(&self, peer: &mut Peer, stream: StreamId) {
            let unknown = |number: u64| frame(0x1f * number + 0x21, &[7; 300]);
            let body = frame(DATA, b"fine");
            let all = [&unknown(0), OK, &unknown(1_000_000), &body, &unknown(3)].concat();
            peer.send(stream, &all, true);
        }
    }
    for io in BACKENDS {
        let server = Hostile::start(Arc::new(Greases));
        let words = ["-k", "-n", "200", "--streams", "4"];
        let ran = ablaze_over("3", &server.url(), io, &words).unwrap();
        let json = ran.json().unwrap();
        assert_eq!((ran.status, &json["succeeded"]), (0, &200.into()), "{io}: {}", ran.stderr);
        assert_eq!(json["bytes"]["body"], 800, "{io}");
    }
}
