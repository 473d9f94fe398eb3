//! Readings over time in bounded memory: when there are too many, every other one is dropped and
//! from then on only every other one is taken. Which of them lie in the measured window is known
//! only when the run has ended.

use ablaze_model::monitor::Range;

/// The most that is kept.
const MOST: usize = 512;

/// Readings in order of time.
#[derive(Debug, Clone)]
pub(crate) struct Series<T> {
    readings: Vec<(u64, T)>,
    /// One of this many is kept.
    one_in: u64,
    offered: u64,
}

impl<T: Copy> Series<T> {
    pub(crate) fn new() -> Self {
        Self { readings: Vec::new(), one_in: 1, offered: 0 }
    }

    pub(crate) fn add(&mut self, at_ns: u64, reading: T) {
        if self.offered.is_multiple_of(self.one_in) {
            self.readings.push((at_ns, reading));
        }
        self.offered += 1;
        if self.readings.len() > MOST {
            let mut index = 0;
            self.readings.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.one_in *= 2;
        }
    }

    /// Those within the window, both ends included.
    pub(crate) fn within(&self, (from_ns, to_ns): (u64, u64)) -> &[(u64, T)] {
        let from = self.readings.partition_point(|(at_ns, _)| *at_ns < from_ns);
        let to = self.readings.partition_point(|(at_ns, _)| *at_ns <= to_ns);
        &self.readings[from..to.max(from)]
    }

    /// The last at or before the window's beginning, and the first at or after its end: what lies between them is at
    /// least what lies in the window.
    pub(crate) fn around(&self, (from_ns, to_ns): (u64, u64)) -> Option<(T, T)> {
        let from = self.readings.partition_point(|(at_ns, _)| *at_ns <= from_ns).checked_sub(1)?;
        let to = self.readings.partition_point(|(at_ns, _)| *at_ns < to_ns);
        Some((self.readings[from].1, self.readings.get(to)?.1))
    }
}

/// The smallest, the largest and the last of these; `None` for none.
pub(crate) fn range(values: impl Iterator<Item = u64>) -> Option<Range> {
    values.fold(None, |range, value| {
        let Range { min, max, .. } = range.unwrap_or(Range { min: value, max: value, last: value });
        Some(Range { min: min.min(value), max: max.max(value), last: value })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_and_the_readings_stay_even() {
        let mut series = Series::new();
        for at in 0..100_000u64 {
            series.add(at, at);
        }
        let all = series.within((0, u64::MAX));
        assert!(all.len() <= MOST && all.len() > MOST / 4, "{}", all.len());
        assert_eq!(all[0], (0, 0));
        let step = all[1].0 - all[0].0;
        assert!(all.windows(2).all(|pair| pair[1].0 - pair[0].0 == step));
        assert!(all[all.len() - 1].0 + step >= 100_000);
    }

    #[test]
    fn a_window_includes_its_ends() {
        let mut series = Series::new();
        for at in [10, 20, 30] {
            series.add(at, ());
        }
        assert_eq!(series.within((10, 20)).len(), 2);
        assert_eq!(series.within((11, 19)).len(), 0);
        assert_eq!(series.within((30, 5)).len(), 0);
    }

    #[test]
    fn what_lies_around_a_window_begins_before_it_and_ends_behind_it() {
        let mut series = Series::new();
        for at in [10, 20, 30] {
            series.add(at, at);
        }
        assert_eq!(series.around((10, 30)), Some((10, 30)));
        assert_eq!(series.around((15, 25)), Some((10, 30)));
        assert_eq!(series.around((5, 25)), None);
        assert_eq!(series.around((15, 31)), None);
    }
}
