//! A sink that keeps the checksum of every body, and the server's list of what it sent.

use std::sync::{Arc, Mutex};

use ablaze_engine::sink::{BodySink, Response, SinkOf};
use ablaze_engine::walk::Walk;

/// A body, by its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Body {
    pub status: u16,
    pub bytes: u64,
    pub hash: u64,
}

impl Body {
    pub fn new(status: u16) -> Self {
        // FNV-1a, 64 bits.
        Self { status, bytes: 0, hash: 0xcbf2_9ce4_8422_2325 }
    }

    pub fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        for byte in bytes {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

/// A body as the sink saw it end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    pub response: Response,
    pub body: Body,
    pub complete: bool,
    pub calls: u64,
}

/// What of a body has come.
#[derive(Debug, Clone, Copy)]
struct Coming {
    response: Response,
    body: Body,
    calls: u64,
    last_ns: u64,
}

/// Checksums of all bodies of one worker.
pub struct Checking {
    coming: Vec<Option<Coming>>,
    pub ended: Vec<Ended>,
}

impl Checking {
    pub fn new(of: SinkOf) -> Self {
        Self { coming: vec![None; of.places], ended: Vec::new() }
    }
}

impl Walk for Checking {}

impl BodySink for Checking {
    fn begin(&mut self, place: usize, response: Response, at_ns: u64) {
        let body = Body::new(response.status);
        let coming = Coming { response, body, calls: 0, last_ns: at_ns };
        assert!(self.coming[place].replace(coming).is_none(), "two bodies in place {place}");
    }

    fn bytes(&mut self, place: usize, bytes: &[u8], at_ns: u64) {
        let coming = self.coming[place].as_mut().expect("bytes of a body that has not begun");
        assert!(!bytes.is_empty() && at_ns >= coming.last_ns);
        coming.body.add(bytes);
        coming.calls += 1;
        coming.last_ns = at_ns;
    }

    fn end(&mut self, place: usize, complete: bool, _at_ns: u64) {
        let Coming { response, body, calls, .. } =
            self.coming[place].take().expect("the end of a body that has not begun");
        self.ended.push(Ended { response, body, complete, calls });
    }
}

/// What servers sent.
pub type Sent = Arc<Mutex<Vec<Body>>>;

/// Every body that was sent was seen, whole and once.
pub fn same(sinks: Vec<Checking>, sent: &Sent, what: &str) {
    let mut seen: Vec<Body> = Vec::new();
    for sink in sinks {
        assert!(sink.coming.iter().all(Option::is_none), "{what}: a body has no end");
        for ended in sink.ended {
            assert!(ended.complete, "{what}: {ended:?}");
            seen.push(ended.body);
        }
    }
    let mut sent = std::mem::take(&mut *sent.lock().unwrap());
    seen.sort_unstable();
    sent.sort_unstable();
    assert_eq!(seen, sent, "{what}");
}

/// Bytes that no other seed has.
pub fn bytes_of(seed: u64, bytes: usize) -> Vec<u8> {
    let mut content = ablaze_random::SplitMix64::new(seed).bytes(bytes);
    // Bytes that framing is made of, too.
    for (at, byte) in content.iter_mut().enumerate() {
        if at % 7 == 3 {
            *byte = b"\r\n0;HTTP/1.1"[at % 12];
        }
    }
    content
}
