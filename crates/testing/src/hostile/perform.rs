//! Each behaviour, carried out.

use std::io::{self, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use ablaze_wire::http1::request_head::{Method, RequestHead};

use super::bytes::{BODY, body, chunked, connection, head, lines, response};
use super::visitor::{After, Visitor};
use super::{Behaviour, Chunks, stamps};

/// A reset overtakes what the client has not read yet, and what was sent right before it. This
/// long is enough, on one machine, for the bytes before it to be received.
const BEFORE_RESET: Duration = Duration::from_millis(20);

/// The field of a response behind which the connection is closed, whatever was asked for.
const CLOSE: &str = "Connection: close\r\n";

/// Whether a behaviour does not wait for the body of the request.
pub fn responses_before_body(behaviour: &Behaviour) -> bool {
    matches!(behaviour, Behaviour::ResponseBeforeBody | Behaviour::ResponseBeforeBodyThenReset)
}

/// Carries a behaviour out on a request.
pub fn perform(
    visitor: &mut Visitor<'_>,
    behaviour: &Behaviour,
    request: &RequestHead,
) -> io::Result<After> {
    use Behaviour as B;
    let keep = connection(request, request.keep_alive);
    let stream = &mut visitor.stream;
    match *behaviour {
        B::Fine { body_bytes } => fine(stream, 200, &body(body_bytes), request),
        B::Status(status) => fine(stream, status, BODY, request),
        B::Late(time) => {
            thread::sleep(time);
            fine(stream, 200, BODY, request)
        }
        B::CloseAtOnce | B::CloseWithoutResponse => Ok(After::Fin),
        B::ResetAtOnce | B::Reset => Ok(After::Reset),
        B::Hang => Ok(After::Silence),
        B::ShortHead => {
            let whole = response(200, keep, BODY);
            send(stream, &whole[..whole.len() / 3], After::Fin)
        }
        B::ResetMidBody { announced, sent } => {
            part_of_body(stream, announced, sent, keep)?;
            thread::sleep(BEFORE_RESET);
            Ok(After::Reset)
        }
        B::ShortBody { announced, sent } => {
            part_of_body(stream, announced, sent, keep)?;
            Ok(After::Fin)
        }
        B::Stall { announced, sent } => {
            part_of_body(stream, announced, sent, keep)?;
            Ok(After::Silence)
        }
        B::Trickle { body_bytes, pause } => {
            stream.write_all(&head(200, body_bytes, keep))?;
            byte_by_byte(stream, &body(body_bytes), pause)?;
            Ok(After::Open)
        }
        B::SplitEverywhere { pause } => {
            byte_by_byte(stream, &response(200, keep, BODY), pause)?;
            Ok(After::Open)
        }
        B::Chunked { body_bytes, chunks } => send_chunked(stream, body_bytes, chunks, keep),
        B::EndlessHead => endless_head(visitor),
        B::TwoInOne => two_in_one(visitor, keep),
        B::ResponsesThenClose { responses, announced } => {
            let last = visitor.requests >= responses;
            let keep = connection(request, request.keep_alive && !(last && announced));
            let bytes = response(200, keep, BODY);
            send(&mut visitor.stream, &bytes, if last { After::Drop } else { After::Open })
        }
        B::ResponseBeforeBody => send(stream, &response(200, CLOSE, BODY), After::Fin),
        B::ResponseBeforeBodyThenReset => {
            stream.write_all(&response(200, CLOSE, BODY))?;
            thread::sleep(BEFORE_RESET);
            Ok(After::Drop)
        }
        B::Stamped { delay } => {
            let bytes = response(200, keep, BODY);
            let stamp = stamps::response_at(stream, visitor.read_ns, delay, &bytes)?;
            visitor.shared.record(stamp);
            Ok(After::Open)
        }
        _ => {
            let (bytes, after) = constant(behaviour, keep);
            send(stream, &bytes, after)
        }
    }
}

/// Behaviours that are nothing but bytes.
fn constant(behaviour: &Behaviour, keep: &str) -> (Vec<u8>, After) {
    use Behaviour as B;
    let ok = "HTTP/1.1 200 OK";
    let kept = |status: &str, fields: &str, body: &[u8]| {
        let head = format!("{status}\r\n{fields}{keep}\r\n");
        ([head.as_bytes(), body].concat(), After::Open)
    };
    match *behaviour {
        B::UntilClose { body_bytes } => (lines(&[ok], &body(body_bytes)), After::Fin),
        B::KeepAlive10 => (
            lines(&["HTTP/1.0 200 OK", "Connection: keep-alive", "Content-Length: 14"], BODY),
            After::Kept,
        ),
        B::Close10 => (lines(&["HTTP/1.0 200 OK", "Content-Length: 14"], BODY), After::Fin),
        B::NoContent { bogus_length: length } => {
            kept("HTTP/1.1 204 No Content", &length_field(length), b"")
        }
        B::NotModified { length } => kept("HTTP/1.1 304 Not Modified", &length_field(length), b""),
        B::ContinueFirst => (
            [&b"HTTP/1.1 100 Continue\r\n\r\n"[..], &response(200, keep, BODY)].concat(),
            After::Open,
        ),
        B::BareLf => {
            let (bytes, after) = kept(ok, "Content-Length: 14\r\n", b"");
            let head = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
            ([head.as_bytes(), BODY].concat(), after)
        }
        B::ObsFold => kept(ok, "X-Folded: one\r\n  two\r\nContent-Length:\r\n\t14\r\n", BODY),
        B::Garbage => (b"\x00\xff\x16\x03\x01 this is no HTTP \r\n\r\n\r\n".to_vec(), After::Fin),
        B::Surplus { bytes } => {
            ([response(200, keep, BODY), vec![b'!'; bytes]].concat(), After::Open)
        }
        B::ConflictingLengths => {
            (lines(&[ok, "Content-Length: 14", "Content-Length: 15"], BODY), After::Fin)
        }
        B::LengthAndChunked => {
            let fields = [ok, "Content-Length: 14", "Transfer-Encoding: chunked"];
            (lines(&fields, b"e\r\nhello, world!\n\r\n0\r\n\r\n"), After::Fin)
        }
        B::LengthNoNumber => (lines(&[ok, "Content-Length: 1e1"], BODY), After::Fin),
        B::LongHead { field_bytes } => {
            let field = format!("X-Long: {}\r\n{keep}", "x".repeat(field_bytes));
            ([&head(200, BODY.len(), &field)[..], BODY].concat(), After::Open)
        }
        // Everything else is more than bytes and was dealt with before.
        _ => (Vec::new(), After::Fin),
    }
}

fn length_field(length: Option<usize>) -> String {
    length.map(|length| format!("Content-Length: {length}\r\n")).unwrap_or_default()
}

/// A correct response.
fn fine(
    stream: &mut TcpStream,
    status: u16,
    body: &[u8],
    request: &RequestHead,
) -> io::Result<After> {
    let mut bytes = head(status, body.len(), connection(request, request.keep_alive));
    if request.method != Method::Head {
        bytes.extend_from_slice(body);
    }
    send(stream, &bytes, After::Open)
}

fn send(stream: &mut TcpStream, bytes: &[u8], after: After) -> io::Result<After> {
    stream.write_all(bytes)?;
    Ok(after)
}

fn part_of_body(
    stream: &mut TcpStream,
    announced: usize,
    sent: usize,
    fields: &str,
) -> io::Result<()> {
    let mut bytes = head(200, announced, fields);
    bytes.extend(body(sent));
    stream.write_all(&bytes)
}

fn byte_by_byte(stream: &mut TcpStream, bytes: &[u8], pause: Duration) -> io::Result<()> {
    for byte in bytes {
        stream.write_all(&[*byte])?;
        if !pause.is_zero() {
            thread::sleep(pause);
        }
    }
    Ok(())
}

fn send_chunked(
    stream: &mut TcpStream,
    body_bytes: usize,
    chunks: Chunks,
    fields: &str,
) -> io::Result<After> {
    let bytes = chunked(&body(body_bytes), chunks, fields);
    match chunks {
        Chunks::ByteByByte => byte_by_byte(stream, &bytes, Duration::ZERO)?,
        _ => stream.write_all(&bytes)?,
    }
    Ok(match chunks {
        Chunks::Broken | Chunks::Unfinished => After::Fin,
        _ => After::Open,
    })
}

/// Ends with an error when the client closes, or when the server is told to stop.
fn endless_head(visitor: &mut Visitor<'_>) -> io::Result<After> {
    visitor.stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
    let fields = b"X-Endless: and another one that says nothing at all\r\n".repeat(64);
    while !visitor.shared.stopped() {
        visitor.stream.write_all(&fields)?;
    }
    Ok(After::Fin)
}

fn two_in_one(visitor: &mut Visitor<'_>, fields: &str) -> io::Result<After> {
    let mut bytes = response(200, fields, BODY);
    if visitor.second_request(Duration::from_millis(200))?.is_some() {
        bytes.extend(response(200, fields, BODY));
    }
    send(&mut visitor.stream, &bytes, After::Open)
}
