//! Watches scripts that do not return. One that is in the same call for a second after the run should have ended, or was
//! asked to end, is ended by an error; one that even that does not end is not waited for.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ablaze_engine::{Control, Progress};
use ablaze_script::Interrupt;

use crate::carry_out::Watcher;
use crate::error::{NOTHING_MEASURED, note};

/// So many ticks (tenths of a second) a call may last beyond the end.
const TIMEOUT_TICKS: u32 = 10;
/// After so many the program ends without its report.
const GIVE_UP_TICKS: u32 = 60;

/// Watches, and hands on to the watcher that shows progress.
pub struct Watchdog<'a> {
    /// Shows progress.
    pub inner: &'a mut dyn Watcher,
    /// The handle on the run.
    pub control: Arc<Control>,
    /// When the run ends, ns from its start.
    pub duration_ns: u64,
    /// The workers' scripts.
    pub scripts: Vec<Watched>,
}

/// One worker's script.
pub struct Watched {
    /// See [`Thread::calls`](super::walk::Thread::calls).
    pub calls: Arc<AtomicU64>,
    /// Ends it.
    pub interrupt: Interrupt,
    /// The number of calls at the last tick.
    pub seen: u64,
    /// For how many ticks it was the same, in a call.
    pub ticks: u32,
}

impl Watcher for Watchdog<'_> {
    fn tick(&mut self, progress: &Progress) {
        if self.inner.listens() {
            self.inner.tick(progress);
        }
        if !self.control.stopped() && progress.elapsed_ns < self.duration_ns {
            return;
        }
        for script in &mut self.scripts {
            let calls = script.calls.load(Ordering::Relaxed);
            let is_stuck = calls % 2 == 1 && calls == script.seen;
            script.ticks = if is_stuck { script.ticks + 1 } else { 0 };
            script.seen = calls;
            if script.ticks >= TIMEOUT_TICKS {
                script.interrupt.now();
            }
            if script.ticks >= GIVE_UP_TICKS {
                note("script: it does not return and cannot be ended: there is no report");
                process::exit(i32::from(NOTHING_MEASURED));
            }
        }
    }

    fn finish(&mut self) {
        if self.inner.listens() {
            self.inner.finish();
        }
    }
}
