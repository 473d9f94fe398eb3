//! Whole conversations with the `h2` crate as the server, over a pipe in memory.

use std::time::Duration;

use ablaze_wire::http1::builder::RequestBuilder;
use ablaze_wire::http2::client::{End, Options};
use ablaze_wire::http2::error::ErrorCode;
use ablaze_wire::http2::request::Request;
use bytes::Bytes;
use h2::server::SendResponse;
use http::{HeaderMap, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use crate::http2::frames::get;
use crate::http2::peer::{Client, Told, post};

/// What the server does with a request: it gets the request, its body and its trailers.
type Reply = fn(http::request::Parts, Vec<u8>, SendResponse<Bytes>);

/// Reads each request to its end and answers it.
async fn serve(stream: DuplexStream, builder: h2::server::Builder, response: Reply) {
    let mut connection = builder.handshake::<_, Bytes>(stream).await.unwrap();
    while let Some(request) = connection.accept().await {
        let Ok((request, respond)) = request else { return };
        tokio::spawn(async move {
            let (parts, mut body) = request.into_parts();
            let mut bytes = Vec::new();
            while let Some(piece) = body.data().await {
                let Ok(piece) = piece else { return };
                body.flow_control().release_capacity(piece.len()).unwrap();
                bytes.extend_from_slice(&piece);
            }
            response(parts, bytes, respond);
        });
    }
}

/// Lets client and server talk until `done`, the client reading pieces of this many bytes at most.
fn converse(
    client: &mut Client,
    builder: &h2::server::Builder,
    response: Reply,
    piece_bytes: usize,
    mut turn: impl FnMut(&mut Client) -> bool,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let talk = async {
        let (mut ours, theirs) = tokio::io::duplex(256 * 1024);
        tokio::spawn(serve(theirs, builder.clone(), response));
        let mut buffer = vec![0; piece_bytes];
        loop {
            let done = turn(client);
            client.connection.upload(&client.set, &mut client.out);
            ours.write_all(&std::mem::take(&mut client.out)).await.unwrap();
            if done {
                break;
            }
            let bytes = ours.read(&mut buffer).await.unwrap();
            assert!(bytes > 0, "the server closed: {:?}", client.notes.told);
            client.receive(&buffer[..bytes]).unwrap();
        }
    };
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(60), talk).await.expect("they wait for ever");
    });
}

/// Sends `count` requests, at most as many at once as there is room for, and waits for all.
fn send_all(
    client: &mut Client,
    builder: &h2::server::Builder,
    response: Reply,
    piece_bytes: usize,
    count: u32,
) -> Vec<Told> {
    let mut sent = 0;
    let mut ended = 0;
    let mut all = Vec::new();
    converse(client, builder, response, piece_bytes, |client| {
        for told in client.told() {
            ended += u32::from(matches!(told, Told::Ended(..)));
            all.push(told);
        }
        while client.connection.peer_settings().is_some()
            && client.connection.free_streams() > 0
            && sent < count
        {
            client.send(sent as usize % client.set.len(), sent);
            sent += 1;
        }
        ended == count
    });
    all
}

/// What was told of one request, in order; content in one piece as far as nothing came between.
fn of(told: &[Told], wanted: u32) -> Vec<Told> {
    let is_of = |told: &&Told| {
        matches!(told,
            Told::Head(tag, ..) | Told::Data(tag, _) | Told::Trailers(tag)
            | Told::Interim(tag, _) | Told::Field(tag, ..) | Told::Ended(tag, _) if *tag == wanted)
    };
    let mut all: Vec<Told> = Vec::new();
    for told in told.iter().filter(is_of) {
        match (all.last_mut(), told) {
            (Some(Told::Data(_, bytes)), Told::Data(_, more)) => bytes.extend_from_slice(more),
            _ => all.push(told.clone()),
        }
    }
    all
}

fn hello(_: http::request::Parts, _: Vec<u8>, mut respond: SendResponse<Bytes>) {
    let response = Response::builder()
        .header("content-length", "14")
        .header("server", "oracle")
        .header("date", "Mon, 21 Oct 2013 20:13:21 GMT")
        .body(())
        .unwrap();
    let mut stream = respond.send_response(response, false).unwrap();
    stream.send_data(Bytes::from_static(b"Hello, World!\n"), true).unwrap();
}

fn complete_hello(tag: u32) -> Vec<Told> {
    vec![
        Told::Head(tag, 200, Some(14)),
        Told::Data(tag, b"Hello, World!\n".to_vec()),
        Told::Ended(tag, End::Complete),
    ]
}

#[test]
fn many_requests_on_many_streams() {
    for piece_bytes in [1, 7, 100, 65_536] {
        let mut builder = h2::server::Builder::new();
        builder.max_concurrent_streams(20);
        let mut client = Client::new(Options { streams: 64, ..Options::default() }, &[get()]);
        let told = send_all(&mut client, &builder, hello, piece_bytes, 1_000);
        assert!(told.contains(&Told::Settings(20, 65_535)));
        for tag in 0..1_000 {
            assert_eq!(of(&told, tag), complete_hello(tag), "in pieces of {piece_bytes}");
        }
        assert!(client.connection.is_quiet());
    }
}

