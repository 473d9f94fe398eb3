//! Comparisons of runs that a test makes up.

use super::*;
use ablaze_model::experiment::{Outcome as TrialOutcome, Trial};
use ablaze_testing::experiments;

/// Runs of two targets: the second's rate is `ratio` times the first's, with some noise.
fn results(repeats: u32, ratio: f64) -> Results {
    let mut results = Results::default();
    for repeat in 0..repeats {
        let noise = 1.0 + f64::from(repeat % 3) * 0.002;
        for (target, rate) in [(0, 10_000.0), (1, 10_000.0 * ratio * noise)] {
            let figures = Box::new(experiments::figures(rate));
            let trial = Trial { repeat, load: 0, target };
            results.trials.push((trial, TrialOutcome::Measured(figures)));
        }
    }
    results
}

fn compared(repeats: u32, ratio: f64) -> Comparison {
    Comparison::of(&experiments::experiment(), &results(repeats, ratio), 0, 0)
}

#[test]
fn a_clear_difference_is_shown_in_every_metric() {
    let comparison = compared(10, 0.8);
    let against = &comparison.against[0];
    assert_eq!((against.target, against.control, against.metrics.len()), (1, 0, 4));
    assert!(against.metrics.iter().all(|c| c.answer == Some(Answer::Worse)), "{against:?}");
    let headline = against.headline().unwrap();
    assert_eq!(headline.metric, Metric::ServerCpu);
    assert!((headline.ratio.unwrap().ratio - 1.25).abs() < 0.01);
}

#[test]
fn the_same_twice_is_no_difference_and_few_runs_are_not_enough() {
    let comparison = compared(10, 0.998);
    let responses: Vec<_> = comparison.against[0].metrics.iter().map(|c| c.answer).collect();
    assert_eq!(responses, [Some(Answer::NoDifferenceShown); 4]);
    let few = compared(5, 0.5);
    let headline = few.against[0].headline().unwrap();
    assert_eq!(headline.ratio, Err(NoInterval::Pairs(NotComparable::NotEnoughRuns { pairs: 5 })));
    assert_eq!(headline.answer, None);
}

/// A proxy may be cheaper than the server that it passes requests on to.
#[test]
fn whose_time_is_cheaper_is_said_where_something_is() {
    let said = |ratio| {
        let rows = super::super::text::ratio_rows(&experiments::experiment(), &compared(10, ratio));
        rows.concat().join("\n")
    };
    let costlier = said(0.8);
    assert!(costlier.contains("costlier") && costlier.contains("is not in it"), "{costlier}");
    assert!(!said(0.998).contains("is not in it"));
}

#[test]
fn a_metric_decides_by_the_runs_that_have_it_if_most_do() {
    let mut results = results(8, 0.8);
    let without = |results: &mut Results, trials: std::ops::Range<usize>| {
        for (_, outcome) in &mut results.trials[trials] {
            if let TrialOutcome::Measured(figures) = outcome {
                figures.server_cpu_ns = None;
            }
        }
        Comparison::of(&experiments::experiment(), results, 0, 0)
    };
    let one = without(&mut results, 3..4);
    let headline = one.against[0].headline().unwrap();
    assert_eq!((headline.metric, headline.ratio.unwrap().pairs), (Metric::ServerCpu, 7));
    assert!(one.rows.iter().all(|row| row.as_ref().unwrap().server_cpu_ns.is_some()));
    // Five pairs are too few to compare.
    let many = without(&mut results, 3..8);
    assert_eq!(many.against[0].headline().unwrap().metric, Metric::Rate);
}

#[test]
fn an_answer_that_changes_among_several_shows_the_wider_interval() {
    // Noise such that the rate differs with a chance between 1/100 and 1/300.
    let mut found = 0;
    for shift in 0..60 {
        let mut results = results(8, 1.0);
        for (at, (trial, outcome)) in results.trials.iter_mut().enumerate() {
            if let TrialOutcome::Measured(figures) = outcome {
                let noise = (at * 7919 % 97) as f64 / 97.0 * 0.05;
                let more = if trial.target == 1 { f64::from(shift) * 0.001 } else { 0.0 };
                figures.rate_per_s *= 1.0 + noise + more;
            }
        }
        let comparison = Comparison::of(&experiments::experiment(), &results, 0, 0);
        for compared in &comparison.against[0].metrics {
            let ratio = compared.ratio.unwrap();
            let shown_as_one = ratio.outcome() != Outcome::NoDifferenceShown;
            let differs = shown_as_one && compared.answer == Some(Answer::NoDifferenceShown);
            assert_eq!(compared.among_several.is_some(), differs);
            if let Some(wider) = compared.among_several {
                found += 1;
                assert!(wider.low <= 1.0 && wider.high >= 1.0, "{compared:?}");
                assert_eq!(wider.questions, 3);
            }
        }
    }
    assert!(found > 0);
}

