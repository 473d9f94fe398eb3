//! Locks on whole files, which end with the process that has them: whoever gets one knows that the other is done, or dead.

use std::fs::File;
use std::io;

use rustix::fs::{FlockOperation, flock};

/// Takes the lock of this file if nobody has it; whether it did. It is released when all copies of the descriptor are closed.
///
/// # Errors
/// Those of flock(2).
pub fn try_lock(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_it_at_a_time() {
        let path = std::env::temp_dir().join(format!("ablaze-lock-{}", std::process::id()));
        let open = || File::options().create(true).append(true).open(&path);
        let (one, other) = (open().unwrap(), open().unwrap());
        assert!(try_lock(&one).unwrap());
        assert!(!try_lock(&other).unwrap());
        drop(one);
        assert!(try_lock(&other).unwrap());
        std::fs::remove_file(&path).unwrap();
    }
}
