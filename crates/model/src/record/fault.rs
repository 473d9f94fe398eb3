//! A worker that came to an end of its own: what this program did wrong, not what it measured.

/// Why a worker ended before its run did. What it had recorded until then is in the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Number of the worker, from 0.
    pub worker: u32,
    /// When, counted from the clock's start, ns; `None` before it had started.
    pub after_ns: Option<u64>,
    /// What it panicked with, or the error of its I/O.
    pub message: String,
    /// Where it panicked, as `file:line:column`; `None` if it did not.
    pub panicked_at: Option<String>,
}
