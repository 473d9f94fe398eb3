//! How late the kernel may wake a thread on purpose, to join its wake-ups with others'.

/// Wakes the calling thread as close to its time as the machine can: prctl(2),
/// `PR_SET_TIMERSLACK`, which is 50 µs otherwise. Whether the kernel does so.
pub fn wake_on_time() -> bool {
    // SAFETY: the call takes two numbers and touches no memory of ours.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) == 0 }
}

/// The slack of the calling thread, ns: threads that it starts have the same.
pub fn timer_slack_ns() -> Option<u64> {
    // SAFETY: the call takes a number and touches no memory of ours.
    u64::try_from(unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) }).ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_kernel_has_noted_it() {
        std::thread::spawn(|| {
            assert!(super::wake_on_time());
            assert_eq!(super::timer_slack_ns(), Some(1));
        })
        .join()
        .unwrap();
    }
}
