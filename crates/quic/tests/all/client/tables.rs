//! Responses that refer to a dynamic table (RFC 9204), where one was permitted.

use ablaze_quic::client::{End, Options, RequestSet, Why};
use ablaze_quic::quinn_proto::StreamId;
use ablaze_wire::http2::request::Request;
use ablaze_wire::http3::control::stream_type;
use ablaze_wire::http3::error::ErrorKind;
use ablaze_wire::http3::frame::kind;
use ablaze_wire::http3::qpack::QpackFault;

use super::server::{Script, Served, Setup, control, frame};
use super::world::{World, tls};

/// Fills the client's table with `x-own: 1` and answers with a reference to it.
struct Fills;

impl Script for Fills {
    fn connected(&mut self, served: &mut Served) {
        served.open(&control());
        // Capacity 220; a literal name of 5 bytes, a value of one (4.3.1, 4.3.3).
        let instructions = b"\x3f\xbd\x01\x45x-own\x011";
        served.open(&[&[stream_type::QPACK_ENCODER as u8], &instructions[..]].concat());
    }

    fn request(&mut self, served: &mut Served, id: StreamId, _: &[u8]) {
        // It needs one entry of at most 12 (4.5.1.1: 1 % 24 + 1), its base is 1; `:status 200` of the static table and the
        // newest entry.
        served.send(id, &frame(kind::HEADERS, &[2, 0, 0xc0 | 25, 0x80]), true);
    }
}

fn world(table_bytes: u32) -> World {
    world_with(table_bytes, 2, Setup::default())
}

fn world_with(table_bytes: u32, streams: u32, setup: Setup) -> World {
    let mut options = Options::with_streams(streams);
    options.table_bytes = table_bytes;
    let mut world = World::with(options, &tls(), "server.test", setup, Fills);
    world.log.wants_fields = true;
    world.connect();
    world.run(|world| world.client.peer_settings().is_some() || world.client.ended().is_some());
    world
}

#[test]
fn entries_are_read_and_acknowledged() {
    let mut world = world(400);
    world.settle();
    world.get(&["/", "/"]);
    world.run(|world| world.log.ended() == 2);
    let own = ("x-own".to_owned(), "1".to_owned());
    assert_eq!(world.log.fields.iter().filter(|field| **field == own).count(), 2);
    world.settle();
    // Insert Count Increment of 1, Section Acknowledgment of streams 0 and 4 (4.4.1, 4.4.3).
    let said = world.server.served.as_ref().unwrap().said_on(stream_type::QPACK_DECODER);
    assert_eq!(said, [1, 0x80, 0x84]);
}

#[test]
fn a_table_that_was_not_permitted_ends_the_connection() {
    let mut world = world(0);
    world.run(|world| world.client.ended().is_some());
    let fault = ErrorKind::EncoderStream(QpackFault::TableSize);
    assert_eq!(world.client.ended().unwrap().why, Why::Http3(fault));
}

#[test]
fn a_stream_that_is_given_up_takes_its_references_back() {
    let mut world = world(400);
    world.settle();
    world.get(&["/"]);
    world.client.reset(0);
    world.settle();
    assert_eq!(world.log.end_of(0), None::<End>);
    // Stream Cancellation of 0 (4.4.2).
    let said = world.server.served.as_ref().unwrap().said_on(stream_type::QPACK_DECODER);
    assert_eq!(said, [1, 0x40]);
}

/// RFC 9114, 6.2: it has to permit three streams.
#[test]
fn a_server_that_takes_no_acknowledgments_is_left_before_they_fill_the_memory() {
    let mut setup = Setup::default();
    setup.transport.max_concurrent_uni_streams(2_u32.into());
    let mut world = world_with(400, 100, setup);
    world.log.is_quiet = true;
    let set = RequestSet::new(&[Request::new("GET", "https", "server.test", "/")]);
    while world.client.ended().is_none() {
        while world.client.free_streams() > 0 {
            world.client.request(&set, 0, 0, &mut world.digits, 0).unwrap();
        }
        world.run(|world| world.client.free_streams() > 0 || world.client.ended().is_some());
        assert!(world.log.quietly_ended < 20_000);
    }
    assert_eq!(world.client.ended().unwrap().why, Why::Http3(ErrorKind::StreamWithoutRoom));
    // 64 KiB of acknowledgments, of 1 to 4 bytes.
    assert!(world.log.quietly_ended > 16_000, "{}", world.log.quietly_ended);
}

/// What had no room leaves when there is some.
#[test]
fn acknowledgments_go_on_with_the_server_s_room() {
    let mut setup = Setup::default();
    setup.transport.stream_receive_window(1_u32.into());
    let mut world = world_with(400, 2, setup);
    world.settle();
    world.get(&["/", "/"]);
    world.run(|world| world.log.ended() == 2);
    world.settle();
    let said = world.server.served.as_ref().unwrap().said_on(stream_type::QPACK_DECODER);
    assert_eq!(said, [1, 0x80, 0x84]);
}
