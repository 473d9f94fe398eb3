//! What a worker shows of itself at any time, whether or not anybody follows the run.

use std::sync::atomic::AtomicU64;

/// What a worker shows of itself: written by it alone.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// When the clock started, ns; 0 before.
    pub window_start_ns: AtomicU64,
}
