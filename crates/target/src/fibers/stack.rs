//! Memory for fibers: a stack each, with a guard below it, and a pool of stacks for reuse.

use std::io;
use std::num::NonZeroUsize;
use std::ptr;

use crate::counters::Counters;
use crate::options::Options;

/// Smallest stack: what the deepest handler of this crate needs in a build for work on the code,
/// with room for the frame of a signal handler.
pub const STACK_BYTES_MIN: usize = 16 * 1024;

/// Largest stack.
pub const STACK_BYTES_MAX: usize = 1 << 30;
/// Twice what a handshake was seen to take, built without optimisation.
const TLS_STACK_BYTES_MIN: usize = 64 * 1024;

/// Of the stacks in a pool, those put back last keep their memory; it is taken from the others.
const WARM: usize = 256;

/// Guards that need no mapping of their own, from Linux 6.13 on (madvise(2)). Without them, a
/// stack and its guard are two of the mappings of which a process may have
/// `vm.max_map_count`, 65,530 unless it was changed: too few for 33,000 fibers.
const MADV_GUARD_INSTALL: libc::c_int = 102;

/// Checks the size of stacks.
///
/// # Errors
/// One sentence with the reason and the fix.
pub fn check_stack_bytes(options: &Options) -> Result<(), String> {
    let bytes = options.fibers.stack_bytes;
    let page = rustix::param::page_size();
    if !(STACK_BYTES_MIN..=STACK_BYTES_MAX).contains(&bytes) {
        return Err(format!(
            "invalid stack size of {bytes} bytes; use {} KiB to {} MiB",
            STACK_BYTES_MIN >> 10,
            STACK_BYTES_MAX >> 20
        ));
    }
    if !bytes.is_multiple_of(page) {
        let next = bytes.next_multiple_of(page);
        return Err(format!(
            "a stack of {bytes} bytes is not a multiple of the page size, {page}; use {next}"
        ));
    }
    if options.tls.is_some() && bytes < TLS_STACK_BYTES_MIN {
        return Err(format!(
            "a TLS handshake needs a stack of {} KiB, not {bytes} bytes; use a larger --stack",
            TLS_STACK_BYTES_MIN >> 10
        ));
    }
    Ok(())
}

/// A stack. Below its lowest byte, nothing can be read or written.
#[derive(Debug)]
pub struct Stack {
    /// Where the mapping begins, with the guard.
    mapping: NonZeroUsize,
    /// Its length, guard included.
    bytes: usize,
}

impl Stack {
    /// Maps a stack. Its memory is only given to it page by page as it is touched.
    ///
    /// # Errors
    /// When there is no address space, or the process has too many mappings.
    pub fn new(stack_bytes: usize) -> io::Result<Self> {
        let guard_bytes = rustix::param::page_size();
        let bytes = stack_bytes + guard_bytes;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use.
        let mapping = unsafe { libc::mmap(ptr::null_mut(), bytes, access, kind, -1, 0) };
        if mapping == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let stack = match NonZeroUsize::new(mapping as usize) {
            Some(mapping) => Self { mapping, bytes },
            // The kernel does not map address 0 unless it is asked to (mmap(2)).
            None => return Err(io::Error::from(io::ErrorKind::OutOfMemory)),
        };
        // SAFETY: these pages are the lowest of the mapping just made, which no one uses yet.
        let guarded = unsafe { libc::madvise(mapping, guard_bytes, MADV_GUARD_INSTALL) } == 0;
        // SAFETY: as above.
        if !guarded && unsafe { libc::mprotect(mapping, guard_bytes, libc::PROT_NONE) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(stack)
    }

    /// The address above its highest byte. Stacks grow down from here.
    pub fn top(&self) -> NonZeroUsize {
        self.mapping.saturating_add(self.bytes)
    }

    /// The lowest address of its guard.
    pub fn bottom(&self) -> NonZeroUsize {
        self.mapping
    }

    /// Its lowest address, above the guard.
    pub fn lowest(&self) -> usize {
        self.mapping.get() + rustix::param::page_size()
    }

    /// Gives its memory back to the kernel; it reads as zeros from now on. Exclusive access, so
    /// nothing runs on it.
    fn cool(&mut self) {
        let lowest = self.lowest();
        let bytes = self.top().get() - lowest;
        // SAFETY: the range is this mapping without its guard; it is owned by `self`, and
        // whoever holds `self` exclusively runs nothing on it and has nothing stored in it.
        // A failure leaves the memory as it is, which is only a waste.
        let _ = unsafe { libc::madvise(lowest as *mut libc::c_void, bytes, libc::MADV_DONTNEED) };
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length and is unmapped only here;
        // whoever drops a stack runs nothing on it.
        let _ = unsafe { libc::munmap(self.mapping.get() as *mut libc::c_void, self.bytes) };
    }
}

/// Stacks that are free, for one worker. The one put back last is taken first: its memory is
/// still in the caches.
#[derive(Debug)]
pub struct StackPool {
    free: Vec<Stack>,
    stack_bytes: usize,
    kept_max: usize,
}

impl StackPool {
    /// A pool that keeps at most `kept_max` stacks of this size.
    pub fn new(stack_bytes: usize, kept_max: usize) -> Self {
        Self { free: Vec::new(), stack_bytes, kept_max }
    }

