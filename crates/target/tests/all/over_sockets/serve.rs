//! The built-in server over real sockets: what it answers, and how connections are kept.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use ablaze_target::{Options, Running, Server, StartError, filler};
use ablaze_testing::client::{Client, get};

/// Options for a server on a free port.
fn options() -> Options {
    Options { address: "127.0.0.1:0".parse().unwrap(), threads: 1, ..Options::default() }
}

/// Starts a server.
fn start(options: Options) -> Running {
    Server::start(options).unwrap()
}

#[test]
fn a_greeting_with_everything_a_response_needs() {
    let server = start(options());
    let mut client = Client::connect(server.address());
    let response = client.ask(get("/"));
    assert_eq!(response.status, 200);
    assert_eq!(response.body, b"hello, world!\n");
    assert_eq!(response.field("Content-Length"), Some("14"));
    assert_eq!(response.field("Server"), Some("ablaze"));
    assert_eq!(response.field("Connection"), None);
    assert_eq!(response.field("Date").unwrap().len(), 29);
    assert_eq!(client.ask(get("/?a=b")).body, b"hello, world!\n");
    assert_eq!(client.ask(get("http://test/?x")).status, 200);
    assert_eq!(client.ask(get("/nothing")).status, 404);
    drop(client);
    let served = server.stop().unwrap();
    assert_eq!((served.requests, served.connections), (4, 1));
}

#[test]
fn size_status_and_server_name_are_as_asked_for() {
    for size in [0, 1, 8192, 8193, 65_536, 3_000_001] {
        let server = start(Options {
            body_bytes: Some(size),
            status: 503,
            server_name: "teapot/1".into(),
            ..options()
        });
        let response = Client::connect(server.address()).ask(get("/"));
        assert_eq!(response.status, 503);
        assert_eq!(response.field("Server"), Some("teapot/1"));
        assert_eq!(response.body.len() as u64, size);
        let right = (0..size).all(|at| response.body[at as usize] == filler::byte_at(at));
        assert!(right, "a byte of {size} is wrong");
    }
}

#[test]
fn connections_are_kept_as_each_version_has_it() {
    let server = start(options());
    // RFC 9112, 9.3: version, what the client says, what the response says, whether it stays open.
    let cases = [
        ("1.1", "", None, true),
        ("1.1", "Connection: keep-alive\r\n", None, true),
        ("1.1", "Connection: close\r\n", Some("close"), false),
        ("1.0", "", Some("close"), false),
        ("1.0", "Connection: Keep-Alive\r\n", Some("keep-alive"), true),
    ];
    for (version, field, said, kept) in cases {
        let mut client = Client::connect(server.address());
        let request = format!("GET / HTTP/{version}\r\nHost: test\r\n{field}\r\n");
        let response = client.ask(&request);
        assert_eq!(response.field("Connection"), said, "{request}");
        if kept {
            assert_eq!(client.ask(&request).status, 200);
        } else {
            assert_eq!(client.rest(), b"");
        }
    }
}

#[test]
fn with_close_no_connection_is_kept() {
    let server = start(Options { keep_alive: false, ..options() });
    let mut client = Client::connect(server.address());
    assert_eq!(client.ask(get("/")).field("Connection"), Some("close"));
    assert_eq!(client.rest(), b"");
}

#[test]
fn head_is_answered_with_the_head_alone() {
    for size in [5, 100_000] {
        let server = start(Options { body_bytes: Some(size), ..options() });
        let mut client = Client::connect(server.address());
        client.send(b"HEAD / HTTP/1.1\r\nHost: test\r\n\r\n");
        client.send(b"HEAD /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\nabc");
        let head = client.head();
        assert_eq!(head.field("Content-Length"), Some(size.to_string().as_str()));
        assert_eq!(client.head().field("Content-Length"), Some("3"));
        assert_eq!(client.ask(get("/")).body.len() as u64, size);
    }
}

