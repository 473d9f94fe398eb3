//! Responses that are wrong, cut or reset: each fails alone, unless the connection is of no use any more.

use ablaze_quic::client::{End, Why};
use ablaze_quic::quinn_proto::StreamId;
use ablaze_wire::http2::field::FieldFault;
use ablaze_wire::http3::error::{ErrorCode, ErrorKind, StreamFault};
use ablaze_wire::http3::frame::kind;
use ablaze_wire::http3::qpack::QpackFault;

use super::server::{Served, Setup, data, first_request, frame, head, ok};
use super::world::World;

/// A world whose server answers the first request with these bytes, whole if `ends`, and all others rightly.
fn answered(bytes: Vec<u8>, ends: bool) -> World {
    let script = move |served: &mut Served, id: StreamId, _: &[u8]| {
        if u64::from(id) == 0 {
            served.send(id, &bytes, ends);
        } else {
            served.send(id, &ok(b"fine"), true);
        }
    };
    let mut world = World::new(Setup::default(), script);
    world.connect();
    world.get(&["/wrong", "/fine", "/fine"]);
    world
}

#[test]
fn a_wrong_response_fails_alone() {
    let of_200 = |rest: &[u8]| [head(&[(":status", "200")]), rest.to_vec()].concat();
    let of_length = |content: &[u8]| {
        [head(&[(":status", "200"), ("content-length", "5")]), data(content)].concat()
    };
    let long = "x".repeat(70_000);
    let cases: Vec<(&str, Vec<u8>, StreamFault)> = vec![
        ("beyond its length", of_length(b"123456"), StreamFault::ContentLength),
        ("shorter", of_length(b"1234"), StreamFault::ContentLength),
        ("nothing", Vec::new(), StreamFault::NoFinalHead),
        ("only interim", head(&[(":status", "103")]), StreamFault::NoFinalHead),
        ("without status", head(&[("x-own", "1")]), StreamFault::NoStatus),
        ("101", head(&[(":status", "101")]), StreamFault::SwitchingProtocols),
        (
            "a late pseudo-header field",
            head(&[("x-own", "1"), (":status", "200")]),
            StreamFault::Field(FieldFault::LatePseudo),
        ),
        (
            "status among trailers",
            of_200(&head(&[(":status", "200")])),
            StreamFault::Field(FieldFault::MisplacedPseudo),
        ),
        (
            "an upper-case name",
            head(&[(":status", "200"), ("X-Own", "1")]),
            StreamFault::Field(FieldFault::Name),
        ),
        ("too large", head(&[(":status", "200"), ("x", &long)]), StreamFault::FieldsTooLarge),
    ];
    for (name, bytes, fault) in cases {
        let mut world = answered(bytes, true);
        world.run(|world| world.log.ended() == 3);
        assert_eq!(world.log.end_of(0), Some(End::Fault(fault)), "{name}");
        assert_eq!(world.log.end_of(1), Some(End::Complete), "{name}");
        assert_eq!(world.log.end_of(2), Some(End::Complete), "{name}");
        assert!(world.client.stands() && world.client.free_streams() == 10, "{name}");
    }
}

#[test]
fn some_mistakes_end_the_connection() {
    let cases: Vec<(&str, Vec<u8>, ErrorKind)> = vec![
        ("DATA first", data(b"x"), ErrorKind::FrameUnexpected),
        ("SETTINGS", frame(kind::SETTINGS, b""), ErrorKind::FrameUnexpected),
        ("GOAWAY", [ok(b"x"), frame(kind::GOAWAY, &[0])].concat(), ErrorKind::FrameUnexpected),
        ("a push", frame(kind::PUSH_PROMISE, &[0, 0, 0]), ErrorKind::Push),
        ("WINDOW_UPDATE of HTTP/2", frame(0x8, &[0; 4]), ErrorKind::FrameUnexpected),
        ("a cut frame", ok(b"x")[..3].to_vec(), ErrorKind::FrameCut),
        (
            "no such field",
            frame(kind::HEADERS, &[0, 0, 0xff, 0x24]),
            ErrorKind::Qpack(QpackFault::Index),
        ),
        (
            "a table that is not there",
            frame(kind::HEADERS, &[2, 0, 0x80]),
            ErrorKind::Qpack(QpackFault::Prefix),
        ),
    ];
    for (name, bytes, kind) in cases {
        let mut world = answered(bytes, true);
        world.run(|world| world.client.ended().is_some());
        assert_eq!(world.client.ended().unwrap().why, Why::Http3(kind), "{name}");
        assert_eq!(world.log.end_of(0), None, "{name}: its owner ends it");
    }
}

#[test]
fn resets_are_named_by_their_code() {
    let codes = (0x100..0x112).chain(0x200..0x204).chain([0, 0x21, (1 << 62) - 1]);
    for code in codes {
        for begun in [false, true] {
            let script = move |served: &mut Served, id: StreamId, _: &[u8]| {
                if u64::from(id) != 0 {
                    return served.send(id, &ok(b"fine"), true);
                }
                if begun {
                    served.send(id, &head(&[(":status", "200")]), false);
                } else {
                    served.reset(id, code);
                }
            };
            let mut world = World::new(Setup::default(), script);
            world.connect();
            world.get(&["/reset", "/fine"]);
            world.run(|world| world.log.end_of(1).is_some());
            if begun {
                world.act(|served| {
                    served.reset(first_request(), code);
                });
            }
            world.run(|world| world.log.ended() == 2);
            let rejected = ErrorCode(code) == ErrorCode::REQUEST_REJECTED && !begun;
            let end = if rejected { End::Unprocessed } else { End::Reset(ErrorCode(code)) };
            assert_eq!(world.log.end_of(0), Some(end));
            assert_eq!(world.log.end_of(1), Some(End::Complete));
            assert!(world.client.stands());
        }
    }
}

#[test]
fn a_response_that_comes_byte_by_byte_is_the_same() {
    let mut world = answered(Vec::new(), false);
    let whole = [head(&[(":status", "200"), ("content-length", "3")]), data(b"ab"), data(b"c")];
    world.run(|world| world.log.ended() == 2);
    let id = first_request();
    for byte in whole.concat() {
        world.act(|served| served.send(id, &[byte], false));
        world.run_for(50_000_000, |_| false);
    }
    assert_eq!(world.log.end_of(0), None);
    world.act(|served| served.send(id, b"", true));
    world.run(|world| world.log.ended() == 3);
    assert_eq!(world.log.end_of(0), Some(End::Complete));
    assert_eq!(world.log.exchanges[&0].content, b"abc");
}
