//! Whether this program was started with a standard output. Before `main`, the standard library opens /dev/null in
//! place of a stream that is closed: what is written there is lost, and nobody is told.

use std::sync::atomic::{AtomicBool, Ordering};

static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard output was closed when this program began, as `>&-` has it.
pub fn stdout_was_closed() -> bool {
    STDOUT_CLOSED.load(Ordering::Relaxed)
}

extern "C" fn look() {
    // SAFETY: F_GETFD touches no memory, and fails for what is not open.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    if flags < 0 {
        STDOUT_CLOSED.store(true, Ordering::Relaxed);
    }
}

// SAFETY: the C runtime calls each function of this section once, on the only thread there is, before `main`;
// `look` needs nothing of the standard library that is set up there.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;
