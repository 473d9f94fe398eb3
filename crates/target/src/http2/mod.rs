//! One connection's HTTP/2 (RFC 9113) without any I/O, as [`crate::protocol::Protocol`] drives it:
//! frames in, frames out. The same handler, routes and conditions response as over HTTP/1; there is
//! no state of requests beyond what is under way.
//!
//! `receiving` does what the frames of requests ask for and `control` what the others do, `heads` reads header blocks of requests, `answering`
//! has requests answered, `encoder` writes header blocks of responses, `streams` is what is under
//! way, `sending` shares the windows among the responses, `spoiling` makes faults.

mod answering;
mod control;
mod encoder;
pub(crate) mod heads;
mod receiving;
mod sending;
mod spoiling;
mod streams;

use std::mem;

use ablaze_sys::clock::monotonic_ns;
use ablaze_wire::http2::error::{ErrorCode, ErrorKind};
use ablaze_wire::http2::floods::Floods;
use ablaze_wire::http2::flow::ReceiveWindow;
use ablaze_wire::http2::frame::{self, PREFACE, WINDOW_INITIAL, setting};
use ablaze_wire::http2::reader::FrameReader;
use ablaze_wire::http2::settings::PeerSettings;

use crate::handler::Handler;
use crate::http1::date::Date;
use crate::http1::output::Output;
use crate::http1::protocol::OUTPUT_BYTES_MAX;
use crate::protocol::Next;
use crate::service::Service;
use encoder::HeadEncoder;
use heads::RequestHeads;
use receiving::{OpenBlock, Receiving};
use streams::Streams;

/// What a client may send before we read it: of one request, and of all together.
const STREAM_WINDOW_BYTES: u32 = 1 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 4 << 20;

/// As with HTTP/1: a reset destroys what has not left yet, so it waits behind a long response.
const DELIVERED_BYTES: u64 = 32 * 1024;
const DELIVERY_NS: u64 = 50_000_000;

/// One connection's state.
#[derive(Debug)]
pub struct Http2 {
    /// Bytes of the preface that have come.
    preface: usize,
    reader: FrameReader,
    core: Core,
}

/// All of it but the frame that is being read.
#[derive(Debug)]
struct Core {
    heads: RequestHeads,
    encoder: HeadEncoder,
    peer: PeerSettings,
    settings_came: bool,
    floods: Floods,
    /// What the client may still send.
    window: ReceiveWindow,
    /// What we may still send.
    send_window: i64,
    streams: Streams,
    /// Highest stream that was opened.
    last_stream: u32,
    /// A header block that is not complete.
    block: Option<OpenBlock>,
    fragments: Vec<u8>,
    /// The stream that the DATA frame under way belongs to, if its content is of any use.
    data_stream: Option<u32>,
    answered: u64,
    answered_ever: u64,
    /// Of those answered since then, how many met a fault.
    struck: u64,
    /// No further stream is taken.
    last: bool,
    /// The last stream that a GOAWAY has named: it must not rise (RFC 9113, 6.8).
    goaway: Option<u32>,
    /// The connection ends, in this way, when all has left.
    end: Option<Next>,
}

impl Default for Http2 {
    fn default() -> Self {
        Self::new()
    }
}

impl Http2 {
    /// For a connection whose first byte has not come.
    pub fn new() -> Self {
        Self {
            preface: 0,
            reader: FrameReader::default(),
            core: Core {
                heads: RequestHeads::new(),
                encoder: HeadEncoder::new(),
                peer: PeerSettings::default(),
                settings_came: false,
                floods: Floods::default(),
                window: ReceiveWindow::new(CONNECTION_WINDOW_BYTES),
                send_window: WINDOW_INITIAL.into(),
                streams: Streams::default(),
                last_stream: 0,
                block: None,
                fragments: Vec::new(),
                data_stream: None,
                answered: 0,
                answered_ever: 0,
                struck: 0,
                last: false,
                goaway: None,
                end: None,
            },
        }
    }

    /// Takes in bytes that were received; as [`crate::protocol::Protocol::receive`].
    #[inline(never)]
    pub fn receive<H: Handler>(
        &mut self,
        bytes: &[u8],
        service: &Service<H>,
        date: &Date,
        out: &mut Output,
    ) -> Next {
        let frames = match self.pass_preface(bytes, service, out) {
            Ok(frames) => frames,
            Err(kind) => return self.core.fail(kind, out),
        };
        let core = &mut self.core;
        let read = self.reader.read(frames, &mut Receiving { core, service, date, out });
        match read {
            Ok(()) => self.go_on(out),
            Err(kind) => self.core.fail(kind, out),
        }
    }

