//! A peer that speaks HTTP/2 by script. Its frames are made by hand, from RFC 9113, so that the
//! codec under test is not its own oracle; all that a stream may need is there in advance, because
//! the simulated network sends ranges of constant bytes.

use std::sync::{Arc, Mutex};

use ablaze_net::sim::{ConnectReply, FarEnd, SimPeer};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Streams on one connection, at most.
const STREAMS: u32 = 6_000;

const HEAD: usize = 0;
const BODY: usize = 1;
const REFUSED: usize = 2;
const RESET: usize = 3;
const GOAWAY: usize = 4;
const WINDOW: usize = 5;

/// A frame (RFC 9113, 4.1).
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// What a stream may need, in the order of the constants above.
fn frames_of(stream: u32) -> [Vec<u8>; 6] {
    let goaway = [stream.to_be_bytes(), [0; 4]].concat();
    [
        // `:status: 200` is entry 8 of the static table (RFC 7541, appendix A).
        frame(1, 0x4, stream, &[0x88]),
        frame(0, 0x1, stream, b"hello"),
        frame(3, 0, stream, &7_u32.to_be_bytes()),
        frame(3, 0, stream, &2_u32.to_be_bytes()),
        frame(7, 0, 0, &goaway),
        frame(8, 0, stream, &100_000_u32.to_be_bytes()),
    ]
}

/// A request at the peer, and what the script can do about it.
pub struct Asked<'a, 'b> {
    pub far: &'a mut FarEnd<'b>,
    /// Number of the connection among all the worker opened.
    pub connection: u64,
    /// Number of the request on this connection.
    pub request: u64,
    stream: u32,
    bytes: &'a Layout,
}

impl Asked<'_, '_> {
    pub fn response(&mut self, delay_ns: u64) {
        self.send(delay_ns, HEAD, BODY);
    }

    /// The head and a part of the body, and then nothing.
    pub fn begin(&mut self, delay_ns: u64) {
        self.send(delay_ns, HEAD, HEAD);
    }

    pub fn refuse(&mut self, delay_ns: u64) {
        self.send(delay_ns, REFUSED, REFUSED);
    }

    /// RST_STREAM with INTERNAL_ERROR.
    pub fn reset(&mut self, delay_ns: u64) {
        self.send(delay_ns, RESET, RESET);
    }

    /// GOAWAY: this is the last stream.
    pub fn goaway(&mut self, delay_ns: u64) {
        self.send(delay_ns, GOAWAY, GOAWAY);
    }

    /// The further frame of this number.
    pub fn send_further(&mut self, delay_ns: u64, number: usize) {
        let (start, len) = self.bytes.further[number];
        self.far.send_after(delay_ns, start, len);
    }

    fn send(&mut self, delay_ns: u64, first: usize, last: usize) {
        let (start, len) = self.bytes.range(self.stream, first, last);
        self.far.send_after(delay_ns, start, len);
    }
}

/// Where everything lies.
#[derive(Debug)]
struct Layout {
    bytes: Vec<u8>,
    /// First byte of the first stream's frames, and how many there are of each stream.
    streams: (u32, u32),
    /// Where each of a stream's frames ends.
    ends: [u32; 6],
    settings: (u32, u32),
    further: Vec<(u32, u32)>,
}

impl Layout {
    fn range(&self, stream: u32, first: usize, last: usize) -> (u32, u32) {
        let (start, each) = self.streams;
        let begin = start + stream / 2 * each;
        let from = if first == 0 { 0 } else { self.ends[first - 1] };
        (begin + from, self.ends[last] - from)
    }
}

/// What a peer saw.
#[derive(Debug, Default)]
pub struct Seen {
    /// Requests in each piece that came, as many as the client wrote at once.
    pub requests_at_once: Vec<usize>,
    /// Streams that the client reset.
    pub resets: usize,
    /// Bytes of bodies.
    pub body_bytes: usize,
}

type Act = dyn Fn(&mut Asked<'_, '_>) + Send + Sync;
type Which = dyn Fn(u64) -> bool + Send + Sync;
type Connect = dyn Fn(u64) -> ConnectReply + Send + Sync;

/// A peer that does what a closure says with each request that is complete.
#[derive(Clone)]
pub struct Http2Script {
    layout: Arc<Layout>,
    connect: Arc<Connect>,
    act: Arc<Act>,
    seen: Arc<Mutex<Seen>>,
    connection: u64,
    requests: u64,
    kept: Vec<u8>,
    greeted: bool,
    /// How long after DATA its windows are enlarged.
    windows_after_ns: u64,
    /// The connections on which the first of the further frames follows the settings.
    greets_with_more: Arc<Which>,
}

impl Http2Script {
    pub fn new(act: impl Fn(&mut Asked<'_, '_>) + Send + Sync + 'static) -> Self {
        // The window of the connection is enlarged by the last of the further frames.
        Self::with(&[], &[frame(8, 0, 0, &100_000_u32.to_be_bytes())], act)
    }

