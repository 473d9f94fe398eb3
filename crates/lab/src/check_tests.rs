//! Conditions on comparisons of runs that a test makes up.

use super::*;
use ablaze_model::experiment::{Outcome, Trial, Unequal};
use ablaze_testing::experiments;
use ablaze_verdict::{DiagnosisId, Finding, Severity, Verdict};

/// The second target's rate is `ratio` times the first's, give or take three parts in a hundred.
fn results(repeats: u32, ratio: f64) -> Results {
    let mut results = Results::default();
    for repeat in 0..repeats {
        let noise = 1.0 + (f64::from(repeat % 3) - 1.0) * 0.03;
        for (target, rate) in [(0, 10_000.0), (1, 10_000.0 * ratio * noise)] {
            let figures = Box::new(experiments::figures(rate));
            let trial = Trial { repeat, load: 0, target };
            results.trials.push((trial, Outcome::Measured(figures)));
        }
    }
    results
}

#[test]
fn runs_that_others_disturbed_decide_nothing() {
    let check: Check = "other / one rate < 0.95".parse().unwrap();
    let disturbed = |number: usize| {
        let mut results = results(12, 0.8);
        for (_, outcome) in results.trials.iter_mut().take(number) {
            if let Outcome::Measured(figures) = outcome {
                let noise = Finding::new(DiagnosisId::D13, Severity::Suspect, "", "", "");
                figures.findings.push(noise);
            }
        }
        check.judge(&experiments::experiment(), &results, &[]).remove(0)
    };
    assert_eq!(disturbed(12).answer, Answer::Met);
    let standing = disturbed(13);
    assert_eq!(standing.answer, Answer::NotShown);
    assert!(standing.text.contains("during 13 of 24 runs"), "{}", standing.text);
}

#[test]
fn runs_that_failed_or_are_invalid_decide_nothing() {
    let check: Check = "other / one rate < 0.95".parse().unwrap();
    let judged = |change: &dyn Fn(usize, &mut Outcome)| {
        let mut results = results(12, 0.8);
        let trials = results.trials.iter_mut().filter(|(trial, _)| trial.target == 1);
        trials.enumerate().for_each(|(number, (_, outcome))| change(number, outcome));
        check.judge(&experiments::experiment(), &results, &[]).remove(0)
    };
    let invalid = |number: usize, most: usize, outcome: &mut Outcome| {
        if let Outcome::Measured(figures) = outcome {
            figures.verdict = if number < most { Verdict::Invalid } else { Verdict::Valid };
        }
    };
    assert_eq!(judged(&|number, run| invalid(number, 6, run)).answer, Answer::Met);
    let standing = judged(&|number, run| invalid(number, 7, run));
    assert_eq!(standing.answer, Answer::Unknown);
    assert!(standing.text.ends_with("other: 7 of 12 runs are INVALID"), "{}", standing.text);
    let standing = judged(&|number, run| {
        if number == 3 {
            *run = Outcome::Failed("the server ended".to_owned());
        }
    });
    assert_eq!(standing.answer, Answer::Unknown);
    assert!(standing.text.ends_with("other: 1 of 12 runs failed"), "{}", standing.text);
}

fn answer(check: &str, repeats: u32, ratio: f64) -> Answer {
    let check: Check = check.parse().unwrap();
    let experiment = experiments::experiment();
    check.fits(&experiment).unwrap();
    let standing = check.judge(&experiment, &results(repeats, ratio), &[]);
    assert_eq!(standing.len(), 1);
    standing[0].answer
}

#[test]
fn the_whole_interval_decides() {
    let check = "other / one rate < 0.95";
    assert_eq!(answer(check, 12, 0.8), Answer::Met);
    assert_eq!(answer(check, 12, 1.0), Answer::NotMet);
    assert_eq!(answer(check, 12, 0.95), Answer::NotShown);
    assert_eq!(answer(check, 5, 0.5), Answer::Unknown);
    // In the sample half the rate is twice the CPU time.
    assert_eq!(answer("other / one cpu >= 1.5", 12, 0.5), Answer::Met);
    assert_eq!(answer("other / one P99 <= 1.5", 12, 0.5), Answer::NotMet);
    assert_eq!(answer("one / other rate > 1.5", 12, 0.5), Answer::Met);
}

