//! When arrivals are due, and how they are dealt among threads and machines.

use ablaze_model::spec::{LoadSpec, Shape};

use super::*;

fn rate(from_per_s: f64, to_per_s: f64, steps: u32) -> RateProfile {
    RateProfile { from_per_s, to_per_s, steps }
}

/// All arrivals before `end_ns`, of all workers, in order of time.
fn all(rate: RateProfile, arrivals: Arrivals, workers: u32, end_ns: u64) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    for worker in 0..workers {
        let profile = Profile::new(&rate, end_ns, &[]);
        let mut due = Due::new(profile, arrivals, (worker, workers), None, 7);
        due.start(0, end_ns);
        while let Some(arrival) = due.take(u64::MAX - 1) {
            found.push((arrival.1, arrival.0));
        }
    }
    found.sort_unstable();
    found
}

#[test]
fn evenly_spaced_arrivals_add_up_to_the_rate_exactly() {
    for (per_s, seconds, workers) in [(20_000.0, 10, 2), (3.0, 7, 5), (999_983.0, 1, 3)] {
        let found =
            all(rate(per_s, per_s, 0), Arrivals::Constant, workers, seconds * 1_000_000_000);
        assert_eq!(found.len() as f64, per_s * seconds as f64);
        for (number, &(due_ns, taken)) in found.iter().enumerate() {
            assert_eq!(taken, number as u64);
            assert_eq!(due_ns, (number as f64 * 1e9 / per_s).round() as u64);
        }
    }
}

#[test]
fn machines_add_up_to_one_schedule_whatever_threads_each_has() {
    // 1000 per second among three machines of 1, 2 and 3 threads; a third of it is no finite binary number.
    let mut found = Vec::new();
    for (machine, threads) in [(0, 1), (1, 2), (2, 3)] {
        for thread in 0..threads {
            let profile = Profile::new(&rate(1000.0 / 3.0, 1000.0 / 3.0, 0), 1, &[]);
            let due = Due::new(profile, Arrivals::Constant, (thread, threads), None, 7);
            let mut due = due.on_machine(machine, 3);
            due.start(0, 10_000_000_000);
            found.extend(std::iter::from_fn(|| due.take(u64::MAX - 1)).map(|(_, at)| at));
        }
    }
    found.sort_unstable();
    let whole: Vec<u64> = (0..10_000).map(|number| number * 1_000_000).collect();
    assert_eq!(found, whole);
}

#[test]
fn an_hour_later_the_schedule_is_still_exact() {
    let profile = Profile::new(&rate(3.0, 3.0, 0), 1, &[]);
    // 3 per second: number 3 * 3600 * 24 is due after exactly a day.
    assert_eq!(profile.time_of(3.0 * 86_400.0), 86_400_000_000_000);
}

#[test]
fn a_ramp_has_the_rate_of_each_moment() {
    // From 100 to 300 per second in 10 s: 2000 arrivals, 1500 of them after 5 s less those
    // of the first half: the area under the line, 100·5 + 20·25/2 = 750.
    let found = all(rate(100.0, 300.0, 0), Arrivals::Constant, 2, 10_000_000_000);
    assert_eq!(found.len(), 2000);
    let first_half = found.iter().filter(|(due, _)| *due < 5_000_000_000).count();
    assert_eq!(first_half, 750);
    let down = all(rate(300.0, 100.0, 0), Arrivals::Constant, 1, 10_000_000_000);
    assert_eq!(down.len(), 2000);
    // From nothing, and to nothing.
    assert_eq!(all(rate(0.0, 100.0, 0), Arrivals::Constant, 1, 2_000_000_000).len(), 100);
    assert_eq!(all(rate(100.0, 0.0, 0), Arrivals::Constant, 1, 2_000_000_000).len(), 100);
}

#[test]
fn steps_keep_their_rate_and_their_length() {
    let found = all(rate(100.0, 500.0, 5), Arrivals::Constant, 3, 10_000_000_000);
    let of_step = |step: u64| {
        let range = step * 2_000_000_000..(step + 1) * 2_000_000_000;
        found.iter().filter(|(due, _)| range.contains(due)).count()
    };
    assert_eq!([0, 1, 2, 3, 4].map(of_step), [200, 400, 600, 800, 1000]);
}

