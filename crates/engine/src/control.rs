//! The handle on a run that is under way: stops it, and says how far it is.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ablaze_net::waker::Waker;
use ablaze_sys::clock;

use crate::fault::unless_it_panics;
use crate::recorder::Snapshot;

/// The handle on a run that is under way, for the thread that watches it: stop it, or ask how
/// far it is. Made before the run, shared by reference or `Arc`.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    /// Number of the worker that is to panic, from 1; 0 for none.
    panics: AtomicU32,
    snapshots: Mutex<Vec<Arc<Snapshot>>>,
    wakers: Mutex<Vec<Waker>>,
    at_rest: Mutex<Option<AtRest>>,
    heads: Mutex<Option<Heads>>,
}

/// Who is shown what arrives of each response of HTTP/1 until its head is complete.
#[derive(Clone)]
pub(crate) struct Heads {
    /// What one call is shown of a message at least, if it came together.
    pub bytes: u32,
    /// Called by the workers, between one request and the next.
    pub show: Arc<Show>,
}

/// What is called with it.
type Show = dyn Fn(&[u8]) + Send + Sync;

impl fmt::Debug for Heads {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("Heads")
    }
}

/// What is done when the load is over.
struct AtRest(Box<dyn FnOnce() + Send>);

impl fmt::Debug for AtRest {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("AtRest")
    }
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Progress {
    /// Whether the clock has started (connections stand, warm-up is over).
    pub measuring: bool,
    /// Time since the clock started.
    pub elapsed_ns: u64,
    /// Responses so far.
    pub responses: u64,
    /// Failures so far.
    pub failures: u64,
    /// Responses per second over the last slices.
    pub recent_rate_per_s: f64,
    /// 99th percentile over the last slice, ns; 0 when unknown.
    pub recent_p99_ns: u64,
}

impl Control {
    /// A handle for a run to come.
    pub fn new() -> Self {
        Self::default()
    }

    /// Has [`Control::progress`] look at these workers.
    pub(crate) fn show(&self, snapshots: Vec<Arc<Snapshot>>) {
        *self.snapshots.lock().unwrap_or_else(PoisonError::into_inner) = snapshots;
    }

    /// Asks the run to end now. What was measured is kept. May be called from any thread, at any
    /// time, more than once.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        for waker in self.wakers.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            waker.wake();
        }
    }

    /// Has [`Control::stop`] end this worker's waits.
    pub(crate) fn watch(&self, waker: Waker) {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner).push(waker);
    }

    /// Has this done once the load is over in all workers and before they close their connections:
    /// the server has nothing to do then, and everyone is still there. The run waits for it; one
    /// that is stopped does without. What it recorded has ended before.
    pub fn when_at_rest(&self, look: impl FnOnce() + Send + 'static) {
        *self.at_rest.lock().unwrap_or_else(PoisonError::into_inner) = Some(AtRest(Box::new(look)));
    }

    /// Whether something is to be done when the load is over.
    pub(crate) fn waits_at_rest(&self) -> bool {
        !self.stopped() && self.at_rest.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The load is over. Others wait for this look, and it is none of the worker's business: a panic in
    /// it ends nothing else.
    pub(crate) fn at_rest(&self) {
        let look = self.at_rest.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(AtRest(look)) = look.filter(|_| !self.stopped()) {
            unless_it_panics(look);
        }
    }

    /// Shows what arrives of each response of HTTP/1: after every piece all that came of it so far, up to the one
    /// that completes the head, what is of the body in that piece included. `bytes` is how much of a message is
    /// read in one piece where that much is there, up to 64 KiB. Called before the run; costs time for every response, and
    /// workers wait for `show`.
    pub fn show_heads(&self, bytes: u32, show: impl Fn(&[u8]) + Send + Sync + 'static) {
        let heads = Heads { bytes: bytes.min(64 * 1024), show: Arc::new(show) };
        *self.heads.lock().unwrap_or_else(PoisonError::into_inner) = Some(heads);
    }

    /// Who wants to see heads.
    pub(crate) fn heads(&self) -> Option<Heads> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Has this worker (from 0) panic when its first slice has ended. What then becomes of the report can
    /// only be tested on the program as it is released, since how panics end is a choice of the build.
    #[doc(hidden)]
    pub fn have_panic(&self, worker: u32) {
        self.panics.store(worker.saturating_add(1), Ordering::Relaxed);
    }

    /// Panics if this worker is to; called between slices, not in the loop's every turn.
    pub(crate) fn rehearse_panic(&self, worker: u32) {
        assert!(self.panics.load(Ordering::Relaxed) != worker + 1, "a panic that was asked for");
    }

    /// Whether the run was asked to end.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// How far the run is: as of the workers' last slices.
    pub fn progress(&self) -> Progress {
        let mut progress = Progress::default();
        let mut started_ns = u64::MAX;
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        for snapshot in self.snapshots.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let start_ns = load(&snapshot.window_start_ns);
            if start_ns == 0 {
                continue;
            }
            started_ns = started_ns.min(start_ns);
            progress.responses += load(&snapshot.responses);
            progress.failures += load(&snapshot.failures);
            let slice_s = load(&snapshot.slice_ns) as f64 / 1e9;
            if slice_s > 0.0 {
                progress.recent_rate_per_s += load(&snapshot.slice_responses) as f64 / slice_s;
            }
            progress.recent_p99_ns = progress.recent_p99_ns.max(load(&snapshot.slice_p99_ns));
        }
        progress.measuring = started_ns != u64::MAX;
        if progress.measuring {
            progress.elapsed_ns = clock::monotonic_ns().saturating_sub(started_ns);
        }
        progress
    }
}
