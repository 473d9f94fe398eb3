//! Bodies over HTTP/2 arrive as they were made, also on a connection whose streams end while their
//! bodies are being sent: by a response, by RST_STREAM, for lack of a window, with the connection.

use std::collections::BTreeMap;
use std::sync::Arc;

use ablaze_model::plan::Plan;
use ablaze_net::sim::{ConnectReply, FarEnd, SimPeer};
use ablaze_wire::http1::builder::RequestBuilder;

use crate::simulated::http2::over_http2;
use crate::simulated::http2_peer::frame;
use crate::simulated::numbered::Got;
use crate::simulated::support::{US, check_sums, plan, run};

const PREFACE_BYTES: usize = 24;
/// Streams on one connection, at most.
const STREAMS: u32 = 600;
/// What a window update adds.
const CREDIT: u32 = 9_000;
const PERIOD_BYTES: usize = 11;

/// When the peer does something with a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
enum When {
    /// Its HEADERS came.
    Head,
    /// The first DATA came.
    Begun,
    /// The last came.
    Whole,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Does {
    Responds,
    /// And asks for no more of the body (RFC 9113, 8.1).
    RespondsAndResets,
    /// REFUSED_STREAM.
    Refuses,
}

/// Checks every byte of every stream's body, and ends streams as told.
#[derive(Clone)]
struct Uploads {
    bytes: Arc<[u8]>,
    /// Where the frames of the first stream are, how many bytes a stream's are, and where each ends.
    frames: (u32, u32, [u32; 4]),
    got: Got,
    when: When,
    does: Does,
    reads: usize,
    window: usize,
    /// Resets the connection behind this many streams.
    ends_after: Option<u32>,
    kept: Vec<u8>,
    greeted: bool,
    bodies: BTreeMap<u32, (usize, [u8; PERIOD_BYTES])>,
    streams: u32,
}

impl Uploads {
    fn new(when: When, does: Does, (reads, window): (usize, usize)) -> Self {
        let mut bytes = [frame(4, 0, 0, &[]), frame(4, 0x1, 0, &[])].concat();
        bytes.extend(frame(8, 0, 0, &CREDIT.to_be_bytes()));
        let start = bytes.len() as u32;
        let mut ends = [0; 4];
        for stream in (1..2 * STREAMS).step_by(2) {
            let response = [frame(1, 0x4, stream, &[0x88]), frame(0, 0x1, stream, b"hello")];
            let reset = |code: u32| frame(3, 0, stream, &code.to_be_bytes());
            let credit = frame(8, 0, stream, &CREDIT.to_be_bytes());
            let mut end = 0;
            for (number, one) in
                [response.concat(), reset(0), reset(7), credit].into_iter().enumerate()
            {
                bytes.extend(&one);
                end += one.len() as u32;
                ends[number] = end;
            }
        }
        Self {
            bytes: bytes.into(),
            frames: (start, ends[3], ends),
            got: Got::default(),
            when,
            does,
            reads,
            window,
            ends_after: None,
            kept: Vec::new(),
            greeted: false,
            bodies: BTreeMap::new(),
            streams: 0,
        }
    }

    fn send(&self, far: &mut FarEnd<'_>, stream: u32, first: usize, last: usize) {
        let (start, each, ends) = self.frames;
        let from = if first == 0 { 0 } else { ends[first - 1] };
        far.send_after(US, start + stream / 2 * each + from, ends[last] - from);
    }

    fn came(&self, far: &mut FarEnd<'_>, stream: u32, when: When) {
        if when == self.when {
            match self.does {
                Does::Responds => self.send(far, stream, 0, 0),
                Does::RespondsAndResets => self.send(far, stream, 0, 1),
                Does::Refuses => self.send(far, stream, 2, 2),
            }
        }
    }

