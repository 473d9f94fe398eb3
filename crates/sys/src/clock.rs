//! Time: CLOCK_MONOTONIC in nanoseconds. It never steps, and the vDSO reads it without a system
//! call.

/// CLOCK_MONOTONIC, in nanoseconds since some fixed moment (on Linux, boot).
#[inline]
pub fn monotonic_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Wall-clock time, in nanoseconds since 1970, for reports only: it can step.
pub fn unix_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// CPU time of the calling thread, in nanoseconds.
pub fn thread_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    #[test]
    fn monotonic_does_not_go_back() {
        let mut last = super::monotonic_ns();
        for _ in 0..1000 {
            let now = super::monotonic_ns();
            assert!(now >= last);
            last = now;
        }
    }
}
