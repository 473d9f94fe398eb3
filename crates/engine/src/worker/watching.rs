//! Whether a turn watches actively for events before it sleeps.
//!
//! With a few exchanges in flight a response is often there before the thread would have gone to sleep
//! and been woken. How long a response takes after a sleep does not tell: the waking is in it, and a
//! processor that went to sleep wakes slowly. What tells is how the watching ended, so that `auto` goes by
//! that alone, and tries it now and then where it does not watch.

use super::Worker;
use crate::protocol::Protocol;
use ablaze_model::plan::{Plan, Spin};

/// The longest a turn watches.
const WATCH_NS_MAX: u64 = 100_000;
/// Between two attempts while watching does not pay: they cost at most 1 % of a core.
const ATTEMPT_EVERY_NS: u64 = 100 * WATCH_NS_MAX;
/// Exchanges in flight up to which `auto` watches.
const IN_FLIGHT_MAX: u32 = 4;
/// Involuntary switches per slice that do not yet mean somebody needs the CPU: the kernel's own
/// threads take it now and then, and the monitor's heartbeat ten times. Two threads that share a
/// CPU change every 3 to 4 ms, which is 25 or more.
const SWITCHES_TOLERATED: u64 = 14;

/// When a worker watches, and whether it has paid.
pub(super) struct WatchRule {
    spin: Spin,
    cpus_to_spare: bool,
    paused: bool,
    switches: Option<u64>,
    pays: Pays,
    next_attempt_ns: u64,
}

impl WatchRule {
    /// For one worker.
    pub fn new(plan: &Plan, cpus_to_spare: bool) -> Self {
        Self {
            spin: plan.workers.spin,
            cpus_to_spare,
            paused: false,
            switches: None,
            pays: Pays::default(),
            next_attempt_ns: 0,
        }
    }

    /// How long the turn that begins now watches before it sleeps, ns.
    pub fn for_turn<P: Protocol>(&mut self, worker: &Worker<P>, now: u64) -> u64 {
        match self.spin {
            Spin::Off => 0,
            Spin::For(spin_ns) => spin_ns,
            Spin::Auto => {
                let few = (1..=IN_FLIGHT_MAX).contains(&worker.in_flight);
                if few && self.cpus_to_spare && !self.paused {
                    self.auto_ns(worker.recorder.median_ns(), now)
                } else {
                    0
                }
            }
        }
    }

    fn auto_ns(&mut self, median_ns: u64, now: u64) -> u64 {
        if !self.pays.so_far() {
            if now < self.next_attempt_ns {
                return 0;
            }
            self.next_attempt_ns = now.saturating_add(ATTEMPT_EVERY_NS);
        }
        // Who takes twice as long as usual has lost the processor, perhaps to this thread.
        match median_ns {
            0 => WATCH_NS_MAX,
            median_ns => (2 * median_ns).min(WATCH_NS_MAX),
        }
    }

    /// How a turn that was to watch for so long ended: how long it did, and whether something came.
    pub fn watched(&mut self, spin_ns: u64, spun_ns: u64, came: bool) {
        if spin_ns > 0 && spun_ns >= spin_ns {
            self.pays.in_vain();
        } else if spin_ns > 0 && came {
            self.pays.in_time();
        }
    }

    /// Once per slice: someone else needed the CPU, so give it up for the next slice.
    pub fn look_again(&mut self, switches: u64) {
        self.paused = self.switches.is_some_and(|before| switches > before + SWITCHES_TOLERATED);
        self.switches = Some(switches);
    }
}

/// Whether watching pays: responses that came in time against turns that watched in vain. It goes on
/// where at least two of three come in time.
#[derive(Debug)]
struct Pays(u8);

impl Pays {
    const MOST: u8 = 8;
    const ENOUGH: u8 = 4;

    fn so_far(&self) -> bool {
        self.0 >= Self::ENOUGH
    }

    fn in_time(&mut self) {
        // An attempt that succeeds is reason to watch again.
        self.0 = (self.0 + 1).clamp(Self::ENOUGH, Self::MOST);
    }

    fn in_vain(&mut self) {
        self.0 = self.0.saturating_sub(2);
    }
}

impl Default for Pays {
    /// It begins by watching.
    fn default() -> Self {
        Self(Self::MOST)
    }
}
