//! What a worker has done, for others to read while it runs: `/_/status`, the table when the
//! server stops, `--stats FILE`.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counters of one worker, alone on their cache lines. Only their worker writes them, so
        /// a plain load and store is an addition.
        #[derive(Debug, Default)]
        #[repr(align(128))]
        pub struct Counters {
            $($(#[$doc])* pub $name: Counter,)*
            clock: AtomicI32,
            cpu_at_end_ns: AtomicU64,
            thread: AtomicI32,
            sleeps_at_end: AtomicU64,
            parts: Mutex<Parts>,
        }

        /// What was counted up to one moment.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct Counts {
            $($(#[$doc])* pub $name: u64,)*
            /// Times the worker's thread slept: voluntary context switches. The kernel may wake a
            /// worker, find that another was faster, and let it sleep on within one wait.
            pub sleeps: u64,
            /// CPU time of the worker's threads, ns.
            pub cpu_ns: u64,
        }

        impl Counters {
            /// What was counted so far, by its parts too.
            pub fn read(&self) -> Counts {
                let own = Counts {
                    $($name: self.$name.read(),)*
                    sleeps: self.sleeps(),
                    cpu_ns: self.cpu_ns(),
                };
                own + self.parts().total()
            }

            /// Adds what another thread counted. Atomic, for workers with many threads.
            pub fn absorb(&self, counts: &Counts) {
                $(self.$name.0.fetch_add(counts.$name, Ordering::Relaxed);)*
                self.sleeps_at_end.fetch_add(counts.sleeps, Ordering::Relaxed);
                self.cpu_at_end_ns.fetch_add(counts.cpu_ns, Ordering::Relaxed);
            }
        }

        impl Counts {
            /// Every counter with its name, in the order of the documentation.
            pub fn named(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)*
                    ("sleeps", self.sleeps),
                    ("cpu_ns", self.cpu_ns),
                ]
            }
        }

        impl std::ops::Add for Counts {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                Self {
                    $($name: self.$name + other.$name,)*
                    sleeps: self.sleeps + other.sleeps,
                    cpu_ns: self.cpu_ns + other.cpu_ns,
                }
            }
        }

        impl std::ops::Sub for Counts {
            type Output = Self;

            fn sub(self, before: Self) -> Self {
                Self {
                    $($name: self.$name.saturating_sub(before.$name),)*
                    sleeps: self.sleeps.saturating_sub(before.sleeps),
                    cpu_ns: self.cpu_ns.saturating_sub(before.cpu_ns),
                }
            }
        }
    };
}

counters! {
    /// Connections accepted and served.
    connections,
    /// Requests answered, refused ones included.
    requests,
    /// Of them, those that met a fault.
    faults,
    /// TLS handshakes completed in full.
    tls_handshakes,
    /// TLS handshakes that resumed a session.
    tls_resumptions,
    /// TLS connections that failed: what came was no TLS, or the two could not agree.
    tls_failures,
    /// QUIC handshakes completed.
    quic_handshakes,
    /// Clients that were sent a Retry: they had to show first that they receive at their address.
    quic_retries,
    /// QUIC connections that ended before their handshake was complete.
    quic_failures,
    /// Calls that waited for events: epoll_wait, poll, io_uring_enter with a wait.
    waits,
    /// Events (or completions) those calls gave.
    events,
    /// Waits that gave something, and nothing of it was left to do: another worker was faster.
    empty_wakes,
    /// epoll_ctl ADD.
    epoll_adds,
    /// epoll_ctl MOD.
    epoll_mods,
    /// epoll_ctl DEL.
    epoll_dels,
    /// Calls of accept.
    accepts,
    /// Of them, those that found no connection (EAGAIN).
    accept_eagains,
    /// Calls that read from a connection.
    reads,
    /// Bytes read.
    read_bytes,
    /// Of the calls, those that found nothing (EAGAIN).
    read_eagains,
    /// Calls that wrote to a connection.
    writes,
    /// Bytes written.
    written_bytes,
    /// Of the calls, those that could not go on (EAGAIN).
    write_eagains,
    /// Datagrams that the calls that read brought; one call can bring many.
    datagrams_read,
    /// Of the datagrams, those that were dropped on purpose.
    datagrams_dropped,
    /// Datagrams that the calls that write took; one call can take many.
    datagrams_written,
    /// Events that said a connection can be written again after it could not.
    out_events,
    /// io_uring_enter without a wait.
    submits,
    /// Context switches into and out of fibers.
    switches,
    /// Stacks made for fibers.
    stacks_made,
    /// Stacks taken from the pool.
    stacks_reused,
    /// Times one worker woke another.
    wakes,
    /// Timers set.
    timers,
}

