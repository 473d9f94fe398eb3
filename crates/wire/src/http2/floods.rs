//! Counts what a peer can send for nothing (RFC 9113, 10.5). Each count begins anew when the
//! connection gets on with its work, so timeout is bounded without a clock.

use super::error::ErrorKind;

/// SETTINGS, PINGs and interim responses between two requests answered. Each of them may make us
/// write, so this bounds what can wait to be written, too.
const ASKED_MAX: u32 = 10_000;
/// DATA frames without data, or frames without effect, between two that bring something.
const IDLE_MAX: u32 = 10_000;
/// CONTINUATION frames of one header block.
const CONTINUATIONS_MAX: u32 = 1_000;

/// The counts of one connection.
#[derive(Debug, Clone, Copy, Default)]
pub struct Floods {
    settings: u32,
    pings: u32,
    interims: u32,
    empty_data: u32,
    resets: u32,
    window_updates: u32,
    idle: u32,
    continuations: u32,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flood {
    /// SETTINGS.
    Settings,
    /// PING.
    Ping,
    /// An interim response.
    Interim,
    /// DATA without data.
    EmptyData,
    /// RST_STREAM without effect.
    Reset,
    /// WINDOW_UPDATE.
    WindowUpdate,
    /// Other frames without effect.
    Idle,
    /// CONTINUATION.
    Continuation,
}

impl Floods {
    /// Counts one.
    ///
    /// # Errors
    /// When there are too many of them.
    pub fn count(&mut self, flood: Flood) -> Result<(), ErrorKind> {
        let (count, max, kind) = match flood {
            Flood::Settings => (&mut self.settings, ASKED_MAX, ErrorKind::SettingsFlood),
            Flood::Ping => (&mut self.pings, ASKED_MAX, ErrorKind::PingFlood),
            Flood::Interim => (&mut self.interims, ASKED_MAX, ErrorKind::InterimFlood),
            Flood::EmptyData => (&mut self.empty_data, IDLE_MAX, ErrorKind::EmptyDataFlood),
            Flood::Reset => (&mut self.resets, IDLE_MAX, ErrorKind::ResetFlood),
            Flood::WindowUpdate => {
                (&mut self.window_updates, IDLE_MAX, ErrorKind::WindowUpdateFlood)
            }
            Flood::Idle => (&mut self.idle, IDLE_MAX, ErrorKind::IdleFrameFlood),
            Flood::Continuation => {
                (&mut self.continuations, CONTINUATIONS_MAX, ErrorKind::ContinuationFlood)
            }
        };
        *count += 1;
        if *count > max { Err(kind) } else { Ok(()) }
    }

    /// A request was answered: only what was asked brings that about.
    #[inline(always)]
    pub fn answered(&mut self) {
        *self = Self::default();
    }

    /// Content came.
    #[inline(always)]
    pub fn content(&mut self) {
        self.empty_data = 0;
        self.idle = 0;
    }

    /// We sent content: the peer may enlarge windows for it.
    #[inline(always)]
    pub fn sent_content(&mut self) {
        self.window_updates = 0;
    }

    /// A header block begins.
    #[inline(always)]
    pub fn block(&mut self) {
        self.continuations = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeout_ends_and_begins_anew() {
        let mut floods = Floods::default();
        for _ in 0..ASKED_MAX {
            assert_eq!(floods.count(Flood::Ping), Ok(()));
        }
        assert_eq!(floods.count(Flood::Settings), Ok(()));
        assert_eq!(floods.count(Flood::Ping), Err(ErrorKind::PingFlood));
        floods.content();
        assert_eq!(floods.count(Flood::Ping), Err(ErrorKind::PingFlood));
        floods.answered();
        assert_eq!(floods.count(Flood::Ping), Ok(()));
    }
}
