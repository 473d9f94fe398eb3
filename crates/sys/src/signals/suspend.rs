//! Ctrl-Z for a program that has the whole terminal: it hears of SIGTSTP, gives the terminal back, and only then stops.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{handle, is_ignored};

/// There was a SIGTSTP.
static ASKED: AtomicBool = AtomicBool::new(false);
/// There was a SIGCONT.
static CONTINUED: AtomicBool = AtomicBool::new(false);

/// SIGTSTP and SIGCONT, from [`Suspending::heard`] until it is dropped.
#[derive(Debug)]
pub struct Suspending {
    /// Whoever started this process had it ignored: then it stays so.
    is_ignored: bool,
}

impl Suspending {
    /// From now on SIGTSTP does not stop the process, but is asked for with [`Suspending::is_asked`].
    ///
    /// # Errors
    /// Those of sigaction(2).
    pub fn heard() -> io::Result<Self> {
        let is_ignored = is_ignored(libc::SIGTSTP)?;
        handle(libc::SIGCONT, note_continued as *const () as libc::sighandler_t)?;
        let suspending = Self { is_ignored };
        suspending.listen();
        Ok(suspending)
    }

    /// Whether there was a SIGTSTP since it was asked last.
    pub fn is_asked(&self) -> bool {
        ASKED.swap(false, Ordering::Relaxed)
    }

    /// Whether there was a SIGCONT since it was asked last: somebody else may have had the terminal.
    pub fn was_continued(&self) -> bool {
        CONTINUED.swap(false, Ordering::Relaxed)
    }

    /// Stops the process, as SIGTSTP does, and returns when it goes on. A process that nobody could continue is not stopped
    /// (signal(7): SIGTSTP to an orphaned process group is discarded).
    pub fn stop(&self) {
        let _ = handle(libc::SIGTSTP, libc::SIG_DFL);
        // SAFETY: raise(3) touches no memory; the signal is for this thread, which stops, and all others with it,
        // before it returns.
        unsafe { libc::raise(libc::SIGTSTP) };
        self.listen();
    }

    fn listen(&self) {
        if !self.is_ignored {
            // Fails for no signal that can be handled.
            let _ = handle(libc::SIGTSTP, note_asked as *const () as libc::sighandler_t);
        }
    }
}

impl Drop for Suspending {
    fn drop(&mut self) {
        if !self.is_ignored {
            let _ = handle(libc::SIGTSTP, libc::SIG_DFL);
        }
        let _ = handle(libc::SIGCONT, libc::SIG_DFL);
    }
}

extern "C" fn note_asked(_signal: libc::c_int) {
    ASKED.store(true, Ordering::Relaxed);
}

extern "C" fn note_continued(_signal: libc::c_int) {
    CONTINUED.store(true, Ordering::Relaxed);
}
