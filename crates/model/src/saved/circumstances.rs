//! How the circumstances of failures are written.

use serde::{Deserialize, Serialize};

use crate::record;

/// See [`record::Circumstances`].
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Circumstances {
    idle_timeouts: u64,
    malformed_behind: u64,
    interim_only: u64,
    interim_unfinished: u64,
    reset_connecting: u64,
    closed_connecting: u64,
    timed_out_connecting: u64,
    came_late: u64,
    closed_here: u64,
    closed_for_surplus: u64,
    unsent_timed_out: u64,
    unsent_unfinished: u64,
}

impl Circumstances {
    pub fn save(known: &record::Circumstances) -> Self {
        let record::Circumstances {
            idle_timeouts,
            malformed_behind,
            interim_only,
            interim_unfinished,
            reset_connecting,
            closed_connecting,
            timed_out_connecting,
            came_late,
            closed_here,
            closed_for_surplus,
            unsent_timed_out,
            unsent_unfinished,
        } = *known;
        Self {
            idle_timeouts,
            malformed_behind,
            interim_only,
            interim_unfinished,
            reset_connecting,
            closed_connecting,
            timed_out_connecting,
            came_late,
            closed_here,
            closed_for_surplus,
            unsent_timed_out,
            unsent_unfinished,
        }
    }

    pub fn load(&self) -> record::Circumstances {
        record::Circumstances {
            idle_timeouts: self.idle_timeouts,
            malformed_behind: self.malformed_behind,
            interim_only: self.interim_only,
            interim_unfinished: self.interim_unfinished,
            reset_connecting: self.reset_connecting,
            closed_connecting: self.closed_connecting,
            timed_out_connecting: self.timed_out_connecting,
            came_late: self.came_late,
            closed_here: self.closed_here,
            closed_for_surplus: self.closed_for_surplus,
            unsent_timed_out: self.unsent_timed_out,
            unsent_unfinished: self.unsent_unfinished,
        }
    }
}
