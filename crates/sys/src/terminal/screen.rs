//! The terminal as a screen: text at places instead of lines below each other, keys as they are pressed. It is drawn on the
//! alternate screen (ctlseqs of xterm, private mode 1049), behind which the lines that were there before stay as they are.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use super::{Size, is_in_foreground, quit, size};

/// Alternate screen, no cursor, no wrapping at the right edge, cleared.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
/// All of that undone. Begins with CAN, which ends a sequence that was written in part (ECMA-48, 8.3.6).
const LEAVE: &[u8] = b"\x18\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
/// A terminal that takes nothing (Ctrl-S, a slow line) is waited for so long when it is left.
const WAIT_TO_LEAVE: Duration = Duration::from_millis(500);

/// The screen that is entered, for [`leave_screen`].
static ENTERED: Mutex<Option<Entered>> = Mutex::new(None);

/// What it takes to put things right.
struct Entered {
    terminal: File,
    before: Termios,
}

/// The terminal that this process was started from, from [`Screen::enter`] to [`leave_screen`].
#[derive(Debug)]
pub struct Screen {
    /// A description of its own, so that not waiting for it is nobody else's business.
    terminal: File,
}

impl Screen {
    /// Opens it, and changes nothing yet.
    ///
    /// # Errors
    /// When this process was not started from a terminal.
    pub fn open() -> io::Result<Self> {
        let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
        let terminal =
            File::options().read(true).write(true).custom_flags(flags).open("/dev/tty")?;
        Ok(Self { terminal })
    }

    /// Its size now; `None` when it does not know.
    pub fn size(&self) -> Option<Size> {
        size(&self.terminal)
    }

    /// Whether this process may use it.
    pub fn is_ours(&self) -> bool {
        is_in_foreground(&self.terminal)
    }

    /// Takes the whole of it: keys come as they are pressed and are not shown. Ctrl-C and Ctrl-Z remain signals.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn enter(&self) -> io::Result<()> {
        let before = tcgetattr(&self.terminal)?;
        let mut settings = before.clone();
        settings.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        let entered = Entered { terminal: self.terminal.try_clone()?, before };
        quit::gives_back(self.terminal.as_raw_fd(), LEAVE);
        // Known before it is done: a panic in between puts it right.
        *ENTERED.lock().unwrap_or_else(PoisonError::into_inner) = Some(entered);
        tcsetattr(&self.terminal, OptionalActions::Now, &settings)?;
        self.write(ENTER)?;
        Ok(())
    }

    /// Whether it is entered, and nobody has called [`leave_screen`] since.
    pub fn is_entered(&self) -> bool {
        ENTERED.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Writes as much as it takes at once; how many bytes it took.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = 0;
        while written < bytes.len() {
            match rustix::io::write(&self.terminal, &bytes[written..]) {
                Ok(0) | Err(rustix::io::Errno::AGAIN) => break,
                Ok(more) => written += more,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(written)
    }

    /// The bytes of keys that were pressed since it was asked last. To be called in the foreground only.
    pub fn keys(&self) -> Vec<u8> {
        let mut bytes = [0; 64];
        match rustix::io::read(&self.terminal, &mut bytes) {
            Ok(count) => bytes[..count].to_vec(),
            Err(_) => Vec::new(),
        }
    }
}

/// Gives the terminal back as it was before [`Screen::enter`], if it was entered: for whoever ends the process or is about to
/// write lines. Not for signal handlers: it locks.
pub fn leave_screen() {
    let mut entered = match ENTERED.try_lock() {
        Ok(entered) => entered,
        Err(TryLockError::Poisoned(entered)) => entered.into_inner(),
        // Somebody is entering or leaving it at this very moment; a panic in there must not wait for itself.
        Err(TryLockError::WouldBlock) => return,
    };
    let Some(Entered { terminal, before }) = entered.take() else { return };
    quit::given_back();
    write_within(&terminal, LEAVE, WAIT_TO_LEAVE);
    // From the background it would stop this process (SIGTTOU), and whoever has the terminal now has set it up.
    if is_in_foreground(&terminal) {
        let _ = tcsetattr(&terminal, OptionalActions::Now, &before);
    }
}

/// Writes all of it, unless that takes longer.
fn write_within(terminal: &File, mut bytes: &[u8], most: Duration) {
    let until = Instant::now() + most;
    while !bytes.is_empty() {
        let left = until.saturating_duration_since(Instant::now());
        match rustix::io::write(terminal, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) if !left.is_zero() => {
                let wait = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() };
                let _ = poll(&mut [PollFd::new(terminal, PollFlags::OUT)], Some(&wait));
            }
            Err(_) => return,
        }
    }
}
