//! What a peer must not do: each with the error RFC 9113 has for it, and floods that must end.

use ablaze_wire::http2::client::{End, Options};
use ablaze_wire::http2::error::{ErrorCode, ErrorKind, StreamFault};
use ablaze_wire::http2::field::FieldFault;
use ablaze_wire::http2::frame::{flag, kind, setting};
use ablaze_wire::http2::hpack::HpackFault;

use crate::http2::frames::{block, data, frame, get, headers, settings, window_update};
use crate::http2::peer::{Client, Told, frames, goaway, reset};

/// Streams 1 and 3 are open, 5 was given up by us, 7 ended, 9 was never opened.
fn client() -> Client {
    let mut client = Client::ready();
    for tag in 0..4 {
        client.send(0, tag);
    }
    client.connection.reset(5, &mut client.out);
    client.receive(&headers(7, true, &[0x88])).unwrap();
    client.told();
    client.out.clear();
    client
}

#[test]
fn violations_that_end_the_connection() {
    use ErrorCode as Code;
    use ErrorKind as Kind;
    let f = frame;
    let long = vec![0; 16_385];
    let table: Vec<(&str, Vec<u8>, Kind, Code)> = vec![
        // 4.2: frame size.
        ("4.2", f(kind::DATA, 0, 1, &long), Kind::FrameTooLong, Code::FRAME_SIZE_ERROR),
        ("4.2", f(0x99, 0, 0, &long), Kind::FrameTooLong, Code::FRAME_SIZE_ERROR),
        // 5.1, 5.1.1: streams that are not open.
        ("5.1", data(9, false, b"x"), Kind::IdleStream, Code::PROTOCOL_ERROR),
        ("5.1", headers(9, true, &[0x88]), Kind::IdleStream, Code::PROTOCOL_ERROR),
        ("5.1", reset(9, Code::CANCEL), Kind::IdleStream, Code::PROTOCOL_ERROR),
        ("5.1", window_update(9, 1), Kind::IdleStream, Code::PROTOCOL_ERROR),
        ("5.1.1", headers(2, true, &[0x88]), Kind::IdleStream, Code::PROTOCOL_ERROR),
        ("5.1", data(7, true, b"x"), Kind::ClosedStream, Code::STREAM_CLOSED),
        ("5.1", headers(7, true, &[0x88]), Kind::ClosedStream, Code::STREAM_CLOSED),
        // 6.1: DATA.
        ("6.1", data(0, false, b"x"), Kind::WrongStream, Code::PROTOCOL_ERROR),
        ("6.1", f(kind::DATA, flag::PADDED, 1, &[3, 0, 0]), Kind::Padding, Code::PROTOCOL_ERROR),
        ("6.1", f(kind::DATA, flag::PADDED, 1, &[1]), Kind::Padding, Code::PROTOCOL_ERROR),
        ("4.2", f(kind::DATA, flag::PADDED, 1, &[]), Kind::FrameLength, Code::FRAME_SIZE_ERROR),
        // 6.2: HEADERS.
        ("6.2", headers(0, true, &[0x88]), Kind::WrongStream, Code::PROTOCOL_ERROR),
        ("6.2", f(1, flag::PADDED | 4, 1, &[2, 0x88]), Kind::Padding, Code::PROTOCOL_ERROR),
        ("4.2", f(1, flag::PADDED | 4, 1, &[]), Kind::FrameLength, Code::FRAME_SIZE_ERROR),
        ("4.2", f(1, flag::PRIORITY | 4, 1, &[0; 4]), Kind::FrameLength, Code::FRAME_SIZE_ERROR),
        // 6.3: PRIORITY.
        ("6.3", f(kind::PRIORITY, 0, 0, &[0; 5]), Kind::WrongStream, Code::PROTOCOL_ERROR),
        // 6.4: RST_STREAM.
        ("6.4", reset(0, Code::CANCEL), Kind::WrongStream, Code::PROTOCOL_ERROR),
        ("6.4", f(kind::RST_STREAM, 0, 1, &[0; 3]), Kind::FrameLength, Code::FRAME_SIZE_ERROR),
        // 6.5: SETTINGS.
        ("6.5", f(kind::SETTINGS, 0, 1, &[]), Kind::WrongStream, Code::PROTOCOL_ERROR),
        ("6.5", f(kind::SETTINGS, 0, 0, &[0; 5]), Kind::FrameLength, Code::FRAME_SIZE_ERROR),
        ("6.5", f(4, flag::ACK, 0, &[0; 6]), Kind::FrameLength, Code::FRAME_SIZE_ERROR),
        ("6.5.2", settings(&[(2, 1)]), Kind::SettingValue, Code::PROTOCOL_ERROR),
        ("6.5.2", settings(&[(2, 2)]), Kind::SettingValue, Code::PROTOCOL_ERROR),
        ("6.5.2", settings(&[(4, 1 << 31)]), Kind::SettingWindow, Code::FLOW_CONTROL_ERROR),
        ("6.5.2", settings(&[(5, 16_383)]), Kind::SettingValue, Code::PROTOCOL_ERROR),
        ("6.5.2", settings(&[(5, 1 << 24)]), Kind::SettingValue, Code::PROTOCOL_ERROR),
        // 6.6 and 8.4: PUSH_PROMISE.
        ("8.4", f(5, 4, 1, &[0, 0, 0, 2, 0x82]), Kind::Push, Code::PROTOCOL_ERROR),
        // 6.7: PING.
        ("6.7", f(kind::PING, 0, 1, &[0; 8]), Kind::WrongStream, Code::PROTOCOL_ERROR),
        ("6.7", f(kind::PING, 0, 0, &[0; 7]), Kind::FrameLength, Code::FRAME_SIZE_ERROR),
        ("6.7", f(kind::PING, flag::ACK, 0, &[0; 9]), Kind::FrameLength, Code::FRAME_SIZE_ERROR),
        // 6.8: GOAWAY.
        ("6.8", f(kind::GOAWAY, 0, 1, &[0; 8]), Kind::WrongStream, Code::PROTOCOL_ERROR),
        ("4.2", f(kind::GOAWAY, 0, 0, &[0; 7]), Kind::FrameLength, Code::FRAME_SIZE_ERROR),
        (
            "6.8",
            [goaway(3, Code::NO_ERROR, b""), goaway(5, Code::NO_ERROR, b"")].concat(),
            Kind::GoawayRaised,
            Code::PROTOCOL_ERROR,
        ),
        // 6.9: WINDOW_UPDATE.
        ("6.9", window_update(0, 0), Kind::WindowIncrement, Code::PROTOCOL_ERROR),
        ("6.9", f(8, 0, 0, &[0; 3]), Kind::FrameLength, Code::FRAME_SIZE_ERROR),
        ("6.9", f(8, 0, 1, &[0; 5]), Kind::FrameLength, Code::FRAME_SIZE_ERROR),
        ("6.9.1", window_update(0, 0x7fff_ffff), Kind::WindowOverflow, Code::FLOW_CONTROL_ERROR),
        (
            "6.9.2",
            [window_update(1, 0x7fff_0000), settings(&[(4, 0x7fff_ffff)])].concat(),
            Kind::SettingWindowOverflow,
            Code::FLOW_CONTROL_ERROR,
        ),
        // 6.10: CONTINUATION.
        ("6.10", f(9, 4, 1, &[0x88]), Kind::NoBlockToContinue, Code::PROTOCOL_ERROR),
        (
            "6.10",
            [headers(1, false, &[0x88]), f(9, 4, 1, &[])].concat(),
            Kind::NoBlockToContinue,
            Code::PROTOCOL_ERROR,
        ),
        (
            "6.10",
            [f(1, 0, 1, &[0x88]), data(1, false, b"x")].concat(),
            Kind::BlockInterrupted,
            Code::PROTOCOL_ERROR,
        ),
        (
            "6.10",
            [f(1, 0, 1, &[0x88]), f(9, 4, 3, &[])].concat(),
            Kind::BlockInterrupted,
            Code::PROTOCOL_ERROR,
        ),
        (
            "6.2",
            [f(1, 0, 1, &[0x88]), f(0x77, 0, 1, &[])].concat(),
            Kind::BlockInterrupted,
            Code::PROTOCOL_ERROR,
        ),
        // 4.3: blocks that cannot be decoded, on a stream nobody wants, too.
        ("4.3", headers(1, true, &[0x80]), HpackFault::Index.into(), Code::COMPRESSION_ERROR),
        ("4.3", headers(5, true, &[0xff]), HpackFault::Truncated.into(), Code::COMPRESSION_ERROR),
        (
            "4.3",
            headers(1, true, &[0x88, 0x20]),
            HpackFault::TableSizePlace.into(),
            Code::COMPRESSION_ERROR,
        ),
    ];
    for (section, bytes, kind, code) in table {
        let mut client = client();
        assert_eq!(client.receive(&bytes), Err(kind), "RFC 9113, {section}");
        let written = client.written();
        let (head, payload) = written.last().unwrap();
        assert_eq!((head.kind, head.stream), (kind::GOAWAY, 0), "{kind}");
        assert_eq!(payload[4..], code.0.to_be_bytes(), "RFC 9113, {section}: {kind}");
        // It stays that way, and says what to do with the streams.
        assert_eq!(client.receive(&headers(1, true, &[0x88])), Err(kind));
        assert!(client.written().is_empty());
        assert_eq!(client.connection.free_streams(), 0);
        assert!(client.connection.open_streams().any(|(tag, _)| tag == 0 || tag == 1));
    }
}