    /// A stack, used before or new.
    ///
    /// # Errors
    /// As [`Stack::new`].
    pub fn take(&mut self, counters: &Counters) -> io::Result<Stack> {
        if let Some(stack) = self.free.pop() {
            counters.stacks_reused.one();
            return Ok(stack);
        }
        let stack = Stack::new(self.stack_bytes)?;
        counters.stacks_made.one();
        Ok(stack)
    }

    /// Takes a stack back.
    pub fn put(&mut self, mut stack: Stack) {
        if self.free.len() >= self.kept_max {
            return;
        }
        // After a peak, many stacks lie here unused, each with the memory its deepest call has
        // ever touched.
        if self.free.len() >= WARM {
            stack.cool();
        }
        self.free.push(stack);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conditions::FiberOptions;

    fn touch(stack: &Stack, bytes_below_top: usize) {
        let address = (stack.top().get() - bytes_below_top) as *mut u8;
        // SAFETY: the callers stay above the guard of a stack that they own.
        unsafe { address.write_volatile(1) };
    }

    /// Whether the page of this address has memory, by mincore(2).
    fn has_memory(address: usize) -> bool {
        let page = rustix::param::page_size();
        let mut state = 0u8;
        let start = (address & !(page - 1)) as *mut libc::c_void;
        // SAFETY: mincore writes one byte for one page.
        let result = unsafe { libc::mincore(start, 1, &mut state) };
        result == 0 && state & 1 == 1
    }

    #[test]
    fn a_stack_is_usable_from_top_to_guard_and_given_back() {
        let stack = Stack::new(STACK_BYTES_MIN).unwrap();
        assert_eq!(stack.top().get() % 16, 0);
        for bytes_below_top in [1, STACK_BYTES_MIN / 2, STACK_BYTES_MIN] {
            touch(&stack, bytes_below_top);
            assert!(has_memory(stack.top().get() - bytes_below_top));
        }
        assert_eq!(
            stack.top().get() - stack.bottom().get(),
            STACK_BYTES_MIN + rustix::param::page_size()
        );
    }

    #[test]
    fn what_is_put_back_is_taken_again_up_to_the_limit() {
        let counters = Counters::default();
        let mut pool = StackPool::new(STACK_BYTES_MIN, 2);
        let stacks: Vec<_> = (0..3).map(|_| pool.take(&counters).unwrap()).collect();
        for stack in stacks {
            pool.put(stack);
        }
        assert_eq!(pool.free.len(), 2);
        for _ in 0..3 {
            std::mem::forget(pool.take(&counters).unwrap());
        }
        let counts = counters.read();
        assert_eq!((counts.stacks_made, counts.stacks_reused), (4, 2));
    }

    #[test]
    fn stacks_that_lie_idle_have_no_memory() {
        let counters = Counters::default();
        let mut pool = StackPool::new(STACK_BYTES_MIN, WARM + 1);
        let stacks: Vec<_> = (0..=WARM).map(|_| pool.take(&counters).unwrap()).collect();
        for stack in stacks {
            touch(&stack, 1);
            pool.put(stack);
        }
        let memory = |at: usize| has_memory(pool.free[at].top().get() - 1);
        assert!((0..WARM).all(memory));
        assert!(!memory(WARM));
    }

    #[test]
    fn sizes_that_make_no_stack_are_refused_with_one_that_does() {
        let check = |stack_bytes| {
            let fibers = FiberOptions { stack_bytes, ..FiberOptions::default() };
            check_stack_bytes(&Options { fibers, ..Options::default() })
        };
        assert_eq!(check(STACK_BYTES_MIN), Ok(()));
        assert_eq!(check(FiberOptions::default().stack_bytes), Ok(()));
        for stack_bytes in [0, STACK_BYTES_MIN - 4096, usize::MAX] {
            assert!(check(stack_bytes).unwrap_err().contains("16 KiB"));
        }
        assert!(check(65_537).unwrap_err().contains("use 69632"));
    }
}
