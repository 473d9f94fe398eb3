//! The start of a run that somebody else tells, so that the runs of several machines start together.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::fault::unless_it_panics;

/// Whether the start is told, and when it is.
pub(crate) struct Hold {
    is_held: AtomicBool,
    start_ns: AtomicU64,
    ready: Mutex<Option<Ready>>,
}

/// What is done when all workers are ready.
type Ready = Box<dyn FnOnce() + Send>;

impl Default for Hold {
    fn default() -> Self {
        Self {
            is_held: AtomicBool::new(false),
            start_ns: AtomicU64::new(u64::MAX),
            ready: Mutex::new(None),
        }
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Hold").field("start_ns", &self.start_ns).finish_non_exhaustive()
    }
}

impl Hold {
    pub fn begin(&self, ready: Ready) {
        *self.ready.lock().unwrap_or_else(PoisonError::into_inner) = Some(ready);
        self.is_held.store(true, Ordering::Relaxed);
    }

    pub fn start_at(&self, at_ns: u64) {
        self.start_ns.store(at_ns, Ordering::Relaxed);
    }

    pub fn is_held(&self) -> bool {
        self.is_held.load(Ordering::Relaxed)
    }

    pub fn start_ns(&self) -> u64 {
        self.start_ns.load(Ordering::Relaxed)
    }

    /// Tells that all workers are ready. A panic of whoever hears it ends nothing else.
    pub fn ready(&self) {
        let ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(ready) = ready {
            unless_it_panics(ready);
        }
    }
}
