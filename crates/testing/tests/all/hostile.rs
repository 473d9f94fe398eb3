//! The misbehaving server misbehaves as it says, seen by a client that judges nothing.

#![allow(clippy::unwrap_used)]

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use ablaze_testing::client::{Client, get};
use ablaze_testing::hostile::{Behaviour, Chunks, Hostile, Script};

/// Asks once on a new connection and reads to the end; the bytes, and how it ended.
fn ask(server: &Hostile, request: &str) -> (Vec<u8>, Result<(), ErrorKind>) {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // The server may be gone already.
    let _ = stream.write_all(request.as_bytes());
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return (bytes, Ok(())),
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            Err(error) => return (bytes, Err(error.kind())),
        }
    }
}

fn ask_closing(behaviour: Behaviour) -> (String, Result<(), ErrorKind>) {
    let server = Hostile::always(behaviour).unwrap();
    let request = "GET / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n";
    let (bytes, end) = ask(&server, request);
    (String::from_utf8_lossy(&bytes).into_owned(), end)
}

#[test]
fn ends_without_a_response() {
    let server = Hostile::always(Behaviour::ResetAtOnce).unwrap();
    // Nothing is sent: the reset could meet the sending, and reading would not see it.
    assert_eq!(ask(&server, ""), (Vec::new(), Err(ErrorKind::ConnectionReset)));
    for (behaviour, end) in [
        (Behaviour::CloseAtOnce, Ok(())),
        (Behaviour::CloseWithoutResponse, Ok(())),
        (Behaviour::Reset, Err(ErrorKind::ConnectionReset)),
    ] {
        assert_eq!(ask_closing(behaviour.clone()), (String::new(), end), "{behaviour:?}");
    }
}

#[test]
fn ends_in_the_middle() {
    let (text, end) = ask_closing(Behaviour::ShortHead);
    assert!(text.starts_with("HTTP/1.1 200") && !text.contains("\r\n\r\n"), "{text}");
    assert_eq!(end, Ok(()));
    let (text, end) = ask_closing(Behaviour::ShortBody { announced: 100, sent: 40 });
    assert!(text.contains("Content-Length: 100\r\n"));
    assert_eq!(text.split_once("\r\n\r\n").unwrap().1.len(), 40);
    assert_eq!(end, Ok(()));
    let (text, end) = ask_closing(Behaviour::ResetMidBody { announced: 100, sent: 40 });
    assert_eq!(text.split_once("\r\n\r\n").unwrap().1.len(), 40);
    assert_eq!(end, Err(ErrorKind::ConnectionReset));
}

#[test]
fn responses_with_a_length_keep_the_connection() {
    let pause = Duration::from_micros(200);
    for behaviour in [
        Behaviour::Fine { body_bytes: 14 },
        Behaviour::Status(500),
        Behaviour::Late(Duration::from_millis(5)),
        Behaviour::Trickle { body_bytes: 14, pause },
        Behaviour::SplitEverywhere { pause },
        Behaviour::LongHead { field_bytes: 100_000 },
        Behaviour::TwoInOne,
        Behaviour::Stamped { delay: Duration::from_millis(1) },
    ] {
        let server = Hostile::always(behaviour.clone()).unwrap();
        let mut client = Client::connect(server.address());
        for _ in 0..2 {
            let response = client.ask(get("/"));
            assert_eq!(response.body.len(), 14, "{behaviour:?}");
            let status = if behaviour == Behaviour::Status(500) { 500 } else { 200 };
            assert_eq!(response.status, status);
        }
        assert_eq!((server.requests(), server.connections()), (2, 1));
    }
}

#[test]
fn two_pipelined_requests_are_answered_together() {
    let server = Hostile::always(Behaviour::TwoInOne).unwrap();
    let mut client = Client::connect(server.address());
    client.send(get("/").repeat(2));
    assert_eq!(client.response().body, client.response().body);
    assert_eq!(server.requests(), 2);
}

