//! What experiments print as JSON: the published schema describes it, and a finding says in it what it says elsewhere.

use ablaze_model::experiment::{
    Experiment, JudgedTogether, Measured, Outcome, Results, Searched, Stage,
};
use ablaze_model::finding::{DiagnosisId, Finding, Severity, Verdict};
use ablaze_stats::rate_search::{Found, Trial as StageTrial};
use ablaze_testing::experiments;
use serde_json::Value;

use crate::experiment::comparison::Comparison;
use crate::experiment::curve::{Curve, Pick};
use crate::json::tests::close;

/// With a sentence in which a name is to be spelled out.
fn finding() -> Finding {
    let cause = "The process \u{202e}tac was busy.";
    Finding::new(DiagnosisId::D02, Severity::Invalid, "None of 40.", cause, "Start it.")
}

fn experiment(loads: &[u32]) -> (Experiment, Results, JudgedTogether) {
    let mut experiment = experiments::experiment();
    experiment.repeats = 7;
    experiment.loads = loads.iter().map(|load| experiments::load(*load)).collect();
    let mut trials: Vec<_> = experiment.trials().into_iter().collect();
    let last = trials.pop().map(|trial| (trial, Outcome::Failed("it went away".to_owned())));
    let outcome = |trial: ablaze_model::experiment::Trial| {
        let mut figures = experiments::figures(1000.0 + 3.0 * f64::from(trial.repeat));
        figures.findings = vec![finding()];
        (trial, Outcome::Measured(Box::new(figures)))
    };
    let trials = trials.into_iter().map(outcome).chain(last).collect();
    let judged = JudgedTogether {
        verdict: Verdict::Invalid,
        findings: vec![finding()],
        unequal: Vec::new(),
    };
    (experiment, Results { trials, ..Results::default() }, judged)
}

fn comparison() -> Value {
    let (experiment, results, judged) = experiment(&[10]);
    let compared = Comparison::of(&experiment, &results, 0, 1);
    let of = |ranked| super::comparison(&experiment, &results, &compared, &judged, ranked);
    assert_ne!(of(true), of(false));
    serde_json::from_str(&of(true)).unwrap()
}

fn sweep() -> Value {
    let (experiment, results, judged) = experiment(&[10, 20]);
    let curves = Curve::all(&experiment, &results, Pick::Median);
    serde_json::from_str(&super::sweep(&experiment, &results, &curves, &judged)).unwrap()
}

fn search() -> Value {
    let measured = Measured {
        answered_per_s: 990.0,
        figures: vec![Some("18.2 ms".to_owned()), None],
        values: vec![Some(18_234_567.0), None],
        unsupported: Vec::new(),
        verdict: Verdict::Invalid,
        findings: vec![finding()],
    };
    let stage = |measured, trial| Stage {
        undecided: false,
        run: Some("01-1000.json".to_owned()),
        asked_per_s: 1000.0,
        confirming: false,
        trial,
        why: None,
        measured,
    };
    let stages = vec![stage(Some(measured), StageTrial::Holds), stage(None, StageTrial::Fails)];
    let found = Some(Found::Limit { holds_per_s: 1000.0, fails_per_s: 1020.0 });
    let searched = Searched { stages, found, interrupted: false, gone: None };
    let search = experiments::search("p99<20ms,errors<0.1%");
    serde_json::from_str(&super::search(&search, &searched)).unwrap()
}

#[test]
fn the_published_schema_describes_it() {
    let text = ablaze_testing::repository::file("docs/experiment.schema.json");
    let schema: Value = serde_json::from_str(&text).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let mut strict = schema.clone();
    // What was asked for has the form of the file in the folder.
    let definitions = strict["$defs"].as_object_mut().unwrap();
    let asked = |name: &str| name == "experiment" || name == "searched_for";
    definitions.iter_mut().filter(|(name, _)| !asked(name)).for_each(|(_, value)| close(value));
    let parts = serde_json::json!({"parts": [{"part": "one", "result": comparison()}]});
    for value in [comparison(), sweep(), search(), parts] {
        for schema in [&schema, &strict] {
            let validator = jsonschema::validator_for(schema).unwrap();
            let errors: Vec<String> =
                validator.iter_errors(&value).map(|error| error.to_string()).collect();
            assert_eq!(errors, Vec::<String>::new(), "{value:#}");
        }
    }
}

#[test]
fn findings_have_their_sentences() {
    let (comparison, sweep, search) = (comparison(), sweep(), search());
    for found in [
        &comparison["findings"][0],
        &comparison["trials"][0]["findings"][0],
        &sweep["findings"][0],
        &sweep["trials"][3]["findings"][0],
        &search["stages"][0]["findings"][0],
    ] {
        assert_eq!((&found["id"], &found["severity"]), (&"D02".into(), &"invalid".into()));
        assert_eq!(found["evidence"], "None of 40.");
        assert_eq!(found["cause"], "The process \u{202e}tac was busy.");
        assert_eq!((&found["fix"], &found["explained_by"]), (&"Start it.".into(), &Value::Null));
    }
    assert_eq!(search["stages"][1]["findings"], Value::Null);
    // As text it reorders no line.
    let (experiment, results, judged) = experiment(&[10]);
    let curves = Curve::all(&experiment, &results, Pick::Median);
    let text = super::sweep(&experiment, &results, &curves, &judged);
    assert!(text.contains("\\u202e") && !text.contains('\u{202e}'));
}

#[test]
fn a_stage_has_its_figures_as_numbers_and_names_its_run() {
    let search = search();
    let stage = &search["stages"][0];
    assert_eq!(
        stage["values"],
        serde_json::json!({"p99_ns": 18_234_567.0, "errors_percent": null})
    );
    assert_eq!(stage["run"], "01-1000.json");
    assert_eq!(search["stages"][1]["values"], Value::Null);
}

#[test]
fn a_sweep_has_its_verdict() {
    assert_eq!(sweep()["verdict"], "INVALID");
}
