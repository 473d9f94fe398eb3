//! The same over sockets of this machine, by io_uring and by epoll: the kernel reads what it was given
//! when the peer has read, long after the call, and what it sends is what was meant.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use ablaze_engine::{Control, run};
use ablaze_model::Run;
use ablaze_model::plan::{IoChoice, Plan};
use ablaze_net::uring::UringDriver;
use ablaze_testing::skip::skip;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::simulated::numbered::{Came, Got, Reader, numbered};
use crate::tls::plans::*;
use ablaze_tamper::authority::Authority;
use ablaze_tamper::tls_peer::{BOTH, config, with_tls};

/// No test waits longer for anything.
const BOUND: Duration = Duration::from_secs(60);

/// Reads by so much, and rests in between for so long.
#[derive(Debug, Clone, Copy)]
struct Pace {
    bytes: usize,
    rest: Duration,
}

/// What it does with each connection.
#[derive(Debug, Clone, Copy)]
struct Manner {
    when: Came,
    pace: Pace,
    /// Ends the connection behind this many bytes, which resets it: not all of them were read.
    ends_after: Option<usize>,
}

/// A server that checks every byte it reads.
struct Server {
    address: SocketAddr,
    got: Got,
    stop: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    fn start(manner: Manner, tls: Option<ServerConfig>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (got, stop) = (Got::default(), Arc::new(AtomicBool::new(false)));
        let tls = tls.map(Arc::new);
        let (kept, stopped) = (got.clone(), Arc::clone(&stop));
        let accepting = std::thread::spawn(move || {
            let mut threads = Vec::new();
            while let Ok((stream, _)) = listener.accept() {
                if stopped.load(Ordering::Relaxed) {
                    break;
                }
                let (got, tls) = (kept.clone(), tls.clone());
                threads.push(std::thread::spawn(move || serve(stream, tls, manner, &got)));
            }
            for thread in threads {
                thread.join().unwrap();
            }
        });
        Self { address, got, stop, accepting: Some(accepting) }
    }

    /// Waits for what is still to be read.
    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.accepting.take() {
            thread.join().unwrap();
        }
    }
}

fn serve(stream: TcpStream, tls: Option<Arc<ServerConfig>>, manner: Manner, got: &Got) {
    stream.set_read_timeout(Some(BOUND)).unwrap();
    stream.set_write_timeout(Some(BOUND)).unwrap();
    stream.set_nodelay(true).unwrap();
    match tls {
        None => converse(stream, manner, got),
        Some(config) => {
            let server = ServerConnection::new(config).unwrap();
            converse(StreamOwned::new(server, stream), manner, got);
        }
    }
}

/// Reads to the end, and responds.
fn converse(mut stream: impl Read + Write, manner: Manner, got: &Got) {
    let mut reader = Reader::new(got);
    let mut buffer = vec![0; manner.pace.bytes];
    let mut read = 0;
    loop {
        let bytes = match stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(bytes) => &buffer[..bytes],
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                return got.wrong(format!("no TLS: {error}"));
            }
            // The client closed while responses were on their way to it.
            Err(_) => return,
        };
        for came in reader.read(bytes) {
            if came == manner.when && stream.write_all(HELLO).is_err() {
                return;
            }
        }
        read += bytes.len();
        if manner.ends_after.is_some_and(|after| read >= after) {
            return;
        }
        std::thread::sleep(manner.pace.rest);
    }
}

/// The backends that this machine has.
fn backends() -> Vec<IoChoice> {
    let mut backends = vec![IoChoice::Epoll];
    match UringDriver::probe() {
        Ok(()) => backends.push(IoChoice::Uring),
        Err(error) => skip(&format!("io_uring: {error}")),
    }
    backends
}

/// Runs a plan of numbered requests against such a server; then every byte is checked.
fn load(plan: &Plan, manner: Manner, tls: Option<ServerConfig>, most: u32) -> (Run, usize) {
    let mut server = Server::start(manner, tls);
    let mut plan = plan.clone();
    plan.target.addresses = vec![server.address];
    plan.target.port = server.address.port();
    let run = run(plan, &Control::new()).unwrap();
    server.end();
    let whole = server.got.check(most, &format!("{manner:?}"));
    (run, whole)
}

fn numbered_plan(io: IoChoice, requests: u64, depth: u32, times: usize) -> Plan {
    let mut plan = pipelined(plan(requests, 2), depth);
    plan.requests.templates = vec![numbered("PUT", times)];
    plan.requests.method = "PUT".to_owned();
    plan.requests.has_body = true;
    plan.workers.io = io;
    plan
}

const SLOWLY: Pace = Pace { bytes: 64 * 1024, rest: Duration::from_micros(200) };

/// Bodies that fit a send, that need some, and that no socket takes at once; and a send buffer that
/// takes next to nothing.
const CASES: [(u64, usize, Option<u32>); 5] = [
    (200, 20, None),
    (100, 1_000, None),
    (8, 500_000, None),
    (40, 300, Some(4_608)),
    (6, 3_000, Some(4_608)),
];

#[test]
fn a_response_before_the_body_changes_nothing_of_it() {
    for io in backends() {
        for (requests, times, buffer) in CASES {
            for depth in [1, 2] {
                for when in [Came::Head, Came::Last] {
                    let mut plan = numbered_plan(io, requests, depth, times);
                    plan.connections.socket_buffer_bytes = buffer;
                    let manner = Manner { when, pace: SLOWLY, ends_after: None };
                    let (run, whole) = load(&plan, manner, None, 2);
                    let case = format!("{io:?} {times} {buffer:?} {depth} {when:?}");
                    assert_eq!(run.record.finished(), requests, "{case}");
                    if when == Came::Last {
                        assert_eq!((run.record.responses, whole as u64), (requests, requests));
                    }
                }
            }
        }
    }
}

#[test]
fn nor_under_tls() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for io in backends() {
        for (name, version) in BOTH {
            for (requests, times, buffer) in CASES {
                for depth in [1, 2] {
                    let mut plan = numbered_plan(io, requests, depth, times);
                    plan.connections.socket_buffer_bytes = buffer;
                    let plan = with_tls(plan, authority.trusted("there"));
                    let manner = Manner { when: Came::Head, pace: SLOWLY, ends_after: None };
                    let tls = Some(config(&[version], &issued));
                    let (run, _) = load(&plan, manner, tls, 2);
                    let case = format!("{io:?} {name} {times} {buffer:?} {depth}");
                    assert_eq!(run.record.finished(), requests, "{case}");
                }
            }
        }
    }
}

#[test]
fn a_slot_opened_again_sends_what_its_new_connection_is_asked() {
    for io in backends() {
        for (times, after) in [(1_000, 50_000), (500_000, 3_000_000)] {
            for depth in [1, 2] {
                let plan = numbered_plan(io, 24, depth, times);
                let manner = Manner { when: Came::Head, pace: SLOWLY, ends_after: Some(after) };
                let (run, _) = load(&plan, manner, None, 2);
                assert_eq!(run.record.finished(), 24, "{io:?} {times} {depth}");
            }
        }
    }
}
