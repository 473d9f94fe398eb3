//! Accepted connections on their way from the accepting thread to a worker.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use rustix::event::{EventfdFlags, eventfd};

/// A queue of connections for one worker, with a descriptor that tells of them.
#[derive(Debug)]
pub struct HandOver {
    connections: Mutex<VecDeque<OwnedFd>>,
    ready: OwnedFd,
}

impl HandOver {
    /// # Errors
    /// When there is no descriptor for it.
    pub fn new() -> rustix::io::Result<Self> {
        let ready = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { connections: Mutex::default(), ready })
    }

    /// Hands a connection over. For the accepting thread. Returns whether the worker had to be
    /// told: it is once for all connections that it has not taken yet.
    pub fn push(&self, connection: OwnedFd) -> bool {
        let mut queue = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        let first = queue.is_empty();
        queue.push_back(connection);
        drop(queue);
        if first {
            // An eventfd takes one more unless it holds 2^64 - 2 already.
            let _ = rustix::io::write(&self.ready, &1u64.to_ne_bytes());
        }
        first
    }

    /// The descriptor that is readable when connections wait.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.ready.as_fd()
    }

    /// Takes all that wait. For the worker, after the descriptor was readable; it need not read
    /// it.
    pub fn take(&self) -> VecDeque<OwnedFd> {
        let mut taken = VecDeque::new();
        self.take_into(&mut taken);
        taken
    }

    /// The same into an empty queue, whose memory serves for the next connections.
    pub fn take_into(&self, empty: &mut VecDeque<OwnedFd>) {
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.ready, &mut count);
        let mut queue = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *queue, empty);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, poll};

    fn readable(hand_over: &HandOver) -> bool {
        let mut fds = [PollFd::new(&hand_over.ready, PollFlags::IN)];
        let now = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut fds, Some(&now)).unwrap() == 1
    }

    #[test]
    fn what_is_pushed_is_told_and_taken_once() {
        let hand_over = HandOver::new().unwrap();
        assert!(!readable(&hand_over));
        for n in 0..3 {
            let told = hand_over.push(std::fs::File::open("/dev/null").unwrap().into());
            assert_eq!(told, n == 0);
            assert!(readable(&hand_over));
        }
        assert_eq!(hand_over.take().len(), 3);
        assert!(!readable(&hand_over));
        assert!(hand_over.take().is_empty());
    }
}