    /// With these settings, and further frames to send; the last of them follows every DATA.
    pub fn with(
        settings: &[(u16, u32)],
        further: &[Vec<u8>],
        act: impl Fn(&mut Asked<'_, '_>) + Send + Sync + 'static,
    ) -> Self {
        let payload: Vec<u8> = settings
            .iter()
            .flat_map(|(number, value)| number.to_be_bytes().into_iter().chain(value.to_be_bytes()))
            .collect();
        let mut bytes = frame(4, 0, 0, &payload);
        bytes.extend(frame(4, 0x1, 0, &[]));
        let settings = (0, bytes.len() as u32);
        let mut places = Vec::new();
        for one in further {
            places.push((bytes.len() as u32, one.len() as u32));
            bytes.extend(one);
        }
        let start = bytes.len() as u32;
        let mut ends = [0; 6];
        for stream in (1..2 * STREAMS).step_by(2) {
            let mut end = 0;
            for (number, one) in frames_of(stream).iter().enumerate() {
                bytes.extend(one);
                end += one.len() as u32;
                ends[number] = end;
            }
        }
        let layout = Layout { bytes, streams: (start, ends[5]), ends, settings, further: places };
        Self {
            layout: Arc::new(layout),
            connect: Arc::new(|_| ConnectReply::AcceptAfter(0)),
            act: Arc::new(act),
            seen: Arc::default(),
            connection: 0,
            requests: 0,
            kept: Vec::new(),
            greeted: false,
            windows_after_ns: 0,
            greets_with_more: Arc::new(|_| false),
        }
    }

    pub fn always(delay_ns: u64) -> Self {
        Self::new(move |asked| asked.response(delay_ns))
    }

    /// How it takes connections, by their number.
    pub fn connecting(
        mut self,
        connect: impl Fn(u64) -> ConnectReply + Send + Sync + 'static,
    ) -> Self {
        self.connect = Arc::new(connect);
        self
    }

    /// Enlarges the windows only so long after DATA came.
    pub fn windows_after(mut self, delay_ns: u64) -> Self {
        self.windows_after_ns = delay_ns;
        self
    }

    /// Sends the first of the further frames right behind its settings, on connections of these numbers.
    pub fn greeting_with_more(
        mut self,
        which: impl Fn(u64) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.greets_with_more = Arc::new(which);
        self
    }

    /// Takes what was seen so far.
    pub fn seen(&self) -> Seen {
        std::mem::take(&mut self.seen.lock().unwrap())
    }

    fn asked(&mut self, far: &mut FarEnd<'_>, stream: u32) {
        assert!(stream < 2 * STREAMS, "the script has bytes for {STREAMS} streams of a connection");
        let (connection, request) = (self.connection, self.requests);
        let mut asked = Asked { far, connection, request, stream, bytes: &self.layout };
        (self.act)(&mut asked);
        self.requests += 1;
    }
}

impl SimPeer for Http2Script {
    fn bytes(&self) -> &[u8] {
        &self.layout.bytes
    }

    fn connect(&mut self, _: &mut FarEnd<'_>, number: u64) -> ConnectReply {
        self.connection = number;
        (self.connect)(number)
    }

    fn received(&mut self, far: &mut FarEnd<'_>, bytes: &[u8]) {
        self.kept.extend_from_slice(bytes);
        if !self.greeted {
            if self.kept.len() < PREFACE.len() {
                return;
            }
            assert_eq!(&self.kept[..PREFACE.len()], PREFACE);
            self.kept.drain(..PREFACE.len());
            self.greeted = true;
            let (start, len) = self.layout.settings;
            far.send_after(0, start, len);
            if (self.greets_with_more)(self.connection) {
                let (start, len) = self.layout.further[0];
                far.send_after(0, start, len);
            }
        }
        let mut at_once = 0;
        let kept = std::mem::take(&mut self.kept);
        let mut rest = &kept[..];
        while let Some((head, behind)) = rest.split_at_checked(9) {
            let len = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            let (kind, flags) = (head[3], head[4]);
            let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
            let Some((_, behind)) = behind.split_at_checked(len) else { break };
            rest = behind;
            match kind {
                0 => {
                    self.seen.lock().unwrap().body_bytes += len;
                    let (start, len) = self.layout.range(stream, WINDOW, WINDOW);
                    far.send_after(self.windows_after_ns, start, len);
                    if let Some(&(start, len)) = self.layout.further.last() {
                        far.send_after(self.windows_after_ns, start, len);
                    }
                }
                1 => {
                    at_once += 1;
                    assert_eq!(stream % 2, 1, "a client's streams are odd");
                }
                3 => self.seen.lock().unwrap().resets += 1,
                _ => {}
            }
            if matches!(kind, 0 | 1) && flags & 0x1 != 0 {
                self.asked(far, stream);
            }
        }
        self.kept = rest.to_vec();
        if at_once > 0 {
            self.seen.lock().unwrap().requests_at_once.push(at_once);
        }
    }
}