/// Responses with what it was asked: method, path, fields in order, and the body.
fn mirror(parts: http::request::Parts, body: Vec<u8>, mut respond: SendResponse<Bytes>) {
    let mut text = format!("{} {}\n", parts.method, parts.uri);
    for (name, value) in &parts.headers {
        text += &format!("{name}: {}\n", value.to_str().unwrap());
    }
    text += &String::from_utf8(body).unwrap();
    let mut stream = respond.send_response(Response::new(()), false).unwrap();
    stream.send_data(text.into(), true).unwrap();
}

fn mirrored(told: &[Told], tag: u32) -> String {
    match &of(told, tag)[..] {
        [Told::Head(_, 200, None), Told::Data(_, body), Told::Ended(_, End::Complete)] => {
            String::from_utf8(body.clone()).unwrap()
        }
        other => panic!("{other:?}"),
    }
}

fn with_everything() -> Request {
    let template = RequestBuilder::new("POST", "/a/{seq:4}?key={seq:10}")
        .header("Host", "localhost:8080")
        .header("User-Agent", "ablaze")
        .header("Authorization", "Basic YTpi")
        .header("Cookie", "a=b")
        .header("X-Number", "<{seq:3}>")
        .body_length_header("Content-Length")
        .body("number {seq:5} of many")
        .build()
        .unwrap();
    Request::from_template(&template, "http", "localhost").unwrap()
}

#[test]
fn the_server_understands_what_is_sent() {
    let requests = [with_everything(), get().field("accept", "*/*"), with_everything()];
    for table_bytes in [None, Some(4_096), Some(100), Some(0)] {
        let mut builder = h2::server::Builder::new();
        if let Some(bytes) = table_bytes {
            builder.header_table_size(bytes);
        }
        let mut client = Client::new(Options::default(), &requests);
        let told = send_all(&mut client, &builder, mirror, 4_096, 60);
        for tag in 0..60u32 {
            let expected = if tag % 3 == 1 {
                "GET http://localhost/\naccept: */*\n".to_owned()
            } else {
                format!(
                    "POST http://localhost:8080/a/{tag:04}?key={tag:010}\nuser-agent: ablaze\n\
                     authorization: Basic YTpi\ncookie: a=b\n\
                     x-number: <{tag:03}>\ncontent-length: 20\nnumber {tag:05} of many"
                )
            };
            assert_eq!(mirrored(&told, tag), expected, "table of {table_bytes:?}");
        }
    }
}

#[test]
fn heads_of_many_frames() {
    // Far more than fits one frame or the table.
    let mut large = get();
    for number in 0..60 {
        large = large.field(format!("x-{number}"), format!("{number}").repeat(400));
    }
    let mut builder = h2::server::Builder::new();
    builder.max_header_list_size(1 << 20);
    let mut client = Client::new(Options::default(), &[large, get()]);
    let told = send_all(&mut client, &builder, mirror, 65_536, 8);
    for tag in 0..8 {
        let text = mirrored(&told, tag);
        assert_eq!(text.lines().count(), if tag % 2 == 0 { 61 } else { 1 });
        if tag % 2 == 0 {
            assert!(text.contains(&format!("x-59: {}\n", "59".repeat(400))));
        }
    }
}

/// Responses with the length of the body and the sum of its bytes.
fn measure(_: http::request::Parts, body: Vec<u8>, mut respond: SendResponse<Bytes>) {
    let sum: u64 = body.iter().map(|&byte| u64::from(byte)).sum();
    let mut stream = respond.send_response(Response::new(()), false).unwrap();
    stream.send_data(format!("{} {sum}", body.len()).into(), true).unwrap();
}

#[test]
fn bodies_larger_than_windows() {
    let bodies = [0usize, 1, 16_384, 16_385, 65_535, 65_536, 300_000];
    let body = |bytes: usize| (0..bytes).map(|at| (at * 7 % 251) as u8).collect::<Vec<_>>();
    let requests: Vec<Request> = bodies.iter().map(|&bytes| post(body(bytes))).collect();
    for (window, connection_window, payload) in
        [(65_535, 65_535, 16_384), (1_000, 65_535, 16_384), (1 << 20, 1 << 20, 1 << 18)]
    {
        let mut builder = h2::server::Builder::new();
        builder
            .initial_window_size(window)
            .initial_connection_window_size(connection_window)
            .max_frame_size(payload);
        let mut client = Client::new(Options::default(), &requests);
        let told = send_all(&mut client, &builder, measure, 4_096, 28);
        for tag in 0..28 {
            let sent = body(bodies[tag as usize % bodies.len()]);
            let sum: u64 = sent.iter().map(|&byte| u64::from(byte)).sum();
            assert_eq!(mirrored(&told, tag), format!("{} {sum}", sent.len()), "window {window}");
        }
    }
}

