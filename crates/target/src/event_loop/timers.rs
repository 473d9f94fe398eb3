//! Things due later, for one worker: a heap of times, and a timerfd that wakes the worker's epoll
//! for the earliest. epoll's own timeout counts milliseconds, which is too coarse for delays.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::OwnedFd;

use ablaze_sys::clock::monotonic_ns;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

/// Keys with the times at which they are due.
#[derive(Debug)]
pub struct Timers {
    heap: BinaryHeap<Reverse<(u64, u64)>>,
    timer: OwnedFd,
    /// What the timerfd is set to; `u64::MAX` if it is not.
    armed_ns: u64,
}

impl Timers {
    /// # Errors
    /// When there is no descriptor for the timerfd.
    pub fn new() -> rustix::io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Self { heap: BinaryHeap::new(), timer, armed_ns: u64::MAX })
    }

    /// The descriptor to watch, edge-triggered; it need not be read.
    pub fn descriptor(&self) -> &OwnedFd {
        &self.timer
    }

    /// `key` is due in so many nanoseconds. What was added cannot be taken back: whoever is due
    /// has to know whether it still matters.
    pub fn add(&mut self, delay_ns: u64, key: u64) {
        let due_ns = monotonic_ns().saturating_add(delay_ns);
        self.heap.push(Reverse((due_ns, key)));
    }

    /// The next key that is due.
    #[inline]
    pub fn pop(&mut self) -> Option<u64> {
        let Reverse((due_ns, _)) = self.heap.peek()?;
        if *due_ns > monotonic_ns() {
            return None;
        }
        self.heap.pop().map(|Reverse((_, key))| key)
    }

    /// Sets the timerfd to what is due first.
    ///
    /// # Errors
    /// Those of timerfd_settime(2).
    #[inline]
    pub fn arm(&mut self) -> rustix::io::Result<()> {
        let Some(Reverse((due_ns, _))) = self.heap.peek() else { return Ok(()) };
        if *due_ns == self.armed_ns {
            return Ok(());
        }
        self.armed_ns = *due_ns;
        let due = Timespec {
            tv_sec: (due_ns / 1_000_000_000) as i64,
            tv_nsec: (due_ns % 1_000_000_000) as i64,
        };
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        let setting = Itimerspec { it_interval: never, it_value: due };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &setting)?;
        Ok(())
    }
}
