//! Bodies of requests within the server's windows.

use ablaze_quic::client::{End, Options, RequestSet};
use ablaze_quic::quinn_proto::StreamId;
use ablaze_wire::http2::request::Request;

use super::server::{Script, Served, Setup, content, first_request, ok, read};
use super::world::{World, tls};

/// Answers with the number of bytes it got, if they are the right ones.
fn counts(served: &mut Served, id: StreamId, bytes: &[u8]) {
    let (_, body) = read(bytes);
    assert!(body == content(body.len()));
    served.send(id, &ok(body.len().to_string().as_bytes()), true);
}

fn post(bytes: usize) -> RequestSet {
    let request = Request::new("POST", "https", "server.test", "/").body(content(bytes));
    RequestSet::new(&[request])
}

fn windows(stream_bytes: u32, connection_bytes: u32) -> Setup {
    let mut setup = Setup::default();
    setup
        .transport
        .stream_receive_window(stream_bytes.into())
        .receive_window(connection_bytes.into());
    setup
}

#[test]
fn bodies_of_any_size_go_through_windows_of_any_size() {
    for (stream_bytes, connection_bytes) in
        [(16, 1_000_000), (1_000_000, 100), (900, 1_100), (1 << 20, 1 << 20)]
    {
        let mut world = World::new(windows(stream_bytes, connection_bytes), counts);
        world.connect();
        let set = post(3_000);
        for tag in 0..3 {
            world.client.request(&set, 0, 0, &mut world.digits, tag).unwrap();
        }
        world.run(|world| world.log.ended() == 3);
        for exchange in world.log.exchanges.values() {
            assert_eq!(
                (&exchange.ended[..], &exchange.content[..]),
                (&[End::Complete][..], &b"3000"[..])
            );
        }
        assert_eq!((world.client.uploads_unfinished(), world.client.uploads_held()), (0, (0, 0)));
        let held = world.client.window_stalls() > 0;
        assert_eq!(held, stream_bytes < 3_000 || connection_bytes < 9_000);
    }
}

#[test]
fn it_is_known_whose_window_holds_a_body() {
    let mut world = World::new(windows(500, 1_000_000), counts);
    world.connect();
    let set = post(100_000);
    world.client.request(&set, 0, 0, &mut world.digits, 0).unwrap();
    world.client.request(&set, 0, 0, &mut world.digits, 1).unwrap();
    assert_eq!((world.client.uploads_held(), world.client.uploads_unfinished()), ((2, 0), 2));
    let mut world = World::new(windows(1_000_000, 2_000), counts);
    world.connect();
    world.client.request(&set, 0, 0, &mut world.digits, 0).unwrap();
    world.client.request(&set, 0, 0, &mut world.digits, 1).unwrap();
    assert_eq!((world.client.uploads_held(), world.client.uploads_unfinished()), ((0, 2), 2));
}

/// What leaves at once of 2 MiB when the window has grown to more than that; the window, and the round trip that it
/// takes.
fn burst_bytes(paces: bool) -> (u64, u64) {
    let mut options = Options::with_streams(1);
    options.transport.paces = paces;
    let setup = windows(64 << 20, 64 << 20);
    let mut world = World::with(options, &tls(), "server.test", setup, counts);
    world.connect();
    world.client.request(&post(16 << 20), 0, 0, &mut world.digits, 0).unwrap();
    world.run(|world| world.log.ended() == 1);
    assert_eq!(world.log.exchanges[&0].content, b"16777216");
    assert_eq!(world.client.counts().packets_lost, 0);
    world.settle();
    world.client.request(&post(2 << 20), 0, 0, &mut world.digits, 1).unwrap();
    let (mut out, mut left_bytes) = (Vec::new(), 0);
    while world.client.transmit(world.now_ns, &mut out).is_some() {
        left_bytes += out.len() as u64;
    }
    (left_bytes, world.client.counts().window_bytes)
}

