//! What a request costs in allocations and copies, as a number that must not rise: QUIC is exempt from the rule that the hot path
//! allocates nothing, because quinn-proto takes datagrams that it owns and keeps what is not acknowledged.

use ablaze_quic::client::RequestSet;
use ablaze_testing::allocations::of_this_thread;
use ablaze_wire::http1::builder::RequestBuilder;
use ablaze_wire::http2::request::Request;

use super::server::{Setup, answers};
use super::world::World;

/// Allocations per request of the second half of 4,000, ten at a time.
fn per_request(request: Request) -> f64 {
    const HALF: u64 = 2_000;
    let mut world = World::new(Setup::default(), answers);
    world.log.is_quiet = true;
    world.connect();
    let set = RequestSet::new(&[request]);
    let (mut sent, mut before) = (0, 0);
    world.run_for(600_000_000_000, |world| {
        while world.client.free_streams() > 0 && sent < 2 * HALF {
            if sent == HALF {
                before = world.client_allocations;
            }
            let calls = of_this_thread();
            world.client.request(&set, 0, sent, &mut world.digits, sent as u32).unwrap();
            world.client_allocations += of_this_thread() - calls;
            sent += 1;
        }
        world.log.quietly_ended == 2 * HALF
    });
    assert_eq!(world.log.quietly_ended, 2 * HALF);
    (world.client_allocations - before) as f64 / HALF as f64
}

#[test]
fn a_request_allocates_no_more_than_this() {
    let get = |path| Request::new("GET", "https", "server.test", path);
    let patched = RequestBuilder::new("GET", "/{seq:3}").header("Host", "server.test");
    let patched = Request::from_template(&patched.build().unwrap(), "https", "server.test");
    // quinn-proto's state of a stream to send on, its queue, and an entry of what was acknowledged; the bytes of a request if they
    // are its own. Datagrams that arrive are copied once, into a buffer that is used again: a longer response costs nothing more.
    let cases = [(get("/100"), 3.5), (patched.unwrap(), 4.5), (get("/20000"), 3.5)];
    for (request, most) in cases {
        let shown = format!("{request:?}");
        let each = per_request(request);
        assert!(each <= most, "{each} of {shown}");
    }
}
