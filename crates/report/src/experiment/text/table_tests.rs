//! The words below the tables of comparisons and sweeps.

use ablaze_model::experiment::{Experiment, JudgedTogether, Outcome, Results, Trial};
use ablaze_model::finding::{DiagnosisId, Finding, Severity, Verdict};
use ablaze_testing::experiments;

use crate::experiment::comparison::Comparison;
use crate::experiment::curve::Pick;

/// Runs of these targets under the first load, so many of each.
fn runs_of(targets: &[usize], repeats: u32) -> Results {
    let mut results = Results::default();
    for repeat in 0..repeats {
        for target in targets {
            let figures = Outcome::Measured(Box::new(experiments::figures(1_000.0)));
            results.trials.push((Trial { repeat, load: 0, target: *target }, figures));
        }
    }
    results
}

fn judged() -> JudgedTogether {
    JudgedTogether { verdict: Verdict::Valid, findings: Vec::new(), unequal: Vec::new() }
}

fn change(results: &mut Results, change: impl Fn(&mut ablaze_model::experiment::Figures)) {
    for (_, outcome) in &mut results.trials {
        if let Outcome::Measured(figures) = outcome {
            change(figures);
        }
    }
}

fn compared(results: &Results) -> String {
    let experiment = experiments::experiment();
    let comparison = Comparison::of(&experiment, results, 0, 0);
    super::comparison(&experiment, results, &comparison, &judged(), false)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn swept(experiment: &Experiment, results: &Results) -> String {
    super::sweep(experiment, results, &judged(), Pick::Median)
}

#[test]
fn a_target_that_was_not_measured_is_not_compared() {
    let text = compared(&runs_of(&[1], 2));
    assert!(text.contains("not compared: one was not measured"), "{text}");
    assert!(!text.contains("not enough runs"), "{text}");
    assert!(compared(&runs_of(&[0, 1], 2)).contains("not enough runs: 2 pairs"));
}

#[test]
fn what_a_dash_means_is_told() {
    let mut results = runs_of(&[0, 1], 6);
    assert!(!compared(&results).contains(" - "));
    change(&mut results, |run| (run.responses, run.p99_ns) = (100, None));
    let few = compared(&results);
    assert!(
        few.contains("- in half of the runs or more: too few responses for p99, which needs 368"),
        "{few}"
    );
    assert!(!few.contains("CPU time is"), "{few}");
    change(&mut results, |run| run.server_cpu_ns = None);
    let unseen = compared(&results);
    assert!(unseen.contains("; the server's CPU time is not known: its process"), "{unseen}");
    let beside = || Finding::new(DiagnosisId::D26, Severity::Suspect, "", "", "");
    change(&mut results, |run| run.findings.push(beside()));
    let busy = compared(&results);
    assert!(busy.contains("CPU time is not that of these requests (D26)"), "{busy}");
}

#[test]
fn a_dash_in_a_sweep_is_told_too() {
    let mut results = runs_of(&[0, 1], 2);
    let text = |results: &Results| {
        let all = swept(&experiments::experiment(), results);
        all.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(!text(&results).contains(" -: "));
    change(&mut results, |run| (run.responses, run.p99_ns) = (100, None));
    let few = text(&results);
    assert!(few.contains("-: too few responses for p99, which needs 368"), "{few}");
    assert!(!few.contains("CPU time is"), "{few}");
    change(&mut results, |run| run.server_cpu_ns = None);
    assert!(text(&results).contains("; the server's CPU time is not known: its process"));
}

#[test]
fn a_verdict_is_put_down_to_the_findings_that_make_it() {
    let mut results = runs_of(&[0, 1], 1);
    let found = |id, severity| Finding::new(id, severity, "", "", "");
    change(&mut results, |run| {
        run.verdict = Verdict::Invalid;
        run.findings.push(found(DiagnosisId::D04, Severity::Invalid));
        run.findings.push(found(DiagnosisId::D13, Severity::Suspect));
    });
    let text = swept(&experiments::experiment(), &results);
    assert!(text.contains("INVALID by D04 error pages: one"), "{text}");
}

#[test]
fn one_run_has_no_median_of_runs() {
    let text = |repeats| swept(&experiments::experiment(), &runs_of(&[0, 1], repeats));
    let one = text(1);
    assert!(one.contains("rate, p99 and CPU: one run each, so the spread"), "{one}");
    assert!(!one.contains("median of the runs"), "{one}");
    assert!(
        text(3).contains("rate: median of 3 runs") && text(3).contains("CPU: median of the runs")
    );
}
