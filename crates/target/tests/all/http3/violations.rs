//! What a client must not do: the connection, or the request, ends with the code for it, and the server goes on.

use std::net::UdpSocket;
use std::time::Duration;

use ablaze_target::{Options, Server};
use ablaze_wire::http3::frame::kind;

use super::client::{CONTROL, Client, frame, get_fields, head};
use super::options;

/// Names and values of a head.
type Fields = Vec<(&'static str, &'static str)>;

/// What is sent on streams in one direction and on those of requests, and the code that closes the connection
/// (RFC 9114, 8.1; RFC 9204, 6).
#[test]
fn connections_end_with_the_code_for_it() {
    let request = head(&get_fields("/hello"));
    let one_way: [(&[u8], bool, u64); 14] = [
        // Control: no SETTINGS first; twice; a setting of HTTP/2; a frame of requests; ended.
        (&[0, 0xd, 1, 0], false, 0x10a),
        (&[0, 4, 0, 4, 0], false, 0x105),
        (&[0, 4, 2, 2, 0], false, 0x109),
        (&[0, 4, 0, 0, 1, 0], false, 0x105),
        (&[0, 4, 0], true, 0x104),
        // A frame of HTTP/2; MAX_PUSH_ID that becomes less; CANCEL_PUSH of nothing; lengths that do not fit.
        (&[0, 4, 0, 6, 0], false, 0x105),
        (&[0, 4, 0, 0xd, 1, 5, 0xd, 1, 4], false, 0x108),
        (&[0, 4, 0, 3, 1, 0], false, 0x108),
        (&[0, 4, 0, 7, 2, 0, 0], false, 0x106),
        // A push.
        (&[1, 0], false, 0x103),
        // The QPACK encoder: a table above what was permitted; an entry that refers to nothing.
        (&[2, 0x3f, 0xe1, 0x1f], false, 0x201),
        (&[2, 0x00], false, 0x201),
        // The decoder acknowledges what never was.
        (&[3, 0x80], false, 0x202),
        (&[2], true, 0x104),
    ];
    let requests: [(Vec<u8>, bool, u64); 6] = [
        (frame(kind::DATA, b"first"), false, 0x105),
        (frame(kind::SETTINGS, b""), false, 0x105),
        (frame(kind::PUSH_PROMISE, &[0]), false, 0x105),
        ([&request[..], &frame(0x8, b"")].concat(), false, 0x105),
        // The section refers to an entry of a table that has none; it ends within a frame.
        (frame(kind::HEADERS, &[0, 0, 0x80]), true, 0x200),
        (request[..request.len() - 1].to_vec(), true, 0x106),
    ];
    let options = options();
    let server = Server::start(options.clone()).unwrap();
    for (bytes, ends, code) in one_way {
        let mut client = Client::connect(server.address(), &options);
        client.open_one_way(bytes, ends);
        assert_eq!(client.closed(), code, "{bytes:x?}");
    }
    for (bytes, ends, code) in requests {
        let mut client = Client::connect(server.address(), &options);
        client.open(&bytes, ends);
        assert_eq!(client.closed(), code, "{bytes:x?}");
    }
    let mut client = Client::connect(server.address(), &options);
    for _ in 0..2 {
        client.open_one_way(CONTROL, false);
    }
    assert_eq!(client.closed(), 0x103);
    let mut client = Client::connect(server.address(), &options);
    assert_eq!(client.get("/hello").unwrap().statuses, ["200"]);
}

/// RFC 9114, 4.1.2 and 4.3.1.
#[test]
fn malformed_requests_end_alone() {
    let with = |change: &dyn Fn(&mut Fields)| {
        let mut fields = get_fields("/hello");
        change(&mut fields);
        head(&fields)
    };
    let malformed: [(&str, Vec<u8>); 9] = [
        ("no path", with(&|fields| fields.truncate(3))),
        ("no method", with(&|fields| *fields = fields.split_off(1))),
        ("twice", with(&|fields| fields.push((":path", "/")))),
        ("of responses", with(&|fields| fields.push((":status", "200")))),
        ("unknown", with(&|fields| fields.push((":protocol-of-mine", "a")))),
        ("late", with(&|fields| fields.insert(3, ("a", "b")))),
        ("upper case", with(&|fields| fields.push(("A", "b")))),
        ("of connections", with(&|fields| fields.push(("connection", "close")))),
        ("less than announced", with(&|fields| fields.push(("content-length", "1")))),
    ];
    let options = options();
    let server = Server::start(options.clone()).unwrap();
    let mut client = Client::connect(server.address(), &options);
    for (what, bytes) in malformed {
        assert_eq!(client.ask(&bytes), Err(0x10e), "{what}");
    }
    let more = [with(&|fields| fields.push(("content-length", "1"))), frame(kind::DATA, b"two")];
    assert_eq!(client.ask(&more.concat()), Err(0x10e));
    // Trailers have no pseudo-header fields, and no others than heads may have (4.3).
    let get = || with(&|_| {});
    for wrong in
        [(":path", "/"), (":status", "200"), (":mine", "a"), ("A", "b"), ("connection", "close")]
    {
        let trailers = head(&[("checksum", "0"), wrong]);
        assert_eq!(client.ask(&[get(), trailers].concat()), Err(0x10e), "{wrong:?} in trailers");
    }
    let response = client.ask(&[get(), head(&[("checksum", "0")])].concat()).unwrap();
    assert_eq!(response.statuses, ["200"]);
    // It ended before there was a request.
    assert_eq!(client.ask(&frame(0x21, b"grease")), Err(0x10d));
    assert_eq!(client.get("/hello").unwrap().statuses, ["200"]);
}

