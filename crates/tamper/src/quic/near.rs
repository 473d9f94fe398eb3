//! The side that is held: the client's connection, or the servers' endpoint with an echo on it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};

use ablaze_quic::client::{Connection, Connector, End, Options, RequestSet, ResponseHead, Sink};
use ablaze_quic::datagrams::Received;
use ablaze_quic::server::{self, Conversation, Datagram, Endpoint, Event, Settings};
use ablaze_wire::http1::patch::Digits;
use ablaze_wire::http2::request::Request;

use super::REQUESTS;
use super::far::{NAME, response, server_tls, tls};

/// A side that is held.
pub trait Near {
    fn receive(&mut self, datagrams: &mut [u8], segment_bytes: usize, now_ns: u64);
    /// Has it do what it wants to do by itself.
    fn go_on(&mut self, now_ns: u64);
    fn fetch(&mut self, now_ns: u64, put: &mut dyn FnMut(Vec<u8>));
    fn due_ns(&mut self) -> Option<u64>;
    fn expire(&mut self, now_ns: u64);
    /// Everything is over. `untouched`: nobody interfered.
    fn judge(&mut self, untouched: bool);
}

/// The addresses of both.
pub const CLIENT: &str = "192.0.2.1:50000";
pub const SERVER: &str = "192.0.2.2:443";

static CONNECTOR: LazyLock<Connector> = LazyLock::new(|| {
    let mut options = Options::with_streams(4);
    options.table_bytes = 4_096;
    Connector::new(&tls(), options).expect("TLS 1.3")
});

static REQUEST_SET: LazyLock<RequestSet> = LazyLock::new(|| {
    let post = Request::new("POST", "https", NAME, "/").body(vec![7; 3_000]);
    RequestSet::new(&[Request::new("GET", "https", NAME, "/"), post])
});

/// The client's connection, which sends its requests as the server permits.
pub struct Client {
    connection: Connection,
    log: Log,
    sent: u64,
    digits: Digits,
    out: Vec<u8>,
}

impl Client {
    pub fn new(now_ns: u64) -> Self {
        let remote = SERVER.parse().unwrap();
        let connection = Connection::new(&CONNECTOR, remote, NAME, now_ns).unwrap();
        let (log, digits) = (Log::default(), Digits::new(1, 1));
        Self { connection, log, sent: 0, digits, out: Vec::new() }
    }
}

impl Near for Client {
    fn receive(&mut self, datagrams: &mut [u8], segment_bytes: usize, now_ns: u64) {
        let received = Received { bytes: datagrams, segment_bytes, ecn: 0 };
        self.connection.receive(received, now_ns, &mut self.log);
    }

    fn go_on(&mut self, now_ns: u64) {
        while self.connection.stands()
            && self.sent < REQUESTS
            && self.connection.free_streams() > 0
            && !self.connection.is_draining()
        {
            let (set, tag) = (&REQUEST_SET, self.sent as u32);
            let template = (self.sent % 2) as usize;
            let sent = self.connection.request(set, template, self.sent, &mut self.digits, tag);
            if sent.is_err() {
                break;
            }
            self.log.open.insert(tag, false);
            self.sent += 1;
        }
        if self.sent == REQUESTS && self.log.open.is_empty() {
            self.connection.close(now_ns);
        }
    }

    fn fetch(&mut self, now_ns: u64, put: &mut dyn FnMut(Vec<u8>)) {
        while let Some(transmit) = self.connection.transmit(now_ns, &mut self.out) {
            self.out.chunks(transmit.segment_bytes).for_each(|datagram| put(datagram.to_vec()));
        }
    }

    fn due_ns(&mut self) -> Option<u64> {
        self.connection.deadline_ns()
    }

    fn expire(&mut self, now_ns: u64) {
        if self.connection.deadline_ns().is_some_and(|at_ns| at_ns <= now_ns) {
            self.connection.expired(now_ns, &mut self.log);
        }
    }

    fn judge(&mut self, untouched: bool) {
        let ended = self.connection.ended().expect("its idle timeout is over");
        let open = self.connection.open_streams().count();
        assert_eq!(open, self.log.open.len(), "requests without an end are those that are open");
        assert!(
            !untouched || self.log.complete == REQUESTS,
            "{} complete: {ended}",
            self.log.complete
        );
    }
}

