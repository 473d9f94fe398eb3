//! Descriptors that whoever started this program handed to it.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Takes over a descriptor that was open when this program began. It is closed when it is
/// dropped, and no program that this one starts gets it.
///
/// # Errors
/// `EBADF` when the descriptor is not open, is one of the standard streams, or was opened by this
/// program.
pub fn take(number: RawFd) -> io::Result<OwnedFd> {
    let foreign = || io::Error::from_raw_os_error(libc::EBADF);
    if number <= libc::STDERR_FILENO {
        return Err(foreign());
    }
    // SAFETY: F_GETFD touches no memory, and fails for what is not open.
    let flags = unsafe { libc::fcntl(number, libc::F_GETFD) };
    if flags < 0 {
        return Err(io::Error::last_os_error());
    }
    // What was close-on-exec did not survive the start of this program; everything that this
    // program opens is.
    if flags & libc::FD_CLOEXEC != 0 {
        return Err(foreign());
    }
    // SAFETY: F_SETFD touches no memory. From here on a second call refuses the descriptor.
    if unsafe { libc::fcntl(number, libc::F_SETFD, flags | libc::FD_CLOEXEC) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is open, and nothing in this program owns it: all that the standard
    // library, rustix and this crate open is close-on-exec, and this was not.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read, Write, pipe};
    use std::os::fd::AsRawFd;

    #[test]
    fn what_was_handed_over_is_taken_once_and_closed_when_dropped() {
        let (mut reader, writer) = pipe().unwrap();
        // SAFETY: dup touches no memory. Its result has no close-on-exec, as what a shell hands
        // over has none.
        let number = unsafe { libc::dup(writer.as_raw_fd()) };
        drop(writer);
        let mut taken = File::from(take(number).unwrap());
        assert!(take(number).is_err(), "it was taken twice");
        taken.write_all(b"ready").unwrap();
        drop(taken);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "ready");
    }

    #[test]
    fn what_is_not_open_or_not_handed_over_is_refused() {
        let own = File::open("/dev/null").unwrap();
        for number in [-1, 0, 1, 2, 1_000_000, own.as_raw_fd()] {
            let refused = take(number).unwrap_err();
            assert_eq!(refused.raw_os_error(), Some(libc::EBADF), "{number}");
        }
    }
}
