//! Flame graphs: a rectangle per function and caller, as wide as its CPU time per request. Drawn by
//! `inferno` as a file of its own, in which one can zoom and search, and from that as a drawing that can
//! stand in a page among others. Without the feature `flame-graphs` nothing is drawn.

#[cfg(feature = "flame-graphs")]
mod drawn;

use crate::folded::PerRequest;

/// A flame graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawing {
    /// A file that opens in a browser by itself: with zoom and search.
    pub file: String,
    /// An `svg` element for a page: no script, no style, and no name that another one has.
    pub element: String,
}

/// Draws a profile. `None` when there is nothing to draw.
#[cfg(feature = "flame-graphs")]
pub fn flame(title: &str, subtitle: &str, profile: &PerRequest) -> Option<Drawing> {
    drawn::drawn(title, subtitle, &profile.lines(), 1.0)
}

/// Draws a profile with the colours of its difference from another. `None` when there is nothing to draw.
#[cfg(feature = "flame-graphs")]
pub(crate) fn against(
    title: &str,
    subtitle: &str,
    before: &PerRequest,
    after: &PerRequest,
) -> Option<Drawing> {
    drawn::drawn(title, subtitle, &drawn::lines_of_both(before, after)?, after.total_ns())
}

/// Draws nothing.
#[cfg(not(feature = "flame-graphs"))]
pub fn flame(_: &str, _: &str, _: &PerRequest) -> Option<Drawing> {
    None
}

/// Draws nothing.
#[cfg(not(feature = "flame-graphs"))]
pub(crate) fn against(_: &str, _: &str, _: &PerRequest, _: &PerRequest) -> Option<Drawing> {
    None
}

#[cfg(feature = "flame-graphs")]
#[cfg(test)]
#[path = "graph_tests.rs"]
pub(crate) mod tests;
