//! Which of the responses that failed a check are kept as samples: drawn with the run's seed, so that late ones have their
//! chance. What is kept is made only for those.

use ablaze_model::record::{Record, Sample, Samples};
use ablaze_random::Wyrand;

/// The samples of one worker.
#[derive(Debug)]
pub(crate) struct Sampling {
    samples: Samples,
    random: Wyrand,
    clock_starts_ns: u64,
}

/// Where a sample stands among the others: what a caller fills in with the rest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawn {
    pub key: u64,
    /// Since the clock started.
    pub at_ns: u64,
}

impl Sampling {
    /// Of a worker of a run with this seed.
    pub fn new(seed: u64, worker: u32) -> Self {
        Self {
            samples: Samples::default(),
            // Another stream than those that requests and journeys are made of.
            random: Wyrand::new(seed.rotate_left(32), u64::from(worker)),
            clock_starts_ns: 0,
        }
    }

    /// The measured window opens: what failed before does not count.
    pub fn open_window(&mut self, at_ns: u64) {
        self.samples = Samples::default();
        self.clock_starts_ns = at_ns;
    }

    /// A response that was complete at this time failed.
    #[cold]
    pub fn failed(&mut self, at_ns: u64, sample: impl FnOnce(Drawn) -> Sample) {
        let key = self.random.next_u64();
        if self.samples.wants(key) {
            let at_ns = at_ns.saturating_sub(self.clock_starts_ns);
            self.samples.keep(sample(Drawn { key, at_ns }));
        }
    }

    /// The run is over.
    pub fn report(&mut self, record: &mut Record) {
        if self.samples.failed > 0 {
            record.samples = Some(Box::new(std::mem::take(&mut self.samples)));
        }
    }
}
