//! What h2load's counts say of requests that failed.

use crate::printed::{Report, Tool};
use crate::words::grouped;

/// Responses whose status came.
pub fn with_status(report: &Report) -> u64 {
    report.own("the number with a status").map_or(0, |count| count.value as u64)
}

/// With a connection that ends it gives up what was left for it, and counts it as errored.
pub fn unsent(report: &Report) -> String {
    let own = |name| report.own(name).map(|count| count.value as u64);
    let all = own("the number of requests in total").zip(own("the number started"));
    match all.map(|(total, started)| total.saturating_sub(started)).unwrap_or(0) {
        0 => String::new(),
        left => format!(
            ", {} of which h2load never sent: with a connection that ends it gives up what was left for it",
            grouped(left)
        ),
    }
}

/// Whether all requests that were started timed out. One is started once its connection stands.
pub fn timed_out(report: &Report) -> bool {
    let own = |name| report.own(name).map_or(0, |count| count.value as u64);
    let started = own("the number started");
    report.tool == Tool::H2load && started > 0 && own("the number timed out") == started
}
