//! How the threads of a server are told to stop, and tell when they end by themselves.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{EventfdFlags, eventfd};

use crate::health::{Health, State};

/// How a thread is told to stop.
#[derive(Debug)]
pub struct Stop {
    waker: OwnedFd,
    set: AtomicBool,
    health: Health,
}

impl Stop {
    /// Not told yet.
    pub(crate) fn new(health: &Health) -> io::Result<Self> {
        let waker = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { waker, set: AtomicBool::new(false), health: health.clone() })
    }

    /// The thread ends though it is not told to.
    pub(crate) fn tell_of_failure(&self) {
        self.health.tell(State::Failed);
    }

    /// Whether the thread is to stop.
    pub fn is_set(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    /// Tells it, and wakes it.
    pub fn set(&self) {
        self.set.store(true, Ordering::Release);
        // An eventfd takes one more unless it holds 2^64 - 2 already.
        let _ = rustix::io::write(&self.waker, &1u64.to_ne_bytes());
    }
}

impl AsFd for Stop {
    /// Readable from the moment at which the thread is to stop.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.waker.as_fd()
    }
}
