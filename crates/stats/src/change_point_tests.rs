//! Simulated runs: how often a shift is seen that is not there, and overlooked that is.

use super::*;
use ablaze_random::Random;
use proptest::prelude::*;

proptest! {
    #[test]
    fn whatever_the_counts_the_cut_leaves_two_sides_of_those_medians(
        counts in prop::collection::vec(prop_oneof![0u64..5, 90u64..110, 0u64..1 << 40], 0..60),
    ) {
        if let Some(shift) = level_shift(&counts) {
            prop_assert!(shift.index >= MIN_SIDE && shift.index + MIN_SIDE <= counts.len());
            prop_assert!((0.0..=SIGNIFICANCE).contains(&shift.p_value));
            prop_assert_eq!(shift.before, median_of(&counts[..shift.index]));
            prop_assert_eq!(shift.after, median_of(&counts[shift.index..]));
        }
        if let Some(shift) = warm_up(&counts) {
            prop_assert!(shift.index >= MIN_SIDE && shift.index <= counts.len() / 2);
        }
    }
}

/// A run of `n` slices of about 5000 responses: relative noise of neighbours correlated by
/// `correlation`, one slice in `outlier_every` loses half (0: none), levels by `level`.
fn run(
    random: &mut Random,
    n: usize,
    noise: f64,
    correlation: f64,
    outlier_every: usize,
    level: impl Fn(usize) -> f64,
) -> Vec<u64> {
    let mut state = random.normal();
    (0..n)
        .map(|slice| {
            state =
                correlation * state + (1.0 - correlation * correlation).sqrt() * random.normal();
            let hit = outlier_every > 0 && random.below(outlier_every) == 0;
            let value = 5000.0 * level(slice) * (1.0 + noise * state) * if hit { 0.5 } else { 1.0 };
            value.max(0.0) as u64
        })
        .collect()
}

/// The kinds of noise that a run of one level must not be taken for two levels under.
const STATIONARY: [(f64, f64, usize); 6] =
    [(0.05, 0.0, 0), (0.1, 0.5, 0), (0.2, 0.5, 0), (0.2, 0.3, 0), (0.1, 0.0, 20), (0.05, 0.5, 20)];

/// How many of `runs` stationary runs of each kind seem to have a warm-up, and a shift anywhere.
fn false_alarms(n: usize, runs: usize) -> (usize, usize) {
    let (mut warm_ups, mut shifts) = (0, 0);
    for (seed, (noise, correlation, outliers)) in STATIONARY.into_iter().enumerate() {
        let mut random = Random::new(seed as u64 + 100);
        for _ in 0..runs {
            let counts = run(&mut random, n, noise, correlation, outliers, |_| 1.0);
            warm_ups += usize::from(warm_up(&counts).is_some());
            shifts += usize::from(level_shift(&counts).is_some());
        }
    }
    (warm_ups, shifts)
}

/// How many of `runs` runs with a warm-up of `step` below the later level, ending in the first
/// third, are found to have one, and how many to within 3 slices.
fn found(n: usize, runs: usize, step: f64, noise: f64, correlation: f64) -> (usize, usize) {
    let mut random = Random::new(n as u64);
    let (mut seen, mut located) = (0, 0);
    for _ in 0..runs {
        let end = n / 6 + random.below(n / 6 + 1);
        let level = |slice| if slice < end { 1.0 - step } else { 1.0 };
        let counts = run(&mut random, n, noise, correlation, 0, level);
        if let Some(shift) = warm_up(&counts) {
            seen += 1;
            located += usize::from(shift.index.abs_diff(end) <= 3);
        }
    }
    (seen, located)
}

#[test]
fn a_run_of_one_level_has_no_warm_up() {
    for n in [10, 20, 30, 60, 100] {
        let runs = 200;
        let (warm_ups, shifts) = false_alarms(n, runs);
        let total = runs * STATIONARY.len();
        assert!(warm_ups * 100 < total, "n = {n}: {warm_ups} of {total}");
        assert!(shifts * 100 < 2 * total, "n = {n}: {shifts} of {total}");
    }
}

#[test]
#[ignore = "long: the same at full size"]
fn a_run_of_one_level_has_no_warm_up_in_many() {
    for (n, runs) in [(10, 2000), (20, 2000), (30, 2000), (60, 2000), (100, 2000), (600, 100)] {
        let (warm_ups, shifts) = false_alarms(n, runs);
        let total = runs * STATIONARY.len();
        println!("n = {n}: warm-ups {warm_ups}, shifts {shifts} of {total}");
        assert!(warm_ups * 100 < total, "n = {n}: {warm_ups} of {total}");
    }
}

#[test]
fn a_warm_up_of_a_tenth_is_found_in_ten_seconds() {
    let (seen, located) = found(100, 300, 0.1, 0.05, 0.0);
    assert!(seen * 100 > 98 * 300, "{seen} of 300");
    assert!(located * 100 > 90 * 300, "{located} of 300");
}

#[test]
fn a_warm_up_of_a_half_is_found_in_six_seconds_whose_slices_are_correlated() {
    let (seen, located) = found(60, 300, 0.5, 0.05, 0.5);
    assert!(seen * 100 > 85 * 300, "{seen} of 300");
    assert!(located * 100 > 85 * 300, "{located} of 300");
}

