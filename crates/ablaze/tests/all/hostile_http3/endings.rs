//! Connections and streams that end as they must not, and responses that do not end.

use ablaze_tamper::hostile_http3::*;
use ablaze_wire::http3::error::ErrorCode;

use crate::hostile_http3::hold::{Row, at_first, hold, row};

const CLOSED: &str = "quic-closed";
const RESET: &str = "stream-reset";

/// Every code of RFC 9114, 8.1 and RFC 9204, 6, and one that nobody knows.
fn codes() -> impl Iterator<Item = ErrorCode> {
    (0x100..=0x110).chain(0x200..=0x202).chain([0x7b]).map(ErrorCode)
}

/// What the line has of it: as the server said it.
#[test]
fn connection_close_with_each_code() {
    let rows: Vec<Row> = codes()
        .map(|code| {
            // That is no error, and no response either.
            let (kind, said) = match code == ErrorCode::NO_ERROR {
                true => ("closed-without-response", "closed the connection without a".to_owned()),
                false => (CLOSED, format!("{code}: so it is")),
            };
            row(format!("closes with {code}"), kind, said, move |peer, _| {
                peer.close(code.0, "so it is");
            })
        })
        .collect();
    hold(&rows);
}

#[test]
fn reset_stream_with_each_code() {
    // What was refused is sent again, once (RFC 9114, 4.1.1).
    let again = "refused a request and its repetition";
    let rows: Vec<Row> = codes()
        .map(|code| {
            let said = match code == ErrorCode::REQUEST_REJECTED {
                true => again.to_owned(),
                false => format!("reset a stream with {code}"),
            };
            row(format!("resets with {code}"), RESET, said, move |peer, stream| {
                peer.reset(stream, code.0);
            })
        })
        .collect();
    hold(&rows);
}

#[test]
fn in_the_middle_of_a_response() {
    let begun = [OK, &frame(DATA, &[7; 3_000])[..2_000]].concat();
    let (first, second, third) = (begun.clone(), begun.clone(), begun);
    hold(&[
        row(
            "resets in mid-body",
            RESET,
            "reset a stream with H3_INTERNAL_ERROR",
            move |peer, id| {
                peer.send(id, &first, false);
                peer.reset(id, ErrorCode::INTERNAL_ERROR.0);
            },
        ),
        row("closes in mid-body", CLOSED, "H3_INTERNAL_ERROR", move |peer, id| {
            peer.send(id, &second, false);
            peer.close(ErrorCode::INTERNAL_ERROR.0, "");
        }),
        row(
            "stops in mid-body",
            "timeout",
            "began its responses and did not end",
            move |peer, id| {
                peer.send(id, &third, false);
            },
        )
        .slow(),
        row("resets a later one", RESET, "H3_REQUEST_CANCELLED", |peer, id| match u64::from(id) {
            0 => peer.respond(id, b"fine"),
            _ => peer.reset(id, ErrorCode::REQUEST_CANCELLED.0),
        })
        .after_responses(),
    ]);
}

/// What does not end takes no more memory than what does.
#[test]
fn responses_that_do_not_end() {
    const BODY: [u8; 16_384] = [b'x'; 16_384];
    let late = "did not respond within 2 s";
    hold(&[
        row("an endless body", "timeout", "began its responses and did not end", |peer, id| {
            // A frame of 2^62 - 1 bytes.
            peer.send(
                id,
                &[OK, &[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]].concat(),
                false,
            );
            peer.send_forever(id, &BODY);
        })
        .slow(),
        row("frames of nothing", "timeout", "began its responses and did not end", |peer, id| {
            peer.send(id, OK, false);
            peer.send_forever(id, &[0, 0]);
        })
        .slow(),
        row("reserved frames", "timeout", late, |peer, id| {
            peer.send_forever(id, &[0x21, 4, 1, 2, 3, 4]);
        })
        .slow(),
        row(
            "interim responses",
            "timeout",
            "interim response (1xx), and no final one",
            |peer, id| {
                // `:status: 103`, entry 24.
                peer.send_forever(id, &[1, 3, 0, 0, 0xd8]);
            },
        )
        .slow(),
        row(
            "an endless head",
            "too-large",
            "longer than 65536 bytes: allow more with --max-head",
            |peer, id| {
                peer.send(id, &[1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0], false);
                // A literal field of no name and no value.
                peer.send_forever(id, &[0x20, 0]);
            },
        ),
        at_first("nothing", "timeout", late, |_| {}).slow(),
        at_first("an endless control stream", "timeout", late, |peer| {
            let stream = peer.open(CONTROL);
            peer.send_forever(stream, &[0x21, 4, 1, 2, 3, 4]);
        })
        .slow(),
    ]);
}
