//! Histograms and statistics: pure functions, every formula with its source.

mod buckets;
pub mod change_point;
pub mod compare;
mod distribution;
pub mod latency;
pub mod median;
pub mod order;
pub mod rate_search;
pub mod repeats;
pub mod saved;
pub mod touched;

pub use change_point::Shift;
pub use compare::{Comparison, NotComparable, Outcome, Pair};
pub use latency::Latency;
pub use rate_search::RateSearch;
pub use saved::{Exact, RestoreError};
