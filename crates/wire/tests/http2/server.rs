//! A server's connection: with our client, with the `h2` crate as the client, and with clients
//! that do what they must not.

use std::collections::BTreeMap;
use std::time::Duration;

use ablaze_wire::http2::client::{End, Options as ClientOptions};
use ablaze_wire::http2::error::{ErrorCode, ErrorKind};
use ablaze_wire::http2::frame::{PREFACE, flag, kind, setting};
use ablaze_wire::http2::hpack::HpackFault;
use ablaze_wire::http2::request::Request;
use ablaze_wire::http2::server::{AnswerBlock, Options};
use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::mirror::Mirror;
use crate::peer::{
    Client, Told, block, data, frame, get, goaway, headers, post, reset, settings, window_update,
};

#[test]
fn our_client_and_our_server() {
    let body = |bytes: usize| (0..bytes).map(|at| b'a' + (at % 23) as u8).collect::<Vec<_>>();
    let requests: Vec<Request> = [1, 5_000, 70_000, 200_000]
        .iter()
        .map(|&bytes| post(body(bytes)).field("x-bytes", bytes.to_string()))
        .chain([get().field("accept", "*/*")])
        .collect();
    for (window, piece_bytes) in [(1 << 20, usize::MAX), (65_535, 1_000), (1_000, 17)] {
        let options = Options {
            streams: 7,
            stream_window_bytes: window,
            connection_window_bytes: 65_535,
            ..Options::default()
        };
        let client_options = ClientOptions {
            stream_window_bytes: window,
            connection_window_bytes: 65_535,
            ..ClientOptions::default()
        };
        let mut server = Mirror::new(options);
        let mut client = Client::new(client_options, &requests);
        let mut bodies: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
        let (mut sent, mut ended) = (0, 0);
        while ended < 40 {
            while sent < 40
                && client.connection.peer_settings().is_some()
                && client.connection.room() > 0
            {
                client.send(sent as usize % requests.len(), sent);
                sent += 1;
            }
            client.connection.upload(&client.set, &mut client.out);
            let (asked, answered) =
                (std::mem::take(&mut client.out), std::mem::take(&mut server.out));
            assert!(!asked.is_empty() || !answered.is_empty(), "they wait for each other");
            for piece in asked.chunks(piece_bytes) {
                server.receive(piece).unwrap();
                server.answer();
            }
            for piece in answered.chunks(piece_bytes) {
                client.receive(piece).unwrap();
                server.answer();
            }
            for told in client.told() {
                match told {
                    Told::Data(tag, bytes) => bodies.entry(tag).or_default().extend(bytes),
                    Told::Ended(_, End::Complete) => ended += 1,
                    Told::Ended(..) => panic!("{told:?}"),
                    _ => {}
                }
            }
        }
        for (tag, text) in bodies {
            let expected = match [1, 5_000, 70_000, 200_000].get(tag as usize % requests.len()) {
                Some(&bytes) => [
                    format!("POST http://localhost/\r\nx-bytes: {bytes}\r\n").into_bytes(),
                    body(bytes),
                ]
                .concat(),
                None => b"GET http://localhost/\r\naccept: */*\r\n".to_vec(),
            };
            assert!(text == expected, "{tag}");
        }
        assert!(server.connection.is_quiet() && client.connection.is_quiet());
    }
}