    fn data(&mut self, far: &mut FarEnd<'_>, stream: u32, content: &[u8], ends: bool) {
        let (at, period) = self.bodies.get_mut(&stream).unwrap();
        let begun = *at == 0;
        for &byte in content {
            let expected = &mut period[*at % PERIOD_BYTES];
            if *at < PERIOD_BYTES {
                *expected = byte;
            } else if *expected != byte {
                self.got.wrong(format!("byte {at} of stream {stream} is another request's"));
            }
            *at += 1;
        }
        if ends {
            let text = String::from_utf8_lossy(period).into_owned();
            match text.trim_end_matches(',').parse::<u64>() {
                Ok(number) => self.got.whole(number),
                Err(_) => self.got.wrong(format!("stream {stream} has no number: {text}")),
            }
        }
        // Of the connection's window and of the stream's.
        let connection = 18;
        for _ in 0..content.len().div_ceil(CREDIT as usize) {
            far.send_after(20 * US, connection, 13);
            if !ends {
                self.send(far, stream, 3, 3);
            }
        }
        if begun && !content.is_empty() {
            self.came(far, stream, When::Begun);
        }
        if ends {
            self.came(far, stream, When::Whole);
        }
    }
}

impl SimPeer for Uploads {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn connect(&mut self, far: &mut FarEnd<'_>, _: u64) -> ConnectReply {
        far.set_window(self.window);
        far.read_slowly(self.reads, 10 * US);
        ConnectReply::AcceptAfter(10 * US)
    }

    fn received(&mut self, far: &mut FarEnd<'_>, bytes: &[u8]) {
        self.kept.extend_from_slice(bytes);
        if !self.greeted {
            if self.kept.len() < PREFACE_BYTES {
                return;
            }
            self.kept.drain(..PREFACE_BYTES);
            self.greeted = true;
            far.send_after(0, 0, 18);
        }
        let kept = std::mem::take(&mut self.kept);
        let mut rest = &kept[..];
        while let Some((head, behind)) = rest.split_at_checked(9) {
            let len = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
            let Some((content, behind)) = behind.split_at_checked(len) else { break };
            rest = behind;
            match head[3] {
                0 => self.data(far, stream, content, head[4] & 0x1 != 0),
                1 => {
                    self.bodies.insert(stream, (0, [0; PERIOD_BYTES]));
                    self.streams += 1;
                    self.came(far, stream, When::Head);
                    if self.ends_after == Some(self.streams) {
                        far.reset_after(300 * US);
                    }
                }
                // SETTINGS, RST_STREAM, WINDOW_UPDATE.
                3 | 4 | 8 => {}
                kind => self.got.wrong(format!("a frame of type {kind}")),
            }
        }
        self.kept = rest.to_vec();
    }
}

fn upload_plan(requests: u64, streams: u32, times: usize) -> Plan {
    let mut plan = over_http2(plan(requests, 2), streams);
    let upload = RequestBuilder::new("PUT", "/{seq}")
        .header("Host", "there")
        .body_length_header("Content-Length")
        .body("{seq},".repeat(times))
        .build()
        .unwrap();
    plan.requests.templates = vec![upload];
    plan.requests.has_body = true;
    plan
}

/// How much is read each 10 µs, and what can be ahead of it: less than a frame, and much.
const READS: [(usize, usize); 2] = [(2_000, 5_000), (60_000, 200_000)];

#[test]
fn whatever_ends_a_stream_the_others_keep_their_bytes() {
    for does in [Does::Responds, Does::RespondsAndResets, Does::Refuses] {
        for when in [When::Head, When::Begun, When::Whole] {
            for times in [1, 300, 6_000] {
                for streams in [1, 7] {
                    for reads in READS {
                        let case =
                            format!("{does:?} {when:?} {times} × 11 B, {streams}, {reads:?}");
                        let peer = Uploads::new(when, does, reads);
                        run(&upload_plan(24, streams, times), &peer, |run| {
                            check_sums(run);
                            assert_eq!(run.record.finished(), 24, "{case}");
                            let whole = peer.got.check(2, &case);
                            if does == Does::Responds && when == When::Whole {
                                assert_eq!((whole, run.record.responses), (24, 24), "{case}");
                            }
                        });
                    }
                }
            }
        }
    }
}

#[test]
fn a_reset_connection_takes_no_bytes_along_to_the_next() {
    for streams in [1, 5, 20] {
        for times in [100, 12_000] {
            for reads in READS {
                let case = format!("{times} × 11 B, {streams}, {reads:?}");
                let mut peer = Uploads::new(When::Whole, Does::Responds, reads);
                peer.ends_after = Some(7);
                run(&upload_plan(60, streams, times), &peer, |run| {
                    check_sums(run);
                    assert_eq!(run.record.finished(), 60, "{case}");
                    peer.got.check(2, &case);
                });
            }
        }
    }
}
