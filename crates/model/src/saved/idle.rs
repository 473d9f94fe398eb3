//! How reused connections that the far end ended are written.

use serde::{Deserialize, Serialize};

use crate::record;

/// See [`record::EndedIdle`].
#[derive(Default, Serialize, Deserialize)]
pub(super) struct EndedIdle {
    failed: IdleTimes,
    failed_by_reset: u64,
    unused: IdleTimes,
}

#[derive(Default, Serialize, Deserialize)]
struct IdleTimes {
    count: u64,
    total_ns: u64,
    shortest_ns: u64,
    longest_ns: u64,
}

impl EndedIdle {
    pub fn save(ended: &record::EndedIdle) -> Self {
        Self {
            failed: IdleTimes::save(ended.failed),
            failed_by_reset: ended.failed_by_reset,
            unused: IdleTimes::save(ended.unused),
        }
    }

    pub fn load(&self) -> record::EndedIdle {
        record::EndedIdle {
            failed: self.failed.load(),
            failed_by_reset: self.failed_by_reset,
            unused: self.unused.load(),
        }
    }
}

impl IdleTimes {
    fn save(times: record::IdleTimes) -> Self {
        let record::IdleTimes { count, total_ns, shortest_ns, longest_ns } = times;
        Self { count, total_ns, shortest_ns, longest_ns }
    }

    fn load(&self) -> record::IdleTimes {
        let Self { count, total_ns, shortest_ns, longest_ns } = *self;
        record::IdleTimes { count, total_ns, shortest_ns, longest_ns }
    }
}
