//! The bodies of responses, a frame of each in turn, as far as the windows and the output permit
//! (RFC 9113, 5.2).

use ablaze_sys::clock::monotonic_ns;
use ablaze_wire::http2::error::ErrorCode;
use ablaze_wire::http2::frame::{PAYLOAD_BYTES_MIN, flag, kind, write_head, write_reset};

use super::Core;
use super::streams::{Reply, Stream, Then};
use crate::handler::{Chunks, Flow};
use crate::http1::output::Output;
use crate::http1::protocol::OUTPUT_BYTES_MAX;
use crate::protocol::Next;

/// A source that had nothing to say waits at least so long.
const EMPTY_PAUSE_NS: u64 = 100_000;

/// How a response goes on behind a frame of it.
enum Goes {
    /// With the next frame, when the others had their turn.
    On,
    /// When the client enlarges its window.
    WhenThereIsRoom,
    /// When the connection's window is enlarged.
    WhenTheConnectionHasRoom,
    /// After this many nanoseconds.
    After(u64),
    /// Everything was sent.
    Over,
}

impl Core {
    /// Responses whose time has come go on.
    pub(super) fn run_timers(&mut self, now_ns: u64, out: &mut Output) {
        while let Some(id) = self.streams.pop_due(now_ns) {
            self.begin_reply(id, out);
        }
    }

    /// Adds frames of the responses that are ready.
    #[inline]
    pub(super) fn send(&mut self, out: &mut Output) {
        while out.left() < OUTPUT_BYTES_MAX
            && let Some(id) = self.streams.next_ready()
        {
            match self.send_frame(id, out) {
                Goes::On => self.streams.make_ready(id),
                Goes::WhenThereIsRoom => {}
                Goes::WhenTheConnectionHasRoom => {
                    self.streams.make_ready(id);
                    return;
                }
                Goes::After(pause_ns) => {
                    self.streams.wait(id, monotonic_ns().saturating_add(pause_ns));
                }
                Goes::Over => self.end_reply(id, out),
            }
        }
    }

    fn send_frame(&mut self, id: u32, out: &mut Output) -> Goes {
        let Some(stream) = self.streams.get(id) else { return Goes::WhenThereIsRoom };
        let Some(reply) = &mut stream.reply else { return Goes::WhenThereIsRoom };
        reply.fill();
        let body_bytes = reply.body.left();
        let pace_bytes = reply.pace.map_or(u64::MAX, |(bytes, _)| bytes);
        if body_bytes > 0 && stream.window <= 0 {
            return Goes::WhenThereIsRoom;
        }
        if body_bytes > 0 && self.send_window <= 0 {
            return Goes::WhenTheConnectionHasRoom;
        }
        let room = self.send_window.min(stream.window).max(0) as u64;
        let bytes = body_bytes.min(room).min(PAYLOAD_BYTES_MIN.into()).min(pace_bytes);
        let is_last = bytes == body_bytes && reply.source.is_none();
        let ends =
            is_last && !matches!(reply.then, Then::Reset(code) if code != ErrorCode::NO_ERROR);
        if bytes > 0 || ends {
            let flags = if ends { flag::END_STREAM } else { 0 };
            out.push_with(|text| write_head(text, kind::DATA, flags, id, bytes as u32));
            reply.body.move_to(out, bytes);
            stream.window -= bytes as i64;
            self.send_window -= bytes as i64;
            self.floods.sent_content();
        }
        match reply.pace {
            _ if is_last => Goes::Over,
            Some((_, pause_ns)) => Goes::After(pause_ns),
            None if !reply.body.is_empty() => Goes::On,
            // A source that has nothing is not asked again at once.
            None if bytes == 0 => Goes::After(reply.pause_ns.max(EMPTY_PAUSE_NS)),
            None if reply.pause_ns > 0 => Goes::After(reply.pause_ns),
            None => Goes::On,
        }
    }

    /// All of a response has left.
    fn end_reply(&mut self, id: u32, out: &mut Output) {
        let Some(Stream { reply: Some(reply), upload, .. }) = self.streams.get(id) else { return };
        let (then, uploading) = (reply.then, upload.is_some());
        self.floods.answered();
        match then {
            Then::End if uploading => self.reset(id, ErrorCode::NO_ERROR, out),
            Then::End => drop(self.streams.close(id)),
            Then::Reset(code) => {
                self.streams.drop_stream(id);
                out.push_with(|text| write_reset(text, id, code));
            }
            Then::ResetConnection => {
                self.streams.close(id);
                self.end = Some(Next::Reset);
            }
        }
    }
}

impl Reply {
    /// Has the body go on, if it is made as it leaves and nothing of it is there.
    pub(super) fn fill(&mut self) {
        let Some(source) = &mut self.source else { return };
        if !self.body.is_empty() {
            return;
        }
        match source.next(&mut Chunks::new(&mut self.body, false)) {
            Flow::End => self.source = None,
            Flow::After(pause_ns) => self.pause_ns = pause_ns,
        }
    }
}
