//! Frames that must not be there, or not so, by sections of RFC 9113.

use crate::hostile_http2::hold::{Row, each, hold, once, row};
use ablaze_tamper::hostile_http2::*;

const V: &str = "http2-violated";
/// What is said of frames whose length is wrong, whose stream is, and so on.
const LENGTH: &str = "a length its type does not permit (RFC 9113, 4.2)";
const STREAM: &str = "on a stream where its type does not belong (RFC 9113, 6)";
const IDLE: &str = "a stream that was never opened (RFC 9113, 5.1)";
const OVER: &str = "a stream that had ended (RFC 9113, 5.1)";
const BLOCK: &str = "a header block was interrupted by another frame (RFC 9113, 6.10)";

#[test]
fn lengths() {
    hold(&[
        row("a frame longer than permitted", V, "longer than permitted (RFC 9113, 4.2)", |peer| {
            each(peer, |peer, stream| peer.frame(DATA, 0, stream, &[0; 16_385]))
        }),
        row("a frame of 16 MiB that never comes", V, "longer than permitted", |peer| {
            each(peer, |peer, _| peer.raw(&[0xff, 0xff, 0xff, 0x77, 0, 0, 0, 0, 0]))
        }),
        row("SETTINGS of 5 bytes", V, LENGTH, |peer| {
            each(peer, |peer, _| peer.frame(SETTINGS, 0, 0, &[0; 5]))
        }),
        row("an acknowledgement with settings", V, LENGTH, |peer| {
            each(peer, |peer, _| peer.frame(SETTINGS, ACK, 0, &[0; 6]))
        }),
        row("PING of 7 bytes", V, LENGTH, |peer| {
            each(peer, |peer, _| peer.frame(PING, 0, 0, &[0; 7]))
        }),
        row("WINDOW_UPDATE of 3 bytes", V, LENGTH, |peer| {
            each(peer, |peer, _| peer.frame(WINDOW_UPDATE, 0, 0, &[1; 3]))
        }),
        row("RST_STREAM of 5 bytes", V, LENGTH, |peer| {
            each(peer, |peer, stream| peer.frame(RST_STREAM, 0, stream, &[0; 5]))
        }),
        row("GOAWAY of 7 bytes", V, LENGTH, |peer| {
            each(peer, |peer, _| peer.frame(GOAWAY, 0, 0, &[0; 7]))
        }),
        row("padded DATA without a byte", V, LENGTH, |peer| {
            each(peer, |peer, stream| {
                peer.head(stream, OK)?;
                peer.frame(DATA, PADDED, stream, &[])
            })
        }),
        row("DATA with more padding than frame", V, "(RFC 9113, 6.1)", |peer| {
            each(peer, |peer, stream| {
                peer.head(stream, OK)?;
                peer.frame(DATA, PADDED, stream, &[200, 1, 2])
            })
        }),
        row("HEADERS with more padding than frame", V, "(RFC 9113, 6.1)", |peer| {
            each(peer, |peer, stream| peer.frame(HEADERS, PADDED | END_HEADERS, stream, &[9, 0x88]))
        }),
        row("PRIORITY of 4 bytes", V, "(RFC 9113, 6.3)", |peer| {
            each(peer, |peer, stream| peer.frame(PRIORITY, 0, stream, &[0; 4]))
        }),
    ]);
}

