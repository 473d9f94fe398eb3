//! The moments that the workers of a run share: the start of the clock, when the last of them has
//! connected, and the rest behind the load, when the last of them has none left. Mutexes are
//! permitted here: nothing of it happens while requests are sent.

use std::sync::{Condvar, Mutex, PoisonError};

use ablaze_sys::{RunDelay, ThreadUsage};

use crate::control::Control;
use crate::worker::Gate;

/// The moments of one run.
pub(crate) struct Moments {
    start: Latch,
    /// Only come to where users prepare.
    prepared: Latch,
    /// Only come to where the start is told from elsewhere.
    ready: Latch,
    rest: Latch,
    /// The look at rest has been taken.
    rested: Latch,
}

impl Moments {
    pub(crate) fn new(workers: u32) -> Self {
        Self {
            start: Latch::of(workers),
            prepared: Latch::of(workers),
            ready: Latch::of(workers),
            rest: Latch::of(workers),
            rested: Latch::of(1),
        }
    }

    /// One worker fewer to wait for, at all of them.
    pub(crate) fn leave(&self) {
        self.start.leave();
        self.prepared.leave();
        self.ready.leave();
        self.leave_rest();
    }

    fn leave_rest(&self) {
        if self.rest.leave() {
            self.rested.leave();
        }
    }

    /// Comes to rest: the last to come takes the look, the others wait for it.
    fn rest(&self, control: &Control) {
        if self.rest.leave() {
            control.at_rest();
            self.rested.leave();
        }
        self.rested.wait();
    }
}

/// A moment that has come when everyone who was expected is there or has left.
struct Latch {
    missing: Mutex<Missing>,
    complete: Condvar,
}

struct Missing {
    workers: u32,
    at_ns: u64,
}

impl Latch {
    fn of(workers: u32) -> Self {
        Self { missing: Mutex::new(Missing { workers, at_ns: 0 }), complete: Condvar::new() }
    }

    /// One fewer to wait for; whether it was the last.
    fn leave(&self) -> bool {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.workers = missing.workers.saturating_sub(1);
        self.complete.notify_all();
        missing.workers == 0
    }

    /// Comes and waits for the others. The time for all is that of the last to come, each by its
    /// clock.
    fn come(&self, clock: &mut dyn FnMut() -> u64) -> u64 {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.at_ns = missing.at_ns.max(clock());
        missing.workers = missing.workers.saturating_sub(1);
        drop(missing);
        self.complete.notify_all();
        self.wait()
    }

    /// Waits until nobody is missing; the time for all.
    fn wait(&self) -> u64 {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        self.complete
            .wait_while(missing, |missing| missing.workers > 0)
            .unwrap_or_else(PoisonError::into_inner)
            .at_ns
    }
}

/// A worker thread's gate: waits for the others, reads its own CPU time.
pub(crate) struct ThreadGate<'a> {
    moments: &'a Moments,
    control: &'a Control,
    connected: bool,
    prepared: bool,
    ready: bool,
    rested: bool,
    before: ThreadUsage,
    after: ThreadUsage,
    run_delay: Option<RunDelay>,
    /// How long it had waited for a CPU when its window opened, and when it closed, ns.
    waited_ns: (u64, u64),
}

impl<'a> ThreadGate<'a> {
    /// The gate of the calling thread.
    pub(crate) fn new(moments: &'a Moments, control: &'a Control) -> Self {
        let now = usage();
        Self {
            moments,
            control,
            connected: false,
            prepared: false,
            ready: false,
            rested: false,
            before: now,
            after: now,
            run_delay: RunDelay::of_this_thread(),
            waited_ns: (0, 0),
        }
    }

    /// Of the time that the thread watched actively for events, by the clock, what it had a CPU for, of `used_ns` in all.
    pub(crate) fn on_cpu(&self, watched_ns: u64, used_ns: u64) -> u64 {
        on_cpu(watched_ns, used_ns, self.waited_ns.1.saturating_sub(self.waited_ns.0))
    }

    fn run_delay_ns(&self) -> u64 {
        self.run_delay.as_ref().and_then(RunDelay::ns).unwrap_or(0)
    }

    /// What the thread used between the opening and the closing of its window.
    pub(crate) fn used(&self) -> ThreadUsage {
        let (before, after) = (self.before, self.after);
        ThreadUsage {
            user_ns: after.user_ns.saturating_sub(before.user_ns),
            system_ns: after.system_ns.saturating_sub(before.system_ns),
            voluntary_switches: after.voluntary_switches.saturating_sub(before.voluntary_switches),
            involuntary_switches: after
                .involuntary_switches
                .saturating_sub(before.involuntary_switches),
        }
    }
}

