//! Rows of all workers as one stream of pieces, in order of time, for whoever watches a run: a piece is passed on when
//! all workers that are there have got that far.

use std::collections::BTreeMap;

use ablaze_model::progress::Interval;
use ablaze_model::record::Slices;

/// A worker that is so many slices behind the first is not waited for: what it says later counts in a later piece.
const SLICES_WAITED: u64 = 20;

/// The rows of a fleet.
#[derive(Debug)]
pub struct Gathered {
    /// What has come that is not passed on yet, by the slice that it ends with.
    open: BTreeMap<u64, Interval>,
    /// Slices before this one have been passed on.
    next: u64,
    /// The last slice of each worker; `None` when it is not waited for any more.
    reached: Vec<Option<u64>>,
    /// The last slice in which all workers ran.
    all_until: u64,
    together: Interval,
}

impl Gathered {
    /// Of so many workers.
    pub fn new(workers: usize) -> Self {
        Self {
            open: BTreeMap::new(),
            next: 0,
            reached: vec![Some(0); workers],
            all_until: u64::MAX,
            together: Interval::default(),
        }
    }

    /// A row of a worker has come.
    pub fn hear(&mut self, worker: usize, interval: &Interval) {
        let slice = interval.to_ns.div_ceil(Slices::SLICE_NS);
        if let Some(Some(reached)) = self.reached.get_mut(worker) {
            *reached = (*reached).max(slice);
        }
        self.open.entry(slice.max(self.next)).or_default().add(interval);
    }

    /// A worker says no more.
    pub fn leave(&mut self, worker: usize) {
        if let Some(reached) = self.reached.get_mut(worker).and_then(Option::take) {
            self.all_until = self.all_until.min(reached);
        }
    }

    /// Everything of the time in which all workers ran.
    pub fn together(&self) -> &Interval {
        &self.together
    }

    /// Passes on what is complete; with `all`, whatever has come.
    pub fn pass(&mut self, all: bool, mut pass: impl FnMut(Interval)) {
        let first = self.open.keys().next_back().copied().unwrap_or(0);
        let last = self.reached.iter().flatten().min().copied().unwrap_or(u64::MAX);
        let until = if all { u64::MAX } else { last.max(first.saturating_sub(SLICES_WAITED)) };
        while let Some(entry) = self.open.first_entry().filter(|entry| *entry.key() <= until) {
            self.next = entry.key() + 1;
            if *entry.key() <= self.all_until {
                self.together.add(entry.get());
            }
            pass(entry.remove());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(slice: u64, responses: u64) -> Interval {
        let from_ns = (slice - 1) * Slices::SLICE_NS;
        Interval { from_ns, to_ns: slice * Slices::SLICE_NS, responses, ..Interval::default() }
    }

    fn passed(gathered: &mut Gathered, all: bool) -> Vec<(u64, u64)> {
        let mut passed = Vec::new();
        gathered.pass(all, |piece| passed.push((piece.to_ns / Slices::SLICE_NS, piece.responses)));
        passed
    }

    #[test]
    fn a_piece_is_the_sum_of_all_and_waits_for_those_that_are_there() {
        let mut gathered = Gathered::new(3);
        gathered.hear(0, &row(1, 10));
        gathered.hear(1, &row(1, 20));
        assert_eq!(passed(&mut gathered, false), []);
        gathered.hear(2, &row(1, 30));
        assert_eq!(passed(&mut gathered, false), [(1, 60)]);
        gathered.hear(0, &row(2, 1));
        gathered.hear(1, &row(2, 2));
        gathered.leave(2);
        assert_eq!(passed(&mut gathered, false), [(2, 3)]);
        // The third was there in the first slice alone.
        let together = gathered.together();
        assert_eq!((together.responses, together.to_ns), (60, Slices::SLICE_NS));
    }

    #[test]
    fn who_is_far_behind_holds_up_nobody_and_nothing_of_it_is_lost() {
        let mut gathered = Gathered::new(2);
        (1..=SLICES_WAITED + 1).for_each(|slice| gathered.hear(0, &row(slice, 1)));
        assert_eq!(passed(&mut gathered, false), [(1, 1)]);
        gathered.hear(1, &row(1, 100));
        let all: u64 = passed(&mut gathered, true).iter().map(|(_, responses)| responses).sum();
        assert_eq!(all, SLICES_WAITED + 100);
    }
}