    /// Goes on; as [`crate::protocol::Protocol::proceed`]. To be called too often does no harm.
    pub fn proceed(&mut self, out: &mut Output) -> Next {
        self.go_on(out)
    }

    /// Requests answered since the last call.
    pub fn take_answered(&mut self) -> u64 {
        mem::take(&mut self.core.answered)
    }

    /// How many of them met a fault.
    pub fn take_struck(&mut self) -> u64 {
        mem::take(&mut self.core.struck)
    }

    /// Whether no request is under way and no byte of one has come.
    pub fn is_idle(&self) -> bool {
        self.reader.between_frames() && self.core.block.is_none() && self.core.streams.is_empty()
    }

    /// No further stream is taken; those that are open are answered.
    pub fn finish(&mut self) {
        self.core.last = true;
    }

    /// The connection ends though nothing is wrong with it (RFC 9113, 6.8).
    pub fn say_goodbye(&mut self, out: &mut Output) {
        if self.preface > 0 {
            self.core.say_goaway(ErrorCode::NO_ERROR, out);
        }
    }

    /// The client's first bytes (RFC 9113, 3.4); what follows them.
    #[inline]
    fn pass_preface<'a, H>(
        &mut self,
        bytes: &'a [u8],
        service: &Service<H>,
        out: &mut Output,
    ) -> Result<&'a [u8], ErrorKind> {
        if self.preface == PREFACE.len() {
            return Ok(bytes);
        }
        if self.preface == 0 {
            out.push_with(|text| {
                let settings = [
                    (setting::MAX_CONCURRENT_STREAMS, service.max_streams),
                    (setting::INITIAL_WINDOW_SIZE, STREAM_WINDOW_BYTES),
                    (setting::MAX_HEADER_LIST_SIZE, header_list_bytes(service)),
                ];
                frame::write_settings(text, &settings);
                let more = CONNECTION_WINDOW_BYTES - WINDOW_INITIAL;
                frame::write_window_update(text, 0, more);
            });
        }
        let here = bytes.len().min(PREFACE.len() - self.preface);
        let (preface, frames) = bytes.split_at(here);
        if *preface != PREFACE[self.preface..self.preface + here] {
            return Err(ErrorKind::NoPreface);
        }
        self.preface += here;
        Ok(frames)
    }

    /// Lets leave what can, and says what is waited for.
    #[inline]
    fn go_on(&mut self, out: &mut Output) -> Next {
        let core = &mut self.core;
        if core.streams.has_timers() {
            core.run_timers(monotonic_ns(), out);
        }
        core.send(out);
        if let Some(end) = core.end {
            // Once: then, there is nothing left to write.
            let at_risk = end == Next::Reset && out.left() > DELIVERED_BYTES;
            return if at_risk { Next::Wait(DELIVERY_NS) } else { end };
        }
        if core.last {
            core.say_goaway(ErrorCode::NO_ERROR, out);
            if core.streams.is_empty() {
                // The client may have sent more before it knew.
                return Next::Close { unread: true };
            }
        }
        if out.left() >= OUTPUT_BYTES_MAX && core.streams.has_ready() && core.send_window > 0 {
            return Next::Proceed;
        }
        match core.streams.first_due_ns() {
            Some(due_ns) => Next::ReadFor(due_ns.saturating_sub(monotonic_ns())),
            None => Next::Read,
        }
    }
}

impl Core {
    /// The client has made the connection unusable.
    #[cold]
    fn fail(&mut self, kind: ErrorKind, out: &mut Output) -> Next {
        let last_stream = *self.goaway.get_or_insert(self.last_stream);
        out.push_with(|text| frame::write_goaway(text, last_stream, kind.code()));
        let end = Next::Close { unread: true };
        self.end = Some(end);
        end
    }

    fn say_goaway(&mut self, code: ErrorCode, out: &mut Output) {
        if self.goaway.is_none() {
            self.goaway = Some(self.last_stream);
            out.push_with(|text| frame::write_goaway(text, self.last_stream, code));
        }
    }
}

/// What we say that the fields of a request may have.
fn header_list_bytes<H>(service: &Service<H>) -> u32 {
    u32::try_from(service.max_head_bytes).unwrap_or(u32::MAX)
}
