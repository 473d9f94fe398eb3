//! Messages that are malformed (RFC 9113, 8), and header blocks that cannot be decoded (RFC 7541).

use crate::hostile_http2::hold::{ablaze, each, hold, row};
use ablaze_tamper::hostile_http2::*;

const V: &str = "http2-violated";

fn behind_ok(name: &str, value: &str) -> Vec<u8> {
    [OK, &field(name, value)].concat()
}

#[test]
fn fields() {
    let name = "a field name has an invalid byte (RFC 9113, 8.2.1)";
    let connection = "a connection-specific field of HTTP/1 (RFC 9113, 8.2.2)";
    let value = "a field value has a NUL or a line break (RFC 9113, 8.2.1)";
    let length = "content-length is not a number, or repeated with another value (RFC 9110, 8.6)";
    hold(&[
        row("an upper case name", V, name, |peer| {
            each(peer, |peer, stream| peer.response(stream, &behind_ok("Server", "x")))
        }),
        row("a name with a space", V, name, |peer| {
            each(peer, |peer, stream| peer.response(stream, &behind_ok("a b", "x")))
        }),
        row("an empty name", V, name, |peer| {
            each(peer, |peer, stream| peer.response(stream, &behind_ok("", "x")))
        }),
        row("a line break in a value", V, value, |peer| {
            each(peer, |peer, stream| peer.response(stream, &behind_ok("a", "x\r\nb: c")))
        }),
        row("a space before a value", V, "begins or ends with white space", |peer| {
            each(peer, |peer, stream| peer.response(stream, &behind_ok("a", " x")))
        }),
        row("connection", V, connection, |peer| {
            each(peer, |peer, stream| peer.response(stream, &behind_ok("connection", "close")))
        }),
        row("transfer-encoding", V, connection, |peer| {
            each(peer, |peer, stream| {
                peer.response(stream, &behind_ok("transfer-encoding", "chunked"))
            })
        }),
        row("a length that is no number", V, length, |peer| {
            each(peer, |peer, stream| peer.head(stream, &behind_ok("content-length", "-1")))
        }),
        row("two lengths", V, length, |peer| {
            each(peer, |peer, stream| {
                let second = field("content-length", "6");
                peer.head(stream, &[&behind_ok("content-length", "5")[..], &second].concat())
            })
        }),
    ]);
}

#[test]
fn pseudo_header_fields() {
    let status = "the status is not a number of three digits (RFC 9113, 8.3.2)";
    hold(&[
        row("no status", V, "a pseudo-header field is missing (RFC 9113, 8.3)", |peer| {
            each(peer, |peer, stream| peer.response(stream, &field("server", "x")))
        }),
        row("no field at all", V, "a pseudo-header field is missing", |peer| {
            each(peer, |peer, stream| peer.response(stream, &[]))
        }),
        row("two statuses", V, "a duplicate pseudo-header field", |peer| {
            each(peer, |peer, stream| peer.response(stream, &[0x88, 0x89]))
        }),
        row("the status behind", V, "follows a regular field (RFC 9113, 8.3)", |peer| {
            each(peer, |peer, stream| peer.response(stream, &[&field("server", "x"), OK].concat()))
        }),
        row("a path", V, "that is not allowed there (RFC 9113, 8.3)", |peer| {
            each(peer, |peer, stream| peer.response(stream, &[0x88, 0x84]))
        }),
        row("an unknown one", V, "an unknown pseudo-header field", |peer| {
            each(peer, |peer, stream| peer.response(stream, &[&field(":x", "1"), OK].concat()))
        }),
        row("status abc", V, status, |peer| {
            each(peer, |peer, stream| peer.response(stream, &field(":status", "abc")))
        }),
        row("status 2000", V, status, |peer| {
            each(peer, |peer, stream| peer.response(stream, &field(":status", "2000")))
        }),
        row("status 101", V, "status 101 does not exist in HTTP/2 (RFC 9113, 8.6)", |peer| {
            each(peer, |peer, stream| peer.head(stream, &field(":status", "101")))
        }),
    ]);
}