#[test]
fn the_levels_and_the_end_are_reported() {
    let counts: Vec<u64> = (0..50).map(|i| if i < 8 { 2000 } else { 3000 } + i % 3).collect();
    let shift = warm_up(&counts).unwrap();
    assert_eq!(shift.index, 8);
    assert_eq!((shift.before, shift.after), (2001.0, 3001.0));
    assert!(shift.p_value < 1e-9);
}

#[test]
fn a_paced_run_has_one_level() {
    let counts: Vec<u64> = (0..100).map(|i| 2000 + u64::from(i % 7 == 0)).collect();
    assert_eq!(level_shift(&counts), None);
    assert_eq!(level_shift(&[3; 100]), None);
    assert_eq!(level_shift(&[0; 100]), None);
    // Ten responses per second over slices of 100 ms.
    let sparse: Vec<u64> = (0..100).map(|i| u64::from(i % 3 != 0)).collect();
    assert_eq!(level_shift(&sparse), None);
}

#[test]
fn too_few_slices_say_nothing() {
    assert_eq!(warm_up(&[]), None);
    assert_eq!(warm_up(&[5]), None);
    assert_eq!(warm_up(&[1000, 1000, 2000, 2000, 2000]), None);
}

#[test]
fn single_outliers_are_no_level() {
    let steady = |i: usize| 5000 + (i as u64 * 7919) % 400;
    for outlier in [0, 1, 2, 50, 98, 99] {
        let counts: Vec<u64> =
            (0..100).map(|i| if i == outlier { 10 } else { steady(i) }).collect();
        assert_eq!(level_shift(&counts), None, "outlier at {outlier}");
    }
    let mut counts: Vec<u64> = (0..100).map(steady).collect();
    counts[..2].fill(10);
    assert_eq!(warm_up(&counts), None, "two slices are no level");
}

#[test]
fn a_shift_in_the_second_half_is_no_warm_up() {
    let mut random = Random::new(5);
    let level = |slice| if slice < 70 { 1.0 } else { 0.7 };
    let counts = run(&mut random, 100, 0.05, 0.0, 0, level);
    assert_eq!(warm_up(&counts), None);
    assert!((68..=72).contains(&level_shift(&counts).unwrap().index));
}

#[test]
fn a_warm_up_is_seen_before_a_larger_shift() {
    let mut random = Random::new(6);
    let level = |slice| {
        if slice < 15 {
            0.8
        } else if slice < 80 {
            1.0
        } else {
            0.3
        }
    };
    let counts = run(&mut random, 120, 0.04, 0.0, 0, level);
    let shift = warm_up(&counts).unwrap();
    assert!((14..=16).contains(&shift.index), "{shift:?}");
}

#[test]
fn a_warm_up_in_two_steps_ends_with_the_second() {
    let mut random = Random::new(7);
    let level = |slice| {
        if slice < 10 {
            0.3
        } else if slice < 30 {
            0.8
        } else {
            1.0
        }
    };
    let counts = run(&mut random, 120, 0.03, 0.0, 0, level);
    let shift = warm_up(&counts).unwrap();
    assert!((29..=31).contains(&shift.index), "{shift:?}");
}

#[test]
fn a_drift_over_the_whole_run_is_no_warm_up() {
    let mut random = Random::new(8);
    for _ in 0..50 {
        let counts = run(&mut random, 100, 0.03, 0.0, 0, |slice| 0.7 + 0.003 * slice as f64);
        assert_eq!(warm_up(&counts), None);
    }
}

#[test]
fn a_long_run_is_looked_at_in_groups() {
    let mut random = Random::new(9);
    let level = |slice| if slice < 600 { 0.8 } else { 1.0 };
    let counts = run(&mut random, 3001, 0.05, 0.0, 0, level);
    let shift = warm_up(&counts).unwrap();
    assert!(shift.index.abs_diff(600) <= 8, "{shift:?}");
}

/// The bound against the distribution itself: the maximum over all cuts of independent normal
/// slices of known deviation.
#[test]
fn the_bound_is_above_the_simulated_probability_but_not_far() {
    let mut random = Random::new(10);
    let (n, runs) = (60, 4000);
    let maxima: Vec<f64> = (0..runs).map(|_| largest_standardised_cut(&mut random, n)).collect();
    for x in [2.8, 3.1, 3.4] {
        let share = maxima.iter().filter(|&&m| m >= x).count() as f64 / f64::from(runs);
        let bound = probability_by_chance(x, n);
        assert!(share <= bound && bound < 4.0 * share, "x = {x}: {share}, bound {bound}");
    }
}

fn largest_standardised_cut(random: &mut Random, n: usize) -> f64 {
    let values: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    let mean = values.iter().sum::<f64>() / n as f64;
    let mut sum = 0.0;
    let mut largest = 0.0f64;
    for (index, value) in values.iter().enumerate() {
        sum += value - mean;
        let taken = index + 1;
        if (MIN_SIDE..=n - MIN_SIDE).contains(&taken) {
            let deviation = (taken as f64 * (n - taken) as f64 / n as f64).sqrt();
            largest = largest.max(sum.abs() / deviation);
        }
    }
    largest
}
