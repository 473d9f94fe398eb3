//! HTTP/3 with the QUIC below it, both sides of it in simulated time: [`client`] holds the engine's connection against a
//! server, and [`server`] the servers' endpoint against a client, that make a real handshake and then say what the choices of an
//! input tell them to (`far`), over a network that cuts, joins, damages, repeats, drops and delays datagrams (`network`).
//! `near` is the side that is held: nothing panics, every connection ends, no request ends twice, and where nobody
//! interferes every request is answered.

mod far;
mod near;
mod network;

use ablaze_quic::clock::Clock;

use crate::choices::Choices;
use far::Far;
pub(crate) use far::read_over;
use near::{Client, Near, Server};
use network::Network;

/// Requests of a connection.
const REQUESTS: u64 = 6;

/// The most that happens to a connection. One that needs more does not end.
const STEPS_MAX: usize = 20_000;

/// Behind this every side has given up. An idle timeout is three probe timeouts at least (RFC 9000, 10.1), which are long where
/// the only round trip that was seen took most of the 30 s that are waited for a handshake.
const ENDS_NS: u64 = 3_600_000_000_000;

/// When the connection begins: nothing is at 0.
const BEGINS_NS: u64 = 1_000_000_000;

/// Holds the engine's connection against a server.
///
/// # Panics
/// When it does what it must not.
pub fn client(input: &[u8]) {
    let clock = Clock::new();
    let choices = Choices::new(input);
    converse(Client::new(BEGINS_NS), Far::server(clock), choices);
}

/// Holds the servers' endpoint against a client.
///
/// # Panics
/// When it does what it must not.
pub fn server(input: &[u8]) {
    let clock = Clock::new();
    let choices = Choices::new(input);
    converse(Server::new(BEGINS_NS), Far::client(clock, BEGINS_NS), choices);
}

fn converse(mut near: impl Near, mut far: Far, mut choices: Choices) {
    let untouched = choices.are_over();
    let mut network = Network::default();
    let mut now_ns = BEGINS_NS;
    for _ in 0..STEPS_MAX {
        far.go_on(&mut choices, now_ns);
        near.go_on(now_ns);
        near.fetch(now_ns, &mut |datagram| network.put(true, datagram, now_ns, &mut choices));
        for datagram in far.fetch(now_ns) {
            network.put(false, datagram, now_ns, &mut choices);
        }
        let due = [near.due_ns(), far.due_ns(), network.due_ns()].into_iter().flatten().min();
        let Some(due_ns) = due.filter(|due_ns| *due_ns < ENDS_NS) else {
            return near.judge(untouched);
        };
        now_ns = now_ns.max(due_ns);
        while let Some((to_far, mut datagrams, segment_bytes)) = network.arrived(now_ns) {
            match to_far {
                true => far.receive(&datagrams, now_ns),
                false => near.receive(&mut datagrams, segment_bytes, now_ns),
            }
        }
        near.expire(now_ns);
        far.expire(now_ns);
    }
    panic!("the connection does not end");
}
