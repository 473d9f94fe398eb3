//! Which request is next: numbers handed out to the workers, in blocks.
//!
//! The [`Numbers`] of a run are its one shared word; a worker touches it once per block, so it
//! is off the hot path. Every number is handed out exactly once, which makes `-n` exact and
//! `{seq}` unique.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The numbers of a run's requests, shared by its workers.
#[derive(Debug)]
pub struct Numbers {
    next: AtomicU64,
    limit: u64,
    block: u64,
}

impl Numbers {
    /// `limit` numbers from 0 (or no end of them), for this many workers.
    pub fn new(limit: Option<u64>, workers: u32) -> Self {
        // Small enough that no worker is left with much when the others are done, large enough
        // that the word is shared rarely.
        let block = match limit {
            Some(limit) => (limit / (u64::from(workers.max(1)) * 64)).clamp(1, 4096),
            None => 4096,
        };
        Self { next: AtomicU64::new(0), limit: limit.unwrap_or(u64::MAX), block }
    }

    /// The next block; empty when all are handed out.
    fn take_block(&self) -> std::ops::Range<u64> {
        // Only the number itself is shared, nothing it guards: relaxed suffices.
        let first = self.next.fetch_add(self.block, Ordering::Relaxed).min(self.limit);
        first..first.saturating_add(self.block).min(self.limit)
    }
}

/// A worker's own supply of numbers.
#[derive(Debug)]
pub struct Schedule {
    numbers: Arc<Numbers>,
    block: std::ops::Range<u64>,
}

impl Schedule {
    /// A supply from the shared numbers.
    pub fn new(numbers: Arc<Numbers>) -> Self {
        Self { numbers, block: 0..0 }
    }

    /// The number of the next request; `None` when the run has no more.
    #[inline]
    pub fn take(&mut self) -> Option<u64> {
        if self.block.is_empty() {
            self.block = self.numbers.take_block();
        }
        self.block.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_handed_out_once() {
        for (limit, workers) in [(1, 1), (7, 3), (100_001, 2), (4096, 64)] {
            let numbers = Arc::new(Numbers::new(Some(limit), workers));
            let mut schedules: Vec<_> =
                (0..workers).map(|_| Schedule::new(Arc::clone(&numbers))).collect();
            let mut seen = vec![false; limit as usize];
            let mut running = true;
            while running {
                running = false;
                for schedule in &mut schedules {
                    if let Some(number) = schedule.take() {
                        assert!(!std::mem::replace(&mut seen[number as usize], true));
                        running = true;
                    }
                }
            }
            assert!(seen.into_iter().all(|seen| seen));
        }
    }
}
