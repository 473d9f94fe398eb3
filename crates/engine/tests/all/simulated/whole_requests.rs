//! Every request arrives as it was made, whatever the server does meanwhile: bytes that may still be
//! read are not written to. Servers respond before the body has come, and before they read anything;
//! they read slowly, close in the middle, and stand behind a proxy.

use ablaze_model::plan::Plan;
use ablaze_model::plan::proxy::{Proxy, Way};
use ablaze_net::sim::{ConnectReply, FarEnd, SimPeer};

use crate::simulated::numbered::{Came, Got, Reader, numbered};
use crate::simulated::support::{HELLO, HELLO_CLOSE, MS, S, US, check_sums, pipelined, plan, run};

const ESTABLISHED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

/// Reads `bytes` each 10 µs; responds, 1 µs later, when a request came so far.
#[derive(Clone)]
struct Early {
    reader: Reader,
    got: Got,
    bytes: Vec<u8>,
    when: Came,
    /// Responses to each request.
    times: u32,
    reads: usize,
    window: usize,
    /// Ends the connection, by RST or FIN, behind this many bytes.
    ends_after: Option<(usize, bool)>,
    proxy: Option<Vec<u8>>,
    came: usize,
}

impl Early {
    fn new(when: Came, reads: usize, window: usize) -> Self {
        let bytes = [ESTABLISHED, HELLO].concat();
        let (reader, got) = (Reader::default(), Got::default());
        let (ends_after, proxy) = (None, None);
        Self { reader, got, bytes, when, times: 1, reads, window, ends_after, proxy, came: 0 }
    }

    fn saying(mut self, response: &[u8]) -> Self {
        self.bytes = [ESTABLISHED, response].concat();
        self
    }

    fn ask_proxy<'a>(&mut self, far: &mut FarEnd<'_>, bytes: &'a [u8]) -> &'a [u8] {
        let Some(asked) = &mut self.proxy else { return bytes };
        let before = asked.len();
        asked.extend_from_slice(bytes);
        let Some(end) = asked.windows(4).position(|four| four == b"\r\n\r\n") else { return &[] };
        self.proxy = None;
        // What it says for the target comes in the same segment, if the target speaks first.
        let established = ESTABLISHED.len() as u32;
        let first = if self.times > 1 { self.bytes.len() as u32 } else { established };
        far.send_after(US, 0, first);
        &bytes[end + 4 - before..]
    }
}

impl SimPeer for Early {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn connect(&mut self, far: &mut FarEnd<'_>, _: u64) -> ConnectReply {
        self.reader = Reader::new(&self.got);
        far.set_window(self.window);
        far.read_slowly(self.reads, 10 * US);
        ConnectReply::AcceptAfter(10 * US)
    }