#[test]
fn violations_that_end_a_stream() {
    use ErrorCode as Code;
    use StreamFault as Fault;
    let response = |fields: &[(&str, &str)]| headers(1, false, &block(fields));
    let ok = || response(&[(":status", "200")]);
    let field = |name, value| response(&[(":status", "200"), (name, value)]);
    let table: Vec<(&str, Vec<u8>, Fault, Code)> = vec![
        ("8.1", data(1, false, b"x"), Fault::DataBeforeHead, Code::PROTOCOL_ERROR),
        ("8.1", data(1, true, b""), Fault::DataBeforeHead, Code::PROTOCOL_ERROR),
        (
            "8.1",
            [ok(), response(&[("a", "b")])].concat(),
            Fault::TrailersWithoutEnd,
            Code::PROTOCOL_ERROR,
        ),
        (
            "8.1",
            [ok(), headers(1, true, &[0x88])].concat(),
            FieldFault::MisplacedPseudo.into(),
            Code::PROTOCOL_ERROR,
        ),
        (
            "8.1",
            headers(1, true, &block(&[(":status", "100")])),
            Fault::InterimEnd,
            Code::PROTOCOL_ERROR,
        ),
        ("8.6", response(&[(":status", "101")]), Fault::SwitchingProtocols, Code::PROTOCOL_ERROR),
        (
            "8.1.1",
            [field("content-length", "3"), data(1, true, b"xx")].concat(),
            Fault::ContentLength,
            Code::PROTOCOL_ERROR,
        ),
        (
            "8.1.1",
            [field("content-length", "18446744073709551615"), data(1, true, b"xx")].concat(),
            Fault::ContentLength,
            Code::PROTOCOL_ERROR,
        ),
        (
            "8.1.1",
            [field("content-length", "3"), data(1, false, b"xxxx")].concat(),
            Fault::ContentLength,
            Code::PROTOCOL_ERROR,
        ),
        (
            "8.1.1",
            headers(1, true, &block(&[(":status", "200"), ("content-length", "3")])),
            Fault::ContentLength,
            Code::PROTOCOL_ERROR,
        ),
        (
            "8.1.1",
            [response(&[(":status", "204")]), data(1, true, b"x")].concat(),
            Fault::DataForbidden,
            Code::PROTOCOL_ERROR,
        ),
        ("8.2.1", field("Server", "x"), FieldFault::Name.into(), Code::PROTOCOL_ERROR),
        ("8.2.1", field("server", "a\nb"), FieldFault::Value.into(), Code::PROTOCOL_ERROR),
        ("8.2.1", field("server", " x"), FieldFault::ValueSpace.into(), Code::PROTOCOL_ERROR),
        (
            "8.2.2",
            field("connection", "close"),
            FieldFault::ConnectionSpecific.into(),
            Code::PROTOCOL_ERROR,
        ),
        ("8.3", field(":status", "200"), FieldFault::RepeatedPseudo.into(), Code::PROTOCOL_ERROR),
        (
            "8.3",
            response(&[("a", "b"), (":status", "200")]),
            FieldFault::LatePseudo.into(),
            Code::PROTOCOL_ERROR,
        ),
        ("8.3", field(":path", "/"), FieldFault::MisplacedPseudo.into(), Code::PROTOCOL_ERROR),
        ("8.3", field(":what", "/"), FieldFault::UnknownPseudo.into(), Code::PROTOCOL_ERROR),
        ("8.3.2", response(&[("server", "x")]), Fault::PseudoMissing, Code::PROTOCOL_ERROR),
        (
            "8.3.2",
            response(&[(":status", "2000")]),
            FieldFault::Status.into(),
            Code::PROTOCOL_ERROR,
        ),
        (
            "6.3",
            frame(kind::PRIORITY, 0, 1, &[0; 4]),
            Fault::PriorityLength,
            Code::FRAME_SIZE_ERROR,
        ),
        ("6.9", window_update(1, 0), Fault::WindowIncrement, Code::PROTOCOL_ERROR),
        ("6.9.1", window_update(1, 0x7fff_ffff), Fault::WindowOverflow, Code::FLOW_CONTROL_ERROR),
    ];
    for (section, bytes, fault, code) in table {
        let mut client = client();
        client.receive(&bytes).unwrap();
        let ended = Told::Ended(0, End::Fault(fault));
        assert_eq!(client.told().last(), Some(&ended), "RFC 9113, {section}");
        let written = client.written();
        let (head, payload) = written.last().unwrap();
        assert_eq!((head.kind, head.stream), (kind::RST_STREAM, 1), "{fault}");
        assert_eq!(payload[..], code.0.to_be_bytes(), "RFC 9113, {section}: {fault}");
        // The other stream goes on; what comes late is no fault.
        client.receive(&[data(1, true, b"late"), headers(3, true, &[0x88])].concat()).unwrap();
        assert_eq!(client.told(), [Told::Head(1, 200, None), Told::Ended(1, End::Complete)]);
    }
}

