//! Tools that do not count error pages as the others do.

use crate::printed::Tool;

/// What error pages are in the figures of such a tool.
pub fn cause(tool: Tool) -> Option<&'static str> {
    match tool {
        Tool::Vegeta => Some(
            "Error pages and redirects cost a server different work than the intended page. vegeta's times and rate are \
             those of all responses; its throughput is that of 2xx and 3xx.",
        ),
        Tool::Siege => Some(
            "siege calls a response successful whose status is below 400, 401 or 407. The others are error pages, which \
             cost a server different work than the intended page. They are transactions as well, in the rate and in the \
             times, and the availability does not show them.",
        ),
        _ => None,
    }
}
