//! Ends a driver's wait from another thread: an eventfd that the driver watches beside its
//! sockets. Used for Ctrl-C and for changes while a run goes on.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

/// Wakes one driver. Clones wake the same one.
#[derive(Debug, Clone)]
pub struct Waker {
    event: Arc<OwnedFd>,
}

impl Waker {
    /// A waker that no driver watches yet.
    ///
    /// # Errors
    /// The kernel has no descriptor left.
    pub fn new() -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { event: Arc::new(event) })
    }

    /// Ends the driver's wait at once, or its next one if it is not waiting.
    pub fn wake(&self) {
        // EAGAIN: the counter is full, so that a wake-up is pending anyway.
        while rustix::io::write(&*self.event, &1u64.to_ne_bytes()) == Err(Errno::INTR) {}
    }

    /// Takes back all wake-ups so far: for the driver, once it has woken.
    pub fn clear(&self) {
        let mut count = [0u8; 8];
        // EAGAIN: nothing to take back.
        while rustix::io::read(&*self.event, &mut count) == Err(Errno::INTR) {}
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    fn is_readable(waker: &Waker) -> bool {
        poll(&mut [PollFd::new(waker, PollFlags::IN)], Some(&Timespec::default())).unwrap() == 1
    }

    #[test]
    fn a_clone_in_another_thread_wakes_until_cleared() {
        let waker = Waker::new().unwrap();
        assert!(!is_readable(&waker));
        let clone = waker.clone();
        std::thread::spawn(move || clone.wake()).join().unwrap();
        assert!(is_readable(&waker));
        waker.clear();
        assert!(!is_readable(&waker));
    }
}
