//! Waiting on an epoll descriptor with a bound in nanoseconds.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// How long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timeout {
    /// Only look.
    None,
    /// At most this many nanoseconds.
    Ns(u64),
    /// Until something happens.
    Forever,
}

/// The epoll descriptor's waiting side.
#[derive(Debug)]
pub(super) struct Waiter {
    /// `epoll_pwait2` is missing before Linux 5.11, and a seccomp filter may not know it.
    has_pwait2: bool,
}

impl Waiter {
    pub(super) fn new() -> Self {
        Self { has_pwait2: true }
    }

    /// Waits; the number of events written to `events`. A signal ends the wait with 0 events.
    /// Adds the system calls made to `calls`.
    ///
    /// Without `epoll_pwait2` a wait is cut to whole milliseconds, so that it ends early rather
    /// than late: the last millisecond is spent looking.
    pub(super) fn wait(
        &mut self,
        epoll: &OwnedFd,
        events: &mut [libc::epoll_event],
        timeout: Timeout,
        calls: &mut u32,
    ) -> io::Result<usize> {
        if let (Timeout::Ns(ns), true) = (timeout, self.has_pwait2) {
            *calls += 1;
            match found(epoll_pwait2(epoll, events, ns)) {
                Err(error) if is_missing(&error) => self.has_pwait2 = false,
                result => return result,
            }
        }
        let timeout_ms = match timeout {
            Timeout::None => 0,
            Timeout::Ns(ns) => i32::try_from(ns / 1_000_000).unwrap_or(i32::MAX),
            Timeout::Forever => -1,
        };
        *calls += 1;
        found(epoll_wait(epoll, events, timeout_ms))
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM))
}

/// The outcome of a wait as a number of events.
fn found(result: libc::c_long) -> io::Result<usize> {
    match usize::try_from(result) {
        Ok(count) => Ok(count),
        Err(_) => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            error => Err(error),
        },
    }
}

fn epoll_wait(epoll: &OwnedFd, events: &mut [libc::epoll_event], timeout_ms: i32) -> libc::c_long {
    let capacity = i32::try_from(events.len()).unwrap_or(i32::MAX);
    // SAFETY: the pointer and the capacity describe the caller's slice, which is borrowed
    // mutably for the whole call; the kernel writes at most `capacity` events to it.
    let result =
        unsafe { libc::epoll_wait(epoll.as_raw_fd(), events.as_mut_ptr(), capacity, timeout_ms) };
    libc::c_long::from(result)
}

/// By number, because a C library before glibc 2.35 has no name for it.
fn epoll_pwait2(epoll: &OwnedFd, events: &mut [libc::epoll_event], ns: u64) -> libc::c_long {
    let capacity = i32::try_from(events.len()).unwrap_or(i32::MAX);
    // The kernel's `__kernel_timespec`: 64 bits each on every architecture.
    let timeout: [i64; 2] = [(ns / 1_000_000_000) as i64, (ns % 1_000_000_000) as i64];
    // SAFETY: as in `epoll_wait`; the timeout outlives the call, and a null signal mask of size 0
    // leaves the mask as it is (epoll_wait(2)).
    unsafe {
        libc::syscall(
            libc::SYS_epoll_pwait2,
            epoll.as_raw_fd(),
            events.as_mut_ptr(),
            capacity,
            timeout.as_ptr(),
            std::ptr::null::<libc::sigset_t>(),
            0usize,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::epoll::{CreateFlags, create};
    use std::time::{Duration, Instant};

    fn wait_for(waiter: &mut Waiter, ns: u64) -> (Duration, u32) {
        let epoll = create(CreateFlags::CLOEXEC).unwrap();
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 4];
        let mut calls = 0;
        let start = Instant::now();
        let count = waiter.wait(&epoll, &mut events, Timeout::Ns(ns), &mut calls).unwrap();
        assert_eq!(count, 0);
        (start.elapsed(), calls)
    }

    #[test]
    fn a_wait_of_less_than_a_millisecond_sleeps_where_the_kernel_can() {
        let mut waiter = Waiter::new();
        let (elapsed, calls) = wait_for(&mut waiter, 300_000);
        if waiter.has_pwait2 {
            assert!(elapsed >= Duration::from_micros(300), "{elapsed:?}");
            assert_eq!(calls, 1);
        } else {
            ablaze_testing::skip::skip("this kernel has no epoll_pwait2");
        }
    }

    #[test]
    fn without_pwait2_a_wait_is_cut_to_whole_milliseconds() {
        let mut waiter = Waiter { has_pwait2: false };
        let (elapsed, calls) = wait_for(&mut waiter, 2_900_000);
        assert!(elapsed >= Duration::from_millis(2), "{elapsed:?}");
        assert_eq!(calls, 1);
    }
}
