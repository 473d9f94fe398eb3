//! The ring itself: how it is set up, whether the kernel permits it, and the rings of buffers
//! that receives take theirs from. The driver uses it, and so does a server on io_uring.

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::BufRingEntry;
use io_uring::{IoUring, Probe, cqueue, opcode};

/// A ring for one thread.
///
/// # Errors
/// As the kernel says; EINVAL means that it is older than 6.1.
pub fn make(submissions: u32, completions: u32) -> io::Result<IoUring> {
    IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_taskrun_flag()
        .setup_coop_taskrun()
        .setup_submit_all()
        .setup_clamp()
        .setup_cqsize(completions)
        .build(submissions)
}

/// Whether rings of this kind can be made, with these operations, silent success, rings of buffers
/// and waits that take a timeout.
///
/// # Errors
/// Why not, in words.
pub fn probe(needed: &[u8]) -> io::Result<()> {
    // In a thread that ends with it: when a ring goes, the kernel interrupts what the threads that
    // used it wait for (io_ring_exit_work in io_uring/io_uring.c), and callers would see EINTR.
    std::thread::scope(|scope| {
        let probing = std::thread::Builder::new().spawn_scoped(scope, || probe_here(needed))?;
        probing.join().unwrap_or_else(|_| Err(io::Error::other("probing io_uring panicked")))
    })
}

fn probe_here(needed: &[u8]) -> io::Result<()> {
    let mut ring = make(8, 16).map_err(|error| io::Error::new(error.kind(), refusal(&error)))?;
    let mut probe = Probe::new();
    ring.submitter().register_probe(&mut probe)?;
    let params = ring.params();
    let complete = needed.iter().all(|&code| probe.is_supported(code))
        && params.is_feature_skip_cqe_on_success()
        && params.is_feature_ext_arg()
        && params.is_feature_linked_file();
    if !complete {
        return Err(io::Error::other("this kernel's io_uring lacks operations ablaze needs"));
    }
    enter(&mut ring).map_err(|error| io::Error::new(error.kind(), not_entered(&error)))?;
    // SAFETY: nothing ever receives on this ring, so nothing is written to its buffers.
    unsafe { BufferRing::new(&ring, 0, 8, 4096) }.map(drop)
}

/// Whether a ring can also be used: a filter may permit its set-up and deny this.
fn enter(ring: &mut IoUring) -> io::Result<()> {
    // SAFETY: an operation that does nothing touches no memory.
    unsafe { ring.submission().push(&opcode::Nop::new().build()) }
        .map_err(|_| io::Error::other("a new ring is full"))?;
    ring.submit_and_wait(1).map(drop)
}

fn not_entered(error: &io::Error) -> String {
    let name = match error.raw_os_error() {
        Some(libc::ENOSYS) => "ENOSYS".to_owned(),
        Some(libc::EPERM) => "EPERM".to_owned(),
        Some(libc::EACCES) => "EACCES".to_owned(),
        _ => error.to_string(),
    };
    format!(
        "io_uring is forbidden here, by a seccomp filter or security module (io_uring_enter: {name})"
    )
}

/// Why `io_uring_setup` failed, as far as it can be told.
fn refusal(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENOSYS) => "io_uring is not in this kernel, or a seccomp filter hides it \
                               (io_uring_setup: ENOSYS)"
            .to_owned(),
        Some(libc::EPERM | libc::EACCES) => {
            let disabled = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
            match disabled.as_deref().map(str::trim) {
                Ok(level @ ("1" | "2")) => {
                    format!("io_uring is disabled here (sysctl kernel.io_uring_disabled = {level})")
                }
                _ => "io_uring is forbidden here, by a seccomp filter or security module \
                      (io_uring_setup: EPERM)"
                    .to_owned(),
            }
        }
        Some(libc::EINVAL) => "this kernel's io_uring is older than Linux 6.1".to_owned(),
        Some(libc::ENOMEM) => "cannot lock memory for io_uring (raise RLIMIT_MEMLOCK)".to_owned(),
        _ => format!("io_uring cannot be used: {error}"),
    }
}

/// A completion, taken off the ring.
#[derive(Debug, Clone, Copy)]
pub struct RingCompletion {
    /// What the request carried: see [`tag`].
    pub tag: u64,
    /// Bytes, or a negative errno.
    pub result: i32,
    flags: u32,
}

impl From<cqueue::Entry> for RingCompletion {
    #[inline]
    fn from(entry: cqueue::Entry) -> Self {
        Self { tag: entry.user_data(), result: entry.result(), flags: entry.flags() }
    }
}

/// Packs an operation, a slot's generation (24 bits of it) and the slot into what a request
/// carries through the ring.
#[inline]
pub fn tag(operation: u8, generation: u32, slot: u32) -> u64 {
    (u64::from(operation) << 56) | (u64::from(generation & 0xff_ffff) << 32) | u64::from(slot)
}

impl RingCompletion {
    /// One that no kernel made.
    #[cfg(test)]
    pub(super) fn made(tag: u64, result: i32) -> Self {
        Self { tag, result, flags: 0 }
    }

    /// The operation it was tagged with.
    #[inline]
    pub fn operation(&self) -> u8 {
        (self.tag >> 56) as u8
    }

