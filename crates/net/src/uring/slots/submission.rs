//! The submission queue: what was queued is handed to the kernel, once per turn.

use std::io;
use std::time::Duration;

use io_uring::squeue;
use io_uring::types::{SubmitArgs, Timespec};

use super::UringIo;
use crate::driver::Turn;

/// Waiting for a fuller batch never lasts longer: a wake-up from another thread is one event, and
/// must not be held up by the want for more.
const GATHER_NS_MAX: u64 = 10_000_000;

impl UringIo {
    /// Submits what is queued without waiting.
    pub(in crate::uring) fn submit(&mut self, turn: &mut Turn) -> io::Result<()> {
        self.close_left_open();
        self.connects_queued = 0;
        if self.ring.submission().is_empty() && !self.ring.submission().taskrun() {
            // Then the kernel has come to all there is.
            self.submitted();
            return Ok(());
        }
        turn.system_calls += 1;
        let result = settled(self.ring.submit());
        self.submitted();
        result
    }

    /// What was queued is with the kernel: a send has left, or found the socket full.
    #[inline]
    fn submitted(&mut self) {
        self.submissions = self.submissions.wrapping_add(1);
        self.local.append(&mut self.after_submission);
        if !self.linked.is_empty() {
            self.pump_linked();
        }
    }

    /// Fetches completions the kernel holds back for us.
    pub(in crate::uring) fn fetch(&mut self, turn: &mut Turn) -> io::Result<()> {
        turn.system_calls += 1;
        let result = settled(self.ring.submit());
        self.submitted();
        result
    }

    /// Submits, then sleeps until there are completions or `left_ns` is over.
    pub(in crate::uring) fn submit_and_wait(
        &mut self,
        at_least: u32,
        gather_ns: u64,
        left_ns: u64,
        turn: &mut Turn,
    ) -> io::Result<()> {
        self.close_left_open();
        let connects = std::mem::take(&mut self.connects_queued);
        let time = Timespec::from(Duration::from_nanos(left_ns));
        let gather_us = (gather_ns.min(GATHER_NS_MAX) / 1000) as u32;
        turn.system_calls += 1;
        let args = SubmitArgs::new().timespec(&time);
        self.gathered_ns = 0;
        // With few in flight every completion ends the wait, so that a connect is seen when it
        // happens; with many, those that complete during submission do not count.
        let result = if self.gathers && gather_us > 0 && at_least > 1 {
            self.gathered_ns = gather_ns;
            let args = args.min_wait_usec(gather_us);
            self.ring.submitter().submit_with_args((at_least + connects) as usize, &args)
        } else {
            self.ring.submitter().submit_with_args(1, &args)
        };
        self.submitted();
        settled(result)
    }

    /// Room for a chain, which must be submitted whole.
    pub(super) fn make_room(&mut self, entries: usize) {
        let queue = self.ring.submission();
        if queue.capacity() - queue.len() < entries {
            drop(queue);
            self.flush();
        }
    }

    #[inline]
    pub(super) fn push(&mut self, entry: &squeue::Entry) {
        loop {
            // SAFETY: every entry made here points at the constant bytes, a leased buffer, a route's
            // address, a message of `messages` or the header of receives of datagrams, all of which
            // live as long as `self`, which holds the ring.
            // Receives with a null address are MSG_TRUNC or choose a registered buffer. After the
            // ring is gone nothing touches this memory: with deferred task run a request makes
            // progress only inside our own `io_uring_enter`, and what is left over is cancelled
            // by a kernel thread, which does not have this process's memory. (Cancelling it
            // ourselves takes the square of the number of connections.)
            if unsafe { self.ring.submission().push(entry) }.is_ok() {
                return;
            }
            self.flush();
        }
    }

    pub(super) fn flush(&mut self) {
        self.calls += 1;
        // The only failures are passing (EINTR, EAGAIN, EBUSY): the entries stay queued.
        let _ = self.ring.submit();
        self.submitted();
    }
}

/// Time over, a signal, or completions to be fetched first: all are reasons to look again.
fn settled(result: io::Result<usize>) -> io::Result<()> {
    match result {
        Ok(_) => Ok(()),
        Err(error) => match error.raw_os_error() {
            Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN) => Ok(()),
            _ => Err(error),
        },
    }
}