#[test]
fn statuses_without_a_body_have_none() {
    for status in [204, 304] {
        let server = start(Options { status, ..options() });
        let mut client = Client::connect(server.address());
        for _ in 0..2 {
            let response = client.ask(get("/"));
            assert_eq!((response.status, response.field("Content-Length")), (status, None));
        }
    }
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let server = start(options());
    let mut client = Client::connect(server.address());
    let requests = [
        (get("/"), "hello, world!\n"),
        ("\r\nPOST /echo HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello".into(), "hello"),
        (
            "PUT /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
             3;x=\"y\"\r\nabc\r\n02\r\nde\r\n0\r\nTrailer: 1\r\n\r\n"
                .into(),
            "abcde",
        ),
    ];
    for (request, body) in requests {
        for byte in request.as_bytes() {
            client.send([*byte]);
        }
        assert_eq!(client.response().body, body.as_bytes());
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = start(options());
    let mut client = Client::connect(server.address());
    let many: String = (0..2000)
        .map(|n: u32| match n % 3 {
            0 => get("/"),
            1 => format!("POST /echo HTTP/1.1\r\nContent-Length: 6\r\n\r\n{n:06}"),
            _ => get("/nothing"),
        })
        .collect();
    let mut stream = client.stream.try_clone().unwrap();
    let sender = std::thread::spawn(move || stream.write_all(many.as_bytes()).unwrap());
    for n in 0..2000 {
        let response = client.response();
        match n % 3 {
            0 => assert_eq!(response.body, b"hello, world!\n"),
            1 => assert_eq!(response.body, format!("{n:06}").as_bytes()),
            _ => assert_eq!(response.status, 404),
        }
    }
    sender.join().unwrap();
    assert_eq!(server.served().requests, 2000);
}

#[test]
fn ten_thousand_pipelined_requests_to_a_slow_reader() {
    let server = start(Options { body_bytes: Some(1000), ..options() });
    let mut client = Client::connect(server.address());
    let mut stream = client.stream.try_clone().unwrap();
    let sender = std::thread::spawn(move || {
        stream.write_all(get("/").repeat(10_000).as_bytes()).unwrap();
    });
    // By now the server is stuck with full buffers, and has to go on when they empty.
    std::thread::sleep(Duration::from_millis(100));
    let expected = client.response().body;
    for _ in 1..10_000 {
        assert!(client.response().body == expected);
    }
    sender.join().unwrap();
    assert_eq!(server.served().requests, 10_000);
}

#[test]
fn a_slow_reader_of_a_long_body_gets_all_of_it() {
    const SIZE: u64 = 40_000_000;
    let server = start(Options { body_bytes: Some(SIZE), ..options() });
    let mut slow = Client::connect(server.address());
    slow.send(get("/").repeat(2));
    let mut quick = Client::connect(server.address());
    std::thread::sleep(Duration::from_millis(50));
    // Others are served meanwhile.
    assert_eq!(quick.ask(get("/nothing")).status, 404);
    for _ in 0..2 {
        assert_eq!(slow.head().status, 200);
        for start in (0..SIZE).step_by(1_000_000) {
            let part = slow.take(1_000_000);
            let right = (0..1_000_000).all(|at| part[at] == filler::byte_at(start + at as u64));
            assert!(right, "a byte after {start} is wrong");
            if start % 10_000_000 == 0 {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }
}

#[test]
fn a_delay_is_kept_and_holds_up_no_one_else() {
    let delay = Duration::from_millis(80);
    let server = start(Options { delay: delay.into(), ..options() });
    let began = Instant::now();
    let mut clients: Vec<_> = (0..20).map(|_| Client::connect(server.address())).collect();
    clients.iter_mut().for_each(|client| client.send(get("/").repeat(2)));
    for client in &mut clients {
        assert_eq!(client.response().body, b"hello, world!\n");
    }
    assert!(began.elapsed() >= delay);
    for client in &mut clients {
        assert_eq!(client.response().body, b"hello, world!\n");
    }
    // Requests of one connection are answered one after the other.
    assert!(began.elapsed() >= 2 * delay);
    // One after the other, 40 would have taken 3.2 s.
    assert!(began.elapsed() < 39 * delay, "{:?}", began.elapsed());
}

#[test]
fn a_delayed_response_reaches_a_client_that_has_closed_its_side() {
    let server = start(Options { delay: Duration::from_millis(30).into(), ..options() });
    let mut client = Client::connect(server.address());
    client.send(get("/").repeat(2));
    client.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.response().status, 200);
    assert_eq!(client.response().status, 200);
    assert_eq!(client.rest(), b"");
}

#[test]
fn the_end_of_the_stream_is_seen_when_it_comes_with_the_last_request() {
    let server = start(Options { delay: Duration::from_millis(50).into(), ..options() });
    let mut client = Client::connect(server.address());
    client.send(get("/"));
    while server.served().requests == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    // The first response waits: these two are there together when the server reads on.
    client.send(get("/"));
    client.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.response().status, 200);
    assert_eq!(client.response().status, 200);
    assert_eq!(client.rest(), b"");
}

#[test]
fn what_is_no_request_is_refused_and_the_error_arrives() {
    let server = start(Options { max_head_bytes: 4096, max_body_bytes: 1000, ..options() });
    let cases = [
        ("nonsense\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n".into(), 400),
        ("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".into(), 400),
        (format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(5000)), 431),
        (format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(5000)), 431),
        ("POST /echo HTTP/1.1\r\nContent-Length: 1001\r\n\r\n".into(), 413),
        (
            format!(
                "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n{}\r\n",
                "y".repeat(1001)
            ),
            413,
        ),
    ];
    for (request, status) in cases {
        let mut client = Client::connect(server.address());
        client.send(&request);
        // More that will never be read must not turn the refusal into a reset.
        let _ = client.stream.write_all(&[b'z'; 100_000]);
        let response = client.response();
        assert_eq!(response.status, status, "{request:.60}");
        assert_eq!(response.field("Connection"), Some("close"));
        assert_eq!(client.rest(), b"");
    }
}