#[test]
fn a_limit_is_shared_out_exactly() {
    let taken: u64 = (0..3)
        .map(|worker| {
            let profile = Profile::new(&rate(50.0, 50.0, 0), 1, &[]);
            let mut due = Due::new(profile, Arrivals::Poisson, (worker, 3), Some(1000), 1);
            due.start(5, u64::MAX);
            std::iter::from_fn(|| due.take(u64::MAX - 1)).count() as u64
        })
        .sum();
    assert_eq!(taken, 1000);
}

/// Anderson-Darling against the exponential distribution of known mean (case 0): the
/// statistic stays below 3.857 in 99 of 100 samples (D'Agostino, Stephens 1986, table 4.2).
fn anderson_darling(mut gaps: Vec<f64>, mean: f64) -> f64 {
    gaps.sort_by(f64::total_cmp);
    let count = gaps.len() as f64;
    let below = |gap: f64| -(-gap / mean).exp_m1();
    let last = gaps.len() - 1;
    let sum: f64 = (0..gaps.len())
        .map(|i| {
            let (low, high) = (below(gaps[i]), gaps[last - i] / mean);
            (2.0 * i as f64 + 1.0) * (low.ln() - high)
        })
        .sum();
    -count - sum / count
}

#[test]
fn poisson_arrivals_have_exponential_gaps_over_all_workers() {
    for workers in [1, 2, 5] {
        let found = all(rate(2000.0, 2000.0, 0), Arrivals::Poisson, workers, 10_000_000_000);
        let gaps: Vec<f64> =
            found.windows(2).map(|pair| ((pair[1].0 - pair[0].0) as f64).max(0.5)).collect();
        let statistic = anderson_darling(gaps, 500_000.0);
        assert!(statistic < 3.857, "{statistic} with {workers} workers");
        // The number has mean 20,000 and standard deviation 141.
        assert!((found.len() as f64 - 20_000.0).abs() < 4.0 * 141.4, "{}", found.len());
    }
}

/// The arrivals of a fleet, in order of time, with their numbers in the whole: each machine resolves its own part of the load,
/// with so many threads.
fn of_machines(machines: u32, threads: u32, seed: u64, end_ns: u64) -> Vec<(u64, u64)> {
    let asked = Shape::Open {
        rate: RateProfile::constant(20_000.0),
        arrivals: Arrivals::Poisson,
        connections: None,
    };
    let mut load = LoadSpec { shape: asked, ..LoadSpec::default() };
    load.requests.seed = seed;
    let mut found = Vec::new();
    for machine in 0..machines {
        let part = load.shard(machine, machines).unwrap();
        assert_eq!(part.requests.seed, seed + u64::from(machine), "{{rand}} differs");
        let Shape::Open { rate, arrivals, .. } = part.shape else { unreachable!() };
        for thread in 0..threads {
            let profile = Profile::new(&rate, end_ns, &[]);
            let share = (thread, threads);
            let due = Due::new(profile, arrivals, share, None, part.seed_of_all.unwrap());
            let mut due = due.on_machine(machine, machines);
            due.start(0, end_ns);
            let own = std::iter::from_fn(|| due.take(u64::MAX - 1));
            let whole = |number| number * u64::from(machines) + u64::from(machine);
            found.extend(own.map(|(number, at)| (at, whole(number))));
        }
    }
    found.sort_unstable();
    found
}

#[test]
fn random_arrivals_dealt_to_machines_are_exactly_those_of_one() {
    for seed in [1, 7, u64::MAX - 100] {
        let one = of_machines(1, 1, seed, 2_000_000_000);
        assert!(one.iter().enumerate().all(|(at, (_, number))| at as u64 == *number));
        for (machines, threads) in [(1, 3), (2, 1), (3, 2), (4, 4), (7, 1), (64, 2)] {
            let many = of_machines(machines, threads, seed, 2_000_000_000);
            assert_eq!(many.len(), one.len(), "{machines} of {threads}");
            for ((at, number), (of_one, same)) in many.iter().zip(&one) {
                // An n-th of a number and n times that differ in the last digit for some n.
                assert!(number == same && at.abs_diff(*of_one) <= 1, "{at} and {of_one}");
            }
        }
    }
}

