//! Ctrl-\ while the terminal is a screen: SIGQUIT ends the process as it does otherwise, behind the sequences and settings that
//! give the terminal back. All of it happens in the signal handler, and so without a lock and without memory of its own.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::signals::{handle, is_ignored};

/// What the handler needs, while the screen is entered.
static ENTERED: AtomicPtr<Before> = AtomicPtr::new(std::ptr::null_mut());

struct Before {
    terminal: RawFd,
    settings: libc::termios,
    leave: &'static [u8],
}

/// From now on SIGQUIT writes `leave` to the terminal, an open descriptor, and gives it the settings that it has now, before it
/// ends the process; unless whoever started this process had the signal ignored.
pub(super) fn gives_back(terminal: RawFd, leave: &'static [u8]) {
    if is_ignored(libc::SIGQUIT).unwrap_or(true) {
        return;
    }
    // SAFETY: all-zero bytes are a valid termios: integers and arrays of them.
    let mut settings: libc::termios = unsafe { std::mem::zeroed() };
    // SAFETY: `settings` is writable for the duration of the call; a descriptor that is no terminal is an error.
    if unsafe { libc::tcgetattr(terminal, &mut settings) } != 0 {
        return;
    }
    // Never freed: the handler may be looking at it. A run enters the screen once, and once more behind each Ctrl-Z.
    let before = Box::leak(Box::new(Before { terminal, settings, leave }));
    ENTERED.store(before, Ordering::Release);
    // Fails for no signal that can be handled.
    let _ = handle(libc::SIGQUIT, quit as *const () as libc::sighandler_t);
}

/// The terminal was given back by others.
pub(super) fn given_back() {
    if !ENTERED.swap(std::ptr::null_mut(), Ordering::AcqRel).is_null() {
        let _ = handle(libc::SIGQUIT, libc::SIG_DFL);
    }
}

extern "C" fn quit(signal: libc::c_int) {
    // SAFETY: it is null or was leaked, and nobody changes what it points to.
    if let Some(before) = unsafe { ENTERED.load(Ordering::Acquire).as_ref() } {
        let Before { terminal, settings, leave } = before;
        // SAFETY: write(2), tcgetpgrp(3), getpgrp(2) and tcsetattr(3) are async-signal-safe (signal-safety(7)); the bytes and the
        // settings live for ever. In the background tcsetattr would stop the process instead.
        unsafe {
            libc::write(*terminal, leave.as_ptr().cast(), leave.len());
            if libc::tcgetpgrp(*terminal) == libc::getpgrp() {
                libc::tcsetattr(*terminal, libc::TCSANOW, settings);
            }
        }
    }
    // SAFETY: signal(2) and raise(3) are async-signal-safe; the signal is delivered when this handler returns.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}