#[test]
fn clients_are_compared_by_the_rate_that_they_get() {
    let mut experiment = experiments::experiment();
    experiment.targets[1].client = ablaze_model::experiment::Tool::Ab;
    let comparison = Comparison::of(&experiment, &results(8, 0.8), 0, 0);
    assert_eq!(comparison.against[0].headline().unwrap().metric, Metric::Rate);
}

#[test]
fn a_run_that_failed_takes_its_pair_away_and_no_more() {
    let mut results = results(8, 0.8);
    results.trials[3].1 = TrialOutcome::Failed("gone".to_owned());
    let comparison = Comparison::of(&experiments::experiment(), &results, 0, 0);
    assert_eq!(comparison.against[0].headline().unwrap().ratio.unwrap().pairs, 7);
    assert_eq!(comparison.rows[0].as_ref().unwrap().rates_per_s.len(), 8);
}

/// These trials carried the whole rate of an open loop.
fn as_requested(results: &mut Results, which: impl Fn(&Trial) -> bool) {
    for (trial, outcome) in &mut results.trials {
        let TrialOutcome::Measured(figures) = outcome else { unreachable!("all were measured") };
        figures.rate_as_requested = which(trial);
        figures.server_cpu_ns = None;
    }
}

/// What is in flight when the clock stops is missing in the rate: the slower responses, the more of them.
#[test]
fn a_rate_that_both_carried_as_requested_ranks_nobody() {
    let mut open = results(8, 0.93);
    as_requested(&mut open, |_| true);
    let comparison = Comparison::of(&experiments::experiment(), &open, 0, 0);
    let metrics = &comparison.against[0].metrics;
    let order: Vec<Metric> = metrics.iter().map(|compared| compared.metric).collect();
    assert_eq!(order, [Metric::Median, Metric::P99, Metric::Rate]);
    assert_eq!(metrics[2].ratio, Err(NoInterval::AsRequested));
    assert_eq!((metrics[0].answer, metrics[2].answer), (Some(Answer::Worse), None));
    // A few pairs in which one did not keep up are a difference as well.
    as_requested(&mut open, |trial| trial.target == 0 || trial.repeat < 5);
    let comparison = Comparison::of(&experiments::experiment(), &open, 0, 0);
    let rate =
        comparison.against[0].metrics.iter().find(|compared| compared.metric == Metric::Rate);
    assert!(rate.unwrap().ratio.is_ok(), "{rate:?}");
    // A server that does not keep up differs.
    as_requested(&mut open, |trial| trial.target == 0);
    let comparison = Comparison::of(&experiments::experiment(), &open, 0, 0);
    let headline = comparison.against[0].headline().unwrap();
    assert_eq!((headline.metric, headline.answer), (Metric::Rate, Some(Answer::Worse)));
}

#[test]
fn a_metric_that_too_few_pairs_have_says_so_and_does_not_decide() {
    let mut results = results(6, 0.8);
    let (_, outcome) = &mut results.trials[3];
    let TrialOutcome::Measured(figures) = outcome else { unreachable!("all were measured") };
    figures.server_cpu_ns = None;
    let comparison = Comparison::of(&experiments::experiment(), &results, 0, 0);
    let metrics = &comparison.against[0].metrics;
    assert_eq!(metrics[0].metric, Metric::Rate);
    let last = metrics.last().unwrap();
    assert_eq!(last.metric, Metric::ServerCpu);
    assert_eq!(last.ratio, Err(NoInterval::Missing { missing: 1, pairs: 6 }));
    let why = last.ratio.unwrap_err().to_string();
    assert_eq!(why, "missing in 1 of 6 pairs; at least 6 must have it");
}
