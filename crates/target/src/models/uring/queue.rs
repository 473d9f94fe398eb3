//! The ring of a worker and its queue of requests; it knows from when on the memory of silent
//! sends is free again.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use ablaze_net::uring::ring::{self, RingCompletion};
use io_uring::IoUring;
use io_uring::squeue::Entry;
use io_uring::types::{SubmitArgs, Timespec};

use crate::counters::Counters;

/// Requests queued between two submissions: several for each completion of a batch.
const SUBMISSIONS: u32 = 1024;
/// Completions the kernel has room for; more wait in a list of its own.
pub const COMPLETIONS: u32 = 4096;

/// A ring and what was put on it.
pub struct Queue {
    ring: IoUring,
    counters: Arc<Counters>,
    /// Completions taken so far.
    taken: u64,
    /// Sends without completions, in the order in which they were queued.
    silent: VecDeque<(u64, u64)>,
    /// Number of silent sends queued so far, and found done.
    silent_queued: u64,
    silent_done: u64,
    /// Pairs: after the first number of completions were taken, the second number of silent sends
    /// are done.
    fences: VecDeque<(u64, u64)>,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Queue").field("taken", &self.taken).finish_non_exhaustive()
    }
}

impl Queue {
    /// A ring for the calling thread, with room for this many direct descriptors.
    ///
    /// # Errors
    /// Those of io_uring_setup(2) and io_uring_register(2).
    pub fn new(direct: u32, counters: Arc<Counters>) -> io::Result<Self> {
        let ring = ring::make(SUBMISSIONS, COMPLETIONS)?;
        if direct > 0 {
            ring.submitter().register_files_sparse(direct)?;
        }
        Ok(Self {
            ring,
            counters,
            taken: 0,
            silent: VecDeque::new(),
            silent_queued: 0,
            silent_done: 0,
            fences: VecDeque::new(),
        })
    }

    /// The ring, to register buffers with.
    pub fn ring(&self) -> &IoUring {
        &self.ring
    }

    /// Queues a request.
    ///
    /// # Safety
    /// What it points at must stay valid until it is done.
    #[inline]
    pub unsafe fn push(&mut self, entry: &Entry) {
        loop {
            // SAFETY: as the caller promises.
            if unsafe { self.ring.submission().push(entry) }.is_ok() {
                return;
            }
            self.submit_some();
        }
    }

    /// Queues requests that are linked: they go into one submission.
    ///
    /// # Safety
    /// As for [`Self::push`].
    #[inline]
    pub unsafe fn push_linked(&mut self, entries: &[Entry]) {
        loop {
            // SAFETY: as the caller promises.
            if unsafe { self.ring.submission().push_multiple(entries) }.is_ok() {
                return;
            }
            self.submit_some();
        }
    }

    /// The send just queued for this connection completes silently. Returns its number.
    #[inline]
    pub fn is_silent(&mut self, key: u64) -> u64 {
        self.silent_queued += 1;
        self.silent.push_back((key, self.silent_queued));
        self.silent_queued
    }

    /// Whether there are silent sends that are not known to be done.
    pub fn has_silent(&self) -> bool {
        !self.silent.is_empty()
    }

    /// The next silent send that is done, and its connection: it has either completed, or its
    /// failure was among the completions that have been taken.
    #[inline]
    pub fn next_done(&mut self) -> Option<(u64, u64)> {
        while let Some(&(taken, done)) = self.fences.front() {
            if taken > self.taken {
                return None;
            }
            if self.silent_done < done {
                self.silent_done += 1;
                return self.silent.pop_front();
            }
            self.fences.pop_front();
        }
        None
    }

    /// Takes up to this many completions.
    #[inline]
    pub fn take(&mut self, batch: &mut Vec<RingCompletion>, most: usize) {
        batch.clear();
        batch.extend(self.ring.completion().take(most).map(RingCompletion::from));
        self.taken += batch.len() as u64;
    }

    /// Whether completions are there to be taken.
    #[inline]
    pub fn has_completions(&mut self) -> bool {
        !self.ring.completion().is_empty()
    }

    /// Submits what is queued, and with `wait` waits for a completion, at most so long.
    ///
    /// # Errors
    /// Those of io_uring_enter(2) that do not pass.
    #[inline]
    pub fn enter(&mut self, wait: bool, most_ns: Option<u64>) -> io::Result<()> {
        let entered = match (wait, most_ns) {
            (false, _) => {
                self.counters.submits.one();
                self.ring.submit()
            }
            (true, None) => {
                self.counters.waits.one();
                self.ring.submit_and_wait(1)
            }
            (true, Some(most_ns)) => {
                self.counters.waits.one();
                let time = Timespec::from(Duration::from_nanos(most_ns));
                self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&time))
            }
        };
        self.fence();
        match entered {
            Ok(_) => Ok(()),
            // Time over, a signal, or completions to be taken first: reasons to look again.
            Err(error) => match error.raw_os_error() {
                Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN) => Ok(()),
                _ => Err(error),
            },
        }
    }

    /// The queue is full: makes room.
    #[cold]
    fn submit_some(&mut self) {
        // What does not pass by itself is told by the next wait.
        let _ = self.enter(false, None);
    }

    /// Silent sends are tried while they are submitted, so their failures are among the
    /// completions that are there now, unless these did not all fit.
    #[inline]
    fn fence(&mut self) {
        let fenced = self.fences.back().map_or(self.silent_done, |last| last.1);
        if fenced == self.silent_queued {
            return;
        }
        let submission = self.ring.submission();
        let all_tried = submission.is_empty() && !submission.cq_overflow();
        drop(submission);
        if all_tried {
            let there = self.ring.completion().len() as u64;
            self.fences.push_back((self.taken + there, self.silent_queued));
        }
    }
}
