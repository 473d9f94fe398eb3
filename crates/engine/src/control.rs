//! The handle on a run that is under way: stops it, and says how far it is.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ablaze_model::progress::{Progress, Stage};
use ablaze_model::rate_change::RateChange;
use ablaze_net::waker::Waker;
use ablaze_sys::clock;

use crate::fault::unless_it_panics;
use crate::following::Following;
use crate::hold::Hold;
use crate::recorder::{Reader, Snapshot};

/// The handle on a run that is under way, for the thread that watches it: stop it, or ask how
/// far it is. Made before the run, shared by reference or `Arc`.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    /// Number of the worker that is to panic, from 1; 0 for none.
    panics: AtomicU32,
    snapshots: Mutex<Vec<Arc<Snapshot>>>,
    hold: Hold,
    /// Whether somebody wants to hear of every slice.
    is_followed: AtomicBool,
    following: Mutex<Following>,
    wakers: Mutex<Vec<Waker>>,
    /// Changes of the rate, in order of time, and how many there are: workers look at that once per turn.
    rate_changes: Mutex<Vec<RateChange>>,
    rate_changes_count: AtomicUsize,
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

impl Control {
    /// A handle for a run to come.
    pub fn new() -> Self {
        Self::default()
    }

    /// Has [`Control::progress`] hear of every slice of the run to come. Called before the run; without it the workers hand
    /// nothing over.
    pub fn follow(&self) {
        self.is_followed.store(true, Ordering::Relaxed);
    }

    /// Whether somebody follows the run.
    pub(crate) fn is_followed(&self) -> bool {
        self.is_followed.load(Ordering::Relaxed)
    }

    /// Has [`Control::progress`] look at these workers.
    pub(crate) fn show(&self, snapshots: Vec<Arc<Snapshot>>, readers: Vec<Reader>) {
        *self.snapshots.lock().unwrap_or_else(PoisonError::into_inner) = snapshots;
        *self.following.lock().unwrap_or_else(PoisonError::into_inner) = Following::new(readers);
    }

    /// Has the clock start only when [`Control::start_at`] tells the moment. `ready` is called once, when the connections stand,
    /// users are prepared, and the warm-up took its time, which then goes on until the start. Called before the run.
    pub fn hold(&self, ready: impl FnOnce() + Send + 'static) {
        self.hold.begin(Box::new(ready));
    }

    /// The clock of a run that is held starts at this moment, by the monotonic clock, ns: at once if it has passed.
    pub fn start_at(&self, at_ns: u64) {
        self.hold.start_at(at_ns);
    }

    /// Whether the start is told.
    pub(crate) fn is_held(&self) -> bool {
        self.hold.is_held()
    }

    /// When the clock starts, ns; [`u64::MAX`] until it is told.
    pub(crate) fn start_ns(&self) -> u64 {
        self.hold.start_ns()
    }

    /// All workers are ready.
    pub(crate) fn is_ready(&self) {
        self.hold.ready();
    }

    /// When the clock started, by the monotonic clock, ns; `None` before that.
    pub fn started_ns(&self) -> Option<u64> {
        let snapshots = self.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
        let started_ns =
            snapshots.iter().map(|snapshot| snapshot.window_start_ns.load(Ordering::Relaxed));
        started_ns.filter(|at_ns| *at_ns > 0).min()
    }

    /// Asks the run to end now. What was measured is kept. May be called from any thread, at any
    /// time, more than once.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.wake_workers();
    }

    fn wake_workers(&self) {
        for waker in self.wakers.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            waker.wake();
        }
    }

    /// How long before it holds a change of the rate should be asked for, ns: by then all workers have heard of it, and
    /// none has taken an arrival that the change moves.
    pub const RATE_CHANGE_AHEAD_NS: u64 = 20_000_000;

    /// Has the arrivals of an open loop follow another rate from a moment on; refused (`false`) if that is not behind the
    /// change before. May be called before the run and at any time during it; a closed loop has no rate.
    pub fn change_rate(&self, change: RateChange) -> bool {
        let mut changes = self.rate_changes.lock().unwrap_or_else(PoisonError::into_inner);
        let is_next = changes.last().is_none_or(|last| last.at_ns < change.at_ns);
        if is_next && change.times_asked.is_finite() && change.times_asked >= 0.0 {
            changes.push(change);
            self.rate_changes_count.store(changes.len(), Ordering::Release);
            drop(changes);
            self.wake_workers();
            return true;
        }
        false
    }

    /// The changes of the rate so far.
    pub fn rate_changes(&self) -> Vec<RateChange> {
        self.rate_changes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many there are.
    #[inline]
    pub(crate) fn rate_changes_count(&self) -> usize {
        self.rate_changes_count.load(Ordering::Relaxed)
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

    /// Adds to `progress` what has happened since it was asked last: everything up to the last slice that all workers have
    /// ended. One thread asks, with the same `progress` from the beginning. Without [`Control::follow`] only the stage and
    /// the time are known.
    pub fn progress(&self, progress: &mut Progress) {
        self.pass_on(progress, false);
    }

    /// As [`Control::progress`] when the run is over: nothing is left out.
    pub fn progress_at_end(&self, progress: &mut Progress) {
        self.pass_on(progress, true);
        progress.stage = Stage::Over;
        progress.elapsed_ns = progress.so_far.to_ns;
    }

    fn pass_on(&self, progress: &mut Progress, all: bool) {
        if let Some(started_ns) = self.started_ns() {
            progress.stage = Stage::Measuring;
            progress.elapsed_ns = clock::monotonic_ns().saturating_sub(started_ns);
        }
        let mut following = self.following.lock().unwrap_or_else(PoisonError::into_inner);
        following.read(all, |interval| progress.hear(interval));
    }
}