/// One counter.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// One more. For the worker only.
    #[inline]
    pub fn one(&self) {
        self.add(1);
    }

    /// Adds a number. For the worker only.
    #[inline]
    pub fn add(&self, more: u64) {
        self.0.store(self.0.load(Ordering::Relaxed) + more, Ordering::Relaxed);
    }

    fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    /// The calling thread is the worker: its CPU time can be read from now on.
    pub fn begin(&self) {
        self.thread.store(ablaze_sys::usage::thread_number(), Ordering::Release);
        if let Some(clock) = ablaze_sys::usage::thread_clock() {
            self.clock.store(clock, Ordering::Release);
        }
    }

    /// The worker ends: its CPU time is kept. On the thread that began, if one did.
    pub fn end(&self) {
        if self.thread.load(Ordering::Acquire) != 0 {
            // Not by way of /proc, which costs more than a connection does.
            let usage = ablaze_sys::usage::thread_usage().unwrap_or_default();
            self.sleeps_at_end.fetch_add(usage.voluntary_switches, Ordering::Relaxed);
            self.thread.store(0, Ordering::Release);
        }
        let own_ns = self.clock_ns();
        self.clock.store(0, Ordering::Release);
        self.cpu_at_end_ns.fetch_add(own_ns, Ordering::Relaxed);
    }

    /// Counters for a thread that works for this worker for a while. What they count is read
    /// together with these, while the thread lives and after it has ended.
    pub fn part(self: &Arc<Self>) -> Part {
        let counters = Arc::new(Self::default());
        let mut parts = self.parts();
        let place = parts.free.pop().unwrap_or_else(|| {
            parts.living.push(None);
            parts.living.len() - 1
        });
        parts.living[place] = Some(counters.clone());
        Part { whole: self.clone(), counters, place }
    }

    fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cpu_ns(&self) -> u64 {
        self.clock_ns() + self.cpu_at_end_ns.load(Ordering::Relaxed)
    }

    fn sleeps(&self) -> u64 {
        self.own_sleeps() + self.sleeps_at_end.load(Ordering::Relaxed)
    }

    fn own_sleeps(&self) -> u64 {
        match self.thread.load(Ordering::Acquire) {
            0 => 0,
            thread => ablaze_sys::usage::voluntary_switches(thread).unwrap_or(0),
        }
    }

    fn clock_ns(&self) -> u64 {
        match self.clock.load(Ordering::Acquire) {
            0 => 0,
            clock => ablaze_sys::usage::clock_ns(clock).unwrap_or(0),
        }
    }
}

/// What other threads counted for a worker.
#[derive(Debug, Default)]
struct Parts {
    living: Vec<Option<Arc<Counters>>>,
    free: Vec<usize>,
    /// What those counted that have ended.
    ended: Counts,
}

impl Parts {
    fn total(&self) -> Counts {
        let living = self.living.iter().flatten().map(|part| part.read());
        living.fold(self.ended, |sum, counts| sum + counts)
    }
}

/// Counters of a thread that works for a worker, until they are dropped.
#[derive(Debug)]
pub struct Part {
    whole: Arc<Counters>,
    counters: Arc<Counters>,
    place: usize,
}

impl Part {
    /// The calling thread counts here: its CPU time can be read from now on.
    pub fn begin(&self) {
        self.counters.begin();
    }

    /// The counters it adds to.
    pub fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }
}

impl Drop for Part {
    /// On the thread that counted here, or on another if none ever did.
    fn drop(&mut self) {
        self.counters.end();
        let counts = self.counters.read();
        let mut parts = self.whole.parts();
        // Under one lock, so that who reads finds them here or there, and once.
        parts.living[self.place] = None;
        parts.free.push(self.place);
        parts.ended = parts.ended + counts;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_with_their_whole_while_they_live_and_after() {
        let whole = Arc::new(Counters::default());
        let (counted, told) = std::sync::mpsc::channel();
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let (part, counted) = (whole.part(), counted.clone());
                std::thread::spawn(move || {
                    part.begin();
                    part.counters().requests.add(5);
                    while part.counters().read().cpu_ns < 1_000_000 {
                        std::hint::black_box((0..100_000u64).sum::<u64>());
                    }
                    counted.send(()).unwrap();
                })
            })
            .collect();
        whole.requests.one();
        for _ in &threads {
            told.recv().unwrap();
        }
        assert_eq!(whole.read().requests, 16);
        for thread in threads {
            thread.join().unwrap();
        }
        let counts = whole.read();
        assert_eq!(counts.requests, 16);
        assert!(counts.cpu_ns >= 3_000_000);
        // Places are used again, and who left is not counted twice.
        let again = whole.part();
        again.counters().requests.one();
        assert_eq!(whole.read().requests, 17);
        drop(again);
        assert_eq!((whole.read().requests, whole.parts().living.len()), (17, 3));
    }

    #[test]
    fn counts_add_up_and_have_names() {
        let counters = Counters::default();
        counters.requests.add(3);
        counters.requests.one();
        counters.absorb(&Counts { requests: 6, cpu_ns: 5, ..Counts::default() });
        let counts = counters.read();
        assert_eq!((counts.requests, counts.cpu_ns), (10, 5));
        assert_eq!((counts + counts).requests, 20);
        assert_eq!((counts - Counts { requests: 4, ..counts }).requests, 6);
        assert!(counts.named().contains(&("requests", 10)));
    }

    #[test]
    fn the_time_of_a_worker_is_its_own_and_outlives_it() {
        let counters = std::sync::Arc::new(Counters::default());
        let theirs = counters.clone();
        let work = move || {
            theirs.begin();
            while theirs.read().cpu_ns < 5_000_000 {
                std::hint::black_box((0..100_000u64).sum::<u64>());
            }
            theirs.end();
        };
        std::thread::spawn(work).join().unwrap();
        let cpu_ns = counters.read().cpu_ns;
        assert!(cpu_ns >= 5_000_000);
        assert_eq!(counters.read().cpu_ns, cpu_ns);
    }
}
