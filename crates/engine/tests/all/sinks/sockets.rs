//! The same over loopback, with epoll and with io_uring.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use ablaze_engine::{Control, run_with_sinks};
use ablaze_model::plan::{Http2, IoChoice, Plan};
use ablaze_net::uring::UringDriver;
use ablaze_testing::skip::skip;

use super::checking::{Checking, Sent, same};
use super::far_ends::Server;
use super::http1_server::{Framing, Http1Server};
use super::http2_server::Http2Server;
use super::plans::*;

/// Longest wait for the other side.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Serves this many connections, each on a thread of its own that ends with it. What is said leaves in
/// pieces of several sizes.
fn serve(server: Server) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for (number, connection) in listener.incoming().flatten().enumerate() {
            let mut server = server.clone();
            server.connected(number as u64);
            thread::spawn(move || talk(connection, server));
        }
    });
    address
}

fn talk(mut connection: TcpStream, mut server: Server) -> Option<()> {
    connection.set_nodelay(true).ok()?;
    connection.set_read_timeout(Some(TIMEOUT)).ok()?;
    let mut part = [0; 4096];
    loop {
        let read = connection.read(&mut part).ok().filter(|read| *read > 0)?;
        let mut out = Vec::new();
        let closes = server.response(&part[..read], &mut out);
        let mut rest = &out[..];
        for bytes in [1, 40, 5_000].into_iter().chain(std::iter::repeat(60_000)) {
            let (piece, behind) = rest.split_at(bytes.min(rest.len()));
            connection.write_all(piece).ok()?;
            rest = behind;
            if rest.is_empty() {
                break;
            }
        }
        if closes {
            return None;
        }
    }
}

fn run(mut plan: Plan, address: SocketAddr, io: IoChoice, sent: &Sent, what: &str) {
    plan.target.addresses = vec![address];
    plan.target.port = address.port();
    plan.workers.io = io;
    plan.workers.count = 2;
    plan.limits.timeout_ns = TIMEOUT.as_nanos() as u64;
    let requests = plan.limits.requests.unwrap();
    let (run, sinks) = run_with_sinks(plan, &Control::new(), Checking::new).unwrap();
    assert_eq!((run.record.responses, run.record.failures_total()), (requests, 0), "{what}");
    assert_eq!(sinks.len(), 2);
    same(sinks, sent, what);
}

#[test]
fn over_epoll() {
    over(IoChoice::Epoll);
}

#[test]
fn over_io_uring() {
    if let Err(error) = UringDriver::probe() {
        return skip(&format!("io_uring is unavailable: {error}"));
    }
    over(IoChoice::Uring);
}

fn over(io: IoChoice) {
    let sent = Sent::default();
    for framing in [Framing::Length, Framing::Chunked, Framing::Mixed, Framing::ToEnd] {
        let address = serve(Server::Http1(Http1Server::new(framing, &sent)));
        let depth = if framing == Framing::ToEnd { 1 } else { 3 };
        let plan = pipelined(plan(200, 4), depth);
        run(plan, address, io, &sent, &format!("{io:?} {framing:?}"));
    }
    let address = serve(Server::Http2(Http2Server::new(&sent)));
    let mut plan = pipelined(plan(200, 4), 6);
    plan.http2 = Some(Http2 { streams: 6 });
    run(plan, address, io, &sent, &format!("{io:?} HTTP/2"));
}