#[test]
fn what_the_window_permits_leaves_at_once_unless_pacing_is_asked_for() {
    let (left_bytes, window_bytes) = burst_bytes(false);
    assert!((2 << 20..64 << 20).contains(&window_bytes), "{window_bytes}");
    assert!(left_bytes > 2 << 20, "{left_bytes}");
    let (left_bytes, window_bytes) = burst_bytes(true);
    assert!(window_bytes > 2 << 20, "{window_bytes}");
    // quinn-proto's bucket has 256 datagrams at most, and is filled once more as the pause before is accounted for.
    assert!(left_bytes <= 2 * 256 * 1_452, "{left_bytes}");
}

#[test]
fn no_more_leaves_than_the_window_permits() {
    let mut options = Options::with_streams(1);
    // What is sent to find out the size of datagrams is not held back by the window.
    options.transport.datagram_bytes = Some(1_200);
    let setup = windows(64 << 20, 64 << 20);
    let mut world = World::with(options, &tls(), "server.test", setup, counts);
    world.connect();
    world.client.request(&post(4 << 20), 0, 0, &mut world.digits, 0).unwrap();
    let window_bytes = world.client.counts().window_bytes;
    let (mut out, mut left_bytes) = (Vec::new(), 0);
    // Nothing is acknowledged: what was sent is in flight.
    for _ in 0..1_000 {
        while world.client.transmit(world.now_ns, &mut out).is_some() {
            left_bytes += out.len() as u64;
        }
        world.now_ns += 10_000;
    }
    let room_bytes = window_bytes.checked_sub(left_bytes);
    assert!(room_bytes.is_some_and(|room| room < 2_400), "{left_bytes} of {window_bytes}");
}

/// Stops what comes, and answers at once.
struct Early {
    code: u64,
    answers: bool,
}

impl Script for Early {
    fn began(&mut self, served: &mut Served, id: StreamId) {
        if self.answers {
            served.send(id, &ok(b"enough"), true);
        }
        if self.code > 0 {
            served.stop(id, self.code);
        }
    }

    fn request(&mut self, _: &mut Served, _: StreamId, _: &[u8]) {}
}

#[test]
fn a_response_does_not_wait_for_the_whole_request() {
    // H3_NO_ERROR, as RFC 9114, 4.1 has it, or nothing.
    for code in [0x100, 0] {
        let mut world = World::new(windows(1_000, 1_000_000), Early { code, answers: true });
        world.connect();
        world.client.request(&post(100_000), 0, 0, &mut world.digits, 0).unwrap();
        world.run(|world| world.log.ended() == 1);
        assert_eq!(world.log.end_of(0), Some(End::Complete), "{code}");
        assert_eq!((world.client.uploads_unfinished(), world.client.streams_live()), (0, 0));
        world.settle();
        assert!(world.client.stands());
    }
}

#[test]
fn a_server_that_stops_a_request_can_still_respond() {
    let mut world = World::new(windows(1_000, 1_000_000), Early { code: 0x102, answers: false });
    world.connect();
    world.client.request(&post(100_000), 0, 0, &mut world.digits, 0).unwrap();
    world.run_for(200_000_000, |_| false);
    assert_eq!((world.client.uploads_unfinished(), world.client.streams_live()), (0, 1));
    let id = first_request();
    world.act(|served| served.send(id, &ok(b"no"), true));
    world.run(|world| world.log.ended() == 1);
    assert_eq!(world.log.end_of(0), Some(End::Complete));
}

#[test]
fn a_body_that_is_given_up_frees_its_stream() {
    let mut world = World::new(windows(1_000, 1_000_000), counts);
    world.connect();
    let stream = world.client.request(&post(100_000), 0, 0, &mut world.digits, 0).unwrap();
    world.client.reset(stream);
    assert_eq!((world.client.uploads_unfinished(), world.client.free_streams()), (0, 10));
    world.client.request(&post(10), 0, 0, &mut world.digits, 1).unwrap();
    world.run(|world| world.log.ended() == 1);
    assert_eq!(world.log.end_of(1), Some(End::Complete));
}
