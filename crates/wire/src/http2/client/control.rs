//! Frames about the connection, and those that only change how it goes on: SETTINGS, PING,
//! GOAWAY, WINDOW_UPDATE, RST_STREAM, PRIORITY (RFC 9113, 6).

use super::Core;
use super::receive::Receiving;
use super::sink::{End, Sink};
use super::streams::{Lookup, State};
use crate::http2::error::{ErrorCode, ErrorKind, StreamFault};
use crate::http2::floods::Flood;
use crate::http2::frame::{
    FrameHead, PRIORITY_BYTES, STREAM_MAX, WINDOW_MAX, flag, kind, number_at, write_ping,
    write_settings_ack,
};

impl<S: Sink> Receiving<'_, S> {
    /// Any frame but DATA and HEADERS.
    #[inline(never)]
    pub(super) fn other_frame(
        &mut self,
        head: &FrameHead,
        payload: &[u8],
    ) -> Result<(), ErrorKind> {
        head.placed()?;
        match head.kind {
            kind::PRIORITY => self.priority(head),
            kind::RST_STREAM => self.reset(head, payload),
            kind::SETTINGS if head.has(flag::ACK) => self.settings_acknowledged(payload),
            kind::SETTINGS => self.settings(payload),
            kind::PUSH_PROMISE => Err(ErrorKind::Push),
            kind::PING => self.ping(head, payload),
            kind::GOAWAY => self.goaway(payload),
            kind::WINDOW_UPDATE => self.window_update(head, payload),
            kind::CONTINUATION => self.continuation(head, payload),
            // Unknown types are ignored (RFC 9113, 5.5).
            _ => self.core.floods.count(Flood::Idle),
        }
    }

    /// RFC 9113, 6.3: deprecated, but its length still has to be right.
    fn priority(&mut self, head: &FrameHead) -> Result<(), ErrorKind> {
        if head.payload_bytes as usize != PRIORITY_BYTES {
            match self.core.streams.look_up(head.stream) {
                Lookup::Live(place) => self.fault(place, StreamFault::PriorityLength),
                _ => return Err(ErrorKind::FrameLength),
            }
        }
        self.core.floods.count(Flood::Idle)
    }

    /// RFC 9113, 6.4.
    fn reset(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), ErrorKind> {
        if payload.len() != 4 {
            return Err(ErrorKind::FrameLength);
        }
        match self.core.streams.look_up(head.stream) {
            Lookup::Live(place) => {
                let end = match ErrorCode(number_at(payload, 0)) {
                    ErrorCode::REFUSED_STREAM => End::Unprocessed,
                    code => End::Reset(code),
                };
                self.ended_by_peer(place, State::Over, end);
                Ok(())
            }
            Lookup::Idle => Err(ErrorKind::IdleStream),
            Lookup::Over | Lookup::Dropped => self.core.floods.count(Flood::Reset),
        }
    }

    /// RFC 9113, 6.5.3: from now on the peer keeps to our settings.
    fn settings_acknowledged(&mut self, payload: &[u8]) -> Result<(), ErrorKind> {
        if !payload.is_empty() {
            return Err(ErrorKind::FrameLength);
        }
        if self.core.settings_acknowledged {
            return self.core.floods.count(Flood::Idle);
        }
        self.core.settings_acknowledged = true;
        self.core.blocks.set_table_limit(self.core.options.header_table_bytes)?;
        Ok(())
    }

    /// RFC 9113, 6.5.
    fn settings(&mut self, payload: &[u8]) -> Result<(), ErrorKind> {
        let core = &mut *self.core;
        core.floods.count(Flood::Settings)?;
        let window_before = core.peer.stream_window_bytes;
        let least_table_bytes = core.peer.apply(payload, true)?;
        core.shrink_table(least_table_bytes);
        if core.peer.stream_window_bytes > window_before {
            core.check_windows()?;
            core.uploads.go_on_with_all();
        }
        core.settings_came = true;
        write_settings_ack(self.out);
        self.sink.settings(&core.peer);
        Ok(())
    }

    /// RFC 9113, 6.7.
    fn ping(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), ErrorKind> {
        let payload: [u8; 8] = payload.try_into().map_err(|_| ErrorKind::FrameLength)?;
        if head.has(flag::ACK) {
            self.sink.pong(payload);
            return self.core.floods.count(Flood::Idle);
        }
        self.core.floods.count(Flood::Ping)?;
        write_ping(self.out, true, payload);
        Ok(())
    }

    /// RFC 9113, 6.8.
    fn goaway(&mut self, payload: &[u8]) -> Result<(), ErrorKind> {
        let Some((fixed, debug)) = payload.split_at_checked(8) else {
            return Err(ErrorKind::FrameLength);
        };
        let last_stream = number_at(fixed, 0) & STREAM_MAX;
        if self.core.goaway.is_some_and(|before| last_stream > before) {
            return Err(ErrorKind::GoawayRaised);
        }
        self.core.goaway = Some(last_stream);
        self.core.floods.count(Flood::Idle)?;
        self.sink.goaway(last_stream, ErrorCode(number_at(fixed, 4)), debug);
        for place in 0..self.core.streams.places() {
            let stream = self.core.streams.at(place);
            if stream.is_live() && stream.id > last_stream {
                // Some peers had begun to answer; that is not held against them.
                self.ended_by_peer(place, State::Dropped, End::Unprocessed);
            }
        }
        Ok(())
    }

    /// RFC 9113, 6.9.
    fn window_update(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), ErrorKind> {
        if payload.len() != 4 {
            return Err(ErrorKind::FrameLength);
        }
        let core = &mut *self.core;
        core.floods.count(Flood::WindowUpdate)?;
        let increment = i64::from(number_at(payload, 0) & WINDOW_MAX);
        if head.stream == 0 {
            let window = core.uploads.connection_window + increment;
            if increment == 0 {
                return Err(ErrorKind::WindowIncrement);
            }
            if window > i64::from(WINDOW_MAX) {
                return Err(ErrorKind::WindowOverflow);
            }
            core.uploads.connection_window = window;
            return Ok(());
        }
        match core.streams.look_up(head.stream) {
            Lookup::Live(place) => {
                let stream = core.streams.at(place);
                let credit = stream.send_credit + increment;
                if increment == 0 {
                    self.fault(place, StreamFault::WindowIncrement);
                } else if credit + i64::from(core.peer.stream_window_bytes) > WINDOW_MAX.into() {
                    self.fault(place, StreamFault::WindowOverflow);
                } else {
                    stream.send_credit = credit;
                    core.uploads.go_on(stream.upload);
                }
                Ok(())
            }
            Lookup::Idle => Err(ErrorKind::IdleStream),
            Lookup::Over | Lookup::Dropped => Ok(()),
        }
    }
}

impl Core {
    /// The peer's table may only be so large. Ours to fill never grows again, so the next block
    /// has to announce the smallest size only (RFC 7541, 4.2).
    fn shrink_table(&mut self, bytes: u32) {
        if (bytes as usize) < self.encoder.table_bytes {
            self.encoder.table_bytes = bytes as usize;
            self.encoder.size_update = Some(bytes);
        }
    }

    /// RFC 9113, 6.9.2.
    fn check_windows(&mut self) -> Result<(), ErrorKind> {
        let initial = i64::from(self.peer.stream_window_bytes);
        let too_large =
            self.streams.live().any(|stream| stream.send_credit + initial > WINDOW_MAX.into());
        if too_large { Err(ErrorKind::SettingWindowOverflow) } else { Ok(()) }
    }
}
