//! Histograms and statistics: pure functions, every formula with its source.

mod buckets;
pub mod latency;
pub mod order;
pub mod saved;

pub use latency::Latency;
pub use saved::{Exact, RestoreError};