#[test]
fn a_window_of_ours_is_not_exceeded() {
    // 6.9.1. The stream's window is 100 once the settings are acknowledged, the connection's
    // never below 65,535.
    let small =
        Options { stream_window_bytes: 100, connection_window_bytes: 65_535, ..Options::default() };
    let mut client = Client::ready_with(small, &[get()]);
    client.send(0, 0);
    client.receive(&[headers(1, false, &[0x88]), data(1, false, &[b'x'; 40])].concat()).unwrap();
    client.receive(&data(1, false, &[b'x'; 61])).unwrap();
    let fault = StreamFault::WindowExceeded;
    assert_eq!(client.told().last(), Some(&Told::Ended(0, End::Fault(fault))));
    let (head, payload) = client.written().pop().unwrap();
    assert_eq!((head.kind, payload[3]), (kind::RST_STREAM, 3));

    // A stream that was given up counts anyway: its frames use the connection's window.
    let mut client = Client::ready_with(Options { payload_bytes_max: 70_000, ..small }, &[get()]);
    client.send(0, 0);
    client.connection.reset(1, &mut client.out);
    assert_eq!(client.receive(&data(1, false, &[0; 65_536])), Err(ErrorKind::WindowExceeded));
}

#[test]
fn peers_that_do_not_speak_http_2() {
    let first = |bytes: &[u8]| {
        let whole = Client::new(Options::default(), &[get()]).receive(bytes);
        let mut client = Client::new(Options::default(), &[get()]);
        let by_byte = bytes.iter().map(|byte| client.receive(&[*byte])).find(Result::is_err);
        assert_eq!(by_byte, Some(whole));
        whole.unwrap_err()
    };
    assert_eq!(first(b"HTTP/1.1 400 Bad Request\r\n\r\n"), ErrorKind::AnsweredHttp1);
    assert_eq!(first(b"\x15\x03\x01\x00\x02\x02\x46"), ErrorKind::AnsweredTls);
    assert_eq!(first(b"220 smtp.example.com ESMTP\r\n"), ErrorKind::FrameTooLong);
    // 3.4: the first frame is SETTINGS, and no acknowledgement.
    assert_eq!(first(&frame(kind::PING, 0, 0, &[0; 8])), ErrorKind::NoSettings);
    assert_eq!(first(&frame(kind::SETTINGS, flag::ACK, 0, &[])), ErrorKind::NoSettings);
}

