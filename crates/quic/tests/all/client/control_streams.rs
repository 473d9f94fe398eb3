//! What a server says on the streams that it opens itself.

use ablaze_quic::client::{End, NoRoom, NotSent, RequestSet, Why};
use ablaze_quic::quinn_proto::StreamId;
use ablaze_wire::http2::request::{Request, RequestText};
use ablaze_wire::http3::control::{first_bytes, stream_type};
use ablaze_wire::http3::error::ErrorKind;
use ablaze_wire::http3::frame::kind;
use ablaze_wire::http3::qpack::QpackFault;

use super::server::{Script, Served, Setup, answers, control, frame};
use super::world::World;

/// A server that opens streams as a function says.
struct Opens<F>(F);

impl<F: FnMut(&mut Served)> Script for Opens<F> {
    fn connected(&mut self, served: &mut Served) {
        (self.0)(served);
    }

    fn request(&mut self, served: &mut Served, id: StreamId, bytes: &[u8]) {
        answers(served, id, bytes);
    }
}

/// What becomes of a connection to such a server: its end, and what the server is told.
fn ends(open: impl FnMut(&mut Served) + 'static) -> (Why, String) {
    let mut world = World::new(Setup::default(), Opens(open));
    world.connect();
    world.get(&["/5"]);
    world.run(|world| world.client.ended().is_some());
    assert!(!world.client.stands());
    world.run(|world| world.server.served.as_ref().unwrap().lost.is_some());
    let told = world.server.served.as_ref().unwrap().lost.clone().unwrap();
    (world.client.ended().unwrap().why.clone(), told)
}

#[test]
fn a_server_that_breaks_the_rules_is_told_which() {
    let control_then = |bytes: Vec<u8>| [control(), bytes].concat();
    let cases: Vec<(&str, Vec<u8>, ErrorKind)> = vec![
        ("DATA", control_then(frame(kind::DATA, b"x")), ErrorKind::FrameUnexpected),
        ("HEADERS", control_then(frame(kind::HEADERS, b"x")), ErrorKind::FrameUnexpected),
        ("SETTINGS again", control_then(frame(kind::SETTINGS, b"")), ErrorKind::FrameUnexpected),
        ("MAX_PUSH_ID", control_then(frame(kind::MAX_PUSH_ID, &[1])), ErrorKind::FrameUnexpected),
        ("PING of HTTP/2", control_then(frame(0x6, &[0; 8])), ErrorKind::FrameUnexpected),
        ("CANCEL_PUSH", control_then(frame(kind::CANCEL_PUSH, &[0])), ErrorKind::Push),
        ("a long GOAWAY", control_then(frame(kind::GOAWAY, &[0, 0])), ErrorKind::FrameLength),
        ("a server's number", control_then(frame(kind::GOAWAY, &[1])), ErrorKind::Goaway),
        (
            "GOAWAY that rises",
            control_then([frame(kind::GOAWAY, &[0]), frame(kind::GOAWAY, &[4])].concat()),
            ErrorKind::Goaway,
        ),
        ("no SETTINGS", [vec![0], frame(kind::GOAWAY, &[0])].concat(), ErrorKind::NoSettings),
        (
            "a reserved setting",
            [vec![0], frame(kind::SETTINGS, &[2, 0])].concat(),
            ErrorKind::SettingOfHttp2,
        ),
        ("a push", vec![stream_type::PUSH as u8, 0], ErrorKind::Push),
        // Increments of 0, and capacity above the permitted 0 (RFC 9204, 4.3.1 and 4.4.3).
        (
            "a decoder that counts",
            vec![stream_type::QPACK_DECODER as u8, 0x01],
            ErrorKind::DecoderStream,
        ),
        (
            "an encoder that takes room",
            vec![stream_type::QPACK_ENCODER as u8, 0x3f, 0x45],
            ErrorKind::EncoderStream(QpackFault::TableSize),
        ),
    ];
    for (name, bytes, kind) in cases {
        let (why, told) = ends(move |served| _ = served.open(&bytes));
        assert_eq!(why, Why::Http3(kind), "{name}");
        let code = kind.code();
        assert!(told.contains(code.name().unwrap()), "{name}: {told}");
    }
}

#[test]
fn streams_that_must_stay_open_and_those_that_must_be_alone() {
    let (why, _) = ends(|served| {
        let id = served.open(&control());
        served.send(id, b"", true);
    });
    assert_eq!(why, Why::Http3(ErrorKind::CriticalStreamEnded));
    let (why, _) = ends(|served| {
        served.open(&control());
        served.open(&control());
    });
    assert_eq!(why, Why::Http3(ErrorKind::StreamRepeated));
    let mut world = World::new(Setup::default(), answers);
    world.connect();
    world.run(|world| world.client.peer_settings().is_some());
    world.act(|served| {
        let side = ablaze_quic::quinn_proto::Side::Server;
        served.reset(StreamId::new(side, ablaze_quic::quinn_proto::Dir::Uni, 0), 0x102);
    });
    world.run(|world| world.client.ended().is_some());
    assert_eq!(world.client.ended().unwrap().why, Why::Http3(ErrorKind::CriticalStreamEnded));
}

