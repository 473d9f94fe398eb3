//! Networks that lose, repeat and overtake: no request is lost, and none is counted twice.

use ablaze_quic::client::{End, Options, RequestSet};
use ablaze_quic::quinn_proto::StreamId;
use ablaze_wire::http2::request::Request;

use super::server::{Served, Setup, content, ok, read};
use super::world::{Faults, World, tls};

/// As many requests as this over each network.
const REQUESTS: u32 = 150;

/// Sends what it got, and as many bytes again.
fn echoes(served: &mut Served, id: StreamId, bytes: &[u8]) {
    let (_, mut body) = read(bytes);
    body.extend_from_within(..);
    served.send(id, &ok(&body), true);
}

/// Ten requests at a time through a network; what the client has then.
fn carried(faults: Faults, seed: u64, paces: bool) -> World {
    let mut options = Options::with_streams(10);
    options.transport.paces = paces;
    let world = World::with(options, &tls(), "server.test", Setup::default(), echoes);
    let mut world = world.faulty(faults, seed);
    world.connect();
    let sizes = [0, 10, 3_000, 20_000];
    let requests: Vec<Request> = sizes
        .iter()
        .map(|&bytes| Request::new("POST", "https", "server.test", "/").body(content(bytes)))
        .collect();
    let set = RequestSet::new(&requests);
    let mut next = 0;
    world.run_for(600_000_000_000, |world| {
        while next < REQUESTS && world.client.free_streams() > 0 {
            let request = next as usize % sizes.len();
            world.client.request(&set, request, 0, &mut world.digits, next).unwrap();
            next += 1;
        }
        world.log.ended() == REQUESTS as usize
    });
    assert_eq!(world.client.ended(), None, "{faults:?} {seed}");
    assert_eq!(world.log.exchanges.len(), REQUESTS as usize);
    for (tag, exchange) in &world.log.exchanges {
        let bytes = sizes[*tag as usize % sizes.len()];
        let expected = [content(bytes), content(bytes)].concat();
        assert_eq!(exchange.ended, [End::Complete], "{faults:?} {seed} {tag}");
        assert!(exchange.content == expected, "{faults:?} {seed} {tag}");
    }
    assert_eq!(world.server.served.as_ref().unwrap().requests, u64::from(REQUESTS));
    world
}

#[test]
fn every_request_is_answered_once_over_every_network() {
    for lost in [0, 10, 50, 200] {
        for (repeated, overtaken) in [(0, 0), (20, 100), (300, 500)] {
            for seed in 1..4 {
                let world =
                    carried(Faults { lost, repeated, overtaken, path_bytes: 0 }, seed, seed == 3);
                let counts = world.client.counts();
                if lost >= 50 {
                    assert!(counts.packets_lost > 0 && counts.congestion_events > 0, "{counts:?}");
                    assert!(counts.bytes_lost >= counts.packets_lost);
                }
                if lost + overtaken == 0 {
                    assert_eq!((counts.packets_lost, counts.congestion_events), (0, 0));
                }
                assert!(counts.packets_sent > 100 && counts.rtt_ns >= 10_000_000, "{counts:?}");
            }
        }
    }
}

#[test]
fn a_path_for_small_datagrams_is_found_out() {
    let world = carried(Faults { path_bytes: 1_300, ..Faults::default() }, 1, false);
    let counts = world.client.counts();
    // Found to within 20 bytes; what was sent to find out counts as no loss.
    assert!((1_280..=1_300).contains(&counts.datagram_bytes), "{counts:?}");
    assert_eq!((counts.packets_lost, counts.congestion_events), (0, 0));
}