#[test]
fn four_machines_have_the_poisson_process_that_one_has() {
    // 20,000 per second for 10 s.
    for machines in [1, 4] {
        let found = of_machines(machines, 2, 11, 10_000_000_000);
        let gaps: Vec<f64> =
            found.windows(2).map(|pair| ((pair[1].0 - pair[0].0) as f64).max(0.5)).collect();
        let statistic = anderson_darling(gaps, 50_000.0);
        assert!(statistic < 3.857, "{statistic} with {machines} machines");
        // Counts of 10 ms: 1000 of them, variance over mean 1 with a standard error of √(2/999): 0.045.
        let mut counts = [0f64; 1000];
        found.iter().for_each(|(due, _)| counts[(due / 10_000_000) as usize] += 1.0);
        let mean = counts.iter().sum::<f64>() / 1000.0;
        let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / 999.0;
        assert!((0.82..1.18).contains(&(variance / mean)), "{}", variance / mean);
    }
}

#[test]
fn counts_in_windows_are_as_dispersed_as_a_poisson_process() {
    for workers in [1, 3] {
        let found = all(rate(2000.0, 2000.0, 0), Arrivals::Poisson, workers, 400_000_000_000);
        // Of 100 ms. Variance over mean is 1, with a standard error of √(2/3999): 0.022.
        let mut counts = [0f64; 4000];
        found.iter().for_each(|(due, _)| counts[(due / 100_000_000) as usize] += 1.0);
        let mean = counts.iter().sum::<f64>() / 4000.0;
        let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / 3999.0;
        assert!((0.9..1.1).contains(&(variance / mean)), "{}", variance / mean);
    }
}

#[test]
fn a_worker_that_hears_of_a_change_late_takes_no_arrival_twice_and_leaves_none_out() {
    let asked = rate(1000.0, 1000.0, 0);
    let changes = [RateChange { at_ns: 1_000_000_000, times_asked: 2.0 }];
    let mut numbers = Vec::new();
    for (worker, hears_ns) in [(0, 0), (1, 1_050_000_000)] {
        let profile = Profile::new(&asked, 1, &[]);
        let mut due = Due::new(profile, Arrivals::Constant, (worker, 2), None, 7);
        due.start(0, 2_000_000_000);
        let before = std::iter::from_fn(|| due.take(hears_ns)).collect::<Vec<_>>();
        due.change(Profile::new(&asked, 1, &changes));
        let behind = std::iter::from_fn(|| due.take(u64::MAX - 1));
        numbers.extend(before.into_iter().chain(behind).map(|(number, _)| number));
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (0..3000).collect::<Vec<u64>>());
}

#[test]
fn the_test_of_gaps_would_notice_even_spacing() {
    assert!(anderson_darling(vec![1.0; 1000], 1.0) > 3.857);
}

#[test]
fn a_number_that_machines_do_not_share_evenly_ends_when_the_one_schedule_does() {
    // 7 at 5 per second are over after 1.4 s, whoever has 3 of them and whoever has 2; a ramp as well, and parts of parts.
    let ramp = rate(2.0, 8.0, 0);
    for (asked, requests, machines) in [(rate(5.0, 5.0, 0), 7, 3), (ramp, 11, 4)] {
        let shape = Shape::Open { rate: asked, arrivals: Arrivals::Constant, connections: None };
        let mut load = LoadSpec { shape, ..LoadSpec::default() };
        load.limits.requests = Some(requests);
        load.limits.duration_ns = None;
        let end_ns = Profile::new(&asked, 10_000_000_000, &[]).time_of(requests as f64);
        for machine in 0..machines {
            let part = load.shard(machine, machines).unwrap();
            let Shape::Open { rate, arrivals, .. } = part.shape else { unreachable!() };
            let profile = Profile::new(&rate, 10_000_000_000, &[]);
            let of_all = part.requests_of_all.unwrap() as f64 / f64::from(part.part.unwrap().of);
            let due = Due::new(profile, arrivals, (0, 1), part.limits.requests, 7);
            let mut due = due.on_machine(machine, machines).ending_with(of_all);
            due.start(0, u64::MAX);
            assert!(due.over_ns().abs_diff(end_ns) <= 2, "{} and {end_ns}", due.over_ns());
            let last = std::iter::from_fn(|| due.take(u64::MAX - 1)).last().unwrap();
            assert!(last.1 < end_ns, "{last:?}");
        }
    }
}
