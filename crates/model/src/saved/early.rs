//! Responses that came before their requests had been sent whole, in a saved run.

use serde::{Deserialize, Serialize};

use crate::record;

/// See [`record::AnsweredEarly`].
#[derive(Default, Serialize, Deserialize)]
pub(super) struct AnsweredEarly {
    count: u64,
    closed: u64,
    waited_ns: u64,
}

impl AnsweredEarly {
    pub fn save(early: record::AnsweredEarly) -> Self {
        let record::AnsweredEarly { count, closed, waited_ns } = early;
        Self { count, closed, waited_ns }
    }

    pub fn load(&self) -> record::AnsweredEarly {
        let Self { count, closed, waited_ns } = *self;
        record::AnsweredEarly { count, closed, waited_ns }
    }
}
