//! Experiments as data: the order of their trials, the names of their files.

#![allow(clippy::unwrap_used)]

use ablaze_model::experiment::Load;
use ablaze_testing::experiments;

#[test]
fn each_repeat_has_every_target_once_and_not_always_in_the_same_order() {
    let mut experiment = experiments::experiment();
    experiment.repeats = 40;
    let trials = experiment.trials();
    assert_eq!(trials.len(), 80);
    assert!(trials.iter().map(|trial| trial.repeat).is_sorted());
    let first = trials.iter().step_by(2).filter(|trial| trial.target == 0).count();
    assert!((8..=32).contains(&first), "{first} of 40");
    assert_eq!(trials, experiment.trials(), "the same seed, the same order");
    let mut stems: Vec<String> = trials.iter().map(|trial| experiment.stem(*trial)).collect();
    stems.sort();
    stems.dedup();
    assert_eq!(stems.len(), 80);
}

#[test]
fn loads_that_are_called_alike_have_files_of_their_own() {
    let mut experiment = experiments::experiment();
    let long = |end: char| Load {
        label: format!("header={}{end}", "x".repeat(80)),
        ..experiment.loads[0].clone()
    };
    experiment.loads = vec![long('a'), long('b')];
    let mut stems: Vec<String> =
        experiment.trials().iter().map(|trial| experiment.stem(*trial)).collect();
    let trials = stems.len();
    stems.sort();
    stems.dedup();
    assert_eq!(stems.len(), trials);
}
