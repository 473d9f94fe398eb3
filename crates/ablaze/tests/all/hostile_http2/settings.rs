//! Settings, windows and GOAWAY that must not be so, or that leave no room.

use crate::hostile::{BACKENDS, PEAK_GROWTH_MAX_BYTES};
use crate::hostile_http2::hold::{ablaze, each, hold, once, peaceful_peak_bytes, row};
use ablaze_tamper::hostile_http2::*;

const V: &str = "http2-violated";
/// SETTINGS (RFC 9113, 6.5.2).
const ENABLE_PUSH: u16 = 2;
const MAX_CONCURRENT_STREAMS: u16 = 3;
const INITIAL_WINDOW_SIZE: u16 = 4;
const MAX_FRAME_SIZE: u16 = 5;
const TOO_LARGE: u32 = 1 << 31;
const LARGEST: [u8; 4] = [0x7f, 0xff, 0xff, 0xff];

fn wrongly_set(peer: &mut Peer, setting: u16, value: u32) -> std::io::Result<()> {
    peer.hello_with(&[(setting, value)])?;
    peer.request().map(drop)
}

#[test]
fn values() {
    let value = "a setting has an invalid value (RFC 9113, 6.5.2)";
    hold(&[
        row("push is permitted", V, value, |peer| wrongly_set(peer, ENABLE_PUSH, 1)),
        row("frames too small", V, value, |peer| wrongly_set(peer, MAX_FRAME_SIZE, 16_383)),
        row("frames too large", V, value, |peer| wrongly_set(peer, MAX_FRAME_SIZE, 1 << 24)),
        row("a window too large", V, "the initial window is set above 2^31-1", |peer| {
            wrongly_set(peer, INITIAL_WINDOW_SIZE, TOO_LARGE)
        }),
    ]);
}

#[test]
fn windows() {
    let above = "window was enlarged above 2^31-1 (RFC 9113, 6.9.1)";
    hold(&[
        row("the connection's by 0", V, "the connection's window was enlarged by 0", |peer| {
            each(peer, |peer, _| peer.frame(WINDOW_UPDATE, 0, 0, &[0; 4]))
        }),
        row("the stream's by 0", V, "the stream's window was enlarged by 0", |peer| {
            each(peer, |peer, stream| peer.frame(WINDOW_UPDATE, 0, stream, &[0; 4]))
        }),
        row("the connection's above the largest", V, above, |peer| {
            each(peer, |peer, _| peer.frame(WINDOW_UPDATE, 0, 0, &LARGEST))
        }),
        row("the stream's above the largest", V, above, |peer| {
            each(peer, |peer, stream| peer.frame(WINDOW_UPDATE, 0, stream, &LARGEST))
        }),
        row("all, by a setting", V, "takes a window above 2^31-1 (RFC 9113, 6.9.2)", |peer| {
            each(peer, |peer, stream| {
                peer.frame(SETTINGS, 0, 0, &settings_payload(&[(INITIAL_WINDOW_SIZE, 0)]))?;
                peer.frame(WINDOW_UPDATE, 0, stream, &LARGEST)?;
                peer.frame(SETTINGS, 0, 0, &settings_payload(&[(INITIAL_WINDOW_SIZE, 1)]))
            })
        }),
    ]);
}

/// On one connection: a second that opens behind the first one's SETTINGS sends before its own come, whole bodies among them
/// (RFC 9113, 6.9.2).
const UPLOAD: &[&str] = &[
    "-c",
    "1",
    "-n",
    "4",
    "--streams",
    "4",
    "--timeout",
    "2s",
    "-b",
    "a body that waits for a window",
];