#[test]
fn streams() {
    hold(&[
        row("DATA on no stream", V, STREAM, |peer| {
            each(peer, |peer, _| peer.frame(DATA, 0, 0, b"x"))
        }),
        row("HEADERS on no stream", V, STREAM, |peer| each(peer, |peer, _| peer.head(0, OK))),
        row("RST_STREAM on no stream", V, STREAM, |peer| {
            each(peer, |peer, _| peer.frame(RST_STREAM, 0, 0, &[0; 4]))
        }),
        row("PRIORITY on no stream", V, STREAM, |peer| {
            each(peer, |peer, _| peer.frame(PRIORITY, 0, 0, &[0; 5]))
        }),
        row("SETTINGS on a stream", V, STREAM, |peer| {
            each(peer, |peer, stream| peer.frame(SETTINGS, 0, stream, &[]))
        }),
        row("PING on a stream", V, STREAM, |peer| {
            each(peer, |peer, stream| peer.frame(PING, 0, stream, &[0; 8]))
        }),
        row("GOAWAY on a stream", V, STREAM, |peer| {
            each(peer, |peer, stream| peer.frame(GOAWAY, 0, stream, &[0; 8]))
        }),
        row("DATA on an idle stream", V, IDLE, |peer| {
            each(peer, |peer, _| peer.frame(DATA, 0, 0x1_0001, b"x"))
        }),
        row("HEADERS on an idle stream", V, IDLE, |peer| {
            each(peer, |peer, _| peer.head(0x1_0001, OK))
        }),
        row("HEADERS on a stream of the server's", V, IDLE, |peer| {
            each(peer, |peer, _| peer.head(2, OK))
        }),
        row("RST_STREAM on an idle stream", V, IDLE, |peer| {
            each(peer, |peer, _| peer.frame(RST_STREAM, 0, 0x1_0001, &[0; 4]))
        }),
        row("WINDOW_UPDATE on an idle stream", V, IDLE, |peer| {
            each(peer, |peer, _| peer.frame(WINDOW_UPDATE, 0, 0x1_0001, &[0, 0, 0, 1]))
        }),
        row("DATA behind the end", V, OVER, |peer| {
            each(peer, |peer, stream| {
                peer.response(stream, OK)?;
                peer.frame(DATA, 0, stream, b"x")
            })
        })
        .after_responses(),
        row("HEADERS behind the end", V, OVER, |peer| {
            each(peer, |peer, stream| {
                peer.response(stream, OK)?;
                peer.head(stream, OK)
            })
        })
        .after_responses(),
        row("PUSH_PROMISE", V, "sent a push although push is disabled (RFC 9113, 8.4)", |peer| {
            each(peer, |peer, stream| {
                let promise = [&2_u32.to_be_bytes()[..], &[0x82, 0x84, 0x86]].concat();
                peer.frame(PUSH_PROMISE, END_HEADERS, stream, &promise)
            })
        }),
    ]);
}

#[test]
fn header_blocks() {
    hold(&[
        row("CONTINUATION of nothing", V, "without a header block to continue", |peer| {
            each(peer, |peer, stream| peer.frame(CONTINUATION, END_HEADERS, stream, OK))
        }),
        row("PING within a block", V, BLOCK, |peer| {
            each(peer, |peer, stream| {
                peer.frame(HEADERS, 0, stream, OK)?;
                peer.frame(PING, 0, 0, &[0; 8])
            })
        }),
        row("DATA within a block", V, BLOCK, |peer| {
            each(peer, |peer, stream| {
                peer.frame(HEADERS, 0, stream, OK)?;
                peer.frame(DATA, 0, stream, b"x")
            })
        }),
        row("an unknown frame within a block", V, BLOCK, |peer| {
            each(peer, |peer, stream| {
                peer.frame(HEADERS, 0, stream, OK)?;
                peer.frame(0x77, 0, stream, b"x")
            })
        }),
        row("CONTINUATION of another stream", V, BLOCK, |peer| {
            each(peer, |peer, stream| {
                peer.frame(HEADERS, 0, stream, OK)?;
                peer.frame(CONTINUATION, END_HEADERS, stream + 2, OK)
            })
        }),
        row("a block that never ends", "timeout", "did not respond within 2 s", |peer| {
            once(peer, |peer, stream| peer.frame(HEADERS, 0, stream, OK))
        })
        .slow(),
    ]);
}

#[test]
fn beginnings() {
    let rows: [Row; 5] = [
        row("PING first", V, "the first frame is not SETTINGS (RFC 9113, 3.4)", |peer| {
            peer.preface()?;
            peer.frame(PING, 0, 0, &[0; 8])
        }),
        row("an acknowledgement first", V, "the first frame is not SETTINGS", |peer| {
            peer.preface()?;
            peer.frame(SETTINGS, ACK, 0, &[])
        }),
        row("a response first", V, "the first frame is not SETTINGS", |peer| {
            // A request only leaves when SETTINGS have come.
            peer.preface()?;
            peer.response(1, OK)
        }),
        row("the client's own preface", V, "HTTP/2 with 127.0.0.1:", |peer| {
            peer.preface()?;
            peer.raw(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        }),
        row("noise", V, "HTTP/2 with 127.0.0.1:", |peer| {
            peer.preface()?;
            let noise: Vec<u8> = (0..5_000_u32).map(|at| ((at * at * 31) >> 3) as u8 | 1).collect();
            peer.raw(&noise)
        }),
    ];
    hold(&rows);
}
