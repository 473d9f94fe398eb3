//! A peer by script, a log of what it saw, and runs over both kinds of simulated driver.

use std::sync::{Arc, Mutex};

use ablaze_engine::{Control, run_simulated, run_simulated_at_once};
use ablaze_model::{Plan, Progress, Run};
use ablaze_net::CloseHow;
use ablaze_net::sim::{ConnectReply, FarEnd, SimPeer};
use ablaze_stats::touched;

pub use ablaze_tamper::sums::check as check_sums;

pub use crate::simulated::plans::*;

/// Runs over the simulated driver whose sends leave at the end of a batch (as io_uring's do),
/// then over the one whose sends leave at once (as epoll's do); the script must make no
/// difference between them. The last run.
pub fn run<P: SimPeer + Send + Sync>(plan: &Plan, peer: &P, check: impl Fn(&Run)) -> Run {
    run_at(plan, std::slice::from_ref(peer), check)
}

/// As [`run`], with a peer per address.
pub fn run_at<P: SimPeer + Send + Sync>(plan: &Plan, peers: &[P], check: impl Fn(&Run)) -> Run {
    let followed = || {
        let control = Control::new();
        control.follow();
        control
    };
    let control = followed();
    let batched = run_simulated(plan.clone(), peers, &control).unwrap();
    check_progress(&control, &batched);
    check(&batched);
    let control = followed();
    let at_once = run_simulated_at_once(plan.clone(), peers, &control).unwrap();
    check_progress(&control, &at_once);
    check(&at_once);
    at_once
}

/// What the workers handed over piece by piece is what the run has as a whole.
fn check_progress(control: &Control, run: &Run) {
    let mut progress = Progress::default();
    control.progress_at_end(&mut progress);
    let (so_far, record) = (progress.so_far, &run.record);
    assert_eq!(so_far.responses, record.responses);
    assert_eq!(so_far.unexpected, record.unexpected);
    assert_eq!(so_far.failures, record.failures);
    assert!(so_far.statuses.iter().copied().eq(record.statuses.clone()));
    assert_eq!(so_far.connections_opened, record.connections_opened);
    assert_eq!(so_far.received_bytes, record.received_bytes);
    assert_eq!(so_far.sent_bytes, record.sent_bytes);
    assert_eq!(so_far.spun_ns, run.workers.iter().map(|worker| worker.spun_ns).sum::<u64>());
    assert_eq!(touched::count(&so_far.times), record.responses);
    assert_eq!(so_far.groups.len(), record.groups.len());
    for (piece, group) in so_far.groups.iter().zip(&record.groups) {
        assert_eq!(piece.responses, group.responses);
        assert_eq!(piece.unexpected, group.unexpected);
        assert_eq!(piece.failures, group.failures_total());
        assert_eq!(touched::count(&piece.times), group.responses);
    }
    assert!(progress.news.is_sorted_by_key(|piece| piece.to_ns));
}

/// What the peers saw, of all connections and runs.
#[derive(Debug, Clone, Default)]
pub struct Log(Arc<Mutex<Vec<Seen>>>);

/// Something a peer saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// A request's head: connection, time, bytes.
    Request(u64, u64, Vec<u8>),
    /// The client closed this connection.
    Closed(u64, CloseHow),
}

impl Log {
    fn note(&self, seen: Seen) {
        self.0.lock().unwrap().push(seen);
    }

    /// Takes what was seen.
    pub fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// One request at the peer, and what the script can do about it.
pub struct Moment<'a, 'b> {
    pub far: &'a mut FarEnd<'b>,
    /// Number of the connection among all the worker opened.
    pub connection: u64,
    /// Number of the request on this connection.
    pub request: u64,
    pub head: &'a [u8],
    pieces: &'a [(u32, u32)],
}

impl Moment<'_, '_> {
    /// Sends the response of this number.
    pub fn send(&mut self, delay_ns: u64, response: usize) {
        let (start, len) = self.pieces[response];
        self.far.send_after(delay_ns, start, len);
    }

    /// Sends only the first `len` bytes of it.
    pub fn send_part(&mut self, delay_ns: u64, response: usize, len: usize) {
        let (start, _) = self.pieces[response];
        self.far.send_after(delay_ns, start, len as u32);
    }
}

type Act = dyn Fn(&mut Moment<'_, '_>) + Send + Sync;
type Connect = dyn Fn(&mut FarEnd<'_>, u64) -> ConnectReply + Send + Sync;

/// A peer that does what a closure says with each request.
#[derive(Clone)]
pub struct Script {
    bytes: Arc<[u8]>,
    pieces: Arc<[(u32, u32)]>,
    connect: Arc<Connect>,
    act: Arc<Act>,
    log: Option<Log>,
    connection: u64,
    requests: u64,
    head: Vec<u8>,
}

impl Script {
    /// `responses` are what the closure can send, by number.
    pub fn new(
        responses: &[&[u8]],
        act: impl Fn(&mut Moment<'_, '_>) + Send + Sync + 'static,
    ) -> Self {
        let mut bytes = Vec::new();
        let mut pieces = Vec::new();
        for response in responses {
            pieces.push((bytes.len() as u32, response.len() as u32));
            bytes.extend_from_slice(response);
        }
        Self {
            bytes: bytes.into(),
            pieces: pieces.into(),
            connect: Arc::new(|_, _| ConnectReply::AcceptAfter(0)),
            act: Arc::new(act),
            log: None,
            connection: 0,
            requests: 0,
            head: Vec::new(),
        }
    }

    /// Responses everything with `response` after the same delay.
    pub fn always(response: &[u8], delay_ns: u64) -> Self {
        Self::new(&[response], move |moment| moment.send(delay_ns, 0))
    }

    /// How it takes connections, by their number.
    pub fn connecting(
        mut self,
        connect: impl Fn(&mut FarEnd<'_>, u64) -> ConnectReply + Send + Sync + 'static,
    ) -> Self {
        self.connect = Arc::new(connect);
        self
    }

    pub fn accepting_after(self, delay_ns: u64) -> Self {
        self.connecting(move |_, _| ConnectReply::AcceptAfter(delay_ns))
    }

    pub fn logged(mut self, log: &Log) -> Self {
        self.log = Some(log.clone());
        self
    }
}

impl SimPeer for Script {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn connect(&mut self, far: &mut FarEnd<'_>, number: u64) -> ConnectReply {
        self.connection = number;
        (self.connect)(far, number)
    }

    fn received(&mut self, far: &mut FarEnd<'_>, bytes: &[u8]) {
        for &byte in bytes {
            self.head.push(byte);
            if !self.head.ends_with(b"\r\n\r\n") {
                continue;
            }
            let head = std::mem::take(&mut self.head);
            if let Some(log) = &self.log {
                log.note(Seen::Request(self.connection, far.now(), head.clone()));
            }
            let mut moment = Moment {
                far: &mut *far,
                connection: self.connection,
                request: self.requests,
                head: &head,
                pieces: &self.pieces,
            };
            (self.act)(&mut moment);
            self.requests += 1;
        }
    }

    fn closed(&mut self, how: CloseHow) {
        if let Some(log) = &self.log {
            log.note(Seen::Closed(self.connection, how));
        }
    }
}
