//! The raw model over sockets: its one response, for every request and in full.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::conditions::SocketOptions;
use crate::{Model, Options, Running, Server};

fn start(more: Options) -> Running {
    let address = "127.0.0.1:0".parse().unwrap();
    Server::start(Options { address, threads: 1, model: Model::Raw, ..more }).unwrap()
}

fn connect(server: &Running) -> TcpStream {
    let client = TcpStream::connect(server.address()).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    client
}

/// Reads a response that ends with this body.
fn read_response(client: &mut TcpStream, body: &str) -> String {
    let mut response = Vec::new();
    while !response.ends_with(format!("\r\n\r\n{body}").as_bytes()) {
        let mut byte = [0];
        assert_eq!(client.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&response));
        response.push(byte[0]);
    }
    String::from_utf8(response).unwrap()
}

const HELLO: &str = "hello, world!\n";

#[test]
fn every_request_has_its_response_however_it_is_cut() {
    let server = start(Options::default());
    let requests =
        "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /other HTTP/1.1\r\nHost: b\r\n\r\n".repeat(3);
    for piece_bytes in 1..requests.len() {
        let mut client = connect(&server);
        client.set_nodelay(true).unwrap();
        for piece in requests.as_bytes().chunks(piece_bytes) {
            client.write_all(piece).unwrap();
        }
        for _ in 0..6 {
            assert!(read_response(&mut client, HELLO).starts_with("HTTP/1.1 200 OK\r\n"));
        }
    }
    assert_eq!(server.served().requests, 6 * (requests.len() as u64 - 1));
}

#[test]
fn connections_are_kept_as_each_version_has_it() {
    let kept = [
        ("1.1", "", true),
        ("1.1", "close", false),
        ("1.0", "", false),
        ("1.0", "keep-alive", true),
    ];
    for keep_alive in [true, false] {
        let server = start(Options { keep_alive, ..Options::default() });
        for (version, asked, kept) in kept {
            let field =
                if asked.is_empty() { String::new() } else { format!("Connection: {asked}\r\n") };
            let request = format!("GET / HTTP/{version}\r\n{field}\r\n");
            let kept = kept && keep_alive;
            let mut client = connect(&server);
            // The second is found by comparing it with the first.
            for _ in 0..if kept { 3 } else { 1 } {
                client.write_all(request.as_bytes()).unwrap();
                let response = read_response(&mut client, HELLO);
                assert_eq!(response.contains("Connection: close"), !kept, "{request}");
                assert_eq!(response.contains("Connection: keep-alive"), kept && version == "1.0");
            }
            if !kept {
                assert_eq!(client.read(&mut [0]).unwrap(), 0);
            }
        }
    }
}

#[test]
fn pipelined_requests_to_a_slow_reader_are_all_answered() {
    let sockets = SocketOptions { send_buffer_bytes: Some(65_536), ..SocketOptions::default() };
    let server = start(Options { body_bytes: Some(60_000), sockets, ..Options::default() });
    let mut client = connect(&server);
    let mut sender = client.try_clone().unwrap();
    let sending = std::thread::spawn(move || {
        sender.write_all("GET / HTTP/1.1\r\nHost: test\r\n\r\n".repeat(500).as_bytes()).unwrap();
        sender.shutdown(std::net::Shutdown::Write).unwrap();
    });
    std::thread::sleep(Duration::from_millis(100));
    let mut bytes = Vec::new();
    client.read_to_end(&mut bytes).unwrap();
    sending.join().unwrap();
    assert_eq!(bytes.len() % 500, 0);
    let one = &bytes[..bytes.len() / 500];
    // The second may have changed on the way: the date is left out.
    let same = |response: &[u8]| response.len() == one.len() && response[200..] == one[200..];
    assert!(one.len() > 60_000 && bytes.chunks(one.len()).all(same));
    let counts = server.stop().unwrap();
    assert!(counts.write_eagains > 0 && counts.out_events > 0, "{counts:?}");
    assert_eq!((counts.requests, counts.epoll_mods <= 1), (500, true));
}

#[test]
fn what_it_cannot_do_is_refused_with_the_reason() {
    let delayed = Options { delay: Duration::from_millis(1).into(), ..Options::default() };
    let long = Options { body_bytes: Some(70_000), ..Options::default() };
    for (options, word) in [(delayed, "delay"), (long, "64 KiB")] {
        let refused = Model::Raw.check(&options).unwrap_err();
        assert!(refused.contains(word) && refused.contains("epoll-et"), "{refused}");
    }
    assert!(Model::Raw.is_exempt() && !Model::EpollEt.is_exempt());
}
