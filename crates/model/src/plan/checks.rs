//! What a Plan checks of every response.

use std::fmt;

use ablaze_journey::Check;

/// The checks of a run. Absent in a run that was read from a file, whose record names them.
#[derive(Clone)]
pub struct PlannedChecks {
    /// Each, in the order in which they were given; at least one.
    pub each: Vec<Check>,
    /// What samples must not show, beside the fields that carry credentials.
    pub secrets: Vec<String>,
}

impl fmt::Debug for PlannedChecks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.each.iter().map(Check::text)).finish()
    }
}
