//! What a worker shows of itself while it runs, for progress and live views.

use std::sync::atomic::AtomicU64;

/// What a worker shows of itself while it runs: written by it alone, once per slice.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// Responses so far.
    pub responses: AtomicU64,
    /// Failures so far.
    pub failures: AtomicU64,
    /// Responses in the last slice.
    pub slice_responses: AtomicU64,
    /// Length of the last slice.
    pub slice_ns: AtomicU64,
    /// 99th percentile of the last slice, ns.
    pub slice_p99_ns: AtomicU64,
    /// When the clock started, ns; 0 before.
    pub window_start_ns: AtomicU64,
}
