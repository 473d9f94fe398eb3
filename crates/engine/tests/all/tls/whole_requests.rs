//! Requests that are all alike but for their numbers arrive as they were made, also at a server that
//! responds before it has all of them: what is still to be sealed, and what is sealed and leaving, is
//! not written to.

use std::io::{Read, Write};
use std::sync::Arc;

use ablaze_model::plan::Plan;
use ablaze_model::plan::proxy::{Proxy, Way};
use ablaze_net::sim::{ConnectReply, FarEnd, SimPeer};
use rustls::{ServerConfig, ServerConnection};

use crate::simulated::numbered::{Came, Got, Reader, numbered};
use crate::tls::plans::*;
use ablaze_tamper::authority::Authority;
use ablaze_tamper::tls_peer::{BOTH, config, run, with_tls};

const ESTABLISHED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

/// Speaks TLS, reads slowly, and responds when a request came so far.
struct EarlyTls {
    config: Arc<ServerConfig>,
    got: Got,
    when: Came,
    /// Responses to each request.
    times: u32,
    reads: usize,
    window: usize,
    proxy: Option<Vec<u8>>,
    reader: Reader,
    server: Option<Box<ServerConnection>>,
    sent: Vec<u8>,
}

impl Clone for EarlyTls {
    fn clone(&self) -> Self {
        Self {
            config: Arc::clone(&self.config),
            got: self.got.clone(),
            when: self.when,
            times: self.times,
            reads: self.reads,
            window: self.window,
            proxy: self.proxy.clone(),
            reader: Reader::new(&self.got),
            server: None,
            sent: Vec::new(),
        }
    }
}

impl EarlyTls {
    fn new(config: ServerConfig, when: Came, reads: usize, window: usize) -> Self {
        Self {
            config: Arc::new(config),
            got: Got::default(),
            when,
            times: 1,
            reads,
            window,
            proxy: None,
            reader: Reader::default(),
            server: None,
            sent: Vec::new(),
        }
    }

    fn ask_proxy<'a>(&mut self, far: &mut FarEnd<'_>, bytes: &'a [u8]) -> &'a [u8] {
        let Some(asked) = &mut self.proxy else { return bytes };
        let before = asked.len();
        asked.extend_from_slice(bytes);
        let Some(end) = asked.windows(4).position(|four| four == b"\r\n\r\n") else { return &[] };
        self.proxy = None;
        self.sent.extend_from_slice(ESTABLISHED);
        far.send_after(US, 0, ESTABLISHED.len() as u32);
        &bytes[end + 4 - before..]
    }

    /// What is written goes out, as a piece of its own.
    fn flush(&mut self, far: &mut FarEnd<'_>) {
        let Some(server) = &mut self.server else { return };
        let start = self.sent.len();
        while server.wants_write() {
            server.write_tls(&mut self.sent).unwrap();
        }
        let bytes = self.sent.len() - start;
        if bytes > 0 {
            far.send_after(US, start as u32, bytes as u32);
        }
    }
}

impl SimPeer for EarlyTls {
    fn bytes(&self) -> &[u8] {
        &self.sent
    }

    fn connect(&mut self, far: &mut FarEnd<'_>, _: u64) -> ConnectReply {
        far.set_window(self.window);
        far.read_slowly(self.reads, 10 * US);
        self.server = Some(Box::new(ServerConnection::new(Arc::clone(&self.config)).unwrap()));
        ConnectReply::AcceptAfter(10 * US)
    }

    fn received(&mut self, far: &mut FarEnd<'_>, bytes: &[u8]) {
        let mut bytes = self.ask_proxy(far, bytes);
        while !bytes.is_empty() {
            let server = self.server.as_mut().unwrap();
            server.read_tls(&mut bytes).unwrap();
            let state = match server.process_new_packets() {
                Ok(state) => state,
                Err(error) => {
                    self.got.wrong(format!("no TLS: {error}"));
                    return far.reset_after(US);
                }
            };
            let mut plain = vec![0; state.plaintext_bytes_to_read()];
            server.reader().read_exact(&mut plain).unwrap();
            for came in self.reader.read(&plain) {
                for _ in 0..if came == self.when { self.times } else { 0 } {
                    self.server.as_mut().unwrap().writer().write_all(HELLO).unwrap();
                    self.flush(far);
                }
            }
        }
        self.flush(far);
    }
}

fn numbered_plan(requests: u64, depth: u32, method: &str, times: usize) -> Plan {
    let mut plan = pipelined(plan(requests, 2), depth);
    plan.requests.templates = vec![numbered(method, times)];
    plan.requests.method = method.to_owned();
    plan.requests.has_body = true;
    plan
}

fn tunnelled(mut plan: Plan) -> Plan {
    let host = "proxy".to_owned();
    plan.target.proxy = Some(Proxy { host, port: 3128, way: Way::Tunnel, credentials: None });
    plan
}

/// Bodies of 11 bytes to 110 kB: of a record, of several, of more than is sealed at once.
const TIMES: [usize; 5] = [1, 300, 1_400, 2_000, 10_000];

fn each_case(times_answered: u32, check: impl Fn(&Plan, &EarlyTls, &str)) {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for (name, version) in BOTH {
        for times in TIMES {
            for depth in [1, 2, 4] {
                for (reads, window) in [(700, 2_000), (7_000, 20_000)] {
                    let config = config(&[version], &issued);
                    let case = format!("{name}, {times} times, depth {depth}, window {window}");
                    let mut peer = EarlyTls::new(config, Came::Head, reads, window);
                    peer.times = times_answered;
                    let method = if times_answered > 1 { "PUT" } else { "POST" };
                    let plan = numbered_plan(16, depth, method, times);
                    let plan = with_tls(plan, authority.trusted("there"));
                    check(&plan, &peer, &case);
                    peer.proxy = Some(Vec::new());
                    check(&tunnelled(plan), &peer, &case);
                }
            }
        }
    }
}

#[test]
fn a_response_before_the_body_changes_nothing_of_it() {
    each_case(1, |plan, peer, case| {
        run(plan, peer, |run| {
            peer.got.check(1, case);
            let counted = (run.record.responses, run.record.failures_total());
            assert_eq!(counted, (16, 0), "{case}");
        });
    });
}

#[test]
fn more_responses_than_requests_change_no_byte() {
    each_case(3, |plan, peer, case| {
        run(plan, peer, |run| {
            peer.got.check(2, case);
            assert_eq!(run.record.finished(), 16, "{case}");
        });
    });
}

#[test]
fn what_is_awaited_arrives_whole() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for (name, version) in BOTH {
        for times in TIMES {
            for depth in [1, 3] {
                let config = config(&[version], &issued);
                let peer = EarlyTls::new(config, Came::Last, 7_000, 20_000);
                let plan = numbered_plan(16, depth, "POST", times);
                run(&with_tls(plan, authority.trusted("there")), &peer, |run| {
                    assert_eq!(run.record.responses, 16);
                    assert_eq!(peer.got.check(1, name), 16);
                });
            }
        }
    }
}