impl Gate for ThreadGate<'_> {
    fn all_connected(&mut self, clock: &mut dyn FnMut() -> u64) -> u64 {
        // A worker that panics while it reads the clock has not come yet: its gate leaves for it when dropped.
        let start_ns = self.moments.start.come(clock);
        self.connected = true;
        start_ns
    }

    fn all_prepared(&mut self, clock: &mut dyn FnMut() -> u64) -> u64 {
        let start_ns = self.moments.prepared.come(clock);
        self.prepared = true;
        start_ns
    }

    fn ready(&mut self) {
        self.ready = true;
        if self.moments.ready.leave() {
            self.control.is_ready();
        }
    }

    fn window_opens(&mut self) {
        self.waited_ns.0 = self.run_delay_ns();
        self.before = usage();
    }

    fn window_closes(&mut self) {
        self.after = usage();
        self.waited_ns.1 = self.run_delay_ns();
    }

    fn load_over(&mut self) {
        if self.control.waits_at_rest() {
            self.rested = true;
            self.moments.rest(self.control);
        }
    }

    fn involuntary_switches(&self) -> u64 {
        ablaze_sys::usage::involuntary_switches().unwrap_or(0)
    }
}

impl Drop for ThreadGate<'_> {
    fn drop(&mut self) {
        if !self.connected {
            self.moments.start.leave();
        }
        if !self.prepared {
            self.moments.prepared.leave();
        }
        if !self.ready {
            self.moments.ready.leave();
        }
        if !self.rested {
            self.moments.leave_rest();
        }
    }
}

/// Others may have had the CPU while a thread watched: of all the time in which it was ready it had one for a share, and so
/// for that share of this.
fn on_cpu(watched_ns: u64, used_ns: u64, waited_ns: u64) -> u64 {
    let ready_ns = (used_ns + waited_ns).max(1);
    (u128::from(watched_ns) * u128::from(used_ns) / u128::from(ready_ns)) as u64
}

fn usage() -> ThreadUsage {
    ablaze_sys::thread_usage().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn control(looks: &Arc<AtomicU32>) -> Control {
        let control = Control::new();
        let looks = Arc::clone(looks);
        control.when_at_rest(move || {
            looks.fetch_add(1, Ordering::SeqCst);
        });
        control
    }

    /// A thread that watches all the time that it does not work has half of the CPU: the other half of its watching took
    /// none, and is not to be taken from what it used.
    #[test]
    fn watching_without_a_cpu_is_not_taken_from_the_work() {
        const S: u64 = 1_000_000_000;
        assert_eq!(on_cpu(S / 2, S, 0), S / 2, "nobody else was there");
        // 1 s on a CPU and 1 s without one, 1.8 s of both watched: 0.9 s of the CPU time.
        assert_eq!(on_cpu(S * 9 / 5, S, S), S * 9 / 10);
        assert_eq!(on_cpu(0, S, S), 0);
        assert_eq!(on_cpu(S, 0, 0), 0, "the kernel showed nothing");
    }

    #[test]
    fn the_look_is_taken_once_and_all_wait_for_it() {
        let looks = Arc::new(AtomicU32::new(0));
        let (control, moments) = (control(&looks), Moments::new(3));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut gate = ThreadGate::new(&moments, &control);
                    gate.all_connected(&mut || 7);
                    gate.load_over();
                    assert_eq!(looks.load(Ordering::SeqCst), 1);
                });
            }
        });
    }

    #[test]
    fn nobody_waits_for_ever_behind_a_look_that_panics() {
        let (control, moments) = (Control::new(), Moments::new(2));
        control.when_at_rest(|| panic!("while looking"));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| ThreadGate::new(&moments, &control).load_over());
            }
        });
    }

    #[test]
    fn nobody_waits_at_the_start_for_a_clock_that_panics() {
        let (control, moments) = (Control::new(), Moments::new(2));
        std::thread::scope(|scope| {
            let panics = scope.spawn(|| {
                ThreadGate::new(&moments, &control).all_connected(&mut || panic!("no time"))
            });
            assert!(panics.join().is_err());
            assert_eq!(ThreadGate::new(&moments, &control).all_connected(&mut || 7), 7);
        });
    }

    #[test]
    fn nobody_waits_for_a_worker_that_failed() {
        let looks = Arc::new(AtomicU32::new(0));
        let (control, moments) = (control(&looks), Moments::new(3));
        moments.leave();
        std::thread::scope(|scope| {
            scope.spawn(|| drop(ThreadGate::new(&moments, &control)));
            scope.spawn(|| ThreadGate::new(&moments, &control).load_over());
        });
        assert!(looks.load(Ordering::SeqCst) <= 1);
    }

    #[test]
    fn a_run_that_is_stopped_takes_no_look() {
        let looks = Arc::new(AtomicU32::new(0));
        let (control, moments) = (control(&looks), Moments::new(2));
        control.stop();
        ThreadGate::new(&moments, &control).load_over();
        ThreadGate::new(&moments, &control).load_over();
        assert_eq!(looks.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn the_clock_starts_with_the_last_to_come() {
        let moments = Moments::new(2);
        std::thread::scope(|scope| {
            for at in [5, 9] {
                let moments = &moments;
                scope.spawn(move || assert_eq!(moments.start.come(&mut || at), 9));
            }
        });
    }
}