#[test]
fn the_h2_crate_as_the_client() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let talk = async {
        let (mut ours, theirs) = tokio::io::duplex(64 * 1024);
        let serving = tokio::spawn(async move {
            let mut server = Mirror::new(Options::default());
            let mut buffer = vec![0; 5_000];
            loop {
                ours.write_all(&std::mem::take(&mut server.out)).await.unwrap();
                let bytes = ours.read(&mut buffer).await.unwrap();
                if bytes == 0 {
                    return server.connection.is_quiet();
                }
                server.receive(&buffer[..bytes]).unwrap();
                server.answer();
            }
        });
        let (client, connection) = h2::client::handshake(theirs).await.unwrap();
        let connection = tokio::spawn(connection);
        let mut waiting = Vec::new();
        for number in 0..300usize {
            let mut client = client.clone().ready().await.unwrap();
            let uri = format!("http://localhost/{number}?x");
            let request = http::Request::post(uri).header("x-n", number).body(()).unwrap();
            let (answer, mut stream) = client.send_request(request, false).unwrap();
            stream.send_data(Bytes::from(vec![b'b'; number * 100]), false).unwrap();
            let mut trailers = http::HeaderMap::new();
            trailers.insert("x-trailer", "1".parse().unwrap());
            stream.send_trailers(trailers).unwrap();
            waiting.push(tokio::spawn(async move {
                let answer = answer.await.unwrap();
                assert_eq!(answer.status(), 200);
                let mut text = Vec::new();
                let mut body = answer.into_body();
                while let Some(piece) = body.data().await {
                    let piece = piece.unwrap();
                    body.flow_control().release_capacity(piece.len()).unwrap();
                    text.extend_from_slice(&piece);
                }
                let head = format!("POST http://localhost/{number}?x\r\nx-n: {number}\r\n");
                assert!(text.starts_with(head.as_bytes()));
                assert_eq!(text.len(), head.len() + number * 100);
            }));
        }
        for answer in waiting {
            answer.await.unwrap();
        }
        drop(client);
        connection.await.unwrap().unwrap();
        assert!(serving.await.unwrap());
    };
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(60), talk).await.expect("they wait for ever");
    });
}

fn request_block(more: &[(&str, &str)]) -> Vec<u8> {
    [&[0x82, 0x86, 0x84][..], &block(more)].concat()
}

fn upload_head() -> Vec<u8> {
    headers(1, false, &request_block(&[("content-length", "3")]))
}

#[test]
fn violations_that_end_the_connection() {
    use ErrorKind as Kind;
    let ask = |stream| headers(stream, true, &[0x82, 0x86, 0x84]);
    let f = frame;
    let table: Vec<(&str, Vec<u8>, Kind)> = vec![
        ("5.1.1", ask(2), Kind::StreamNumber),
        ("5.1", [ask(5), ask(3)].concat(), Kind::ClosedStream),
        ("5.1", [ask(1), ask(1)].concat(), Kind::ClosedStream),
        ("5.1", [ask(1), data(1, true, b"x")].concat(), Kind::ClosedStream),
        ("5.1", data(1, true, b"x"), Kind::IdleStream),
        ("5.1", reset(1, ErrorCode::CANCEL), Kind::IdleStream),
        ("5.1", window_update(1, 1), Kind::IdleStream),
        ("6.1", data(0, true, b"x"), Kind::WrongStream),
        ("6.2", headers(0, true, &[0x82]), Kind::WrongStream),
        ("6.4", f(kind::RST_STREAM, 0, 1, &[0; 5]), Kind::FrameLength),
        ("6.5.2", settings(&[(setting::ENABLE_PUSH, 2)]), Kind::SettingValue),
        ("6.5.2", settings(&[(setting::INITIAL_WINDOW_SIZE, 1 << 31)]), Kind::SettingWindow),
        ("6.8", f(kind::GOAWAY, 0, 0, &[0; 7]), Kind::FrameLength),
        ("6.9", window_update(0, 0), Kind::WindowIncrement),
        ("6.9.1", window_update(0, 0x7fff_ffff), Kind::WindowOverflow),
        ("6.10", f(kind::CONTINUATION, 4, 1, &[0x82]), Kind::NoBlockToContinue),
        ("6.10", [f(1, 0, 1, &[0x82]), ask(1)].concat(), Kind::BlockInterrupted),
        ("8.4", f(kind::PUSH_PROMISE, 4, 1, &[0, 0, 0, 2]), Kind::Push),
        ("4.2", f(kind::DATA, 0, 1, &[0; 16_385]), Kind::FrameTooLong),
    ];
    for (section, bytes, kind) in table {
        let mut server = Mirror::ready();
        assert_eq!(server.receive(&bytes), Err(kind), "RFC 9113, {section}");
        let (head, payload) = server.written().pop().unwrap();
        assert_eq!((head.kind, &payload[4..]), (kind::GOAWAY, &kind.code().0.to_be_bytes()[..]));
        assert_eq!(server.receive(&ask(9)), Err(kind));
    }
    assert_eq!(
        Mirror::new(Options::default()).receive(b"GET / HTTP/1.1\r\n\r\n"),
        Err(Kind::NoPreface)
    );
    let mut server = Mirror::new(Options::default());
    assert_eq!(server.receive(&[&PREFACE[..], &ask(1)].concat()), Err(Kind::NoSettings));
}

