//! A run over time while it goes on: slices of one length, joined in pairs when there are many.

use ablaze_model::progress::Interval;
use ablaze_model::record::{Slice, Slices};

/// When there are so many, each two become one: more than are drawn, few enough to be drawn each second.
const SLICES_MOST: usize = 960;

/// The slices of a run so far, in order of time.
#[derive(Debug, Clone)]
pub(super) struct OverTime {
    slice_ns: u64,
    whole: Vec<Interval>,
    /// What the next slice is made of so far.
    next: Interval,
}

impl Default for OverTime {
    fn default() -> Self {
        Self { slice_ns: Slices::SLICE_NS, whole: Vec::new(), next: Interval::default() }
    }
}

impl OverTime {
    /// A piece came; pieces come in order of time, and end where slices of the shortest length end.
    pub(super) fn hear(&mut self, piece: &Interval) {
        self.next.add(piece);
        let until = usize::try_from(self.next.to_ns / self.slice_ns).unwrap_or(usize::MAX);
        let ended = until.saturating_sub(self.whole.len());
        if ended == 0 {
            return;
        }
        let next = std::mem::take(&mut self.next);
        // Several where their reader was late: it is not known what came when.
        self.whole.extend((0..ended.min(SLICES_MOST)).map(|at| part(&next, at, ended)));
        while self.whole.len() >= SLICES_MOST {
            self.join();
        }
    }

    /// As a record has them, without their buckets.
    pub(super) fn slices(&self) -> Slices {
        let mut slices = Slices::new();
        slices.slice_ns = self.slice_ns;
        let quantile = |of: &Interval, q| of.quantile_ns(q).unwrap_or(0);
        slices.slices.extend(self.whole.iter().map(|of| Slice {
            responses: of.responses,
            failures: of.failures_total(),
            p50_ns: quantile(of, 0.5),
            p99_ns: quantile(of, 0.99),
            max_ns: of.max_ns,
        }));
        slices
    }

    /// One of each two. A last one without a partner is what the next is made of so far.
    fn join(&mut self) {
        self.slice_ns *= 2;
        let mut pairs = std::mem::take(&mut self.whole).into_iter();
        while let Some(mut one) = pairs.next() {
            match pairs.next() {
                Some(other) => {
                    one.add(&other);
                    self.whole.push(one);
                }
                None => self.next = one,
            }
        }
    }
}

/// One of so many equal parts, with the times of all.
fn part(of: &Interval, at: usize, parts: usize) -> Interval {
    let (at, parts) = (at as u64, parts as u64);
    let share = |count: u64| count * (at + 1) / parts - count * at / parts;
    Interval {
        from_ns: of.from_ns + share_of_ns(of, at, parts),
        to_ns: of.from_ns + share_of_ns(of, at + 1, parts),
        responses: share(of.responses),
        failures: of.failures.map(share),
        times: of.times.clone(),
        max_ns: of.max_ns,
        ..Interval::default()
    }
}

fn share_of_ns(of: &Interval, at: u64, parts: u64) -> u64 {
    of.length_ns() / parts * at
}

#[cfg(test)]
mod tests {
    use ablaze_stats::{Latency, touched};

    use super::*;

    fn piece(from: u64, slices: u64, responses: u64) -> Interval {
        let mut times = Latency::new(touched::DIGITS);
        times.record_many(1_000_000, responses);
        let mut piece = Interval {
            from_ns: from * Slices::SLICE_NS,
            to_ns: (from + slices) * Slices::SLICE_NS,
            responses,
            max_ns: 1_000_000,
            ..Interval::default()
        };
        touched::append(&times, &mut piece.times);
        piece
    }

    fn responses(over_time: &OverTime) -> Vec<u64> {
        over_time.slices().slices.iter().map(|slice| slice.responses).collect()
    }

    #[test]
    fn a_late_piece_is_as_many_slices_as_it_lasted() {
        let mut over_time = OverTime::default();
        over_time.hear(&piece(0, 1, 7));
        over_time.hear(&piece(1, 3, 10));
        // The end of a run is seldom the end of a slice.
        over_time.hear(&Interval { to_ns: 450_000_000, ..piece(4, 0, 2) });
        assert_eq!(responses(&over_time), [7, 3, 3, 4]);
        assert!(over_time.slices().slices.iter().all(|slice| slice.p50_ns == 1_000_000));
    }

    #[test]
    fn a_long_run_has_longer_slices_and_loses_nothing() {
        let mut over_time = OverTime::default();
        for number in 0..5_000 {
            over_time.hear(&piece(number, 1, 10));
            assert!(over_time.whole.len() < SLICES_MOST);
        }
        let slices = over_time.slices();
        assert_eq!(slices.slice_ns, 8 * Slices::SLICE_NS);
        assert!(slices.slices.iter().all(|slice| slice.responses == 80));
        assert_eq!(slices.slices.len(), 625);
    }
}
