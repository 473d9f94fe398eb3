//! Whether this program was started with a standard output, and that one for a single use. Before `main`, the standard library opens /dev/null in
//! place of a stream that is closed: what is written there is lost, and nobody is told.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard output was closed when this program began, as `>&-` has it.
pub fn stdout_was_closed() -> bool {
    STDOUT_CLOSED.load(Ordering::Relaxed)
}

/// Takes standard output away from the rest of this program: what is printed from now on goes nowhere, and the file closes
/// when it is dropped.
///
/// # Errors
/// When it is not open, or there is no /dev/null.
pub fn take_stdout() -> io::Result<File> {
    let nowhere = File::options().write(true).open("/dev/null")?;
    let own = rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3)?;
    rustix::stdio::dup2_stdout(nowhere)?;
    Ok(File::from(own))
}

/// Puts standard output back that was taken: what is printed from now on goes there, from programs too that this one becomes.
///
/// # Errors
/// When the system refuses.
pub fn give_back_stdout(taken: &File) -> io::Result<()> {
    Ok(rustix::stdio::dup2_stdout(taken)?)
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
