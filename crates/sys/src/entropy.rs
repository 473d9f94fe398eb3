//! Random bytes from the operating system, for what nobody may guess.

use std::io;

/// So many random bytes, from the source that keys are made of (getrandom(2), which waits until it has been seeded).
///
/// # Errors
/// When the system has none.
pub fn random<const BYTES: usize>() -> io::Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    let mut filled = 0;
    while filled < BYTES {
        let rest = &mut bytes[filled..];
        // By its number: glibc has the function since 2.25 only.
        // SAFETY: the pointer and the length are those of a slice that is ours alone for the call.
        let count = unsafe { libc::syscall(libc::SYS_getrandom, rest.as_mut_ptr(), rest.len(), 0) };
        match usize::try_from(count) {
            Ok(count) => filled += count,
            Err(_) => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_two_are_the_same() {
        let (one, other) = (super::random::<16>().unwrap(), super::random::<16>().unwrap());
        assert_ne!(one, other);
        assert_ne!(one, [0; 16]);
    }
}
