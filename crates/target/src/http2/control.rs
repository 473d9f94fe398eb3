//! Frames about the connection, and those that only change how it goes on: SETTINGS, PING,
//! WINDOW_UPDATE, RST_STREAM, PRIORITY, GOAWAY (RFC 9113, 6).

use ablaze_wire::http2::error::{ErrorKind, StreamFault};
use ablaze_wire::http2::floods::Flood;
use ablaze_wire::http2::frame::{
    self, FrameHead, PRIORITY_BYTES, WINDOW_MAX, flag, kind, number_at,
};

use super::Core;
use super::receiving::Receiving;
use crate::handler::Handler;

impl<H: Handler> Receiving<'_, H> {
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
            kind::RST_STREAM => self.reset_by_client(head, payload),
            kind::SETTINGS if head.has(flag::ACK) => match payload {
                [] => self.core.floods.count(Flood::Idle),
                _ => Err(ErrorKind::FrameLength),
            },
            kind::SETTINGS => self.settings(payload),
            // Only servers push (RFC 9113, 8.4).
            kind::PUSH_PROMISE => Err(ErrorKind::Push),
            kind::PING => self.ping(head, payload),
            kind::GOAWAY if payload.len() < 8 => Err(ErrorKind::FrameLength),
            kind::WINDOW_UPDATE => self.window_update(head, payload),
            kind::CONTINUATION => self.continuation(head, payload),
            // A client's GOAWAY is about streams that we would open; unknown types are ignored
            // (RFC 9113, 5.5).
            _ => self.core.floods.count(Flood::Idle),
        }
    }

    /// RFC 9113, 6.3: deprecated, and permitted for streams of any state.
    fn priority(&mut self, head: &FrameHead) -> Result<(), ErrorKind> {
        let core = &mut *self.core;
        if head.payload_bytes as usize == PRIORITY_BYTES {
            return core.floods.count(Flood::Idle);
        }
        match core.streams.get(head.stream) {
            Some(_) => core.fault(head.stream, StreamFault::PriorityLength, self.out),
            None => Err(ErrorKind::FrameLength),
        }
    }

    /// RFC 9113, 6.4. Requests that are reset as soon as they are made cost more than they bring:
    /// so each counts until one is answered (10.5).
    fn reset_by_client(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), ErrorKind> {
        if payload.len() != 4 {
            return Err(ErrorKind::FrameLength);
        }
        if head.stream > self.core.last_stream {
            return Err(ErrorKind::IdleStream);
        }
        self.core.streams.close(head.stream);
        self.core.floods.count(Flood::Reset)
    }

    /// RFC 9113, 6.5.
    fn settings(&mut self, payload: &[u8]) -> Result<(), ErrorKind> {
        let core = &mut *self.core;
        core.floods.count(Flood::Settings)?;
        let before = i64::from(core.peer.stream_window_bytes);
        let least_table_bytes = core.peer.apply(payload, false)?;
        core.encoder.limit_table(least_table_bytes);
        core.settings_came = true;
        self.out.push_with(frame::write_settings_ack);
        let more = i64::from(core.peer.stream_window_bytes) - before;
        if more != 0 {
            core.change_windows(more)?;
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
        self.out.push_with(|text| frame::write_ping(text, true, payload));
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
            return match core.send_window > WINDOW_MAX.into() {
                true => Err(ErrorKind::WindowOverflow),
                false => Ok(()),
            };
        }
        if head.stream > core.last_stream {
            return Err(ErrorKind::IdleStream);
        }
        // For a stream that is over, it comes too late, and means nothing.
        let Some(stream) = core.streams.get(head.stream) else { return Ok(()) };
        stream.window += increment;
        if increment == 0 {
            return core.fault(head.stream, StreamFault::WindowIncrement, self.out);
        }
        if stream.window > WINDOW_MAX.into() {
            return core.fault(head.stream, StreamFault::WindowOverflow, self.out);
        }
        core.streams.make_ready(head.stream);
        Ok(())
    }
}

impl Core {
    /// The client has changed the window that streams begin with (RFC 9113, 6.9.2).
    fn change_windows(&mut self, more: i64) -> Result<(), ErrorKind> {
        let mut ids = Vec::new();
        for (id, stream) in self.streams.all() {
            stream.window += more;
            if stream.window > WINDOW_MAX.into() {
                return Err(ErrorKind::SettingWindowOverflow);
            }
            ids.push(*id);
        }
        ids.into_iter().for_each(|id| self.streams.make_ready(id));
        Ok(())
    }
}
