//! A file mapped for reading: only the pages that are looked at are loaded.

use std::fs::File;
use std::io;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// A program that runs, mapped; unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    begin: NonNull<u8>,
    length: usize,
}

impl Mapping {
    /// Maps all of a program that is running: the kernel lets nobody write to it (ETXTBSY), so that
    /// its bytes stay as they are.
    pub(crate) fn of(program: &File) -> io::Result<Self> {
        let length = usize::try_from(program.metadata()?.len()).map_err(io::Error::other)?;
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing.
        let begin = unsafe {
            mmap(std::ptr::null_mut(), length, ProtFlags::READ, MapFlags::PRIVATE, program, 0)?
        };
        let begin = NonNull::new(begin.cast()).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self { begin, length })
    }

    /// What is in the file.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: this many bytes are mapped for reading until the drop, and nobody writes them.
        unsafe { std::slice::from_raw_parts(self.begin.as_ptr(), self.length) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `of` with this length, and no borrow of its bytes outlives it.
        let unmapped = unsafe { munmap(self.begin.as_ptr().cast(), self.length) };
        debug_assert!(unmapped.is_ok());
    }
}
