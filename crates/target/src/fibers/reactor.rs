//! Where fibers and events meet: an epoll with the registry of those that wait on it. It belongs to
//! one worker, or to all of them behind a lock.

use std::cell::RefCell;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use super::registry::Registry;
use super::wait::NEVER_NS;
use crate::counters::Counters;
use crate::server::Stop;

/// Keys of events that are no fiber's; see [`Registry::remove`].
pub const TIMER: u64 = u64::MAX;
/// Another worker asks for help.
pub const WAKER: u64 = u64::MAX - 1;
/// The server stops.
pub const STOP: u64 = u64::MAX - 2;

/// The fibers that meet, and when the next of them is due.
#[derive(Debug)]
pub struct Members<F> {
    /// The fibers.
    pub registry: Registry<F>,
    /// When those that are left have to end.
    pub drained_ns: u64,
    /// Number of workers that wait without having anything to run.
    pub idle: usize,
    /// One of them was woken and has not returned yet.
    pub is_waking: bool,
    shared: bool,
    /// The descriptors of the reactor itself are watched.
    is_watching: bool,
    timer: OwnedFd,
    /// What the timerfd is set to.
    armed_ns: u64,
}

impl<F> Members<F> {
    fn new(shared: bool) -> rustix::io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        Ok(Self {
            registry: Registry::default(),
            drained_ns: NEVER_NS,
            idle: 0,
            is_waking: false,
            shared,
            is_watching: false,
            timer: timerfd_create(TimerfdClockId::Monotonic, flags)?,
            armed_ns: NEVER_NS,
        })
    }

    /// Sets the timerfd, if something is due before what it is set to. A time that was taken
    /// back lets it ring for nothing, which is cheaper than setting it anew for each.
    ///
    /// # Errors
    /// Those of timerfd_settime(2).
    #[inline]
    pub fn arm_timer(&mut self) -> rustix::io::Result<()> {
        let due_ns = self.registry.next_due_ns().unwrap_or(NEVER_NS).min(self.drained_ns);
        if due_ns >= self.armed_ns {
            return Ok(());
        }
        self.armed_ns = due_ns;
        let due = Timespec {
            tv_sec: (due_ns / 1_000_000_000) as i64,
            tv_nsec: (due_ns % 1_000_000_000) as i64,
        };
        let once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let setting = Itimerspec { it_interval: once, it_value: due };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &setting)?;
        Ok(())
    }

    /// The timerfd has rung.
    pub fn timer_rang(&mut self) {
        self.armed_ns = NEVER_NS;
    }

    /// Whether an idle worker is to be woken for what can run; says so once until one was.
    #[inline]
    pub fn wants_help(&mut self) -> bool {
        if !self.shared || self.idle == 0 || self.is_waking || self.registry.runnable() == 0 {
            return false;
        }
        self.is_waking = true;
        true
    }
}

/// What several workers share.
#[derive(Debug)]
pub struct Common<F> {
    epoll: OwnedFd,
    waker: OwnedFd,
    members: Mutex<Members<F>>,
}

impl<F> Common<F> {
    /// # Errors
    /// When there are no descriptors for it.
    pub fn new() -> rustix::io::Result<Self> {
        Ok(Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            waker: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            members: Mutex::new(Members::new(true)?),
        })
    }
}

/// A reactor as a worker has it.
#[derive(Debug)]
pub enum Reactor<F> {
    /// Each worker has its own epoll and fibers.
    Own {
        /// The epoll.
        epoll: OwnedFd,
        /// The fibers.
        members: RefCell<Members<F>>,
    },
    /// With all other workers.
    Shared(Arc<Common<F>>),
}

impl<F> Reactor<F> {
    /// One for a single worker.
    ///
    /// # Errors
    /// When there are no descriptors for it.
    pub fn own() -> rustix::io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(Self::Own { epoll, members: RefCell::new(Members::new(false)?) })
    }

    /// Whether other workers are part of it.
    pub fn is_shared(&self) -> bool {
        matches!(self, Self::Shared(_))
    }

    /// The epoll.
    #[inline]
    pub fn epoll(&self) -> BorrowedFd<'_> {
        match self {
            Self::Own { epoll, .. } => epoll.as_fd(),
            Self::Shared(common) => common.epoll.as_fd(),
        }
    }

    /// Looks at the members, or changes them. `look` neither runs a fiber nor calls this.
    #[inline]
    pub fn with<T>(&self, look: impl FnOnce(&mut Members<F>) -> T) -> T {
        match self {
            Self::Own { members, .. } => look(&mut members.borrow_mut()),
            Self::Shared(common) => {
                look(&mut common.members.lock().unwrap_or_else(PoisonError::into_inner))
            }
        }
    }

    /// A worker joins: the reactor will be told when this worker is to stop.
    ///
    /// # Errors
    /// Those of epoll_ctl(2).
    pub fn join(&self, stop: &Stop, counters: &Counters) -> rustix::io::Result<()> {
        // None of these is ever read: each edge is news, and the number of them is not.
        let edge = EventFlags::IN | EventFlags::ET;
        let watch = |descriptor: BorrowedFd<'_>, key| {
            counters.epoll_adds.one();
            epoll::add(self.epoll(), descriptor, EventData::new_u64(key), edge)
        };
        watch(stop.as_fd(), STOP)?;
        self.with(|members| {
            if !std::mem::replace(&mut members.is_watching, true) {
                watch(members.timer.as_fd(), TIMER)?;
                if let Self::Shared(common) = self {
                    watch(common.waker.as_fd(), WAKER)?;
                }
            }
            Ok(())
        })
    }

    /// Wakes one of the other workers, if one waits.
    pub fn wake_another(&self, counters: &Counters) {
        if let Self::Shared(common) = self {
            counters.wakes.one();
            // An eventfd takes one more unless it holds 2^64 - 2 already.
            let _ = rustix::io::write(&common.waker, &1u64.to_ne_bytes());
        }
    }
}