/// Sends the same bytes again and again until the connection ends.
fn flood(bytes: &[u8]) -> ErrorKind {
    let mut client = client();
    let mut written = 0;
    for _ in 0..30_000 {
        if let Err(kind) = client.receive(bytes) {
            assert_eq!(kind.code(), ErrorCode::ENHANCE_YOUR_CALM);
            assert!(written + client.out.len() < 1 << 20, "{kind}: {written} bytes");
            return kind;
        }
        written += client.out.len();
        client.out.clear();
    }
    panic!("no end to {bytes:?}");
}

#[test]
fn floods_end() {
    assert_eq!(flood(&settings(&[(4, 1)])), ErrorKind::SettingsFlood);
    assert_eq!(flood(&frame(kind::PING, 0, 0, &[0; 8])), ErrorKind::PingFlood);
    assert_eq!(flood(&frame(kind::PING, flag::ACK, 0, &[0; 8])), ErrorKind::IdleFrameFlood);
    assert_eq!(flood(&frame(kind::SETTINGS, flag::ACK, 0, &[])), ErrorKind::IdleFrameFlood);
    assert_eq!(flood(&frame(kind::PRIORITY, 0, 1, &[0; 5])), ErrorKind::IdleFrameFlood);
    assert_eq!(flood(&frame(0x77, 0, 1, &[0; 5])), ErrorKind::IdleFrameFlood);
    assert_eq!(flood(&goaway(3, ErrorCode::NO_ERROR, b"")), ErrorKind::IdleFrameFlood);
    assert_eq!(flood(&window_update(1, 1)), ErrorKind::WindowUpdateFlood);
    assert_eq!(flood(&reset(7, ErrorCode::CANCEL)), ErrorKind::ResetFlood);
    // Late frames for a stream we gave up, one of them with a response of its own.
    assert_eq!(flood(&data(5, false, b"")), ErrorKind::IdleFrameFlood);
    assert_eq!(flood(&headers(5, false, &[0x88])), ErrorKind::IdleFrameFlood);
    assert_eq!(flood(&headers(1, false, &block(&[(":status", "103")]))), ErrorKind::InterimFlood);
}

