//! An epoll that counts what is done with it, for the models that wait with one.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::Timespec;

use crate::counters::Counters;

/// An epoll and the events of its last wait.
pub struct Epoll {
    epoll: OwnedFd,
    events: Vec<Event>,
    /// Timeouts are exact: the kernel has epoll_pwait2 (since 5.11).
    exact: bool,
    counters: Arc<Counters>,
}

impl std::fmt::Debug for Epoll {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Epoll").field("epoll", &self.epoll).finish_non_exhaustive()
    }
}

impl Epoll {
    /// # Errors
    /// When there is no descriptor for it.
    pub fn new(max_events: usize, counters: Arc<Counters>) -> rustix::io::Result<Self> {
        let nothing = Event { flags: EventFlags::empty(), data: EventData::new_u64(0) };
        Ok(Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            events: vec![nothing; max_events],
            exact: true,
            counters,
        })
    }

    /// Registers for input on a descriptor that is no connection, level-triggered.
    ///
    /// # Errors
    /// Those of epoll_ctl(2), as with the three below.
    pub fn watch(&self, fd: BorrowedFd<'_>, key: u64, exclusive: bool) -> rustix::io::Result<()> {
        let exclusive = if exclusive { EventFlags::EXCLUSIVE } else { EventFlags::empty() };
        self.add(fd, key, EventFlags::IN | exclusive)
    }

    /// EPOLL_CTL_ADD.
    ///
    /// # Errors
    /// See above.
    pub fn add(&self, fd: BorrowedFd<'_>, key: u64, flags: EventFlags) -> rustix::io::Result<()> {
        self.counters.epoll_adds.one();
        epoll::add(&self.epoll, fd, EventData::new_u64(key), flags)
    }

    /// EPOLL_CTL_MOD.
    ///
    /// # Errors
    /// See above.
    pub fn modify(
        &self,
        fd: BorrowedFd<'_>,
        key: u64,
        flags: EventFlags,
    ) -> rustix::io::Result<()> {
        self.counters.epoll_mods.one();
        epoll::modify(&self.epoll, fd, EventData::new_u64(key), flags)
    }

    /// EPOLL_CTL_DEL.
    ///
    /// # Errors
    /// See above.
    pub fn delete(&self, fd: BorrowedFd<'_>) -> rustix::io::Result<()> {
        self.counters.epoll_dels.one();
        epoll::delete(&self.epoll, fd)
    }

    /// Waits for events; returns how many there are.
    ///
    /// # Errors
    /// EINTR, and what the kernel refuses for lack of memory.
    #[inline]
    pub fn wait(&mut self, timeout_ns: Option<u64>) -> rustix::io::Result<usize> {
        self.counters.waits.one();
        let count = match timeout_ns {
            Some(1..) if self.exact => self.wait_exactly(timeout_ns.map(timespec))?,
            _ => self.wait_coarsely(timeout_ns.map(timespec))?,
        };
        self.counters.events.add(count as u64);
        Ok(count)
    }

    /// One of the events of the last wait.
    #[inline]
    pub fn event(&self, at: usize) -> (u64, EventFlags) {
        let event = &self.events[at];
        (event.data.u64(), event.flags)
    }

    /// By epoll_wait, which counts milliseconds; they are rounded up.
    #[inline]
    fn wait_coarsely(&mut self, timeout: Option<Timespec>) -> rustix::io::Result<usize> {
        epoll::wait(&self.epoll, &mut self.events[..], timeout.as_ref())
    }

    /// By epoll_pwait2, which counts nanoseconds: delays of responses are often below a
    /// millisecond.
    fn wait_exactly(&mut self, timeout: Option<Timespec>) -> rustix::io::Result<usize> {
        let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: `events` is writable for as many events as are said, in the layout that rustix
        // hands to the same family of calls; `timeout` is null or points to a timespec that
        // outlives the call; there is no signal mask.
        let response = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_fd().as_raw_fd(),
                self.events.as_mut_ptr(),
                self.events.len() as libc::c_int,
                timeout,
                std::ptr::null::<libc::sigset_t>(),
                0usize,
            )
        };
        if let Ok(count) = usize::try_from(response) {
            return Ok(count);
        }
        let error = Errno::from_io_error(&std::io::Error::last_os_error());
        match error.unwrap_or(Errno::INVAL) {
            // An older kernel, or a filter of system calls that does not know this one.
            Errno::NOSYS | Errno::PERM => {
                self.exact = false;
                Ok(0)
            }
            errno => Err(errno),
        }
    }
}

/// Nanoseconds as a timespec.
pub fn timespec(ns: u64) -> Timespec {
    // Both parts fit: 2^64 ns are 584 years, and a second has 10^9 ns.
    Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 }
}
