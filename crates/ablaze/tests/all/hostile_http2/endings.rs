//! Servers that speak something else, say nothing, say it slowly, or go in the middle.

use std::time::Duration;

use crate::hostile_http2::hold::{each, hold, once, row};
use ablaze_tamper::hostile_http2::*;

#[test]
fn another_protocol() {
    hold(&[
        row("HTTP/1.1", "no-http2", "does not speak HTTP/2; remove --http 2", |peer| {
            peer.preface()?;
            peer.raw(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")?;
            peer.close()
        }),
        row("HTTP/1.1, byte by byte", "no-http2", "does not speak HTTP/2", |peer| {
            peer.preface()?;
            for byte in b"HTTP/1.1 400 Bad Request\r\n\r\n" {
                peer.raw(&[*byte])?;
                std::thread::sleep(Duration::from_millis(1));
            }
            peer.close()
        }),
        row("an alert of TLS", "tls-not-plain-http", "responds in TLS: use https://", |peer| {
            peer.preface()?;
            peer.raw(&[21, 3, 3, 0, 2, 2, 70])?;
            peer.close()
        }),
    ]);
}

#[test]
fn silence() {
    let late = "did not respond within 2 s";
    hold(&[
        row("nothing", "timeout", late, |peer| peer.preface()).slow(),
        row("nothing, and nothing read", "timeout", late, |_| {
            std::thread::sleep(Duration::from_secs(3));
            Ok(())
        })
        .with(&["-n", "8", "--timeout", "2s", "-b", "x"]),
        row("settings and nothing else", "timeout", late, |peer| peer.hello()).slow(),
        row("a byte now and then", "timeout", late, |peer| {
            let bytes = [frame(SETTINGS, 0, 0, &[]), frame(PING, 0, 0, &[0; 8])].concat();
            for byte in bytes.iter().cycle() {
                peer.raw(&[*byte])?;
                std::thread::sleep(Duration::from_millis(100));
            }
            Ok(())
        })
        .slow(),
        row("a frame that is never whole", "timeout", late, |peer| {
            once(peer, |peer, stream| {
                peer.raw(&frame(HEADERS, END_HEADERS, stream, &[0x88; 5])[..11])
            })
        })
        .slow(),
        row("a body that stops", "timeout", "began its responses and did not end them", |peer| {
            each(peer, |peer, stream| {
                peer.head(stream, OK)?;
                peer.frame(DATA, 0, stream, b"the beginning")
            })
        })
        .slow(),
    ]);
}

#[test]
fn gone() {
    let none = "closed the connection without a response";
    let short = "in the middle of a response";
    hold(&[
        row("closes at once", "closed-without-response", none, |peer| peer.close()),
        row("closes behind its settings", "closed-without-response", none, |peer| {
            once(peer, |peer, _| peer.close())
        }),
        row("closes within a frame's head", "closed-without-response", none, |peer| {
            each(peer, |peer, _| {
                peer.raw(&[0, 0, 5, HEADERS])?;
                peer.close()
            })
        }),
        row("closes within a head", "closed-without-response", none, |peer| {
            each(peer, |peer, stream| {
                peer.raw(&frame(HEADERS, END_HEADERS, stream, &[0x88; 50])[..20])?;
                peer.close()
            })
        }),
        row("closes within DATA", "short-body", short, |peer| {
            each(peer, |peer, stream| {
                peer.head(stream, OK)?;
                peer.raw(&frame(DATA, END_STREAM, stream, &[7; 100])[..50])?;
                peer.close()
            })
        })
        .with(&["-n", "24", "--streams", "1", "--timeout", "20s"]),
        row("resets within DATA", "reset", "reset the connection", |peer| {
            each(peer, |peer, stream| {
                peer.head(stream, OK)?;
                peer.raw(&frame(DATA, END_STREAM, stream, &[7; 100])[..50])?;
                peer.reset()
            })
        }),
        row("resets every stream", "stream-reset", "reset a stream with CANCEL", |peer| {
            each(peer, |peer, stream| peer.frame(RST_STREAM, 0, stream, &[0, 0, 0, 8]))
        }),
        row(
            "refuses every stream",
            "stream-reset",
            "refused a request and its repetition",
            |peer| each(peer, |peer, stream| peer.frame(RST_STREAM, 0, stream, &[0, 0, 0, 7])),
        ),
        // What the first is reset with is not said of the others.
        row("resets the first otherwise", "stream-reset", "streams with INTERNAL_ERROR", |peer| {
            each(peer, |peer, stream| {
                let code = if stream == 1 { 13 } else { 2 };
                peer.frame(RST_STREAM, 0, stream, &[0, 0, 0, code])
            })
        }),
        row("resets with an unknown code", "stream-reset", "error code 0x7b", |peer| {
            each(peer, |peer, stream| peer.frame(RST_STREAM, 0, stream, &[0, 0, 0, 123]))
        }),
    ]);
}