#[test]
fn empty_frames_within_a_response_end() {
    let mut client = client();
    client.receive(&headers(1, false, &[0x88])).unwrap();
    let empty = data(1, false, b"");
    let result = (0..30_000).find_map(|_| client.receive(&empty).err());
    assert_eq!(result, Some(ErrorKind::EmptyDataFlood));

    let mut client = self::client();
    client.receive(&frame(kind::HEADERS, 0, 1, &[0x88])).unwrap();
    let more = frame(kind::CONTINUATION, 0, 1, &[]);
    let result = (0..30_000).find_map(|_| client.receive(&more).err());
    assert_eq!(result, Some(ErrorKind::ContinuationFlood));
}

#[test]
fn heads_that_are_too_large() {
    // 10.5.1: a block that goes on for ever.
    let mut client = client();
    client.receive(&frame(kind::HEADERS, 0, 1, &[0x88])).unwrap();
    let more = frame(kind::CONTINUATION, 0, 1, &[0x88; 10_000]);
    let result = (0..100).find_map(|_| client.receive(&more).err());
    assert_eq!(result, Some(ErrorKind::BlockTooLong));
    assert_eq!(ErrorKind::BlockTooLong.code(), ErrorCode::ENHANCE_YOUR_CALM);

    // A bomb: one entry of 4,000 bytes, referred to a thousand times. The stream ends, the table
    // stays right.
    let mut client = self::client();
    let entry = [&[0x88, 0x40, 1, b'a', 0x7f, 0xa1, 0x1e][..], &[b'x'; 4_000]].concat();
    let bomb = [&entry[..], &[0xbe; 1_000]].concat();
    client.receive(&headers(1, true, &bomb)).unwrap();
    let fault = StreamFault::FieldsTooLarge;
    assert_eq!(client.told(), [Told::Ended(0, End::Fault(fault))]);
    client.notes.wants_fields = true;
    client.receive(&headers(3, true, &[0x88, 0xbe])).unwrap();
    let told = client.told();
    assert_eq!(told[1], Told::Field(1, "a".into(), "x".repeat(4_000)));
    assert_eq!(told[3], Told::Ended(1, End::Complete));

    // Who looks at the fields is not shown more of them than the limit.
    let mut client = self::client();
    client.notes.wants_fields = true;
    client.receive(&headers(1, true, &bomb)).unwrap();
    let shown = client.told().into_iter().map(|told| match told {
        Told::Field(_, name, value) => name.len() + value.len() + 32,
        _ => 0,
    });
    let shown: usize = shown.sum();
    assert!((60_000..=65_536).contains(&shown), "{shown}");
}

#[test]
fn a_smaller_table_of_ours_has_to_be_announced() {
    // 4.3.1: once our setting is acknowledged.
    let options = Options { header_table_bytes: 0, ..Options::default() };
    let mut client = Client::new(options, &[get()]);
    let written = frames(&client.out);
    assert!(written[0].1.starts_with(&[0, setting::HEADER_TABLE_SIZE as u8, 0, 0, 0, 0]));
    client.receive(&settings(&[])).unwrap();
    client.send(0, 0);
    client.send(0, 1);
    client.receive(&headers(1, true, &[0x88])).unwrap();
    client.receive(&frame(kind::SETTINGS, flag::ACK, 0, &[])).unwrap();
    let missing = ErrorKind::Hpack(HpackFault::TableSizeMissing);
    assert_eq!(client.receive(&headers(3, true, &[0x88])), Err(missing));
}