    fn received(&mut self, far: &mut FarEnd<'_>, bytes: &[u8]) {
        let bytes = self.ask_proxy(far, bytes);
        let begin = ESTABLISHED.len();
        for came in self.reader.read(bytes) {
            if came == self.when {
                for _ in 0..self.times {
                    far.send_after(US, begin as u32, (self.bytes.len() - begin) as u32);
                }
            }
        }
        self.came += bytes.len();
        match self.ends_after {
            Some((after, true)) if self.came >= after => far.reset_after(US),
            Some((after, false)) if self.came >= after => far.close_after(US),
            _ => {}
        }
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

/// Bodies of 11 bytes to 110 kB: of one send, longer than a quiet send, longer than any window.
const TIMES: [usize; 5] = [1, 20, 500, 2_000, 10_000];

#[test]
fn a_response_before_the_body_changes_nothing_of_it() {
    for when in [Came::First, Came::Head, Came::Last] {
        for times in TIMES {
            for depth in [1, 2, 5] {
                for (reads, window) in [(60, 130), (1_000, 3_000), (5_000, 20_000)] {
                    if times > 500 && window < 1_000 {
                        continue;
                    }
                    let case = format!("{when:?}, {times} times, depth {depth}, window {window}");
                    let peer = Early::new(when, reads, window);
                    let plan = numbered_plan(24, depth, "POST", times);
                    for plan in [plan.clone(), tunnelled(plan)] {
                        let mut peer = peer.clone();
                        peer.proxy = plan.target.proxy.is_some().then(Vec::new);
                        run(&plan, &peer, |run| {
                            check_sums(run);
                            let counted = (run.record.responses, run.record.failures_total());
                            peer.got.check(1, &case);
                            assert_eq!(counted, (24, 0), "{case}");
                        });
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_awaited_arrives_whole() {
    for times in TIMES {
        for depth in [1, 2, 8] {
            let peer = Early::new(Came::Last, 1_000, 3_000);
            run(&numbered_plan(24, depth, "POST", times), &peer, |run| {
                assert_eq!(run.record.responses, 24);
                assert_eq!(peer.got.check(1, "whole"), 24);
            });
        }
    }
}

/// A long body is waited for, so every one of them arrives whole but those the run ends in.
#[test]
fn long_bodies_are_sent_whole_although_they_were_answered() {
    for depth in [1, 2, 4] {
        let peer = Early::new(Came::Head, 5_000, 20_000);
        run(&numbered_plan(40, depth, "POST", 10_000), &peer, |run| {
            assert_eq!((run.record.responses, run.record.connections_opened), (40, 2));
            let whole = peer.got.check(1, "whole");
            assert!(whole >= 40 - 2 * (depth as usize + 1), "depth {depth}: {whole}");
        });
    }
}

#[test]
fn more_responses_than_requests_change_no_byte() {
    for when in [Came::First, Came::Head, Came::Last] {
        for times in TIMES {
            for depth in [1, 2, 5] {
                for (reads, window) in [(60, 130), (400_000, 1_000_000)] {
                    if times > 500 && window < 1_000 {
                        continue;
                    }
                    let case = format!("{when:?}, {times} times, depth {depth}, window {window}");
                    let mut peer = Early::new(when, reads, window);
                    peer.times = 3;
                    let plan = numbered_plan(30, depth, "PUT", times);
                    for plan in [plan.clone(), tunnelled(plan)] {
                        let mut peer = peer.clone();
                        peer.proxy = plan.target.proxy.is_some().then(Vec::new);
                        run(&plan, &peer, |run| {
                            check_sums(run);
                            // Idempotent: it may come again on the next connection.
                            peer.got.check(2, &case);
                            assert_eq!(run.record.finished(), 30, "{case}");
                        });
                    }
                }
            }
        }
    }
}

#[test]
fn a_slot_opened_again_sends_what_its_new_connection_is_asked() {
    for (after, resets) in [(700, true), (700, false), (5_000, true), (60_000, false)] {
        for when in [Came::Head, Came::Last] {
            for times in [20, 500, 10_000] {
                for depth in [1, 2, 4] {
                    let case = format!("{after} {resets} {when:?} {times} {depth}");
                    let mut peer = Early::new(when, 1_000, 3_000);
                    peer.ends_after = Some((after, resets));
                    run(&numbered_plan(40, depth, "PUT", times), &peer, |run| {
                        check_sums(run);
                        assert_eq!(run.record.finished(), 40, "{case}");
                        peer.got.check(2, &case);
                    });
                }
            }
        }
    }
}

#[test]
fn with_an_announced_close_the_next_connection_begins_with_a_request_of_its_own() {
    for times in TIMES {
        for depth in [1, 3] {
            let peer = Early::new(Came::Head, 1_000, 3_000).saying(HELLO_CLOSE);
            run(&numbered_plan(20, depth, "PUT", times), &peer, |run| {
                // Behind a response that announced the close nothing was processed (RFC 9112, 9.6):
                // those at the end of the pipeline go out again until they are at its front.
                peer.got.check(depth.max(2), &format!("{times} times, depth {depth}"));
                assert_eq!(run.record.responses, 20);
            });
        }
    }
}

/// The measured load begins while what was sent to warm up is still on its way.
#[test]
fn the_end_of_the_warm_up_changes_no_byte() {
    for depth in [1, 2, 4] {
        for times in [500, 10_000] {
            let peer = Early::new(Came::Head, 1_000, 3_000);
            let mut plan = numbered_plan(20, depth, "POST", times);
            plan.limits.warmup_ns = 3 * MS + 7 * US;
            run(&plan, &peer, |run| {
                // The warm-up has numbers of its own.
                peer.got.check(2, &format!("{times} times, depth {depth}"));
                assert_eq!(run.record.finished(), 20);
                assert!(run.elapsed_ns < S * 60);
            });
        }
    }
}
