//! Connections end: with or without a reason, with or without requests on their way.

use ablaze_quic::client::{End, NoRoom, NotSent, Options, RequestSet, Why};
use ablaze_quic::quinn_proto::StreamId;
use ablaze_wire::http2::request::Request;
use ablaze_wire::http3::error::ErrorCode;

use super::server::{Served, Setup, answers, data, head, ok, path};
use super::world::{World, tls};

#[test]
fn what_the_server_said_commands_no_terminal() {
    let mut world = World::new(Setup::default(), answers);
    world.connect();
    world.run(|world| world.client.began());
    world.act(|served| served.close(0x107, b"\x1b[31mgo\x07 away\xff"));
    world.run(|world| world.client.ended().is_some());
    let ended = world.client.ended().unwrap();
    assert_eq!(ended.why, Why::ByServer(ErrorCode::EXCESSIVE_LOAD));
    assert_eq!(ended.code_name().unwrap(), "H3_EXCESSIVE_LOAD");
    let shown = ended.to_string();
    assert!(
        shown.starts_with("the server closed the connection with H3_EXCESSIVE_LOAD: "),
        "{shown}"
    );
    assert!(!shown.contains(char::is_control) && shown.contains("away"), "{shown:?}");
    assert!(!world.client.stands() && world.client.is_draining());
    let set = RequestSet::new(&[Request::new("GET", "https", "server.test", "/")]);
    let refused = world.client.request(&set, 0, 0, &mut world.digits, 0);
    assert_eq!(refused, Err(NotSent::NoRoom(NoRoom::Draining)));
}

#[test]
fn a_long_reason_has_an_end() {
    let mut world = World::new(Setup::default(), answers);
    world.connect();
    world.run(|world| world.client.began());
    world.act(|served| served.close(0x100, &[b'x'; 900]));
    world.run(|world| world.client.ended().is_some());
    assert_eq!(world.client.ended().unwrap().said.len(), 200);
}

#[test]
fn what_came_before_the_close_counts() {
    let script = |served: &mut Served, id: StreamId, bytes: &[u8]| match &path(bytes)[..] {
        "/whole" => served.send(id, &ok(b"all of it"), true),
        "/begun" => served.send(id, &[head(&[(":status", "200")]), data(b"half")].concat(), false),
        "/half" => served.send(id, &head(&[(":status", "200")])[..3], false),
        "/nothing" => served.send(id, b"", false),
        _ => served.close(0x100, b""),
    };
    let mut world = World::new(Setup::default(), script);
    world.connect();
    world.get(&["/whole", "/begun", "/half", "/nothing"]);
    world.run(|world| world.log.ended() == 1 && world.log.exchanges.len() == 2);
    world.settle();
    let set = RequestSet::new(&[Request::new("GET", "https", "server.test", "/close")]);
    world.client.request(&set, 0, 0, &mut world.digits, 4).unwrap();
    world.run(|world| world.client.ended().is_some());
    assert_eq!(world.client.ended().unwrap().why, Why::ByServer(ErrorCode::NO_ERROR));
    assert_eq!(world.log.end_of(0), Some(End::Complete));
    assert_eq!(world.log.ended(), 1, "the others are its owner's to end");
    let mut open: Vec<(u32, bool)> = world.client.open_streams().collect();
    open.sort_unstable();
    assert_eq!(open, [(1, true), (2, true), (3, false), (4, false)]);
}

#[test]
fn a_connection_is_closed_without_an_error() {
    let mut world = World::new(Setup::default(), answers);
    world.connect();
    world.get(&["/3"]);
    world.run(|world| world.log.ended() == 1);
    world.client.close(world.now_ns);
    assert_eq!(world.client.ended().unwrap().why, Why::Closed);
    world.run(|world| world.server.served.as_ref().unwrap().lost.is_some());
    let said = world.server.served.as_ref().unwrap().lost.clone().unwrap();
    // 0x100 is H3_NO_ERROR.
    assert!(said.contains("256"), "{said}");
    world.client.close(world.now_ns);
    world.settle();
    assert_eq!(world.client.ended().unwrap().why, Why::Closed);
}

#[test]
fn silence_ends_a_connection() {
    let mut options = Options::with_streams(1);
    options.transport.idle_timeout_ns = 2_000_000_000;
    let mut world = World::with(options, &tls(), "server.test", Setup::default(), answers);
    world.connect();
    world.run(|world| world.client.ended().is_some());
    assert_eq!(world.client.ended().unwrap().why, Why::IdleTimeout);
    // The last packet came a few round trips after the first.
    assert!((3_000_000_000..3_200_000_000).contains(&world.now_ns), "{}", world.now_ns);
}

#[test]
fn without_a_timeout_silence_ends_nothing() {
    let mut options = Options::with_streams(1);
    options.transport.idle_timeout_ns = 0;
    let mut setup = Setup::default();
    setup.transport.max_idle_timeout(None);
    let mut world = World::with(options, &tls(), "server.test", setup, answers);
    world.connect();
    assert!(!world.run_for(3_600_000_000_000, |world| world.client.ended().is_some()));
}

#[test]
fn a_server_that_was_started_again_knows_nobody() {
    let mut world = World::new(Setup::default(), answers);
    world.connect();
    world.get(&["/3"]);
    world.run(|world| world.log.ended() == 1);
    world.settle();
    world.server.restart();
    let set = RequestSet::new(&[Request::new("GET", "https", "server.test", "/4")]);
    world.client.request(&set, 0, 0, &mut world.digits, 1).unwrap();
    world.run(|world| world.client.ended().is_some());
    assert_eq!(world.client.ended().unwrap().why, Why::Forgotten);
    assert_eq!(world.client.open_streams().collect::<Vec<_>>(), [(1, false)]);
}