    /// The generation it was tagged with, 24 bits.
    #[inline]
    pub fn generation(&self) -> u32 {
        (self.tag >> 32) as u32 & 0xff_ffff
    }

    /// The slot it was tagged with.
    #[inline]
    pub fn slot(&self) -> u32 {
        self.tag as u32
    }

    /// The buffer the kernel chose.
    #[inline]
    pub fn buffer(&self) -> Option<u16> {
        cqueue::buffer_select(self.flags)
    }

    /// A multishot request goes on.
    #[inline]
    pub fn more_to_come(&self) -> bool {
        cqueue::more(self.flags)
    }

    /// The socket holds more bytes already.
    #[inline]
    pub fn socket_nonempty(&self) -> bool {
        cqueue::sock_nonempty(self.flags)
    }
}

/// Buffers the kernel picks from for receives of one group, and the ring it finds them in.
#[derive(Debug)]
pub struct BufferRing {
    /// The entries, page-aligned as the kernel wants them, followed by the buffers.
    memory: NonNull<u8>,
    memory_bytes: usize,
    entries: u16,
    buffer_bytes: u32,
    buffers_at: usize,
    tail: u16,
}

impl BufferRing {
    /// Makes and registers `entries` buffers (a power of two, at most 32768). Memory is touched
    /// only as buffers are used.
    ///
    /// # Errors
    /// No memory, or the kernel has no buffer rings (before 5.19).
    ///
    /// # Safety
    /// The ring must be dropped before the buffers are: until then the kernel may write to them.
    pub unsafe fn new(
        ring: &IoUring,
        group: u16,
        entries: u16,
        buffer_bytes: u32,
    ) -> io::Result<Self> {
        let ring_bytes = usize::from(entries) * size_of::<BufRingEntry>();
        let buffers_at = ring_bytes.next_multiple_of(4096);
        let memory_bytes = buffers_at + usize::from(entries) * buffer_bytes as usize;
        // SAFETY: an anonymous private mapping at no fixed address has no preconditions.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                memory_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = NonNull::new(memory.cast::<u8>())
            .ok_or_else(|| io::Error::other("the kernel mapped memory at address zero"))?;
        let mut buffers = Self { memory, memory_bytes, entries, buffer_bytes, buffers_at, tail: 0 };
        // SAFETY: the entries lie at the start of the mapping, page-aligned, and the mapping lives
        // until `self` is dropped, which the caller does after the ring.
        unsafe {
            ring.submitter().register_buf_ring_with_flags(
                memory.as_ptr() as u64,
                entries,
                group,
                0,
            )?;
        }
        for buffer in 0..entries {
            buffers.give_back(buffer);
        }
        buffers.publish();
        Ok(buffers)
    }

    /// The first `length` bytes of a buffer the kernel handed out.
    #[inline]
    pub fn bytes_mut(&mut self, buffer: u16, length: usize) -> &mut [u8] {
        assert!(buffer < self.entries && length <= self.buffer_bytes as usize);
        // SAFETY: in bounds of the mapping by the assertion; the kernel has handed this buffer out
        // and does not write to it until it is given back, and `&mut self` keeps that from
        // happening while the slice is borrowed.
        unsafe {
            let start = self
                .memory
                .as_ptr()
                .add(self.buffers_at + usize::from(buffer) * self.buffer_bytes as usize);
            std::slice::from_raw_parts_mut(start, length)
        }
    }

    /// Puts a buffer back at the ring's end; the kernel sees it after [`Self::publish`].
    #[inline]
    pub fn give_back(&mut self, buffer: u16) {
        let index = usize::from(self.tail & (self.entries - 1));
        let address = self.buffers_at + usize::from(buffer) * self.buffer_bytes as usize;
        // SAFETY: `index` is below `entries`, so the entry is inside the mapping; the kernel reads
        // entries only between its head and the published tail, and this one is beyond the tail.
        unsafe {
            let entry = self.memory.as_ptr().cast::<BufRingEntry>().add(index);
            (*entry).set_addr(self.memory.as_ptr().add(address) as u64);
            (*entry).set_len(self.buffer_bytes);
            (*entry).set_bid(buffer);
        }
        self.tail = self.tail.wrapping_add(1);
    }

    /// Lets the kernel see the buffers given back.
    #[inline]
    pub fn publish(&mut self) {
        // SAFETY: the tail lies in the first entry of the ring, which is valid, aligned memory of
        // ours; the kernel only reads it, so an atomic store is the agreed way to write it.
        unsafe {
            let tail = BufRingEntry::tail(self.memory.as_ptr().cast()).cast_mut();
            AtomicU16::from_ptr(tail).store(self.tail, Ordering::Release);
        }
    }
}

impl Drop for BufferRing {
    fn drop(&mut self) {
        // SAFETY: this is the mapping made in `new`, and nothing borrows from it any more.
        unsafe {
            libc::munmap(self.memory.as_ptr().cast(), self.memory_bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::time::Duration;

    #[test]
    fn probing_interrupts_nothing_that_its_caller_waits_for() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(30))).unwrap();
        for _ in 0..5 {
            // Where it is refused, there is no ring whose end could interrupt.
            let _ = probe(&[]);
            let error = socket.recv(&mut [0]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::WouldBlock, "{error}");
        }
    }
}
