//! How busy both sides are while the monitor still watches: for whoever shows a run that is under way.

use std::collections::VecDeque;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use ablaze_sys::clock;

use crate::kernel::{self, Reading};
use crate::watch::Word;

/// The time that is looked at, ns: several looks of the monitor.
const LATELY_NS: u64 = 1_000_000_000;
/// How long the monitor is waited for: it may be in the middle of a look.
const TIMEOUT: Duration = Duration::from_millis(50);

/// Both sides in the last second.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Present {
    /// The threads that send and receive.
    pub client: Option<Side>,
    /// The processes that serve, on this host.
    pub server: Option<Side>,
    /// Processors of the machine that are online, where that is known.
    pub processors: Option<u32>,
}

/// One side, in shares of a core.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Name of its process; of several, that of the first.
    pub name: String,
    /// Its busiest thread, with the interrupts that its packets caused.
    pub busiest: f64,
    /// All its threads together, in cores.
    pub cores: f64,
    /// Threads that did at least a hundredth of the busiest one's work.
    pub threads: usize,
}

/// Asks a monitor while it watches. The run's own threads have nothing to do with it.
#[derive(Debug)]
pub struct Asking {
    words: Sender<Word>,
    /// Those of the last second, and the last one before it; with their times, ns.
    readings: VecDeque<(u64, Reading)>,
}

impl Asking {
    pub(crate) fn new(words: Sender<Word>) -> Self {
        Self { words, readings: [(clock::monotonic_ns(), Reading::now())].into() }
    }

    /// The last second; `None` when the monitor does not answer in time or has ended.
    pub fn look(&mut self) -> Option<Present> {
        let (reply, present) = channel();
        let now_ns = clock::monotonic_ns();
        let from_ns = now_ns.saturating_sub(LATELY_NS);
        self.words.send(Word::Present { from_ns, reply }).ok()?;
        let mut present: Present = present.recv_timeout(TIMEOUT).ok()?;
        let now = Reading::now();
        forget_before(&mut self.readings, from_ns);
        // Whoever asks more often than once a second is told of the second as well.
        let (_, before) = self.readings.front()?;
        let kernel = kernel::between(before, &now);
        self.readings.push_back((now_ns, now));
        // Kernels may account for interrupts apart from the threads that they strike.
        let rest = kernel.processors.map_or(1.0, |times| times.of_threads());
        for side in [&mut present.client, &mut present.server].into_iter().flatten() {
            side.busiest = (side.busiest / rest).min(1.0);
        }
        Some(present)
    }
}

/// Leaves the last of what is at least as old as this in front.
fn forget_before<T>(readings: &mut VecDeque<(u64, T)>, from_ns: u64) {
    while readings.get(1).is_some_and(|(at_ns, _)| *at_ns <= from_ns) {
        readings.pop_front();
    }
}

impl Side {
    /// Several processes as one.
    pub(crate) fn together(sides: impl Iterator<Item = Side>) -> Option<Side> {
        sides.reduce(|all, one| Side {
            name: all.name,
            busiest: all.busiest.max(one.busiest),
            cores: all.cores + one.cores,
            threads: all.threads + one.threads,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_is_looked_at_however_often_it_is_asked() {
        let mut readings: VecDeque<(u64, ())> = [(0, ())].into();
        for now_ns in (1..=20).map(|at| at * LATELY_NS / 5) {
            let from_ns = now_ns.saturating_sub(LATELY_NS);
            forget_before(&mut readings, from_ns);
            let (at_ns, ()) = readings[0];
            assert!(at_ns <= from_ns && from_ns - at_ns < LATELY_NS / 5, "{now_ns}: {at_ns}");
            readings.push_back((now_ns, ()));
        }
    }
}
