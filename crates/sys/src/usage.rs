//! What this thread and this process have cost so far.

/// CPU time of one thread since it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadUsage {
    /// In user mode, ns (the kernel counts microseconds).
    pub user_ns: u64,
    /// In the kernel, ns (the kernel counts microseconds).
    pub system_ns: u64,
    /// Times it gave the CPU up to wait.
    pub voluntary_switches: u64,
    /// Times the kernel took the CPU away.
    pub involuntary_switches: u64,
}

/// The CPU time of the calling thread until now; `None` where the kernel does not count by thread.
pub fn thread_usage() -> Option<ThreadUsage> {
    // Linux brings a thread's own time up to date at ticks and switches, and when its clock is read (task_sched_runtime in
    // kernel/sched/core.c); getrusage alone takes what was there, up to 4 ms ago.
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)?;
    let usage = resource_usage(libc::RUSAGE_THREAD)?;
    Some(ThreadUsage {
        user_ns: nanoseconds(usage.ru_utime),
        system_ns: nanoseconds(usage.ru_stime),
        voluntary_switches: u64::try_from(usage.ru_nvcsw).ok()?,
        involuntary_switches: u64::try_from(usage.ru_nivcsw).ok()?,
    })
}

/// Times the kernel took the CPU away from the calling thread.
pub fn involuntary_switches() -> Option<u64> {
    u64::try_from(resource_usage(libc::RUSAGE_THREAD)?.ru_nivcsw).ok()
}

/// How long one thread has been ready to run and had no CPU.
#[derive(Debug)]
pub struct RunDelay(std::fs::File);

impl RunDelay {
    /// That of the calling thread; `None` where the kernel does not count it.
    pub fn of_this_thread() -> Option<Self> {
        std::fs::File::open("/proc/thread-self/schedstat").ok().map(Self)
    }

    /// So far, ns: the second number of schedstat (proc(5)).
    pub fn ns(&self) -> Option<u64> {
        let mut text = [0; 64];
        let read = std::os::unix::fs::FileExt::read_at(&self.0, &mut text, 0).ok()?;
        std::str::from_utf8(&text[..read]).ok()?.split_whitespace().nth(1)?.parse().ok()
    }
}

/// The most memory this process has had resident so far, bytes.
pub fn peak_memory_bytes() -> Option<u64> {
    let usage = resource_usage(libc::RUSAGE_SELF)?;
    // getrusage(2): ru_maxrss is in kilobytes (of 1024) on Linux.
    Some(u64::try_from(usage.ru_maxrss).ok()? * 1024)
}

/// CPU time of all children of this process that have ended and were waited for, and of theirs, ns.
pub fn ended_children_cpu_ns() -> Option<u64> {
    let usage = resource_usage(libc::RUSAGE_CHILDREN)?;
    Some(nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime))
}

/// The clock that counts the CPU time of the calling thread, for other threads of this process to
/// read with [`clock_ns`]; `None` where there is none.
pub fn thread_clock() -> Option<libc::clockid_t> {
    let mut clock = 0;
    // SAFETY: the calling thread is alive, and `clock` is writable for the duration of the call.
    let response = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &mut clock) };
    (response == 0).then_some(clock)
}

/// What a clock shows, ns; `None` once its thread has ended.
pub fn clock_ns(clock: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid, writable timespec; any clock id may be asked for.
    let response = unsafe { libc::clock_gettime(clock, &mut time) };
    (response == 0).then_some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// The number of the calling thread, as /proc knows it.
pub fn thread_number() -> i32 {
    // Not libc's function, which glibc has since 2.30 only: this program runs on older ones.
    rustix::thread::gettid().as_raw_pid()
}

/// Times a thread of this process has given up its CPU to wait; `None` once it has ended.
pub fn voluntary_switches(thread: i32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/self/task/{thread}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

fn resource_usage(who: libc::c_int) -> Option<libc::rusage> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` is a valid, writable rusage for the duration of the call.
    let response = unsafe { libc::getrusage(who, usage.as_mut_ptr()) };
    // SAFETY: all-zero bytes are a valid rusage (integers only), and the kernel wrote over them.
    (response == 0).then(|| unsafe { usage.assume_init() })
}

fn nanoseconds(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_costs_this_thread_cpu_time_and_no_other() {
        let cost_of_work = std::thread::spawn(|| {
            let before = thread_usage().unwrap();
            let mut sum = 0u64;
            while thread_usage().unwrap().user_ns < before.user_ns + 5_000_000 {
                sum = (0..100_000u64).fold(sum, |sum, x| std::hint::black_box(sum ^ x));
            }
            thread_usage().unwrap().user_ns - before.user_ns
        });
        assert!(cost_of_work.join().unwrap() >= 5_000_000);
        // This thread only waited meanwhile.
        let here = thread_usage().unwrap();
        assert!(here.user_ns + here.system_ns < 1_000_000_000);
    }

    #[test]
    fn work_shorter_than_a_tick_is_counted_when_it_is_done() {
        let clock = || clock_ns(libc::CLOCK_THREAD_CPUTIME_ID).unwrap();
        let spent = |usage: ThreadUsage| usage.user_ns + usage.system_ns;
        for _ in 0..20 {
            let (before, began_ns) = (spent(thread_usage().unwrap()), clock());
            let began = std::time::Instant::now();
            while began.elapsed().as_micros() < 500 {}
            let counted_ns = spent(thread_usage().unwrap()) - before;
            let truth_ns = clock() - began_ns;
            // The kernel counts whole microseconds, of both kinds.
            assert!(counted_ns.abs_diff(truth_ns) < 50_000, "{counted_ns} ns of {truth_ns}");
        }
    }

    #[test]
    fn every_sleep_of_a_thread_is_a_switch_of_its_own() {
        let thread = thread_number();
        let before = voluntary_switches(thread).unwrap();
        for _ in 0..10 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(voluntary_switches(thread).unwrap() >= before + 10);
        let ended = std::thread::spawn(thread_number).join().unwrap();
        assert!(ended != thread && voluntary_switches(ended).is_none());
    }

    #[test]
    fn peak_memory_is_more_than_a_page_and_less_than_everything() {
        let peak = peak_memory_bytes().unwrap();
        assert!(peak > 100_000 && peak < 1 << 40, "{peak}");
    }
}
