//! What costs a server little and could cost a client much: floods (RFC 9113, 10.5) and bombs.

use std::io::Result;

use crate::hostile_http2::hold::{each, hold, once, row};
use ablaze_tamper::hostile_http2::*;

const V: &str = "http2-violated";
const TOO_LARGE: &str = "too-large";
/// More than anyone has timeout for; the client ends it long before.
const MANY: usize = 50_000_000;

fn pour(peer: &mut Peer, bytes: &[u8]) -> Result<()> {
    peer.flood(bytes, MANY)
}

#[test]
fn floods_of_frames_about_the_connection() {
    let idle = "a flood of frames without effect (RFC 9113, 10.5)";
    hold(&[
        row("SETTINGS", V, "a flood of SETTINGS frames (RFC 9113, 10.5)", |peer| {
            each(peer, |peer, _| pour(peer, &frame(SETTINGS, 0, 0, &[])))
        }),
        row("SETTINGS full of settings", V, "a flood of SETTINGS frames", |peer| {
            let full = settings_payload(&[(1, 0), (4, 65_535), (1, u32::MAX), (0x99, 7)]);
            once(peer, |peer, _| pour(peer, &frame(SETTINGS, 0, 0, &full)))
        }),
        row("acknowledgements", V, idle, |peer| {
            each(peer, |peer, _| pour(peer, &frame(SETTINGS, ACK, 0, &[])))
        }),
        row("PING", V, "a flood of PING frames (RFC 9113, 10.5)", |peer| {
            each(peer, |peer, _| pour(peer, &frame(PING, 0, 0, &[7; 8])))
        }),
        row("responses to PINGs that were not sent", V, idle, |peer| {
            each(peer, |peer, _| pour(peer, &frame(PING, ACK, 0, &[7; 8])))
        }),
        row("WINDOW_UPDATE", V, "a flood of WINDOW_UPDATE frames (RFC 9113, 10.5)", |peer| {
            each(peer, |peer, _| pour(peer, &frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1])))
        }),
        row("unknown frames", V, idle, |peer| {
            each(peer, |peer, stream| pour(peer, &frame(0x77, 0xff, stream, b"?")))
        }),
        row("GOAWAY", V, idle, |peer| {
            let fixed = [&0x7fff_ffff_u32.to_be_bytes()[..], &[0; 4]].concat();
            once(peer, |peer, _| pour(peer, &frame(GOAWAY, 0, 0, &fixed)))
        }),
    ]);
}

