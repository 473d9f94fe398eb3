//! The data of a run's requests: a feed whose rows they take.

use std::sync::Arc;

use ablaze_feed::{Order, Table};

use crate::run::{Ended, Run};

/// A feed: what its rows are, and in which order requests take them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data {
    /// The file, as it was named.
    pub name: String,
    /// The number of its rows; at least 1.
    pub rows: u64,
    /// Which row a request takes.
    pub order: Order,
    /// The cells: a [`Cell`](ablaze_wire::http1::request::PatchValue::Cell) of a template names a column of it. `None` in a
    /// run that was read from a file.
    pub table: Option<Arc<Table>>,
}

impl Data {
    /// Of a file.
    pub fn new(name: impl Into<String>, order: Order, table: Table) -> Self {
        let rows = table.rows() as u64;
        Self { name: name.into(), rows, order, table: Some(Arc::new(table)) }
    }

    /// The most requests that can be sent with it.
    pub fn requests_max(&self) -> Option<u64> {
        (self.order == Order::Unique).then_some(self.rows)
    }

    /// Whether a run that was to last for a time ended because there was no row left.
    pub fn ended(&self, run: &Run) -> bool {
        let record = &run.record;
        let begun = match &record.journeys {
            Some(journeys) => journeys.begun,
            None => record.responses + record.failures_total() + record.unfinished,
        };
        let in_time = run.plan.limits.duration_ns.is_some_and(|ns| run.elapsed_ns < ns);
        run.ended == Ended::Complete && in_time && self.requests_max() == Some(begun)
    }
}
