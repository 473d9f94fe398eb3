//! A connection's socket as its thread has it: every call blocks in the kernel.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use ablaze_sys::clock::monotonic_ns;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::time::Timespec;

use super::crowd::{Crowd, Member};
use crate::conversation::{Desk, Line, Over, Patience};
use crate::counters::Counters;

/// The socket.
pub struct ThreadLine {
    member: Arc<Member>,
    crowd: Arc<Crowd>,
    desk: Desk,
    has_more: bool,
}

impl ThreadLine {
    /// For the thread that calls it.
    pub fn new(
        member: Arc<Member>,
        crowd: Arc<Crowd>,
        counters: Arc<Counters>,
        read_timeout: Option<Duration>,
    ) -> Self {
        let mut line = Self { member, crowd, desk: Desk::new(counters), has_more: true };
        if let Some(timeout) = read_timeout {
            line.limit_reads(timeout);
        }
        line
    }

    /// Reads give up after this time from now on.
    fn limit_reads(&mut self, timeout: Duration) {
        self.desk.counters.timers.one();
        // None means no limit to the kernel, and less than a microsecond is none to it.
        let timeout = Some(timeout.max(Duration::from_micros(1)));
        // It fails for no socket and no time (socket(7)); then reads have no limit.
        let _ = set_socket_timeout(&self.member.socket, Timeout::Recv, timeout);
    }
}

impl Line for ThreadLine {
    #[inline]
    fn desk(&mut self) -> &mut Desk {
        &mut self.desk
    }

    fn read(&mut self, patience: Patience) -> Result<(), Over> {
        if let Patience::Until(until_ns) = patience {
            self.limit_reads(Duration::from_nanos(until_ns.saturating_sub(monotonic_ns())));
        }
        let ends_with_stop = patience != Patience::UnderWay;
        self.member.set_idle(ends_with_stop);
        if ends_with_stop && self.is_stopping() {
            return Err(Over);
        }
        let received = loop {
            match self.desk.receive(&self.member.socket) {
                Err(Errno::INTR) => {}
                received => break received,
            }
        };
        if ends_with_stop {
            self.member.set_idle(false);
        }
        self.desk.date.update();
        self.has_more = self.desk.is_full();
        match received {
            // EAGAIN among them: it took too long.
            Ok(0) | Err(_) => Err(Over),
            Ok(_) => Ok(()),
        }
    }

    #[inline]
    fn write(&mut self) -> Result<(), Over> {
        self.desk.send(&self.member.socket).map_err(|_| Over)
    }

    fn sleep_until(&mut self, due_ns: u64) -> Result<(), Over> {
        loop {
            let left_ns = due_ns.saturating_sub(monotonic_ns());
            if left_ns == 0 {
                self.desk.date.update();
                return Ok(());
            }
            let timeout = Timespec {
                tv_sec: (left_ns / 1_000_000_000) as i64,
                tv_nsec: (left_ns % 1_000_000_000) as i64,
            };
            // Without events asked for, it tells of a reset, and of the end of a server that
            // has no time to wait: it shuts the socket down for both directions.
            let mut socket = [PollFd::new(&self.member.socket, PollFlags::empty())];
            self.desk.counters.waits.one();
            self.desk.counters.timers.one();
            match poll(&mut socket, Some(&timeout)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(ready) => {
                    self.desk.counters.events.add(ready as u64);
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
        self.crowd.is_stopping()
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.member.socket.as_fd()
    }
}