#[test]
fn violations_that_end_a_stream() {
    let ask = |block: &[u8]| headers(1, true, block);
    let table: Vec<(&str, Vec<u8>, ErrorCode)> = vec![
        ("8.1.1", [upload_head(), data(1, true, b"xx")].concat(), ErrorCode::PROTOCOL_ERROR),
        ("8.1.1", [upload_head(), data(1, false, b"xxxx")].concat(), ErrorCode::PROTOCOL_ERROR),
        ("8.1.1", ask(&request_block(&[("content-length", "3")])), ErrorCode::PROTOCOL_ERROR),
        (
            "8.1",
            [upload_head(), headers(1, false, &block(&[("a", "b")]))].concat(),
            ErrorCode::PROTOCOL_ERROR,
        ),
        ("8.1", [upload_head(), headers(1, true, &[0x82])].concat(), ErrorCode::PROTOCOL_ERROR),
        ("8.2.1", ask(&request_block(&[("Upper", "b")])), ErrorCode::PROTOCOL_ERROR),
        ("8.2.2", ask(&request_block(&[("connection", "close")])), ErrorCode::PROTOCOL_ERROR),
        ("8.3", ask(&request_block(&[("a", "b"), (":path", "/")])), ErrorCode::PROTOCOL_ERROR),
        ("8.3", ask(&[0x82, 0x82, 0x86, 0x84]), ErrorCode::PROTOCOL_ERROR),
        ("8.3", ask(&[0x82, 0x86, 0x84, 0x88]), ErrorCode::PROTOCOL_ERROR),
        ("8.3.1", ask(&[0x82, 0x86]), ErrorCode::PROTOCOL_ERROR),
        ("8.3.1", ask(&[0x86, 0x84]), ErrorCode::PROTOCOL_ERROR),
        (
            "8.3.1",
            ask(&block(&[(":method", "CONNECT"), (":path", "/")])),
            ErrorCode::PROTOCOL_ERROR,
        ),
        ("6.9", [upload_head(), window_update(1, 0)].concat(), ErrorCode::PROTOCOL_ERROR),
        (
            "6.9.1",
            [upload_head(), window_update(1, 0x7fff_ffff)].concat(),
            ErrorCode::FLOW_CONTROL_ERROR,
        ),
        (
            "6.3",
            [upload_head(), frame(kind::PRIORITY, 0, 1, &[0; 4])].concat(),
            ErrorCode::FRAME_SIZE_ERROR,
        ),
    ];
    for (section, bytes, code) in table {
        let mut server = Mirror::ready();
        server.receive(&bytes).unwrap();
        let (head, payload) = server.written().pop().unwrap();
        assert_eq!((head.kind, head.stream), (kind::RST_STREAM, 1), "RFC 9113, {section}");
        assert_eq!(payload, code.0.to_be_bytes(), "RFC 9113, {section}");
        assert!(server.asked.open.is_empty(), "RFC 9113, {section}");
        // Others go on, and what comes late is ignored.
        server
            .receive(&[data(1, true, b"late"), headers(3, true, &[0x82, 0x86, 0x84])].concat())
            .unwrap();
        assert!(server.asked.open.contains_key(&3));
    }
    let mut server = Mirror::ready();
    let connect = block(&[(":method", "CONNECT"), (":authority", "localhost:1")]);
    server.receive(&headers(1, true, &connect)).unwrap();
    assert!(server.asked.open.contains_key(&1));
}

#[test]
fn too_many_streams_are_refused_and_the_table_stays_right() {
    let mut server = Mirror::ready();
    let indexed = [0x82, 0x86, 0x84, 0x41, 1, b'h'];
    for number in 0..257 {
        server.receive(&headers(2 * number + 1, false, &indexed)).unwrap();
    }
    assert_eq!(server.connection.streams_live(), 256);
    let (head, payload) = server.written().pop().unwrap();
    assert_eq!((head.kind, head.stream), (kind::RST_STREAM, 513));
    assert_eq!(payload, ErrorCode::REFUSED_STREAM.0.to_be_bytes());
    server.receive(&data(1, true, b"")).unwrap();
    server.answer();
    // 95 entries of 43 bytes fit 4,096: indices 62 to 156.
    server.receive(&headers(515, true, &[0x82, 0x86, 0x84, 0xff, 156 - 127])).unwrap();
    let (text, _) = &server.asked.open[&515];
    assert_eq!(String::from_utf8_lossy(text), "GET http://h/\r\n");
    let beyond = server.receive(&headers(517, true, &[0x82, 0x86, 0x84, 0xff, 157 - 127]));
    assert_eq!(beyond, Err(ErrorKind::Hpack(HpackFault::Index)));
}

