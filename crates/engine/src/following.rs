//! Puts together what the workers hand over while they run: pieces of the same time become one, and are passed on in
//! order of time, once all workers have got that far.

use std::collections::BTreeMap;

use ablaze_model::Plan;
use ablaze_model::progress::Interval;
use ablaze_model::record::Slices;

use crate::control::Control;
use crate::recorder::{self, Read, Reader, Teller};

/// A worker that is so many slices behind the first is not waited for: what it hands over later counts in a later piece.
const SLICES_WAITED: u64 = 10;

/// With what workers hand over what they did, if somebody follows the run, and who reads it.
pub(crate) fn tellers(
    plan: &Plan,
    control: &Control,
    workers: u32,
) -> (std::vec::IntoIter<Teller>, Vec<Reader>) {
    let groups =
        Some(plan.requests.groups.names.len()).filter(|groups| *groups <= Interval::GROUPS_MAX);
    let followed = if control.is_followed() { workers } else { 0 };
    let lines = (0..followed).map(|_| recorder::line(groups.unwrap_or(0)));
    let (tellers, readers): (Vec<_>, Vec<_>) = lines.unzip();
    (tellers.into_iter(), readers)
}

/// The intervals of all workers of a run.
#[derive(Debug, Default)]
pub(crate) struct Following {
    workers: Vec<Followed>,
    /// What has come of slices that are not passed on yet, by the number of the slice.
    open: BTreeMap<u64, Interval>,
    /// Slices before this one have been passed on.
    next: u64,
}

#[derive(Debug)]
struct Followed {
    reader: Reader,
    /// The slice that its last interval ends with; all have come where it has ended.
    reached: u64,
}

impl Following {
    /// Of these workers.
    pub(crate) fn new(readers: Vec<Reader>) -> Self {
        let workers = readers.into_iter().map(|reader| Followed { reader, reached: 0 });
        Self { workers: workers.collect(), ..Self::default() }
    }

    /// Passes on what is complete; with `all`, whatever has come.
    pub(crate) fn read(&mut self, all: bool, mut pass: impl FnMut(Interval)) {
        let Self { workers, open, next } = self;
        for worker in workers.iter_mut() {
            let reached = &mut worker.reached;
            let read = worker.reader.read(|interval| {
                *reached = interval.to_ns.div_ceil(Slices::SLICE_NS);
                open.entry((*reached).max(*next)).or_default().add(interval);
            });
            if matches!(read, Read::Ended) {
                *reached = u64::MAX;
            }
        }
        let first = open.keys().next_back().copied().unwrap_or(0);
        let last = workers.iter().map(|worker| worker.reached).min().unwrap_or(u64::MAX);
        let until = if all { u64::MAX } else { last.max(first.saturating_sub(SLICES_WAITED)) };
        while let Some(entry) = open.first_entry().filter(|entry| *entry.key() <= until) {
            *next = entry.key() + 1;
            pass(entry.remove());
        }
    }
}

#[cfg(test)]
mod tests {
    use ablaze_model::record::Record;
    use ablaze_stats::{Latency, touched};

    use super::*;
    use crate::recorder::{Teller, line};

    /// A worker that has answered so many requests until the end of this slice.
    fn slice(teller: &mut Teller, number: u64, responses: u64) {
        let mut latency = Latency::new(touched::DIGITS);
        latency.record(1_000 * number);
        let record = Record { responses, ..Record::new() };
        teller.slice_ended(number * Slices::SLICE_NS, &latency, &record, &[0; 1000], None);
    }

    fn passed(following: &mut Following, all: bool) -> Vec<(u64, u64)> {
        let mut passed = Vec::new();
        following.read(all, |interval| {
            passed.push((interval.to_ns / Slices::SLICE_NS, interval.responses))
        });
        passed
    }

    #[test]
    fn a_slice_is_passed_on_when_all_workers_have_ended_it() {
        let ((mut one, first), (mut two, second)) = (line(0), line(0));
        let mut following = Following::new(vec![first, second]);
        slice(&mut one, 1, 10);
        slice(&mut one, 2, 15);
        assert_eq!(passed(&mut following, false), []);
        slice(&mut two, 1, 100);
        assert_eq!(passed(&mut following, false), [(1, 110)]);
        // A worker that has ended is not waited for.
        drop(two);
        assert_eq!(passed(&mut following, false), [(2, 5)]);
    }

    #[test]
    fn a_late_worker_holds_nobody_up_for_long_and_loses_nothing() {
        let ((mut quick, first), (mut late, second)) = (line(0), line(0));
        let mut following = Following::new(vec![first, second]);
        let mut all = Vec::new();
        for number in 1..=SLICES_WAITED + 2 {
            slice(&mut quick, number, number);
            all.extend(passed(&mut following, false));
        }
        assert_eq!(all, [(1, 1), (2, 1)]);
        slice(&mut late, 1, 7);
        all.extend(passed(&mut following, true));
        let sum: u64 = all.iter().map(|(_, responses)| responses).sum();
        assert_eq!(sum, SLICES_WAITED + 2 + 7);
        assert!(all.is_sorted_by_key(|(slice, _)| *slice), "{all:?}");
    }

    #[test]
    fn a_reader_that_looks_seldom_gets_several_slices_as_one() {
        let (mut teller, reader) = line(0);
        let mut following = Following::new(vec![reader]);
        for number in 1..=100 {
            slice(&mut teller, number, number * 3);
        }
        let (mut sum, mut times) = (0, 0);
        following.read(false, |interval| {
            sum += interval.responses;
            times += touched::count(&interval.times);
        });
        let record = Record { responses: 300, ..Record::new() };
        // The last is handed over even if nobody has read for long.
        teller.over(100 * Slices::SLICE_NS, &record, &[0; 1000], None);
        following.read(true, |interval| {
            sum += interval.responses;
            times += touched::count(&interval.times);
        });
        assert_eq!((sum, times), (300, 100));
    }
}
