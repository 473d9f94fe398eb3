//! How long connections live, and servers that speak no HTTP.

use ablaze_target::Options;
use ablaze_target::conditions::ResponseKind;

use crate::protocol::conversation::{Bench, Connection, End, field, head_and_body};

const GET: &str = "GET /hello HTTP/1.1\r\nHost: t\r\n\r\n";

#[test]
fn versions_and_fields_decide_whether_a_connection_stays() {
    let bench = Bench::new(&Options::default());
    // RFC 9112, 9.3: version, what the client says, what the response says, whether it stays.
    for (version, said, answered, kept) in [
        ("1.1", "", None, true),
        ("1.1", "Connection: close\r\n", Some("close"), false),
        ("1.1", "Connection: foo, Close\r\n", Some("close"), false),
        ("1.0", "", Some("close"), false),
        ("1.0", "Connection: Keep-Alive\r\n", Some("keep-alive"), true),
        ("1.0", "Connection: keep-alive, close\r\n", Some("close"), false),
    ] {
        let heard = bench.ask(format!("GET / HTTP/{version}\r\nHost: t\r\n{said}\r\n"));
        let (head, _) = head_and_body(&heard.bytes);
        assert_eq!(field(&head, "Connection"), answered, "{version} {said}");
        assert_eq!(heard.end == End::Open, kept, "{version} {said}");
    }
}

#[test]
fn the_last_of_the_requests_a_connection_may_have_announces_its_end() {
    for max in 1..5u64 {
        let bench = Bench::new(&Options { max_requests: Some(max), ..Options::default() });
        // All at once, and more than are answered.
        let heard = bench.ask(GET.repeat(7));
        let text = String::from_utf8(heard.bytes).unwrap();
        assert_eq!(text.matches("HTTP/1.1 200").count() as u64, max);
        assert_eq!(text.matches("Connection: close").count(), 1);
        assert!(text.rfind("Connection: close") > text.rfind("HTTP/1.1 200"));
        assert_eq!((heard.end, heard.requests), (End::Closed { unread: true }, max));
        // One after the other, and no more than are answered.
        let heard = bench.converse(GET.repeat(max as usize).as_bytes(), &[GET.len()]);
        assert_eq!((heard.end, heard.requests), (End::Closed { unread: false }, max));
        // Each connection counts by itself.
        assert_eq!(bench.ask(GET.repeat(max as usize)).requests, max);
    }
}

#[test]
fn a_client_of_1_0_is_told_of_the_last_request_too() {
    let bench = Bench::new(&Options { max_requests: Some(2), ..Options::default() });
    let get = "GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
    let text = String::from_utf8(bench.ask(get.repeat(3)).bytes).unwrap();
    assert_eq!(text.matches("Connection: keep-alive").count(), 1);
    assert_eq!(text.matches("Connection: close").count(), 1);
}

#[test]
fn an_echo_without_http_counts_reads() {
    let bench = Bench::new(&Options { response: ResponseKind::Echo, ..Options::default() });
    let mut connection = Connection::new(&bench);
    for _ in 0..3 {
        connection.receive(b"GET / HTTP/1.0\r\n\r\n");
    }
    assert_eq!(connection.heard.bytes, b"GET / HTTP/1.0\r\n\r\n".repeat(3));
    assert_eq!((connection.heard.requests, connection.heard.end), (3, End::Open));
    let closing = Options { response: ResponseKind::Echo, keep_alive: false, ..Options::default() };
    let heard = Bench::new(&closing).ask("abc");
    assert_eq!((heard.bytes, heard.requests), (b"abc".to_vec(), 1));
    assert_eq!(heard.end, End::Closed { unread: false });
    let twice =
        Options { response: ResponseKind::Echo, max_requests: Some(2), ..Options::default() };
    let heard = Bench::new(&twice).converse(b"abcdef", &[2]);
    assert_eq!((heard.bytes, heard.requests), (b"abcd".to_vec(), 2));
}

#[test]
fn a_server_that_never_answers_reads_on_or_closes() {
    let options = Options { response: ResponseKind::None, ..Options::default() };
    let heard = Bench::new(&options).converse(GET.repeat(3).as_bytes(), &[GET.len()]);
    assert_eq!((heard.bytes, heard.requests, heard.end), (Vec::new(), 3, End::Open));
    let heard = Bench::new(&Options { keep_alive: false, ..options }).ask(GET);
    assert_eq!((heard.bytes, heard.requests), (Vec::new(), 1));
    assert_eq!(heard.end, End::Closed { unread: false });
}

#[test]
fn twenty_megabytes_go_up_and_come_back() {
    let bench = Bench::new(&Options::default());
    let body: Vec<u8> =
        (0..20_000_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let head = format!("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\r\n", body.len());
    let input = [head.as_bytes(), &body].concat();
    let heard = bench.converse(&input, &[65_536]);
    assert!(head_and_body(&heard.bytes).1 == body);
    assert_eq!(heard.requests, 1);
}
