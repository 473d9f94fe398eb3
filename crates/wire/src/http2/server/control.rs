//! Frames of a client about the connection, and those that only change how it goes on
//! (RFC 9113, 6).

use super::Core;
use super::receive::Receiving;
use super::sink::Sink;
use super::streams::Lookup;
use crate::http2::error::{ErrorCode, ErrorKind, StreamFault};
use crate::http2::floods::Flood;
use crate::http2::frame::{
    FrameHead, PRIORITY_BYTES, WINDOW_MAX, flag, kind, number_at, write_ping, write_settings_ack,
};

impl<S: Sink> Receiving<'_, S> {
    /// Any frame but DATA and HEADERS.
    pub(super) fn other_frame(
        &mut self,
        head: &FrameHead,
        payload: &[u8],
    ) -> Result<(), ErrorKind> {
        // What belongs to a stream, and what to the connection (RFC 9113, 6).
        let of_stream = match head.kind {
            kind::PRIORITY | kind::RST_STREAM => Some(true),
            kind::SETTINGS | kind::PING | kind::GOAWAY => Some(false),
            _ => None,
        };
        if of_stream.is_some_and(|of_stream| of_stream != (head.stream != 0)) {
            return Err(ErrorKind::WrongStream);
        }
        match head.kind {
            kind::PRIORITY => self.priority(head),
            kind::RST_STREAM => self.reset(head, payload),
            kind::SETTINGS if head.has(flag::ACK) => self.settings_acknowledged(payload),
            kind::SETTINGS => self.settings(payload),
            // A client cannot push (8.4).
            kind::PUSH_PROMISE => Err(ErrorKind::Push),
            kind::PING => self.ping(head, payload),
            // What was asked is answered all the same.
            kind::GOAWAY if payload.len() < 8 => Err(ErrorKind::FrameLength),
            kind::WINDOW_UPDATE => self.window_update(head, payload),
            kind::CONTINUATION => self.continuation(head, payload),
            // Unknown types are ignored (RFC 9113, 5.5).
            _ => self.core.floods.count(Flood::Idle),
        }
    }

    /// RFC 9113, 6.3: deprecated, and permitted for streams of any state.
    fn priority(&mut self, head: &FrameHead) -> Result<(), ErrorKind> {
        if head.payload_bytes as usize != PRIORITY_BYTES {
            match self.core.streams.look_up(head.stream) {
                Lookup::Live(place) => self.fault(place, StreamFault::PriorityLength),
                _ => return Err(ErrorKind::FrameLength),
            }
        }
        self.core.floods.count(Flood::Idle)
    }

    /// RFC 9113, 6.4. Requests that are reset as soon as they are made cost more than they bring:
    /// so each counts until one is answered (10.5).
    fn reset(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), ErrorKind> {
        if payload.len() != 4 {
            return Err(ErrorKind::FrameLength);
        }
        match self.core.streams.look_up(head.stream) {
            Lookup::Live(place) => self.ended_by_peer(place, ErrorCode(number_at(payload, 0))),
            Lookup::Idle => return Err(ErrorKind::IdleStream),
            Lookup::Over | Lookup::Dropped => {}
        }
        self.core.floods.count(Flood::Reset)
    }

    /// RFC 9113, 6.5.3: from now on the client keeps to our settings.
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
        // The client's table is not used, so its size does not matter.
        core.peer.apply(payload, false)?;
        core.settings_came = true;
        write_settings_ack(self.out);
        if core.peer.stream_window_bytes > window_before {
            core.check_windows()?;
            self.sink.writable(0);
        }
        Ok(())
    }

    /// RFC 9113, 6.7.
    fn ping(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), ErrorKind> {
        let payload: [u8; 8] = payload.try_into().map_err(|_| ErrorKind::FrameLength)?;
        if head.has(flag::ACK) {
            return self.core.floods.count(Flood::Idle);
        }
        self.core.floods.count(Flood::Ping)?;
        write_ping(self.out, true, payload);
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
            if increment == 0 {
                return Err(ErrorKind::WindowIncrement);
            }
            core.send_window += increment;
            if core.send_window > i64::from(WINDOW_MAX) {
                return Err(ErrorKind::WindowOverflow);
            }
            self.sink.writable(0);
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
                    self.sink.writable(head.stream);
                }
                Ok(())
            }
            Lookup::Idle => Err(ErrorKind::IdleStream),
            Lookup::Over | Lookup::Dropped => Ok(()),
        }
    }
}

impl Core {
    /// RFC 9113, 6.9.2.
    fn check_windows(&self) -> Result<(), ErrorKind> {
        let initial = i64::from(self.peer.stream_window_bytes);
        let too_large =
            self.streams.live().any(|stream| stream.send_credit + initial > WINDOW_MAX.into());
        if too_large { Err(ErrorKind::SettingWindowOverflow) } else { Ok(()) }
    }
}