#[test]
fn no_room() {
    let late = "no request was sent whole";
    hold(&[
        row("no window for bodies, ever", "timeout", late, |peer| {
            peer.hello_with(&[(INITIAL_WINDOW_SIZE, 0)])?;
            loop {
                peer.read()?;
            }
        })
        .with(UPLOAD),
        // One body comes to its end in the time, on a quiet machine: whether windows are named depends on it.
        row("a byte of window at a time, without end", "timeout", "", |peer| {
            peer.hello_with(&[(INITIAL_WINDOW_SIZE, 0)])?;
            let stream = peer.request()?;
            loop {
                peer.frame(WINDOW_UPDATE, 0, stream, &[0, 0, 0, 1])?;
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
        })
        .with(UPLOAD),
        row("no stream at all, ever", "timeout", "permits no HTTP/2 streams", |peer| {
            peer.hello_with(&[(MAX_CONCURRENT_STREAMS, 0)])?;
            loop {
                peer.read()?;
            }
        })
        .slow(),
    ]);
}

/// What waits for a stream then was never sent: no silence of the server, and nothing in its log.
#[test]
fn a_server_that_permits_no_more_streams_is_no_silent_one() {
    for io in BACKENDS {
        let server = Hostile::start(|peer| {
            peer.hello()?;
            let stream = peer.request()?;
            let none = settings_payload(&[(MAX_CONCURRENT_STREAMS, 0)]);
            peer.frame(SETTINGS, 0, 0, &none)?;
            peer.response(stream, OK)?;
            loop {
                let stream = peer.request()?;
                peer.response(stream, OK)?;
            }
        });
        let words = ["-n", "12", "--streams", "2", "--timeout", "1s"];
        let json = ablaze(&server.url(), io, &words).unwrap().json().unwrap();
        let failed = &json["failed"];
        assert!(json["responses"].as_u64() > Some(0), "{io}: {json}");
        assert!(failed["total"].as_u64() > Some(0), "{io}: {failed}");
        assert_eq!(failed["without_stream"], failed["total"], "{io}: {failed}");
        assert_eq!(failed["by_kind"]["timeout"], failed["total"], "{io}: {failed}");
        let findings = json["verdict"]["findings"].to_string();
        assert!(findings.contains("these requests were never sent"), "{io}: {findings}");
        assert!(!findings.contains("did not respond"), "{io}: {findings}");
        let limit = json["verdict"]["limited_by"].to_string();
        assert!(!limit.contains("timed out"), "{io}: {limit}");
    }
}

#[test]
fn uploads_that_nobody_reads_take_no_memory_each() {
    let file = format!("ablaze-hostile-upload-{}", std::process::id());
    let file = std::env::temp_dir().join(file);
    std::fs::write(&file, vec![b'x'; 8 << 20]).unwrap();
    let body = format!("@{}", file.display());
    for io in BACKENDS {
        let server = Hostile::start(|peer| {
            // All the room there can be, and then not a byte is taken.
            peer.hello_with(&[(INITIAL_WINDOW_SIZE, TOO_LARGE - 1), (MAX_FRAME_SIZE, 1 << 20)])?;
            peer.frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xfe, 0, 0])?;
            std::thread::sleep(std::time::Duration::from_secs(4));
            Ok(())
        });
        let words = ["-n", "16", "--streams", "8", "--timeout", "500ms", "-b", &body];
        let ran = ablaze(&server.url(), io, &words).unwrap();
        let json = ran.json().unwrap();
        assert_eq!((ran.status, &json["failed"]["by_kind"]["timeout"]), (1, &16.into()), "{io}");
        assert_eq!(ran.stderr.lines().count(), 1, "{io}: {}", ran.stderr);
        let peaceful = ["-n", "16", "--streams", "8", "-b", &body];
        let most = peaceful_peak_bytes(io, &peaceful) + PEAK_GROWTH_MAX_BYTES;
        assert!(ran.peak_bytes < most, "{io}: {} MiB", ran.peak_bytes >> 20);
    }
    std::fs::remove_file(&file).unwrap();
}

fn goaway(peer: &mut Peer, last_stream: u32, code: u32, debug: &str) -> std::io::Result<()> {
    let fixed = [last_stream.to_be_bytes(), code.to_be_bytes()].concat();
    peer.frame(GOAWAY, 0, 0, &[&fixed, debug.as_bytes()].concat())
}

#[test]
fn goaways() {
    let again = "the server refused a request and its repetition";
    hold(&[
        row("one names a higher stream than the last", V, "a second GOAWAY names", |peer| {
            once(peer, |peer, _| {
                goaway(peer, 101, 0, "")?;
                goaway(peer, 103, 0, "")
            })
        }),
        row("to every connection, for requests", "goaway", again, |peer| {
            each(peer, |peer, _| {
                goaway(peer, 0, 0, "")?;
                peer.close()
            })
        }),
        row("to every connection, without a close", "goaway", again, |peer| {
            each(peer, |peer, _| goaway(peer, 0, 0, ""))
        }),
        row("to every connection, before any request", "goaway", again, |peer| {
            peer.hello()?;
            goaway(peer, 0, 0, "")?;
            peer.close()
        }),
        row("with an error, to every connection", "goaway", "ENHANCE_YOUR_CALM", |peer| {
            each(peer, |peer, stream| {
                goaway(peer, stream + 100, 0xb, "too_many_pings\n\u{1b}[31m")?;
                peer.close()
            })
        }),
    ]);
}