/// RFC 9114, 7.2.8, 6.2.3 and 7.2.4.1: what is reserved is ignored.
#[test]
fn unknown_frames_streams_and_settings_are_ignored() {
    let options = options();
    let server = Server::start(options.clone()).unwrap();
    let mut client = Client::connect(server.address(), &options);
    client.open_one_way(&[0, 4, 2, 0x21, 7, 0x21, 1, 0], false);
    client.open_one_way(&[0x21, 1, 2, 3], false);
    client.open_one_way(&[2], false);
    client.open_one_way(&[3], false);
    let request = [frame(0x21, b"grease"), head(&get_fields("/hello")), frame(0x40, &[0; 300])];
    let response = client.ask(&request.concat()).unwrap();
    assert_eq!((response.statuses, response.body.len()), (vec!["200".into()], 14));
}

#[test]
fn heads_that_are_too_long_are_refused() {
    let options = Options { max_head_bytes: 1_000, ..options() };
    let server = Server::start(options.clone()).unwrap();
    let mut client = Client::connect(server.address(), &options);
    let long = "x".repeat(2_000);
    let mut fields = get_fields("/hello");
    fields.push(("x-long", &long));
    assert_eq!(client.ask(&head(&fields)).unwrap().statuses, ["431"]);
    // A frame that promises more than anyone has.
    let mut promise = Vec::new();
    ablaze_wire::http3::frame::write_head(&mut promise, kind::HEADERS, 1 << 40);
    let stream = client.open(&[&promise[..], &[0; 50_000]].concat(), false);
    client.reset(stream, 0x10c);
    assert_eq!(client.get("/hello").unwrap().statuses, ["200"]);
}

#[test]
fn requests_that_come_to_nothing_have_an_end() {
    let options = options();
    let server = Server::start(options.clone()).unwrap();
    let mut client = Client::connect(server.address(), &options);
    for stop in [false, true] {
        let stream = client.open(&head(&get_fields("/bytes/10000000")), stop);
        match stop {
            true => client.stop(stream, 0x10c),
            false => client.reset(stream, 0x10c),
        }
    }
    assert_eq!(client.get("/hello").unwrap().statuses, ["200"]);
    // Without end, it is a flood (10.5).
    while !client.has_closed() {
        while let Some(stream) = client.open_if_permitted() {
            client.reset(stream, 0x10c);
        }
        client.pass(Duration::from_millis(1));
    }
    assert_eq!(client.closed(), 0x107);
}

/// Bytes that are no QUIC, first datagrams that are too short (RFC 9000, 14.1), handshakes that go nowhere: nothing is
/// answered that would be worth forging a sender's address for, and others are served.
#[test]
fn garbage_and_half_handshakes_do_not_disturb_others() {
    let options = options();
    let server = Server::start(options.clone()).unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(server.address()).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let mut random = 1u64;
    for bytes in [1, 20, 1_199, 1_200, 1_400] {
        for _ in 0..20 {
            let mut datagram: Vec<u8> = (0..bytes)
                .map(|_| {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (random >> 56) as u8
                })
                .collect();
            socket.send(&datagram).unwrap();
            // The first byte and the version of an Initial, and the shortest of its connection's names.
            let initial = [0xc3, 0, 0, 0, 1, 8];
            let head = initial.len().min(bytes);
            datagram[..head].copy_from_slice(&initial[..head]);
            socket.send(&datagram).unwrap();
        }
    }
    for _ in 0..200 {
        drop(Client::begin(server.address(), &options));
    }
    let mut client = Client::connect(server.address(), &options);
    assert_eq!(client.get("/hello").unwrap().statuses, ["200"]);
    // What is answered is not longer than what was asked.
    let mut buffer = [0; 2_000];
    let mut answered_bytes = 0;
    while let Ok(bytes) = socket.recv(&mut buffer) {
        answered_bytes += bytes;
    }
    assert!(answered_bytes <= 2 * 20 * (1 + 20 + 1_199 + 1_200 + 1_400), "{answered_bytes}");
    assert_eq!(server.stop().unwrap().requests, 1);
}
