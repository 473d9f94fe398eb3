//! How busy both sides are while the monitor still watches: for whoever shows a run that is under way.

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
    before: Reading,
}

impl Asking {
    pub(crate) fn new(words: Sender<Word>) -> Self {
        Self { words, before: Reading::now() }
    }

    /// The last second; `None` when the monitor does not answer in time or has ended.
    pub fn look(&mut self) -> Option<Present> {
        let (reply, present) = channel();
        let from_ns = clock::monotonic_ns().saturating_sub(LATELY_NS);
        self.words.send(Word::Present { from_ns, reply }).ok()?;
        let mut present: Present = present.recv_timeout(TIMEOUT).ok()?;
        let now = Reading::now();
        let kernel = kernel::between(&self.before, &now);
        self.before = now;
        // Kernels may account for interrupts apart from the threads that they strike.
        let rest = kernel.processors.map_or(1.0, |times| times.of_threads());
        for side in [&mut present.client, &mut present.server].into_iter().flatten() {
            side.busiest = (side.busiest / rest).min(1.0);
        }
        Some(present)
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
