//! An allocator that counts. A test program that wants it says
//! `#[global_allocator] static COUNTING: ablaze_testing::allocations::Counting = Counting;`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

thread_local! {
    static OF_THIS_THREAD: Cell<u64> = const { Cell::new(0) };
    static UNCOUNTED: Cell<bool> = const { Cell::new(false) };
}

static OF_ALL_THREADS: AtomicU64 = AtomicU64::new(0);
static LIVE_BYTES: AtomicI64 = AtomicI64::new(0);

/// The system's allocator, counted.
#[derive(Debug, Clone, Copy)]
pub struct Counting;

// SAFETY: every call is passed on unchanged to the system's allocator, which keeps the contract; counting in
// atomics and in constant-initialised thread-locals neither allocates nor unwinds. `realloc` and `alloc_zeroed`
// come down to these two by their default implementations.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE_BYTES.fetch_add(layout.size() as i64, Ordering::Relaxed);
        if !UNCOUNTED.try_with(Cell::get).unwrap_or(false) {
            let _ = OF_THIS_THREAD.try_with(|count| count.set(count.get() + 1));
            OF_ALL_THREADS.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: the caller's promise about `layout`, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE_BYTES.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller's promise about `pointer` and `layout`, passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Allocations that the calling thread has made so far: what other tests do beside it does not count.
pub fn of_this_thread() -> u64 {
    OF_THIS_THREAD.get()
}

/// Allocations that all threads have made so far: only for a program that runs one test.
pub fn of_all_threads() -> u64 {
    OF_ALL_THREADS.load(Ordering::Relaxed)
}

/// Bytes that are allocated and not given back, by all threads.
pub fn live_bytes() -> i64 {
    LIVE_BYTES.load(Ordering::Relaxed)
}

/// Calls this; what it allocates on this thread is not counted, but for [`live_bytes`].
pub fn uncounted<T>(act: impl FnOnce() -> T) -> T {
    let before = UNCOUNTED.replace(true);
    let result = act();
    UNCOUNTED.set(before);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static COUNTING: Counting = Counting;

    #[test]
    fn the_thread_that_allocates_is_the_one_that_is_counted() {
        let before = (of_this_thread(), of_all_threads());
        let one = Box::new([0u8; 64]);
        let counted = of_this_thread();
        assert_eq!(counted, before.0 + 1);
        let other = uncounted(|| Box::new([1u8; 64]));
        assert_eq!(of_this_thread(), counted);
        std::thread::scope(|scope| {
            let grown = scope.spawn(|| {
                let of_others = of_this_thread();
                let vector = vec![0u8; 1000];
                (of_this_thread() - of_others, vector.len())
            });
            assert_eq!(grown.join().unwrap(), (1, 1000));
        });
        assert!(of_all_threads() >= before.1 + 2);
        assert_ne!(one[0], other[0]);
    }
}
