//! Histograms and statistics: pure functions, every formula with its source.

pub mod latency;

pub use latency::Latency;
