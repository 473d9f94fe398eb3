//! Several runs of the same: in which order they are made, and how far they lie apart. And the one
//! place on a curve of them that has a name. Talks to nobody.

use ablaze_random::Random;

/// The share of a curve's maximum that its knee reaches.
pub const KNEE_SHARE: f64 = 0.95;

/// One run of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Which repeat, from 0.
    pub repeat: usize,
    /// Which target, from 0.
    pub target: usize,
}

/// The order of `targets` × `repeats` runs: every repeat has each target once, in random order, so
/// that runs of one repeat are near in time and can be paired, and no target always goes first
/// (E. Bakshy, E. Frachtenberg, "Design and Analysis of Benchmarking Experiments for Distributed
/// Internet Services", WWW 2015; randomised blocks: R. A. Fisher, The Design of Experiments, 1935).
/// The same seed gives the same order.
pub fn interleaved(targets: usize, repeats: usize, seed: u64) -> Vec<Turn> {
    let mut random = Random::new(seed);
    (0..repeats)
        .flat_map(|repeat| {
            let mut turns: Vec<Turn> = (0..targets).map(|target| Turn { repeat, target }).collect();
            random.shuffle(&mut turns);
            turns
        })
        .collect()
}

/// The median: the middle value, or the mean of the middle two. `None` for no values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    (n > 0).then(|| (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0)
}

/// How far repeats lie apart: (maximum - minimum) / median. `None` for fewer than two values, or a
/// median of zero.
pub fn spread(values: &[f64]) -> Option<f64> {
    let largest = values.iter().copied().max_by(f64::total_cmp)?;
    let smallest = values.iter().copied().min_by(f64::total_cmp)?;
    let middle = median(values)?;
    (values.len() > 1 && middle != 0.0).then(|| (largest - smallest) / middle)
}

/// The knee of a curve of (x, y): the index of the point with the smallest x whose y reaches
/// `KNEE_SHARE` of the largest y. No curve is fitted. `None` when no y is above zero.
pub fn knee(points: &[(f64, f64)]) -> Option<usize> {
    let largest = points.iter().map(|point| point.1).max_by(f64::total_cmp)?;
    let reaches = |point: &(f64, f64)| point.1 > 0.0 && point.1 >= KNEE_SHARE * largest;
    (0..points.len())
        .filter(|&index| reaches(&points[index]))
        .min_by(|&a, &b| points[a].0.total_cmp(&points[b].0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_repeat_has_each_target_once(targets in 0usize..6, repeats in 0usize..9, seed: u64) {
            let turns = interleaved(targets, repeats, seed);
            prop_assert_eq!(turns.len(), targets * repeats);
            for (place, block) in turns.chunks(targets.max(1)).enumerate() {
                let mut seen: Vec<usize> = block.iter().map(|turn| turn.target).collect();
                seen.sort_unstable();
                prop_assert_eq!(seen, (0..targets).collect::<Vec<_>>());
                prop_assert!(block.iter().all(|turn| turn.repeat == place));
            }
            prop_assert_eq!(turns, interleaved(targets, repeats, seed));
        }
    }

    #[test]
    fn each_target_goes_first_as_often() {
        // Chi-squared with 2 degrees of freedom: 13.8 is exceeded once in a thousand.
        let turns = interleaved(3, 3000, 5);
        let mut first = [0.0f64; 3];
        turns.chunks(3).for_each(|block| first[block[0].target] += 1.0);
        let chi_squared: f64 = first.iter().map(|n| (n - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi_squared < 13.8, "{first:?}");
        assert_ne!(interleaved(3, 20, 1), interleaved(3, 20, 2));
    }

    #[test]
    fn spread_is_range_over_median() {
        assert_eq!(spread(&[90.0, 110.0, 100.0]), Some(0.2));
        assert_eq!(spread(&[1.0, 2.0, 3.0, 4.0]), Some(1.2));
        assert_eq!(spread(&[5.0]), None);
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[0.0, 0.0]), None);
    }

    #[test]
    fn the_knee_is_the_first_point_near_the_top() {
        let curve = [(1.0, 10.0), (2.0, 60.0), (5.0, 96.0), (10.0, 100.0), (50.0, 70.0)];
        assert_eq!(knee(&curve), Some(2));
        // The order of measurement does not matter, the smallest x does.
        let shuffled = [(10.0, 100.0), (50.0, 95.0), (5.0, 95.0), (1.0, 10.0)];
        assert_eq!(knee(&shuffled), Some(2));
        assert_eq!(knee(&[(1.0, 5.0)]), Some(0));
        assert_eq!(knee(&[(1.0, 0.0), (2.0, 0.0)]), None);
        assert_eq!(knee(&[]), None);
    }
}