#[test]
fn messages() {
    let length = "the content is not as long as content-length says (RFC 9113, 8.1.1)";
    hold(&[
        row("DATA before the head", V, "DATA came before the head (RFC 9113, 8.1)", |peer| {
            each(peer, |peer, stream| peer.frame(DATA, END_STREAM, stream, b"x"))
        }),
        row("an interim response as the last", V, "ended with an interim head (1xx)", |peer| {
            each(peer, |peer, stream| peer.response(stream, &field(":status", "103")))
        }),
        row("content with 204", V, "a response that cannot have any (RFC 9113, 8.1.1)", |peer| {
            each(peer, |peer, stream| {
                peer.head(stream, &[0x89])?;
                peer.frame(DATA, END_STREAM, stream, b"x")
            })
        }),
        row("content too short", V, length, |peer| {
            each(peer, |peer, stream| {
                peer.head(stream, &behind_ok("content-length", "5"))?;
                peer.frame(DATA, END_STREAM, stream, b"four")
            })
        }),
        row("content too long", V, length, |peer| {
            each(peer, |peer, stream| {
                peer.head(stream, &behind_ok("content-length", "5"))?;
                peer.frame(DATA, 0, stream, b"sixsix")
            })
        }),
        row("trailers that do not end", V, "trailers came without ending the stream", |peer| {
            each(peer, |peer, stream| {
                peer.head(stream, OK)?;
                peer.head(stream, &field("a", "b"))
            })
        }),
        row("trailers with a status", V, "that is not allowed there (RFC 9113, 8.3)", |peer| {
            each(peer, |peer, stream| {
                peer.head(stream, OK)?;
                peer.response(stream, OK)
            })
        }),
    ]);
}

#[test]
fn header_compression() {
    let integer = "a number in the header block is too large (RFC 7541, 5.1)";
    let cut = "the header block ends within a field";
    let index = "an entry that is not in the table (RFC 7541, 2.3.3)";
    hold(&[
        row("index 0", V, index, |peer| each(peer, |peer, stream| peer.response(stream, &[0x80]))),
        row("an index behind the table", V, index, |peer| {
            each(peer, |peer, stream| peer.response(stream, &[0xff, 0x80, 0x01]))
        }),
        row("a huge number", V, integer, |peer| {
            each(peer, |peer, stream| peer.response(stream, &[0xff; 12]))
        }),
        row("a number of 10,000 bytes", V, integer, |peer| {
            each(peer, |peer, stream| {
                peer.response(stream, &[&[0xff][..], &[0x80; 10_000]].concat())
            })
        }),
        row("a string of 2 GiB", V, cut, |peer| {
            each(peer, |peer, stream| {
                peer.response(stream, &[0x88, 0x00, 0x7f, 0x80, 0xff, 0xff, 0xff, 0x07, b'a'])
            })
        }),
        row("a field without value", V, cut, |peer| {
            each(peer, |peer, stream| peer.response(stream, &[0x88, 0x00, 1, b'a']))
        }),
        row("the end-of-string symbol", V, "contains the end-of-string symbol", |peer| {
            let value = [0x88, 0x00, 1, b'a', 0x84, 0xff, 0xff, 0xff, 0xff];
            each(peer, |peer, stream| peer.response(stream, &value))
        }),
        row("wrong padding", V, "padded wrongly (RFC 7541, 5.2)", |peer| {
            // `0` is five bits of zero; the rest has to be ones.
            each(peer, |peer, stream| peer.response(stream, &[0x88, 0x00, 1, b'a', 0x81, 0x00]))
        }),
        row("a table larger than permitted", V, "above what we permit (RFC 7541, 6.3)", |peer| {
            each(peer, |peer, stream| {
                peer.response(
                    stream,
                    &[&ablaze_tamper::hostile_http2::integer(0x20, 5, 1 << 20)[..], OK].concat(),
                )
            })
        }),
        row("a table resized in mid-block", V, "changed where it must not be", |peer| {
            each(peer, |peer, stream| peer.response(stream, &[0x88, 0x20]))
        }),
    ]);
}

#[test]
fn the_fields_of_a_head_that_came_to_nothing_are_not_taken_for_those_of_another() {
    // Two responses in one write: the first is malformed behind a field that is none of the second's.
    let server = Hostile::start(|peer| {
        peer.hello()?;
        loop {
            let (first, second) = (peer.request()?, peer.request()?);
            let bad = [&behind_ok("bad", "1")[..], &field("Upper", "case")].concat();
            let flags = END_HEADERS | END_STREAM;
            let responses = [(first, bad), (second, behind_ok("good", "1"))];
            let responses = responses.map(|(stream, block)| frame(HEADERS, flags, stream, &block));
            peer.raw(&responses.concat())?;
        }
    });
    // One connection: of two, each could be left with one request, and wait for a second.
    let words = ["-n", "8", "--streams", "2", "-c", "1"];
    let ran = ablaze(&server.url(), "epoll", &words).unwrap();
    let json = ran.json().unwrap();
    assert_eq!((&json["responses"], &json["failed"]["total"]), (&4.into(), &4.into()), "{json}");
    assert_eq!(json["first_response"]["head"], "HTTP/2 200\r\ngood: 1\r\n\r\n");
}
