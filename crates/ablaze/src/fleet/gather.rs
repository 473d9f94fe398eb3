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
    workers: Vec<Worker>,
    /// The slices in which all workers ran are those behind this one,
    all_behind: u64,
    /// up to this.
    all_until: u64,
    together: Interval,
}

/// How far one of them is.
#[derive(Debug, Clone, Copy)]
struct Worker {
    is_there: bool,
    /// How many slices behind the common start its own clock started.
    late: u64,
    /// The last slice that it told of.
    reached: u64,
    /// The last of which it told to its end.
    whole: u64,
}

impl Gathered {
    /// Of so many workers.
    pub fn new(workers: usize) -> Self {
        let worker = Worker { is_there: true, late: 0, reached: 0, whole: 0 };
        Self {
            open: BTreeMap::new(),
            next: 0,
            workers: vec![worker; workers],
            all_behind: 0,
            all_until: u64::MAX,
            together: Interval::default(),
        }
    }

    /// The clock of a worker started so long behind the common start, by which its rows count. It runs for a whole slice of
    /// the fleet's time only behind the one in which that was, if it was more than the few milliseconds of a busy machine.
    pub fn start(&mut self, worker: usize, late_ns: u64) {
        let Some(worker) = self.workers.get_mut(worker) else { return };
        worker.late = (late_ns + Slices::SLICE_NS / 2) / Slices::SLICE_NS;
        (worker.reached, worker.whole) = (worker.late, worker.late);
        if worker.late > self.all_behind {
            self.all_behind = worker.late;
            // What was passed on as the time of all was not that.
            self.together = Interval::default();
        }
    }

    /// A row of a worker has come.
    pub fn hear(&mut self, worker: usize, interval: &Interval) {
        let mut interval = interval.clone();
        let slice = match self.workers.get_mut(worker) {
            Some(worker) => {
                interval.from_ns += worker.late * Slices::SLICE_NS;
                interval.to_ns += worker.late * Slices::SLICE_NS;
                let slice = interval.to_ns.div_ceil(Slices::SLICE_NS);
                worker.reached = worker.reached.max(slice);
                worker.whole = worker.whole.max(interval.to_ns / Slices::SLICE_NS);
                slice
            }
            None => interval.to_ns.div_ceil(Slices::SLICE_NS),
        };
        self.open.entry(slice.max(self.next)).or_default().add(&interval);
    }

    /// A worker says no more. One that never told of anything did not run.
    pub fn leave(&mut self, worker: usize) {
        let Some(worker) = self.workers.get_mut(worker) else { return };
        if std::mem::replace(&mut worker.is_there, false) && worker.reached > worker.late {
            self.all_until = self.all_until.min(worker.whole);
        }
    }

    /// Everything of the time in which all workers ran, in whole slices from the common start.
    pub fn together(&self) -> &Interval {
        &self.together
    }

    /// Passes on what is complete; with `all`, whatever has come.
    pub fn pass(&mut self, all: bool, mut pass: impl FnMut(Interval)) {
        let first = self.open.keys().next_back().copied().unwrap_or(0);
        let there = self.workers.iter().filter(|worker| worker.is_there);
        let last = there.map(|worker| worker.reached).min().unwrap_or(u64::MAX);
        let until = if all { u64::MAX } else { last.max(first.saturating_sub(SLICES_WAITED)) };
        while let Some(entry) = self.open.first_entry().filter(|entry| *entry.key() <= until) {
            self.next = entry.key() + 1;
            if (self.all_behind + 1..=self.all_until).contains(entry.key()) {
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
    fn the_time_of_all_begins_with_the_last_and_ends_with_the_first() {
        let mut gathered = Gathered::new(3);
        // One is lost before it begins, one starts 300 ms late, and the first ends in the middle of the seventh slice.
        gathered.leave(2);
        gathered.start(0, 4_000_000);
        (1..=4).for_each(|slice| gathered.hear(0, &row(slice, 1)));
        gathered.start(1, 290_000_000);
        (1..=7).for_each(|slice| gathered.hear(1, &row(slice, 10)));
        (5..=6).for_each(|slice| gathered.hear(0, &row(slice, 1)));
        let last = Interval { to_ns: 650_000_000, ..row(7, 1) };
        gathered.hear(0, &last);
        gathered.leave(0);
        gathered.leave(1);
        let all: u64 = passed(&mut gathered, true).iter().map(|(_, responses)| responses).sum();
        assert_eq!(all, 77, "nothing is lost");
        let together = gathered.together();
        let slices = [together.from_ns, together.to_ns].map(|ns| ns / Slices::SLICE_NS);
        assert_eq!((slices, together.responses), ([3, 6], 33));
    }

    #[test]
    fn one_that_starts_when_others_are_passed_on_begins_the_time_of_all_again() {
        let mut gathered = Gathered::new(2);
        gathered.start(0, 0);
        (1..=SLICES_WAITED + 5).for_each(|slice| gathered.hear(0, &row(slice, 1)));
        assert_eq!(passed(&mut gathered, false).len(), 5);
        gathered.start(1, SLICES_WAITED * Slices::SLICE_NS);
        (1..=5).for_each(|slice| gathered.hear(1, &row(slice, 10)));
        gathered.leave(0);
        gathered.leave(1);
        passed(&mut gathered, true);
        assert_eq!(gathered.together().responses, 55);
        assert_eq!(gathered.together().from_ns, SLICES_WAITED * Slices::SLICE_NS);
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