#[test]
fn floods_on_streams() {
    hold(&[
        row("empty DATA", V, "a flood of empty DATA frames (RFC 9113, 10.5)", |peer| {
            each(peer, |peer, stream| {
                peer.head(stream, OK)?;
                pour(peer, &frame(DATA, 0, stream, &[]))
            })
        }),
        row("DATA that is nothing but padding", V, "a flood of empty DATA frames", |peer| {
            each(peer, |peer, stream| {
                peer.head(stream, OK)?;
                pour(peer, &frame(DATA, PADDED, stream, &[255; 256]))
            })
        }),
        row("PRIORITY", V, "a flood of frames without effect", |peer| {
            each(peer, |peer, stream| pour(peer, &frame(PRIORITY, 0, stream, &[0; 5])))
        }),
        row("RST_STREAM", "stream-reset", "a stream with INTERNAL_ERROR", |peer| {
            each(peer, |peer, stream| pour(peer, &frame(RST_STREAM, 0, stream, &[0, 0, 0, 2])))
        })
        // Those without a reset of their own end with the flood.
        .with(&["-n", "2", "--streams", "1", "--timeout", "20s"]),
        row("empty CONTINUATION", V, "a flood of CONTINUATION frames (RFC 9113, 10.5)", |peer| {
            each(peer, |peer, stream| {
                peer.frame(HEADERS, 0, stream, OK)?;
                pour(peer, &frame(CONTINUATION, 0, stream, &[]))
            })
        }),
        row("CONTINUATION", TOO_LARGE, "allow more with --max-head", |peer| {
            each(peer, |peer, stream| {
                peer.frame(HEADERS, 0, stream, OK)?;
                pour(peer, &frame(CONTINUATION, 0, stream, &[0; 16_384]))
            })
        }),
        row("interim responses", V, "a flood of interim responses (1xx)", |peer| {
            each(peer, |peer, stream| {
                let early = [&field(":status", "103")[..], &field("link", "</a>")].concat();
                pour(peer, &frame(HEADERS, END_HEADERS, stream, &early))
            })
        }),
        row("interim responses, one at a time", "timeout", "did not respond within 2 s", |peer| {
            each(peer, |peer, stream| {
                loop {
                    peer.head(stream, &field(":status", "100"))?;
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
            })
        })
        .slow(),
        row("a body without end", "timeout", "did not respond within 2 s", |peer| {
            each(peer, |peer, stream| {
                peer.head(stream, OK)?;
                pour(peer, &frame(DATA, 0, stream, &[0; 16_384]))
            })
        })
        .slow(),
    ]);
}

/// A head whose fields take a table's entry of nearly 4 KiB so many times.
fn bomb(times: usize, entry_bytes: usize) -> Vec<u8> {
    let entry = indexed_field("a", &"b".repeat(entry_bytes));
    // Index 62 is the newest entry of the dynamic table (RFC 7541, 2.3.3).
    [OK, &entry, &vec![0x80 | 62; times]].concat()
}

#[test]
fn bombs() {
    let large = "allow more with --max-head";
    hold(&[
        row("a large entry, 12,000 times", TOO_LARGE, large, |peer| {
            each(peer, |peer, stream| peer.response(stream, &bomb(12_000, 4_000)))
        }),
        row("the same over CONTINUATION, 60,000 times", TOO_LARGE, large, |peer| {
            each(peer, |peer, stream| {
                let block = bomb(60_000, 4_000);
                let mut pieces = block.chunks(16_384).peekable();
                peer.frame(HEADERS, 0, stream, pieces.next().unwrap_or(&[]))?;
                while let Some(piece) = pieces.next() {
                    let flags = if pieces.peek().is_none() { END_HEADERS } else { 0 };
                    peer.frame(CONTINUATION, flags, stream, piece)?;
                }
                Ok(())
            })
        }),
        row("as interim responses, without end", TOO_LARGE, large, |peer| {
            each(peer, |peer, stream| {
                let head = [&field(":status", "103")[..], &bomb(12_000, 4_000)[1..]].concat();
                peer.head(stream, &head)
            })
        }),
        row("as trailers", TOO_LARGE, large, |peer| {
            each(peer, |peer, stream| {
                peer.head(stream, OK)?;
                peer.response(stream, &bomb(12_000, 4_000)[1..])
            })
        }),
        row("a head of 60 KiB that says nothing", V, "a pseudo-header field is missing", |peer| {
            each(peer, |peer, stream| {
                let block: Vec<u8> = (0..40).flat_map(|_| field("a", &"b".repeat(200))).collect();
                peer.response(stream, &block)
            })
        }),
        row("a table that changes all the time", V, "a flood of interim responses", |peer| {
            each(peer, |peer, stream| {
                let mut interim = vec![0x20, 0x3f, 0xe1, 0x1f];
                interim.extend_from_slice(&field(":status", "103"));
                for number in 0..50 {
                    interim.extend_from_slice(&indexed_field(&format!("a{number}"), "b"));
                }
                pour(peer, &frame(HEADERS, END_HEADERS, stream, &interim))
            })
        }),
    ]);
}

/// A run on end, whose connections all go wrong after some responses.
const A_SECOND: &[&str] = &["-d", "1s", "--streams", "4", "--timeout", "20s"];

/// Responses ten requests as a server should.
fn behave(peer: &mut Peer) -> Result<()> {
    peer.hello()?;
    for _ in 0..10 {
        let stream = peer.request()?;
        peer.response(stream, OK)?;
    }
    Ok(())
}

#[test]
fn again_and_again_after_responses() {
    hold(&[
        row("a flood", V, "a flood of PING frames", |peer| {
            behave(peer)?;
            pour(peer, &frame(PING, 0, 0, &[7; 8]))
        })
        .with(A_SECOND)
        .after_responses(),
        row("a bomb", TOO_LARGE, "the header fields are larger than the limit", |peer| {
            behave(peer)?;
            loop {
                let stream = peer.request()?;
                peer.response(stream, &bomb(12_000, 4_000))?;
            }
        })
        .with(A_SECOND)
        .after_responses(),
        row(
            "a block that never ends",
            TOO_LARGE,
            "longer than the limit (RFC 9113, 10.5.1)",
            |peer| {
                behave(peer)?;
                let stream = peer.request()?;
                peer.frame(HEADERS, 0, stream, OK)?;
                pour(peer, &frame(CONTINUATION, 0, stream, &[0; 16_384]))
            },
        )
        .with(A_SECOND)
        .after_responses(),
    ]);
}