#[test]
fn requests_that_are_reset_at_once_are_a_flood() {
    let mut server = Mirror::ready();
    let result = (0..30_000).find_map(|number| {
        let id = 2 * number + 1;
        let ask = headers(id, true, &[0x82, 0x86, 0x84]);
        server.receive(&[ask, reset(id, ErrorCode::CANCEL)].concat()).err()
    });
    assert_eq!(result, Some(ErrorKind::ResetFlood));
    assert!(server.out.len() < 100);
}

#[test]
fn a_server_that_finishes_answers_what_came() {
    let mut server = Mirror::ready();
    server.receive(&headers(1, true, &[0x82, 0x86, 0x84])).unwrap();
    server.connection.finish(ErrorCode::NO_ERROR, &mut server.out);
    server.receive(&headers(3, true, &[0x82, 0x86, 0x84])).unwrap();
    server.answer();
    let written = server.written();
    assert_eq!((written[0].0.kind, &written[0].1[..4]), (kind::GOAWAY, &[0, 0, 0, 1][..]));
    let answered: Vec<u32> = written[1..].iter().map(|(head, _)| head.stream).collect();
    assert_eq!(answered, [1, 1]);
    assert!(server.connection.is_quiet());
    server.receive(&goaway(0, ErrorCode::NO_ERROR, b"")).unwrap();
}

#[test]
fn an_answer_before_the_request_is_complete() {
    let mut server = Mirror::ready();
    server.receive(&upload_head()).unwrap();
    let refusal = AnswerBlock::new(413).field("x-why", "too large");
    assert!(server.connection.answer(1, &AnswerBlock::new(100), false, &mut server.out));
    assert!(server.connection.answer(1, &refusal, true, &mut server.out));
    assert!(!server.connection.answer(1, &refusal, true, &mut server.out));
    let written = server.written();
    let kinds: Vec<u8> = written.iter().map(|(head, _)| head.kind).collect();
    assert_eq!(kinds, [kind::HEADERS, kind::HEADERS, kind::RST_STREAM]);
    assert_eq!(written[2].1, ErrorCode::NO_ERROR.0.to_be_bytes());
    server.receive(&data(1, true, b"xxx")).unwrap();
    assert_eq!(server.asked.resets, []);
}

#[test]
fn pieces_make_no_difference() {
    let mut all = [&PREFACE[..], &settings(&[(4, 10)])].concat();
    all.extend(frame(kind::SETTINGS, flag::ACK, 0, &[]));
    all.extend(headers(1, true, &request_block(&[("host", "h"), ("accept", "*/*")])));
    all.extend(frame(kind::PING, 0, 0, b"pingpong"));
    all.extend(upload_head().iter().enumerate().map(|(at, &byte)| if at == 8 { 3 } else { byte }));
    all.extend(frame(kind::DATA, flag::PADDED | flag::END_STREAM, 3, b"\x02xxx\0\0"));
    all.extend(frame(kind::HEADERS, flag::END_STREAM, 5, &[0x82, 0x86]));
    all.extend(frame(kind::CONTINUATION, flag::END_HEADERS, 5, &[0x84]));
    all.extend(window_update(0, 5));
    all.extend(reset(5, ErrorCode::CANCEL));
    all.extend(data(7, true, b"idle"));
    let run = |piece_bytes: usize| {
        let mut server = Mirror::new(Options::default());
        let result = all.chunks(piece_bytes).try_for_each(|piece| server.receive(piece));
        (server.asked, server.out, result)
    };
    let whole = run(usize::MAX);
    assert_eq!(whole.2, Err(ErrorKind::IdleStream));
    assert_eq!((whole.0.open.len(), whole.0.resets.len()), (2, 1));
    for piece_bytes in 1..50 {
        assert_eq!(run(piece_bytes), whole, "pieces of {piece_bytes}");
    }
}
