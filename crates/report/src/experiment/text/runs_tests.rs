//! What is said of the runs of an experiment together, where they differ.

use ablaze_model::experiment::Outcome;
use ablaze_model::spec::{ModelSpec, TargetSpec};
use ablaze_testing::experiments;

use super::*;

fn trial(target: usize, repeat: u32) -> Trial {
    Trial { repeat, load: 0, target }
}

/// A run in which most responses were such pages.
fn with_pages(status: u16) -> Outcome {
    let mut figures = experiments::figures(100.0);
    let evidence = format!("1,509 of 1,509 responses did not succeed: {status}.");
    let fix = "Look at one response with `curl -i http://127.0.0.1:41125/hello`.";
    figures.findings.push(Finding::new(DiagnosisId::D04, Severity::Invalid, evidence, "", fix));
    Outcome::Measured(Box::new(figures))
}

/// What the report says of these trials, in one line.
fn said(experiment: &Experiment, trials: Vec<(Trial, Outcome)>) -> String {
    let results = Results { trials, ..Results::default() };
    let judged = JudgedTogether {
        verdict: ablaze_model::finding::Verdict::Invalid,
        findings: Vec::new(),
        unequal: Vec::new(),
    };
    let lines = worth(experiment, &results, &judged).join(" ");
    lines.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_evidence_of_one_run_is_not_that_of_all() {
    let experiment = experiments::experiment();
    let both = vec![(trial(0, 2), with_pages(302)), (trial(1, 0), with_pages(404))];
    let text = said(&experiment, both);
    assert!(text.contains("in 2 of 2 runs, for example one, repeat 3: 1,509 of 1,509"), "{text}");
    let valid = Outcome::Measured(Box::new(experiments::figures(100.0)));
    let text = said(&experiment, vec![(trial(0, 0), valid), (trial(1, 1), with_pages(404))]);
    assert!(text.contains("in 1 of 2 runs (other, repeat 2): 1,509 of 1,509"), "{text}");
    let mut sweep = experiment;
    sweep.loads.push(experiments::load(20));
    let text = said(&sweep, vec![(trial(1, 1), with_pages(404))]);
    assert!(text.contains("in 1 of 1 run (other, c=10, repeat 2): "), "{text}");
}

#[test]
fn a_command_for_a_server_that_has_ended_says_so() {
    let mut experiment = experiments::experiment();
    let text = said(&experiment, vec![(trial(0, 0), with_pages(404))]);
    assert!(!text.contains("start it"), "{text}");
    experiment.targets[0].source = TargetSpec::Command("./server {port}".to_owned());
    let text = said(&experiment, vec![(trial(0, 0), with_pages(404))]);
    let words = "one ran at that address for its runs only: start it there again first. What it \
                 printed is in targets/one.log.";
    assert!(text.contains(words), "{text}");
}

#[test]
fn runs_that_failed_are_not_counted_as_runs_and_have_their_own_reasons() {
    let mut experiment = experiments::experiment();
    let measured = |target, repeat| {
        (trial(target, repeat), Outcome::Measured(Box::new(experiments::figures(100.0))))
    };
    let failed = |repeat, why: &str| (trial(1, repeat), Outcome::Failed(why.to_owned()));
    let all = (0..3).flat_map(|repeat| [measured(0, repeat), measured(1, repeat)]).collect();
    let of = |trials| Results { trials, ..Results::default() };
    assert_eq!(runs_of_each(&experiment, &of(all)), "3 runs of each");
    let trials = vec![
        measured(0, 0),
        failed(0, "exited after 800 responses"),
        measured(0, 1),
        failed(1, "exited after 801 responses"),
        measured(0, 2),
        measured(1, 2),
    ];
    let results = of(trials);
    assert_eq!(runs_of_each(&experiment, &results), "3 runs of one, 1 of other");
    let example = "for example repeat 1: exited after 800 responses";
    let line = format!("  failed: other, c=10, 2 of 3 runs: {example}");
    assert_eq!(failures(&experiment, &results), [line]);
    experiment.repeats = 1;
    let line = "  failed: other, c=10, 1 of 1 run: refused";
    assert_eq!(failures(&experiment, &of(vec![failed(0, "refused")])), [line]);
}

#[test]
fn a_saved_run_beside_runs_is_not_interleaved_with_them() {
    let mut experiment = experiments::experiment();
    assert_eq!(in_turns(&experiment), ", interleaved");
    experiment.targets[0].source = TargetSpec::Saved(vec!["before.json".into()]);
    assert_eq!(in_turns(&experiment), "");
    let figures = || Outcome::Measured(Box::new(experiments::figures(100.0)));
    let trials = [(0, 0), (1, 0), (1, 1), (1, 2)];
    let trials = trials.map(|(target, repeat)| (trial(target, repeat), figures())).to_vec();
    let results = Results { trials, ..Results::default() };
    assert_eq!(runs_of_each(&experiment, &results), "1 saved run of one, 3 runs of other");
}

#[test]
fn a_built_in_server_is_not_asked_what_it_is() {
    let why = "127.0.0.1:1 closed the connection without a response: does it speak TLS?";
    let built_in = Target::new("a", TargetSpec::Model(ModelSpec::default()));
    assert_eq!(why_of(&built_in, why), "127.0.0.1:1 closed the connection without a response");
    assert_eq!(why_of(&built_in, "it went away: no answer"), "it went away: no answer");
    let another = Target::new("b", TargetSpec::Command("./server".to_owned()));
    assert_eq!(why_of(&another, why), why);
}

/// The port of a target that is started here is chosen here.
#[test]
fn a_started_server_has_the_right_port() {
    let why = "127.0.0.1:1 reset the connection before it responded: see its log";
    let asked = format!("{why}{CHECK_PORT}");
    let started = Target::new("b", TargetSpec::Command("./server".to_owned()));
    assert_eq!(why_of(&started, &asked), why);
    assert_eq!(why_of(&experiments::running("c", "http://h/"), &asked), asked);
}

#[test]
fn runs_that_were_not_made_are_not_counted() {
    let experiment = experiments::experiment();
    let failed = |target| (trial(target, 0), Outcome::Failed("refused".to_owned()));
    for trials in [vec![], vec![failed(0), failed(1)]] {
        let results = Results { trials: trials.clone(), ..Results::default() };
        assert_eq!(runs_of_each(&experiment, &results), "0 runs of each");
        assert_eq!(said(&experiment, trials), "INVALID · nothing was measured");
    }
}

/// One side of a comparison is no comparison.
#[test]
fn a_target_without_a_figure_is_named_first() {
    let experiment = experiments::experiment();
    let measured = (trial(0, 0), Outcome::Measured(Box::new(experiments::figures(100.0))));
    let failed = (trial(1, 0), Outcome::Failed("refused".to_owned()));
    let said = said(&experiment, vec![measured, failed]);
    let name = &experiment.targets[1].name;
    assert!(
        said.starts_with(&format!("INVALID · {name} was not measured · 1 of 1 run ")),
        "{said}"
    );
}

#[test]
fn a_folder_that_cannot_be_written_interrupts_nothing() {
    let experiment = experiments::experiment();
    let of = |unsaved: Option<&str>, interrupted| {
        let unsaved = unsaved.map(str::to_owned);
        partial(&experiment, &Results { unsaved, interrupted, ..Results::default() })
    };
    assert_eq!(of(None, false), None);
    assert_eq!(of(None, true).unwrap(), "0 of 6 runs are in the folder: partial results");
    assert_eq!(
        of(Some("repeat 2 of one"), false).unwrap(),
        "ended after 0 of 6 runs: partial results, as repeat 2 of one could not be saved"
    );
}