#[test]
fn what_nobody_knows_is_ignored() {
    let script = Opens(|served: &mut Served| {
        for round in 0..12 {
            let id = served.open_type(0x21 + 0x1f * round);
            served.send(id, b"whatever this is", round % 2 == 0);
        }
        served.open(&control());
    });
    let mut world = World::new(Setup::default(), script);
    world.connect();
    world.get(&["/7"]);
    world.run(|world| world.log.ended() == 1 && world.client.peer_settings().is_some());
    world.settle();
    assert!(world.client.stands());
    let resets = &world.server.served.as_ref().unwrap().resets;
    // H3_STREAM_CREATION_ERROR (RFC 9114, 6.2.3), for those that the server did not end itself.
    assert!(resets.iter().all(|(_, code)| *code == 0x103) && !resets.is_empty(), "{resets:?}");
}

#[test]
fn the_type_and_the_settings_can_come_byte_by_byte() {
    let mut world = World::new(Setup::default(), Opens(|_: &mut Served| {}));
    world.connect();
    let bytes = control();
    let mut id = None;
    for byte in bytes {
        world.act(|served| match id {
            None => id = Some(served.open(&[byte])),
            Some(id) => served.send(id, &[byte], false),
        });
        world.run_for(50_000_000, |_| false);
    }
    assert_eq!(world.log.settings.len(), 1);
    assert!(world.client.stands());
}

#[test]
fn goaway_in_the_middle_ends_what_the_server_will_not_process() {
    let script = |served: &mut Served, id: StreamId, bytes: &[u8]| {
        // The third request is the first that is not processed.
        if u64::from(id) < 8 {
            answers(served, id, bytes);
        } else if u64::from(id) == 8 {
            served.goaway(8);
        }
    };
    let mut world = World::new(Setup::default(), script);
    world.connect();
    world.get(&["/100000", "/200000", "/1", "/1"]);
    world.run(|world| world.log.ended() == 4);
    let ends: Vec<_> = (0..4).filter_map(|tag| world.log.end_of(tag)).collect();
    assert_eq!(ends, [End::Complete, End::Complete, End::Unprocessed, End::Unprocessed]);
    assert_eq!(world.log.goaways, [8]);
    assert!(world.client.is_draining() && world.client.ended().is_none());
    assert_eq!(world.client.free_streams(), 0);
    let set = RequestSet::new(&[Request::new("GET", "https", "server.test", "/")]);
    let refused = world.client.request(&set, 0, 0, &mut world.digits, 9);
    assert_eq!(refused, Err(NotSent::NoRoom(NoRoom::Draining)));
    world.settle();
    // H3_REQUEST_CANCELLED, if they were not answered.
    let resets = &world.server.served.as_ref().unwrap().resets;
    assert_eq!(resets.iter().map(|(_, code)| *code).collect::<Vec<_>>(), [0x10c, 0x10c]);
}

#[test]
fn a_server_that_permits_few_streams_of_ours_gets_what_it_permits() {
    for permitted in [0_u32, 1, 2] {
        let mut setup = Setup::default();
        setup.transport.max_concurrent_uni_streams(permitted.into());
        let mut world = World::new(setup, answers);
        world.connect();
        world.get(&["/9"]);
        world.run(|world| world.log.ended() == 1);
        assert_eq!(world.log.end_of(0), Some(End::Complete), "{permitted}");
    }
}

/// RFC 9114, 4.2.2: names, values and 32 bytes for each field, from the moment on that the server has said its limit.
#[test]
fn a_field_section_beyond_the_server_s_limit_is_not_sent() {
    let limit =
        |bytes_max: u64| move |served: &mut Served| _ = served.open(&first_bytes(0, bytes_max));
    let request = Request::new("GET", "https", "server.test", "/5").field("x", "y");
    // :method GET, :scheme https, :authority server.test, :path /5, x y.
    let size = 7 + 3 + 7 + 5 + 10 + 11 + 5 + 2 + 1 + 1 + 5 * 32;
    let set = RequestSet::new(&[request]);
    for (bytes_max, fits) in [(size, true), (size - 1, false)] {
        let mut world = World::new(Setup::default(), Opens(limit(bytes_max)));
        world.connect();
        world.run(|world| world.client.peer_settings().is_some());
        let asked = world.client.request(&set, 0, 0, &mut world.digits, 0);
        let text = RequestText::new(b"GET /5 HTTP/1.1\r\nHost: server.test\r\nX: y\r\n\r\n");
        let written = world.client.request_text(&set, &text, "https", 1);
        let too_large = Err(NotSent::TooLarge { section_bytes: size, bytes_max });
        match fits {
            true => assert_eq!((asked, written), (Ok(0), Ok(4))),
            false => assert_eq!((asked, written), (too_large, too_large)),
        }
        // No stream was used up by it.
        assert_eq!(world.client.free_streams(), if fits { 8 } else { 10 });
    }
}
