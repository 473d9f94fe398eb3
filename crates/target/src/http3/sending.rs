//! How a response leaves on its stream, as far as the client's windows permit.

use std::io::IoSlice;

use ablaze_quic::server::Connection;
use ablaze_wire::http3::error::ErrorCode;
use ablaze_wire::http3::frame::{kind, write_head};

use super::Http3;
use super::streams::{FAULT, Reply, Then};
use crate::handler::{Chunks, Flow, Handler};
use crate::http1::output::Output;

/// A source that had nothing to say waits at least so long.
const EMPTY_PAUSE_NS: u64 = 100_000;
/// A reset destroys what has not arrived: it comes so much later.
const DELIVERY_NS: u64 = 50_000_000;

/// How a response goes on behind a piece of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goes {
    /// When the client has room.
    WhenThereIsRoom,
    /// After this many nanoseconds.
    After(u64),
    /// Everything was sent.
    Over,
    /// The client does not want it any more.
    Gone,
}

impl<H: Handler> Http3<H> {
    /// Has a response go on.
    pub(super) fn advance(&mut self, stream: u64, connection: &mut Connection, now_ns: u64) {
        let Some(reply) = self.streams.replying(stream) else {
            return self.continue_first(stream, connection, now_ns);
        };
        match reply.send(stream, connection) {
            Goes::WhenThereIsRoom => {}
            Goes::After(pause_ns) => self.streams.wait(stream, now_ns.saturating_add(pause_ns)),
            Goes::Gone => self.streams.close(stream),
            Goes::Over => self.end_reply(stream, connection, now_ns),
        }
    }

    /// Says what of 100 (Continue) had no room, then has the response follow.
    #[cold]
    fn continue_first(&mut self, stream: u64, connection: &mut Connection, now_ns: u64) {
        let Some(unsaid) = self.streams.unsaid(stream) else { return };
        if !unsaid.is_empty() && !connection.send(stream, unsaid) {
            return self.streams.close(stream);
        }
        if unsaid.is_empty() && self.streams.reply_follows(stream) {
            self.advance(stream, connection, now_ns);
        }
    }

    /// All of a response has left.
    fn end_reply(&mut self, stream: u64, connection: &mut Connection, now_ns: u64) {
        let Some(reply) = self.streams.replying(stream) else { return };
        match reply.then {
            Then::End => connection.finish(stream),
            Then::Stop => {
                connection.finish(stream);
                // Without an error, so that the response is taken (RFC 9114, 4.1).
                connection.stop(stream, ErrorCode::NO_ERROR);
            }
            Then::Reset if reply.pause_ns == 0 => {
                reply.pause_ns = DELIVERY_NS;
                return self.streams.wait(stream, now_ns.saturating_add(DELIVERY_NS));
            }
            Then::Reset => connection.reset(stream, FAULT),
            Then::EndConnection => {
                connection.finish(stream);
                self.end = Some(FAULT);
            }
        }
        self.streams.close(stream);
    }
}

impl Reply {
    fn send(&mut self, stream: u64, connection: &mut Connection) -> Goes {
        if !self.first.is_empty() {
            if !connection.send(stream, &mut self.first) {
                return Goes::Gone;
            }
            if !self.first.is_empty() {
                return Goes::WhenThereIsRoom;
            }
        }
        loop {
            if self.frames.is_empty() && !self.fill() {
                return match &self.source {
                    Some(_) => Goes::After(self.pause_ns.max(EMPTY_PAUSE_NS)),
                    None => Goes::Over,
                };
            }
            let most = self.pace.map_or(u64::MAX, |(bytes, _)| bytes);
            match send_some(&mut self.frames, most, stream, connection) {
                None => return Goes::Gone,
                Some(false) => return Goes::WhenThereIsRoom,
                Some(true) => {}
            }
            match self.pace {
                Some((_, pause_ns)) if !self.frames.is_empty() => return Goes::After(pause_ns),
                _ if self.source.is_some() && self.pause_ns > 0 => {
                    return Goes::After(self.pause_ns);
                }
                _ => {}
            }
        }
    }

    /// Has the body go on, if it is made as it leaves; whether there is anything to send.
    fn fill(&mut self) -> bool {
        let Some(source) = &mut self.source else { return false };
        let mut content = Output::default();
        match source.next(&mut Chunks::new(&mut content, false)) {
            Flow::End => self.source = None,
            Flow::After(pause_ns) => self.pause_ns = pause_ns,
        }
        if content.is_empty() {
            return false;
        }
        self.frames.push_with(|text| write_head(text, kind::DATA, content.left()));
        content.move_to(&mut self.frames, u64::MAX);
        true
    }
}

/// Sends up to so many bytes; whether they went, or none if the stream is over.
fn send_some(
    frames: &mut Output,
    most: u64,
    stream: u64,
    connection: &mut Connection,
) -> Option<bool> {
    let mut left = most.min(frames.left());
    while left > 0 {
        let mut slices = [IoSlice::new(&[])];
        frames.slices(&mut slices);
        let slice = &slices[0];
        let wanted = slice.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let sent = connection.send_copy(stream, &slice[..wanted])?;
        frames.wrote(sent);
        left -= sent as u64;
        if sent < wanted {
            return Some(false);
        }
    }
    Some(true)
}