#[test]
fn a_body_that_no_one_wants_is_read_and_dropped() {
    let server = start(Options { max_body_bytes: 10, ..options() });
    let mut client = Client::connect(server.address());
    client.send("POST / HTTP/1.1\r\nContent-Length: 3000000\r\n\r\n");
    client.send(vec![b'b'; 3_000_000]);
    assert_eq!(client.response().body, b"hello, world!\n");
    client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n100000\r\n");
    client.send(vec![b'c'; 0x10_0000]);
    client.send("\r\n0\r\n\r\n");
    assert_eq!(client.response().body, b"hello, world!\n");
    assert_eq!(client.ask(get("/nothing")).status, 404);
}

#[test]
fn leave_to_send_the_body_is_given_when_asked_for() {
    let server = start(options());
    let mut client = Client::connect(server.address());
    let head = "POST /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n";
    client.send(head);
    assert_eq!(client.head().head, "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("body");
    assert_eq!(client.response().body, b"body");
    // A client that sends the body at once needs no leave.
    client.send(format!("{head}body"));
    assert_eq!(client.response().status, 200);
}

#[test]
fn all_threads_share_one_port_and_their_counts_add_up() {
    let server = start(Options { threads: 3, ..options() });
    assert_eq!(server.threads(), 3);
    for _ in 0..60 {
        assert_eq!(Client::connect(server.address()).ask(get("/")).status, 200);
    }
    let served = server.stop().unwrap();
    assert_eq!((served.requests, served.connections), (60, 60));
}

#[test]
fn a_port_in_use_is_refused_and_named() {
    let server = start(Options { threads: 2, ..options() });
    let again = Options { address: server.address(), threads: 2, ..options() };
    let refused = Server::start(again).unwrap_err();
    assert!(matches!(refused, StartError::Listen(_)));
    let port = server.address().port().to_string();
    assert!(refused.to_string().contains(&port), "{refused}");
}

#[test]
fn stopping_lets_responses_under_way_finish() {
    let server = start(Options { delay: Duration::from_millis(150).into(), ..options() });
    let address = server.address();
    let mut busy = Client::connect(address);
    busy.send(get("/"));
    let mut idle = Client::connect(address);
    idle.stream.set_nonblocking(false).unwrap();
    while server.served().requests == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let stopping = std::thread::spawn(move || server.stop().unwrap());
    assert_eq!(busy.response().status, 200);
    assert_eq!(busy.rest(), b"");
    assert_eq!(idle.rest(), b"");
    assert_eq!(stopping.join().unwrap().requests, 1);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn clients_that_go_away_in_the_middle_leave_nothing_behind() {
    let server = start(Options { body_bytes: Some(5_000_000), ..options() });
    let before = descriptors();
    for n in 0..300 {
        let mut client = Client::connect(server.address());
        client.send(match n % 3 {
            0 => "GET / HTTP/1.1\r\nHost: t\r\n\r\n",
            1 => "POST /echo HTTP/1.1\r\nContent-Length: 100\r\n\r\nhalf",
            _ => "GET / HT",
        });
        if n % 6 == 0 {
            let _ = client.stream.read(&mut [0; 100]);
        }
    }
    assert_eq!(Client::connect(server.address()).ask(get("/nothing")).status, 404);
    wait_for_descriptors(before);
}

#[test]
fn ten_thousand_connections_leave_no_descriptor_behind() {
    let server = start(Options { keep_alive: false, ..options() });
    let before = descriptors();
    for _ in 0..10_000 {
        let mut client = Client::connect(server.address());
        client.send(get("/"));
        assert!(client.rest().ends_with(b"hello, world!\n"));
    }
    assert_eq!(server.served().connections, 10_000);
    wait_for_descriptors(before);
}

/// Descriptors of this process.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Other tests of this binary open and close descriptors too, a few dozen at a time; a leak would
/// be hundreds.
fn wait_for_descriptors(before: usize) {
    let until = Instant::now() + Duration::from_secs(20);
    while descriptors() > before + 100 {
        assert!(Instant::now() < until, "{} descriptors, {before} before", descriptors());
        std::thread::sleep(Duration::from_millis(10));
    }
}
