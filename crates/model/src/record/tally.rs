//! How often each of a few reasons was met: a fixed number of counters.

use std::marker::PhantomData;

/// A kind of reasons that are counted apart.
pub trait Reason: Copy + 'static {
    /// All of them, in the order of their declaration; at most as many as a [`Tally`] has counters.
    const ALL: &'static [Self];

    /// The position in `ALL`.
    fn index(self) -> usize;

    /// The name in files.
    fn key(self) -> &'static str;
}

/// How often each reason was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally<R> {
    counts: [u64; MOST],
    of: PhantomData<R>,
}

/// The most reasons of one kind.
const MOST: usize = 10;

impl<R: Reason> Tally<R> {
    /// So many more of one reason.
    pub fn add(&mut self, reason: R, times: u64) {
        self.counts[reason.index()] += times;
    }

    /// How often this one was met.
    pub fn of(&self, reason: R) -> u64 {
        self.counts[reason.index()]
    }

    /// All of them; 0 in files of older versions.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Those that were met, in the order of their declaration.
    pub fn met(&self) -> impl Iterator<Item = (R, u64)> + '_ {
        R::ALL.iter().map(|reason| (*reason, self.of(*reason))).filter(|(_, count)| *count > 0)
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            *mine += theirs;
        }
    }
}

impl<R> Default for Tally<R> {
    fn default() -> Self {
        Self { counts: [0; MOST], of: PhantomData }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MalformedBy, NotKeptBy};
    use super::*;

    fn check<R: Reason + PartialEq + std::fmt::Debug>() {
        let mut tally = Tally::<R>::default();
        for (at, reason) in R::ALL.iter().enumerate() {
            assert_eq!(reason.index(), at, "{reason:?}");
            tally.add(*reason, at as u64 + 1);
        }
        let before = tally;
        tally.merge(before);
        let twice = R::ALL.iter().enumerate().map(|(at, reason)| (*reason, 2 * at as u64 + 2));
        assert_eq!(tally.met().collect::<Vec<_>>(), twice.collect::<Vec<_>>());
        assert_eq!(tally.total(), 2 * before.total());
    }

    #[test]
    fn each_reason_has_a_counter_of_its_own() {
        check::<NotKeptBy>();
        check::<MalformedBy>();
    }
}
