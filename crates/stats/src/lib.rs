//! Histograms and statistics: pure functions, every formula with its source.

mod buckets;
pub mod change_point;
pub mod latency;
pub mod order;
pub mod random;
pub mod saved;

pub use change_point::Shift;
pub use latency::Latency;
pub use random::Random;
pub use saved::{Exact, RestoreError};
