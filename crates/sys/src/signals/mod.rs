//! Signals of this process. A run hears of Ctrl-C by [`on_interrupt`], whatever its threads do; a server that only waits
//! for its end blocks the signals and waits for one ([`StopSignals`]). One that has the whole terminal gives it back before Ctrl-Z
//! stops it ([`Suspending`]). All leave a signal ignored that whoever started
//! this process chose to have ignored. What would end the process because a write failed does not.

mod interrupt;
mod stop;
mod suspend;

use std::io;

pub use interrupt::on_interrupt;
pub use stop::{StopSignal, StopSignals, stop_this_process};
pub use suspend::Suspending;

/// Ignores SIGPIPE: writing to a socket or pipe whose reader is gone is an error to be handled,
/// not the end of the process.
pub fn ignore_broken_pipes() {
    // Rust's runtime does so too, before main; a front end may have been started otherwise.
    let _ = handle(libc::SIGPIPE, libc::SIG_IGN);
}

/// Has a write beyond the limit of file sizes (`ulimit -f`, RLIMIT_FSIZE) fail with EFBIG, where SIGXFSZ would
/// end the process. Programs started from here have the default again.
pub fn outlive_file_size_limits() {
    // A handler, unlike SIG_IGN, does not pass through exec. Fails for no signal that can be handled.
    let _ = handle(libc::SIGXFSZ, do_nothing as *const () as libc::sighandler_t);
}

extern "C" fn do_nothing(_signal: libc::c_int) {}

pub(crate) fn is_ignored(signal: libc::c_int) -> io::Result<bool> {
    // SAFETY: all-zero bytes are a valid sigaction.
    let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: no new action is given, and `now` is valid for the old one to be written to.
    match unsafe { libc::sigaction(signal, std::ptr::null(), &mut now) } {
        0 => Ok(now.sa_sigaction == libc::SIG_IGN),
        _ => Err(io::Error::last_os_error()),
    }
}

pub(crate) fn handle(signal: libc::c_int, action: libc::sighandler_t) -> io::Result<()> {
    // SAFETY: all-zero bytes are a valid sigaction: no flags, empty mask, default action.
    let mut new: libc::sigaction = unsafe { std::mem::zeroed() };
    new.sa_sigaction = action;
    // A system call under way goes on after the handler; who must stop is told by the hook.
    new.sa_flags = libc::SA_RESTART;
    // SAFETY: `new` is fully initialised, its handler is SIG_IGN or an extern "C" function that
    // only does what is async-signal-safe, and the old action is not asked for.
    match unsafe { libc::sigaction(signal, &new, std::ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