/// A response of 200,000 bytes, in pieces, with trailers.
fn bulk(_: http::request::Parts, _: Vec<u8>, mut respond: SendResponse<Bytes>) {
    let response = Response::builder().header("content-length", "200000").body(()).unwrap();
    // Any of it fails when the client gave up on the stream.
    let send = || {
        let mut stream = respond.send_response(response, false)?;
        for _ in 0..4 {
            stream.send_data(Bytes::from(vec![b'x'; 50_000]), false)?;
        }
        let mut trailers = HeaderMap::new();
        trailers.insert("x-checksum", "1".parse().unwrap());
        stream.send_trailers(trailers)
    };
    let _: Result<(), h2::Error> = send();
}

#[test]
fn responses_larger_than_our_windows_and_trailers() {
    for (stream_window_bytes, connection_window_bytes) in
        [(1 << 30, 1 << 30), (65_535, 65_535), (1_000, 65_535), (70_000, 70_000)]
    {
        let options =
            Options { stream_window_bytes, connection_window_bytes, ..Options::default() };
        let mut client = Client::new(options, &[get()]);
        let told = send_all(&mut client, &h2::server::Builder::new(), bulk, 10_000, 10);
        for tag in 0..10 {
            let told = of(&told, tag);
            assert_eq!(told[0], Told::Head(tag, 200, Some(200_000)));
            let content: usize = told
                .iter()
                .map(|told| if let Told::Data(_, bytes) = told { bytes.len() } else { 0 })
                .sum();
            assert_eq!(content, 200_000, "window {stream_window_bytes}");
            let end = [Told::Trailers(tag), Told::Ended(tag, End::Complete)];
            assert_eq!(told[told.len() - 2..], end);
        }
    }
}

/// Responses some, refuses some, breaks some off.
fn moody(parts: http::request::Parts, body: Vec<u8>, mut respond: SendResponse<Bytes>) {
    match parts.uri.path() {
        "/refused" => respond.send_reset(h2::Reason::REFUSED_STREAM),
        "/broken" => {
            let mut stream = respond.send_response(Response::new(()), false).unwrap();
            stream.send_data(Bytes::from_static(b"half"), false).unwrap();
            stream.send_reset(h2::Reason::INTERNAL_ERROR);
        }
        "/empty" => {
            let response = Response::builder().status(204).body(()).unwrap();
            respond.send_response(response, true).unwrap();
        }
        _ => hello(parts, body, respond),
    }
}

#[test]
fn errors_resets_and_responses_without_content() {
    let path = |path| Request::new("GET", "http", "localhost", path);
    let head = Request::new("HEAD", "http", "localhost", "/empty");
    let requests = [path("/"), path("/refused"), path("/broken"), path("/empty"), head];
    let mut client = Client::new(Options::default(), &requests);
    let told = send_all(&mut client, &h2::server::Builder::new(), moody, 4_096, 50);
    for tag in 0..50 {
        let told = of(&told, tag);
        match tag % 5 {
            0 => assert_eq!(told, complete_hello(tag)),
            1 => assert_eq!(told, [Told::Ended(tag, End::Unprocessed)]),
            // What was not sent yet may be dropped with the stream.
            2 => assert_eq!(
                told.last(),
                Some(&Told::Ended(tag, End::Reset(ErrorCode::INTERNAL_ERROR)))
            ),
            _ => assert_eq!(told, [Told::Head(tag, 204, None), Told::Ended(tag, End::Complete)]),
        }
    }
}

#[test]
fn streams_given_up_do_not_disturb_the_others() {
    let mut client = Client::new(Options { streams: 20, ..Options::default() }, &[get()]);
    let (mut sent, mut given_up, mut completed) = (0u32, 0, 0);
    let mut open = Vec::new();
    converse(&mut client, &h2::server::Builder::new(), bulk, 3_000, |client| {
        for told in client.told() {
            match told {
                Told::Ended(tag, End::Complete) => {
                    completed += 1;
                    open.retain(|&(other, _)| other != tag);
                }
                Told::Ended(..) => panic!("{told:?}"),
                _ => {}
            }
        }
        while client.connection.peer_settings().is_some()
            && client.connection.free_streams() > 0
            && sent < 200
        {
            open.push((sent, client.send(0, sent)));
            sent += 1;
        }
        // Every third is given up at some time.
        if let Some(at) = open.iter().position(|(tag, _)| tag % 3 == 0) {
            let (_, stream) = open.remove(at);
            client.connection.reset(stream, &mut client.out);
            given_up += 1;
        }
        sent == 200 && open.is_empty()
    });
    assert_eq!(completed + given_up, 200);
    assert!((20..=67).contains(&given_up), "{given_up}");
}
