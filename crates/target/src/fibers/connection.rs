//! A connection's socket as a fiber has it: every call that would block lets other fibers run.

use std::mem;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use ablaze_sys::clock::monotonic_ns;
use rustix::io::Errno;

use super::source::Source;
use super::switch::Switch;
use super::wait::{Awaited, NEVER_NS, Woken};
use super::worker::{Here, WaitOptions};
use crate::conditions::Arm;
use crate::conversation::{Buffers, Line, Over, WaitLimit};
use crate::sending::{Sent, send_all};

/// Reads and writes of one connection before the others have their turn.
const CALLS_PER_TURN: u32 = 32;

/// The socket.
pub struct FiberLine<'a, S: Switch> {
    here: Here<'a, S>,
    source: Source<OwnedFd>,
    wait_options: WaitOptions,
    /// A read may find something. Without it, waiting comes first.
    may_read: bool,
    /// The last read may have left something behind.
    has_more: bool,
    /// The client has closed its sending side: reading goes on to the end.
    half_closed: bool,
    calls_this_turn: u32,
}

impl<'a, S: Switch> FiberLine<'a, S> {
    /// Around a socket that was just accepted; its request may be there already.
    pub fn new(here: Here<'a, S>, socket: OwnedFd) -> Self {
        let wait_options = here.worker().wait_options();
        Self {
            here,
            source: Source::connection(socket, wait_options.arm),
            wait_options,
            may_read: true,
            has_more: true,
            half_closed: false,
            calls_this_turn: 0,
        }
    }

    fn must_end(&self) -> bool {
        self.here.woken().says(Woken::ENDED)
    }

    /// Waits for something to read.
    fn wait_to_read(&mut self, timeout: WaitLimit) -> Result<(), Over> {
        let until_ns = match (timeout, self.wait_options.read_timeout_ns) {
            (WaitLimit::Until(until_ns), _) => until_ns,
            (_, Some(timeout_ns)) => monotonic_ns().saturating_add(timeout_ns),
            (_, None) => NEVER_NS,
        };
        let until_stop = timeout != WaitLimit::UnderWay;
        self.calls_this_turn = 0;
        let woken = self.source.wait(&mut self.here, Awaited::Readable { until_stop }, until_ns)?;
        if !woken.says(Woken::READABLE) {
            // Its time has come, or the server's.
            return Err(Over);
        }
        self.note(woken);
        Ok(())
    }

    /// Lets the others have their turn, now and then. What the buffers holds is gone after it.
    #[inline]
    fn take_turns(&mut self) -> Result<(), Over> {
        self.calls_this_turn += 1;
        if self.calls_this_turn <= CALLS_PER_TURN {
            return Ok(());
        }
        self.calls_this_turn = 0;
        let woken = self.here.suspend(Awaited::Turn, NEVER_NS);
        self.note(woken);
        match self.must_end() {
            true => Err(Over),
            false => Ok(()),
        }
    }

    /// What was told while waiting for something else.
    fn note(&mut self, woken: Woken) {
        self.may_read |= woken.says(Woken::READABLE);
        self.half_closed |= woken.says(Woken::ENDING);
    }
}

impl<S: Switch> Line for FiberLine<'_, S> {
    #[inline]
    fn buffers(&mut self) -> &mut Buffers {
        self.here.buffers()
    }

    fn read(&mut self, timeout: WaitLimit) -> Result<(), Over> {
        if timeout != WaitLimit::UnderWay && self.is_stopping() {
            return Err(Over);
        }
        loop {
            if self.must_end() {
                return Err(Over);
            }
            if !self.may_read {
                self.wait_to_read(timeout)?;
            }
            self.take_turns()?;
            let buffers = self.here.buffers();
            match buffers.receive(&self.source) {
                Ok(0) => return Err(Over),
                Ok(_) => {
                    // A read that does not fill the buffer has emptied the socket (epoll(7),
                    // "Questions and answers", 9), so that a small request costs one read. A
                    // fiber that is registered only while it waits cannot know what came since.
                    self.has_more = buffers.is_full() || self.half_closed;
                    self.may_read = self.has_more || self.wait_options.arm == Arm::PerWait;
                    return Ok(());
                }
                Err(Errno::AGAIN) => self.may_read = false,
                Err(Errno::INTR) => {}
                Err(_) => return Err(Over),
            }
        }
    }

    #[inline]
    fn write(&mut self) -> Result<(), Over> {
        match self.here.buffers().send(&self.source) {
            // A client that reads as fast as it is written to never makes this fiber wait.
            Ok(Sent::All) => self.take_turns(),
            Ok(Sent::Part) => self.write_rest(false),
            Err(Errno::AGAIN) => self.write_rest(true),
            Err(_) => Err(Over),
        }
    }

    fn sleep_until(&mut self, due_ns: u64) -> Result<(), Over> {
        while monotonic_ns() < due_ns {
            if self.must_end() {
                return Err(Over);
            }
            let woken = self.source.wait(&mut self.here, Awaited::Time, due_ns)?;
            if woken.says(Woken::BROKEN) {
                // Nobody is left to respond to.
                return Err(Over);
            }
            self.note(woken);
        }
        match self.must_end() {
            true => Err(Over),
            false => Ok(()),
        }
    }

    fn has_more(&self) -> bool {
        self.has_more
    }

    #[inline]
    fn is_stopping(&self) -> bool {
        self.here.woken().says(Woken::STOPPING)
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.source.as_fd()
    }
}

impl<S: Switch> Drop for FiberLine<'_, S> {
    /// What a failed connection, or a handler that panicked, still had to say is said to no one:
    /// the buffers is clean for the next fiber.
    fn drop(&mut self) {
        self.here.buffers().out.clear();
    }
}

impl<S: Switch> FiberLine<'_, S> {
    /// Takes what the socket did not from the buffers and writes it as the client reads.
    #[cold]
    fn write_rest(&mut self, mut is_full: bool) -> Result<(), Over> {
        let mut rest = mem::take(&mut self.here.buffers().out);
        loop {
            if self.must_end() {
                return Err(Over);
            }
            if is_full {
                let woken = self.source.wait(&mut self.here, Awaited::Writable, NEVER_NS)?;
                self.note(woken);
                self.here.worker().counters().out_events.one();
            } else {
                let woken = self.here.suspend(Awaited::Turn, NEVER_NS);
                self.note(woken);
            }
            let counters = self.here.worker().counters();
            match send_all(&self.source, &mut rest, counters) {
                Ok(Sent::All) => return Ok(()),
                Ok(Sent::Part) => is_full = false,
                Err(Errno::AGAIN) => is_full = true,
                Err(_) => return Err(Over),
            }
        }
    }
}
