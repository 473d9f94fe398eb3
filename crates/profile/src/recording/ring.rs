//! The ring that the kernel writes records into: mapped, read without a system call. One writer (the
//! kernel, which moves `data_head`) and one reader (which moves `data_tail`); perf_event_open(2), "MMAP
//! layout".

use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Where `struct perf_event_mmap_page` keeps the place that the kernel writes next; the reader's own
/// follows it.
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;
/// Pages of data to ask for, most first: a power of two. What an ordinary user may lock without a
/// privilege is 128 (kernel.perf_event_mlock_kb, 516).
const DATA_PAGES: [usize; 5] = [4096, 1024, 128, 32, 8];

/// All rings together take at most so much memory, which the kernel locks.
const MOST_BYTES: usize = 64 << 20;

/// The ring of one processor.
#[derive(Debug)]
pub(super) struct Ring {
    begin: NonNull<u8>,
    length: usize,
    page_bytes: usize,
    /// Events that write into it; it lives as long as they.
    events: Vec<OwnedFd>,
}

// SAFETY: the mapping belongs to the Ring alone, and what it points to is not tied to a thread.
unsafe impl Send for Ring {}

impl Ring {
    /// The ring of an event that was opened on one processor; `rings` is how many there will be.
    pub(super) fn of(event: OwnedFd, rings: usize) -> io::Result<Self> {
        let page_bytes = rustix::param::page_size();
        let mut refused = io::Error::from_raw_os_error(libc::EPERM);
        let is_modest = |pages: &usize| pages * page_bytes * rings <= MOST_BYTES || *pages <= 128;
        for pages in DATA_PAGES.into_iter().filter(is_modest) {
            let length = (1 + pages) * page_bytes;
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing.
            let mapped = unsafe {
                mmap(std::ptr::null_mut(), length, protection, MapFlags::SHARED, &event, 0)
            };
            match mapped.map(|begin| NonNull::new(begin.cast())) {
                Ok(Some(begin)) => {
                    return Ok(Self { begin, length, page_bytes, events: vec![event] });
                }
                Ok(None) => {}
                Err(error) => refused = error.into(),
            }
        }
        Err(refused)
    }

    /// Has one more event write into it.
    pub(super) fn adopt(&mut self, event: OwnedFd) -> io::Result<()> {
        super::event::redirect(&event, &self.events[0])?;
        self.events.push(event);
        Ok(())
    }

    /// Hands every whole record that is there to `take`, and gives its place back.
    pub(super) fn drain(&mut self, mut take: impl FnMut(&[u8])) {
        let data_bytes = self.length - self.page_bytes;
        let head = self.counter(DATA_HEAD).load(Ordering::Acquire);
        let mut tail = self.counter(DATA_TAIL).load(Ordering::Relaxed);
        let mut copy = Vec::new();
        while tail < head {
            // A record begins on a multiple of 8, so that its header is never split.
            let mut header = [0; 8];
            self.copy_out(tail, &mut header);
            let bytes = u16::from_ne_bytes([header[6], header[7]]) as usize;
            if bytes < header.len() || bytes > data_bytes {
                tail = head;
                break;
            }
            copy.resize(bytes, 0);
            self.copy_out(tail, &mut copy);
            take(&copy);
            tail += bytes as u64;
        }
        self.counter(DATA_TAIL).store(tail, Ordering::Release);
    }

    fn counter(&self, at: usize) -> &AtomicU64 {
        // SAFETY: the first page is mapped for reading and writing until the drop, both places lie in
        // it and are aligned to 8, and both sides use them as atomics.
        unsafe { AtomicU64::from_ptr(self.begin.as_ptr().add(at).cast()) }
    }

    /// Copies what lies behind this place of the stream of bytes.
    fn copy_out(&self, place: u64, to: &mut [u8]) {
        let data_bytes = self.length - self.page_bytes;
        let at = (place % data_bytes as u64) as usize;
        let first = to.len().min(data_bytes - at);
        let data = self.begin.as_ptr().wrapping_add(self.page_bytes);
        // SAFETY: `at + first` and `to.len() - first` are at most `data_bytes`, which are mapped behind
        // the first page; `to` is another allocation. The kernel does not write between tail and head,
        // and the place is between them: head was loaded with Acquire.
        unsafe {
            std::ptr::copy_nonoverlapping(data.add(at), to.as_mut_ptr(), first);
            std::ptr::copy_nonoverlapping(data, to.as_mut_ptr().add(first), to.len() - first);
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: mapped by `of` with this length, and no borrow of its bytes outlives it.
        let unmapped = unsafe { munmap(self.begin.as_ptr().cast(), self.length) };
        debug_assert!(unmapped.is_ok());
    }
}