#[test]
fn bytes_are_those_announced_in_the_list() {
    let starts = |behaviour, start: &str| {
        let server = Hostile::always(behaviour).unwrap();
        let mut client = Client::connect(server.address());
        client.send(get("/"));
        assert_eq!(String::from_utf8(client.take(start.len())).unwrap(), start);
    };
    let hello = "hello, world!\n";
    starts(Behaviour::BareLf, &format!("HTTP/1.1 200 OK\nContent-Length: 14\n\n{hello}"));
    starts(
        Behaviour::ObsFold,
        &format!(
            "HTTP/1.1 200 OK\r\nX-Folded: one\r\n  two\r\nContent-Length:\r\n\t14\r\n\r\n{hello}"
        ),
    );
    starts(Behaviour::ContinueFirst, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n");
    starts(
        Behaviour::KeepAlive10,
        &format!("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 14\r\n\r\n{hello}"),
    );
    starts(
        Behaviour::NoContent { bogus_length: Some(9) },
        "HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n",
    );
    starts(Behaviour::NotModified { length: None }, "HTTP/1.1 304 Not Modified\r\n\r\n");
    for (behaviour, needle) in [
        (Behaviour::ConflictingLengths, "Content-Length: 14\r\nContent-Length: 15\r\n"),
        (Behaviour::LengthAndChunked, "Content-Length: 14\r\nTransfer-Encoding: chunked\r\n"),
        (Behaviour::LengthNoNumber, "Content-Length: 1e1\r\n"),
        (Behaviour::Close10, "HTTP/1.0 200 OK\r\nContent-Length: 14\r\n"),
        (Behaviour::UntilClose { body_bytes: 14 }, "HTTP/1.1 200 OK\r\n\r\n0000 abcdefghi"),
        (Behaviour::Garbage, "this is no HTTP"),
    ] {
        let (text, end) = ask_closing(behaviour);
        assert!(text.contains(needle), "{text}");
        assert_eq!(end, Ok(()));
    }
    let server = Hostile::always(Behaviour::Surplus { bytes: 3 }).unwrap();
    let mut client = Client::connect(server.address());
    assert_eq!(client.ask(get("/")).status, 200);
    assert_eq!(client.take(3), b"!!!");
}

#[test]
fn chunked_bodies_are_what_they_should_be() {
    use ablaze_wire::http1::chunked::Chunked;
    let body_of = |chunks| {
        let server = Hostile::always(Behaviour::Chunked { body_bytes: 100, chunks }).unwrap();
        let mut client = Client::connect(server.address());
        client.send(get("/"));
        assert_eq!(client.head().field("Transfer-Encoding"), Some("chunked"));
        let mut chunked = Chunked::new();
        let mut body_bytes = 0;
        loop {
            match chunked.feed(&client.take(1)) {
                Ok(step) => {
                    body_bytes += step.body_bytes;
                    if step.done {
                        return Ok(body_bytes);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    };
    for chunks in [Chunks::Whole, Chunks::ByteByByte, Chunks::ExtensionsAndTrailers] {
        assert_eq!(body_of(chunks), Ok(100), "{chunks:?}");
    }
    assert!(body_of(Chunks::Broken).is_err());
    let unfinished = Behaviour::Chunked { body_bytes: 100, chunks: Chunks::Unfinished };
    let (text, end) = ask_closing(unfinished);
    assert!(text.contains("\r\n64\r\n") && !text.contains("\r\n0\r\n"), "{text}");
    assert_eq!(end, Ok(()));
}

#[test]
fn silence_lasts_until_the_client_has_enough_or_the_server_is_dropped() {
    for (behaviour, bytes) in
        [(Behaviour::Hang, 0), (Behaviour::Stall { announced: 10, sent: 4 }, 4)]
    {
        let server = Hostile::always(behaviour).unwrap();
        let mut client = Client::connect(server.address());
        client.send(get("/"));
        if bytes > 0 {
            client.head();
            client.take(bytes);
        }
        client.stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let waited = client.stream.read(&mut [0; 1]).unwrap_err();
        assert!(matches!(waited.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut));
        // Dropping the server with the client still there must not hang.
        drop(server);
    }
}

#[test]
fn an_endless_head_goes_on_until_the_client_closes() {
    let server = Hostile::always(Behaviour::EndlessHead).unwrap();
    let mut client = Client::connect(server.address());
    client.send(get("/"));
    let bytes = client.take(1_000_000);
    assert!(!bytes.windows(4).any(|four| four == b"\r\n\r\n"));
    drop(client);
    drop(server);
}

#[test]
fn connections_end_after_so_many_responses() {
    for announced in [true, false] {
        let server =
            Hostile::always(Behaviour::ResponsesThenClose { responses: 3, announced }).unwrap();
        for _ in 0..2 {
            let mut client = Client::connect(server.address());
            for number in 1..=3 {
                let said = client.ask(get("/")).field("Connection").map(str::to_owned);
                let close = number == 3 && announced;
                assert_eq!(said.as_deref(), close.then_some("close"));
            }
            assert_eq!(client.rest(), b"");
        }
        assert_eq!((server.requests(), server.connections()), (6, 2));
    }
}

#[test]
fn a_response_can_come_before_the_body_was_read() {
    let request = "POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nonly";
    let server = Hostile::always(Behaviour::ResponseBeforeBody).unwrap();
    let mut client = Client::connect(server.address());
    client.send(request);
    assert_eq!(client.response().field("Connection"), Some("close"));
    assert_eq!(client.rest(), b"");
    let server = Hostile::always(Behaviour::ResponseBeforeBodyThenReset).unwrap();
    let mut client = Client::connect(server.address());
    client.send("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n");
    assert_eq!(client.response().status, 200);
    // What comes now is not read any more.
    let _ = client.stream.write_all(b"0123456789");
    let end = client.stream.read(&mut [0; 1]).map_err(|error| error.kind());
    assert!(matches!(end, Ok(0) | Err(ErrorKind::ConnectionReset)), "{end:?}");
}

#[test]
fn scripts_go_by_request_or_by_connection() {
    let fine = Behaviour::Fine { body_bytes: 1 };
    let server = Hostile::start(
        Script::per_request([fine.clone(), Behaviour::CloseAtOnce, Behaviour::Status(404)])
            .then(fine),
    )
    .unwrap();
    let status = || {
        let (bytes, _) = ask(&server, "GET / HTTP/1.0\r\n\r\n");
        String::from_utf8(bytes).unwrap().get(9..12).map(str::to_owned)
    };
    let seen: Vec<_> = (0..5).map(|_| status()).collect();
    let expected = [Some("200"), None, Some("404"), Some("200"), Some("200")];
    assert_eq!(seen, expected.map(|status| status.map(str::to_owned)));
    assert_eq!((server.requests(), server.connections()), (4, 5));
}

#[test]
fn stamps_tell_when_a_request_was_read_and_answered() {
    let delay = Duration::from_millis(3);
    let server = Hostile::always(Behaviour::Stamped { delay }).unwrap();
    let mut client = Client::connect(server.address());
    let mut seen = Vec::new();
    for _ in 0..20 {
        let began = Instant::now();
        client.ask(get("/"));
        seen.push(began.elapsed());
    }
    // A stamp is kept behind its response: the last may take a moment.
    let end = Instant::now() + Duration::from_secs(10);
    while server.stamps().len() < 20 && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
    let stamps = server.stamps();
    assert_eq!(stamps.len(), 20);
    for (stamp, seen) in stamps.iter().zip(seen) {
        let service = Duration::from_nanos(stamp.service_ns());
        assert!(service >= delay && service <= seen, "{service:?} seen as {seen:?}");
    }
}
