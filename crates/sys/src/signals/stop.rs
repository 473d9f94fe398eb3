//! SIGINT, SIGTERM and SIGHUP for a program that runs until it is told to stop: they are blocked, and one
//! thread waits for them, so nothing has to happen inside a signal handler.

use std::io;

use super::is_ignored;

/// The blocked signals.
#[derive(Debug)]
pub struct StopSignals {
    set: libc::sigset_t,
}

/// What asked the program to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal was closed.
    HangUp,
}

impl StopSignals {
    /// Blocks the signals in this thread and those it starts from now on. To be called before
    /// any thread is started: a thread that does not block them would be ended by them. A
    /// SIGINT or SIGHUP that the parent chose to have ignored (as shells do for background jobs of
    /// scripts, and nohup(1)) stays ignored.
    ///
    /// # Errors
    /// Those of sigaction(2) and pthread_sigmask(3).
    pub fn block() -> io::Result<Self> {
        // SAFETY: all-zero bytes are a valid sigset_t, and sigemptyset fills it in any case.
        let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: `set` is a valid place for a set.
        unsafe { libc::sigemptyset(&mut set) };
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // What is blocked is queued even if it is ignored: whoever started this may have chosen
            // that, and the end of standard input (or a supervisor) still has to get through.
            if signal == libc::SIGTERM || !is_ignored(signal)? {
                // SAFETY: `set` was initialised above, and the signal's number is valid.
                unsafe { libc::sigaddset(&mut set, signal) };
            }
        }
        // SAFETY: `set` is an initialised set; the old mask is not asked for.
        match unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) } {
            0 => Ok(Self { set }),
            errno => Err(io::Error::from_raw_os_error(errno)),
        }
    }

    /// Waits for one of the signals.
    ///
    /// # Errors
    /// Those of sigwait(3).
    pub fn wait(&self) -> io::Result<StopSignal> {
        let mut signal = 0;
        // SAFETY: the set is initialised, and `signal` is a valid place for a number.
        match unsafe { libc::sigwait(&self.set, &mut signal) } {
            0 if signal == libc::SIGINT => Ok(StopSignal::Interrupt),
            0 if signal == libc::SIGHUP => Ok(StopSignal::HangUp),
            0 => Ok(StopSignal::Terminate),
            errno => Err(io::Error::from_raw_os_error(errno)),
        }
    }
}

/// Sends this process SIGTERM.
pub fn stop_this_process() {
    // SAFETY: getpid and kill touch no memory; a process may always signal itself.
    unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocked_signal_is_waited_for_and_does_not_end_the_process() {
        // On a thread of its own: the mask is inherited by no other test.
        let seen = std::thread::spawn(|| {
            let signals = StopSignals::block().unwrap();
            // SAFETY: raise(3) sends to the calling thread, where the signal is blocked.
            assert_eq!(unsafe { libc::raise(libc::SIGTERM) }, 0);
            signals.wait().unwrap()
        });
        assert_eq!(seen.join().unwrap(), StopSignal::Terminate);
    }
}
