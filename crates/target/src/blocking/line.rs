//! A connection's socket as its thread has it: every call blocks in the kernel.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use ablaze_sys::clock::monotonic_ns;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::time::Timespec;

use super::threads::{Member, Threads};
use crate::conversation::{Buffers, Line, Over, WaitLimit};
use crate::counters::Counters;
use crate::sending::Sent;

/// The socket.
pub struct ThreadLine {
    member: Arc<Member>,
    threads: Arc<Threads>,
    buffers: Buffers,
    has_more: bool,
}

impl ThreadLine {
    /// For the thread that calls it.
    pub fn new(
        member: Arc<Member>,
        threads: Arc<Threads>,
        counters: Arc<Counters>,
        read_timeout: Option<Duration>,
    ) -> Self {
        let mut line = Self { member, threads, buffers: Buffers::new(counters), has_more: true };
        if let Some(timeout) = read_timeout {
            line.limit_reads(timeout);
        }
        line
    }

    /// Reads give up after this time from now on.
    fn limit_reads(&mut self, timeout: Duration) {
        self.buffers.counters.timers.one();
        // None means no limit to the kernel, and less than a microsecond is none to it.
        let timeout = Some(timeout.max(Duration::from_micros(1)));
        // It fails for no socket and no time (socket(7)); then reads have no limit.
        let _ = set_socket_timeout(&self.member.socket, Timeout::Recv, timeout);
    }
}

impl Line for ThreadLine {
    #[inline]
    fn buffers(&mut self) -> &mut Buffers {
        &mut self.buffers
    }

    fn read(&mut self, timeout: WaitLimit) -> Result<(), Over> {
        if let WaitLimit::Until(until_ns) = timeout {
            self.limit_reads(Duration::from_nanos(until_ns.saturating_sub(monotonic_ns())));
        }
        let ends_with_stop = timeout != WaitLimit::UnderWay;
        self.member.set_idle(ends_with_stop);
        if ends_with_stop && self.is_stopping() {
            return Err(Over);
        }
        let received = loop {
            match self.buffers.receive(&self.member.socket) {
                Err(Errno::INTR) => {}
                received => break received,
            }
        };
        if ends_with_stop {
            self.member.set_idle(false);
        }
        self.buffers.date.update();
        self.has_more = self.buffers.is_full();
        match received {
            // EAGAIN among them: it took too long.
            Ok(0) | Err(_) => Err(Over),
            Ok(_) => Ok(()),
        }
    }

    #[inline]
    fn write(&mut self) -> Result<(), Over> {
        // A thread has no other connection to turn to.
        while self.buffers.send(&self.member.socket).map_err(|_| Over)? == Sent::Part {}
        Ok(())
    }

    fn sleep_until(&mut self, due_ns: u64) -> Result<(), Over> {
        loop {
            let left_ns = due_ns.saturating_sub(monotonic_ns());
            if left_ns == 0 {
                self.buffers.date.update();
                return Ok(());
            }
            let timeout = Timespec {
                tv_sec: (left_ns / 1_000_000_000) as i64,
                tv_nsec: (left_ns % 1_000_000_000) as i64,
            };
            // Without events asked for, it tells of a reset, and of the end of a server that
            // has no time to wait: it shuts the socket down for both directions.
            let mut socket = [PollFd::new(&self.member.socket, PollFlags::empty())];
            self.buffers.counters.waits.one();
            self.buffers.counters.timers.one();
            match poll(&mut socket, Some(&timeout)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(ready) => {
                    self.buffers.counters.events.add(ready as u64);
                    return Err(Over);
                }
                Err(_) => return Err(Over),
            }
        }
    }

    fn has_more(&self) -> bool {
        self.has_more
    }

    fn is_stopping(&self) -> bool {
        self.threads.is_stopping()
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.member.socket.as_fd()
    }
}