/// What is told of responses.
#[derive(Default)]
struct Log {
    /// Requests that have not ended, and whether their head came.
    open: BTreeMap<u32, bool>,
    complete: u64,
}

impl Sink for Log {
    fn head(&mut self, tag: u32, head: ResponseHead) {
        assert!((200..=999).contains(&head.status));
        let had = self.open.get_mut(&tag).expect("it has not ended");
        assert!(!std::mem::replace(had, true), "a response has one head");
    }

    fn data(&mut self, tag: u32, content: &[u8]) {
        assert!(!content.is_empty());
        assert_eq!(self.open.get(&tag), Some(&true), "content is behind a head");
    }

    fn ended(&mut self, tag: u32, end: End) {
        let had = self.open.remove(&tag).expect("it ends once");
        self.complete += u64::from(end == End::Complete);
        assert!(end != End::Complete || had, "what is complete had a head");
    }

    fn interim(&mut self, tag: u32, status: u16) {
        assert!((100..200).contains(&status));
        assert_eq!(self.open.get(&tag), Some(&false), "interim responses are before the head");
    }

    fn wants_fields(&self, _: u32) -> bool {
        true
    }
}

static SETTINGS: LazyLock<Settings> = LazyLock::new(|| {
    Settings::new(Arc::new(server_tls()), 16, 4_096, None, false).expect("TLS 1.3")
});

/// The servers' endpoint.
pub struct Server {
    endpoint: Endpoint<Echo>,
    counts: Answered,
    out: Vec<u8>,
}

/// Requests that were complete.
#[derive(Default)]
struct Answered(u64);

impl Server {
    pub fn new(now_ns: u64) -> Self {
        let endpoint = Endpoint::new(SETTINGS.clone(), now_ns);
        Self { endpoint, counts: Answered::default(), out: Vec::new() }
    }
}

impl Near for Server {
    fn receive(&mut self, datagrams: &mut [u8], segment_bytes: usize, now_ns: u64) {
        let from: SocketAddr = CLIENT.parse().unwrap();
        let datagram = Datagram { bytes: datagrams, segment_bytes, from, at: None, ecn: 0 };
        self.endpoint.receive(&datagram, &mut self.counts, now_ns);
    }

    fn go_on(&mut self, now_ns: u64) {
        self.endpoint.run(&mut self.counts, now_ns);
    }

    fn fetch(&mut self, now_ns: u64, put: &mut dyn FnMut(Vec<u8>)) {
        self.out.clear();
        while let Some(transmit) = self.endpoint.transmit(&mut self.out, now_ns) {
            self.out.chunks(transmit.segment_bytes).for_each(|datagram| put(datagram.to_vec()));
            self.out.clear();
        }
    }

    fn due_ns(&mut self) -> Option<u64> {
        self.endpoint.due_ns()
    }

    fn expire(&mut self, now_ns: u64) {
        self.endpoint.run(&mut self.counts, now_ns);
    }

    fn judge(&mut self, untouched: bool) {
        assert_eq!(self.endpoint.connections(), 0, "their idle timeouts are over");
        assert!(!untouched || self.counts.0 == REQUESTS, "{} requests", self.counts.0);
    }
}

/// Responds to every request that came whole.
struct Echo;

impl Conversation for Echo {
    type Around = Answered;

    fn new(_: &mut Answered) -> Self {
        Self
    }

    fn go_on(
        &mut self,
        connection: &mut server::Connection,
        answered: &mut Answered,
        _now_ns: u64,
    ) {
        while let Some(event) = connection.next_event() {
            match event {
                Event::End(stream) => {
                    answered.0 += 1;
                    if connection.send_copy(stream, &response(b"hello")).is_some() {
                        connection.finish(stream);
                    }
                }
                Event::HeadTooLong(stream) => {
                    connection.reset(stream, ablaze_wire::http3::error::ErrorCode::EXCESSIVE_LOAD);
                }
                _ => {}
            }
        }
    }

    fn due_ns(&self) -> Option<u64> {
        None
    }

    fn finish(&mut self) {}
}