#[test]
fn what_is_not_shown_fails_nothing_and_what_cannot_be_judged_fails_both() {
    use Answer::*;
    let fails = |answer: Answer| (answer.fails_if_met(), answer.fails_unless_met());
    assert_eq!(fails(Met), (true, false));
    assert_eq!(fails(NotMet), (false, true));
    assert_eq!(fails(NotShown), (false, false));
    assert_eq!(fails(Unknown), (true, true));
    let check: Check = "other / one rate < 0.95".parse().unwrap();
    let mut unequal =
        [Unequal { load: 0, targets: (0, 1), evidence: "one responses 200, other 404".to_owned() }];
    let standing = check.judge(&experiments::experiment(), &results(12, 0.5), &unequal);
    assert_eq!(standing[0].answer, Unknown);
    assert!(standing[0].text.ends_with("one responses 200, other 404"), "{standing:?}");
    // Runs that failed are why it was other work.
    let mut failed = results(12, 0.5);
    failed.trials[1].1 = Outcome::Failed("it exited".to_owned());
    let standing = check.judge(&experiments::experiment(), &failed, &unequal);
    assert!(standing[0].text.ends_with("other: 1 of 12 runs failed"), "{standing:?}");
    // What differs under another load, or between others, is nothing to this one.
    for (load, targets) in [(1, (0, 1)), (0, (1, 2))] {
        (unequal[0].load, unequal[0].targets) = (load, targets);
        let standing = check.judge(&experiments::experiment(), &results(12, 0.5), &unequal);
        assert_eq!(standing[0].answer, Met, "{standing:?}");
    }
}

#[test]
fn what_cannot_be_understood_names_the_fix() {
    let error = |text: &str| text.parse::<Check>().unwrap_err().to_string();
    assert!(error("mine / nginx rate").contains("'mine / nginx rate < 0.95'"));
    assert!(error("mine / nginx speed < 1").contains("rate, p50, p99, CPU/request"));
    assert!(error("mine rate < 1").contains("two targets"));
    assert!(error("mine / nginx rate < 95%").contains("a number above 0"));
    let fits = |text: &str| {
        let check: Check = text.parse().unwrap();
        check.fits(&experiments::experiment()).unwrap_err().to_string()
    };
    assert!(fits("mine / one rate < 1").ends_with(
        "unknown target `mine`; expected one of one, \
        other"
    ));
    assert!(fits("one / one rate < 1").contains("itself"));
}

/// The CPU time of these trials was not seen.
fn without_cpu(results: &mut Results, trials: std::ops::Range<usize>) {
    for (_, outcome) in &mut results.trials[trials] {
        let Outcome::Measured(figures) = outcome else { unreachable!("all were measured") };
        figures.server_cpu_ns = None;
    }
}

#[test]
fn a_figure_that_one_run_lacks_fails_no_build() {
    let check: Check = "other / one cpu <= 1.15".parse().unwrap();
    let judged = |repeats: u32, missing: usize| {
        let mut results = results(repeats, 1.0);
        without_cpu(&mut results, 0..missing);
        check.judge(&experiments::experiment(), &results, &[]).remove(0)
    };
    let one = judged(6, 1);
    assert_eq!(one.answer, Answer::NotShown, "{}", one.text);
    let said = "CPU/request is missing in 1 of 6 pairs; at least 6 must have it";
    assert!(one.text.ends_with(said), "{}", one.text);
    // Seven pairs have one to spare; five are too few whatever they have.
    assert_eq!(judged(7, 1).answer, Answer::Met);
    assert_eq!(judged(5, 1).answer, Answer::Unknown);
    // Nobody saw it.
    assert_eq!(judged(6, 12).answer, Answer::Unknown);
}

#[test]
fn a_rate_that_both_carried_as_requested_is_equal() {
    let answer = |text: &str| {
        let check: Check = text.parse().unwrap();
        let mut results = results(8, 0.93);
        for (_, outcome) in &mut results.trials {
            let Outcome::Measured(figures) = outcome else { unreachable!("all were measured") };
            figures.rate_as_requested = true;
        }
        check.judge(&experiments::experiment(), &results, &[]).remove(0)
    };
    let below = answer("other / one rate < 0.95");
    assert_eq!(below.answer, Answer::NotMet);
    assert!(below.text.contains("as requested in both"), "{}", below.text);
    assert_eq!(answer("other / one rate >= 0.95").answer, Answer::Met);
}
