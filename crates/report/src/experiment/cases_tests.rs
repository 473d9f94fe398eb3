//! What a build server is told of an experiment: the findings that made the verdict, the figures, what had to hold.

use ablaze_model::experiment::{Outcome, Trial};
use ablaze_model::finding::{DiagnosisId, Verdict};
use ablaze_testing::experiments;

use super::*;

fn trials(runs: &[(usize, f64)]) -> Results {
    let measured = |(repeat, (target, rate)): (usize, &(usize, f64))| {
        let trial = Trial { repeat: repeat as u32, load: 0, target: *target };
        let mut figures = experiments::figures(*rate);
        figures.findings = vec![Finding::new(
            DiagnosisId::D13,
            Severity::Suspect,
            "All CPUs were busy.\nFor 90 % of the time.",
            "Others ran.",
            "Stop them.",
        )];
        figures.held = vec![Held {
            class: "check",
            what: "status==200".to_owned(),
            of: "response",
            looked_at: 1000,
            failed: if *target == 0 { 0 } else { 3 },
            first: if *target == 0 { String::new() } else { "it is 500".to_owned() },
        }];
        (trial, Outcome::Measured(Box::new(figures)))
    };
    Results { trials: runs.iter().enumerate().map(measured).collect(), ..Results::default() }
}

fn judged(verdict: Verdict) -> JudgedTogether {
    let note =
        Finding::new(DiagnosisId::D15, Severity::Note, "They differ.", "Noise.", "More runs.");
    JudgedTogether { verdict, findings: vec![note], unequal: Vec::new() }
}

#[test]
fn the_findings_that_made_the_verdict_are_told_with_it() {
    let experiment = experiments::experiment();
    let results = trials(&[(0, 100.0), (1, 200.0)]);
    let case = verdict(&experiment, &results, &judged(Verdict::Suspect));
    let told = "in 2 of 2 runs, for example one, repeat 1: All CPUs were busy. For 90 % of the time. \
                Others ran. Stop them.";
    for part in
        ["SUSPECT\n", "D13 SUSPECT", told, "\nD15 note noise: They differ. Noise. More runs."]
    {
        assert!(case.output.contains(part), "{part}: {}", case.output);
    }
    let CaseOutcome::Doubtful(why) = &case.outcome else { panic!("{:?}", case.outcome) };
    assert!(why.starts_with("D13 SUSPECT"), "{why}");
}

#[test]
fn an_experiment_without_a_run_says_that_nothing_was_measured() {
    let experiment = experiments::experiment();
    let none =
        JudgedTogether { verdict: Verdict::Invalid, findings: Vec::new(), unequal: Vec::new() };
    let case = verdict(&experiment, &Results::default(), &none);
    let why = "INVALID: nothing was measured".to_owned();
    assert_eq!((case.output, case.outcome), (why.clone(), CaseOutcome::Skipped(why)));
}

#[test]
fn every_target_has_its_figures_and_what_had_to_hold_of_it() {
    let experiment = experiments::experiment();
    let results = trials(&[(0, 100.0), (0, 110.0), (0, 130.0)]);
    let case = responses(&experiment, &results, CaseOutcome::Passed);
    let lines: Vec<&str> = case.output.lines().collect();
    let one = "one, c=10: 3 runs, 3,400 responses, 0 of them unexpected, 0 errors, 110/s (100–130), p50 9.09 ms, \
               p99 18.2 ms, server CPU/request 9.09 ms";
    assert_eq!(lines, [one, "other, c=10: not measured"]);
    assert_eq!(elapsed_ns(&results), 30_000_000_000);
    let cases = held(&experiment, &trials(&[(0, 100.0), (1, 100.0), (1, 100.0)]));
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names, ["one: status==200", "other: status==200"]);
    assert_eq!(cases[0].outcome, CaseOutcome::Passed);
    let why = "failed for 6 of 2,000 responses: it is 500".to_owned();
    assert_eq!(cases[1].outcome, CaseOutcome::Failed(why));
}
