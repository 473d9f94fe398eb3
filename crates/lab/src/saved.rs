//! Runs that were saved before, as targets of a comparison: nothing is run for them. Such runs are
//! pairs only where they were taken in turns; else what lies between them in time may be what makes
//! the difference, and no interval can know.

use std::path::Path;

use ablaze_model::Run;
use ablaze_model::experiment::{Experiment, Figures, Results};
use ablaze_report::json;
use ablaze_report::number::counted;
use ablaze_report::system_error::reason;
use ablaze_verdict::several::Several;
use ablaze_verdict::{DiagnosisId, Finding, Severity, Verdict};

const LATER: &str = "Software, other processes or temperature may have changed in between and may \
                     explain a difference.";
const FIX: &str = "Measure both again, interleaved: `ablaze compare` with the targets \
                      themselves, ten runs of each.";

/// Reads a saved run.
///
/// # Errors
/// Why it cannot be compared, with the file's name and the fix.
pub fn read(file: &Path) -> Result<Run, String> {
    let name = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("cannot read `{name}`: {}", reason(&error)))?;
    let run = json::load(&text).map_err(|error| format!("`{name}`: {error}"))?.run;
    match run.record.responses {
        0 => Err(format!("`{name}` contains no response: there is nothing to compare")),
        _ => Ok(run),
    }
}

/// Whether two files hold one and the same run: it began at the same nanosecond, took as long, and counted the same.
pub fn are_one(one: &Run, other: &Run) -> bool {
    let is = |run: &Run| {
        let (record, latency) = (&run.record, run.record.answered.latency());
        let times = (latency.count(), latency.max_ns(), latency.quantile_ns(0.5));
        (run.started_unix_ns, run.elapsed_ns, record.responses, record.received_bytes, times)
    };
    is(one) == is(other)
}

/// What saved runs leave of a comparison's verdict.
pub(crate) fn doubt(experiment: &Experiment, results: &Results) -> Verdict {
    match not_in_turns(experiment, results).is_empty() {
        true => Verdict::Valid,
        false => Verdict::Suspect,
    }
}

/// Targets against the one that they are compared with, which have no pairs: each with the finding's sentence.
fn not_in_turns(experiment: &Experiment, results: &Results) -> Vec<String> {
    let control = experiment.control();
    let apart = |target: usize| {
        let (ones, others) = (results.of(target, 0), results.of(control, 0));
        if ones.is_empty() || others.is_empty() {
            return None;
        }
        match results.paired(experiment, 0, (target, control)) {
            Some(_) => None,
            None => Some(sentence(experiment, (target, &ones), (control, &others))),
        }
    };
    (0..experiment.targets.len()).filter(|target| *target != control).filter_map(apart).collect()
}

/// `` `after` was measured 3 days after `before`; one run each: no interval. ``
fn sentence(
    experiment: &Experiment,
    (one, ones): (usize, &[&Figures]),
    (other, others): (usize, &[&Figures]),
) -> String {
    let name = |target: usize| experiment.targets[target].name.as_str();
    let span = |runs: &[&Figures]| {
        let began = || runs.iter().map(|run| run.started_unix_ns);
        (began().min().unwrap_or(0), began().max().unwrap_or(0))
    };
    let (a, b) = (span(ones), span(others));
    let when = if a.1 < b.0 {
        format!("{} before", in_words(b.0 - a.1))
    } else if b.1 < a.0 {
        format!("{} after", in_words(a.0 - b.1))
    } else {
        "at other times than".to_owned()
    };
    let runs = match (ones.len(), others.len()) {
        (1, 1) => "; one run each".to_owned(),
        (n, m) => format!(", not interleaved; {} against {m}, unpaired", counted(n as u64, "run")),
    };
    format!("`{}` was measured {when} `{}`{runs}: no interval.", name(one), name(other))
}

fn in_words(ns: u64) -> String {
    match ns / 1_000_000_000 {
        0 => "less than a second".to_owned(),
        seconds @ 0..120 => counted(seconds, "second"),
        seconds @ 120..7200 => counted(seconds / 60, "minute"),
        seconds @ 7200..172_800 => counted(seconds / 3600, "hour"),
        seconds => counted(seconds / 86_400, "day"),
    }
}

/// Says of runs that were taken at different times that they were, in the place of what is said of
/// few runs that were not.
pub(crate) fn add_doubt(experiment: &Experiment, results: &Results, several: &mut Several) {
    let evidence = not_in_turns(experiment, results);
    if evidence.is_empty() {
        return;
    }
    let findings = several.findings_mut();
    findings.retain(|finding| finding.id != DiagnosisId::D15);
    let evidence = evidence.join("\n");
    findings.push(Finding::new(DiagnosisId::D15, Severity::Suspect, evidence, LATER, FIX));
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Answer, Check};
    use ablaze_model::experiment::{Outcome, Trial};
    use ablaze_model::spec::TargetSpec;
    use ablaze_report::experiment::comparison::{Comparison, NoInterval};
    use ablaze_testing::experiments;

    const HOUR: u64 = 3_600_000_000_000;

    /// Two targets of saved runs that began at these times; the second's rate is half the first's.
    fn results(ones: &[u64], others: &[u64]) -> (Experiment, Results) {
        let mut experiment = experiments::experiment();
        let mut results = Results::default();
        for (target, times) in [(0, ones), (1, others)] {
            experiment.targets[target].source =
                TargetSpec::Saved(vec!["x.json".into(); times.len()]);
            for (repeat, began) in times.iter().enumerate() {
                let mut figures = experiments::figures(10_000.0 / (target + 1) as f64);
                figures.started_unix_ns = *began;
                let trial = Trial { repeat: repeat as u32, load: 0, target };
                results.trials.push((trial, Outcome::Measured(Box::new(figures))));
            }
        }
        (experiment, results)
    }

    #[test]
    fn runs_of_two_days_are_no_pairs() {
        let (experiment, results) = results(&[HOUR], &[49 * HOUR]);
        let comparison = Comparison::of(&experiment, &results, 0, 1);
        assert_eq!(doubt(&experiment, &results), Verdict::Suspect);
        let rate = &comparison.against[0].metrics[1];
        let why = NoInterval::NotInTurns { plain: Some(2.0), one_each: true };
        assert_eq!(rate.ratio, Err(why));
        assert_eq!(
            not_in_turns(&experiment, &results),
            ["`other` was measured 2 days after `one`; one run each: no interval."]
        );
        // Ten of each, but one after the other.
        let first: Vec<u64> = (0..10).collect();
        let then: Vec<u64> = (10..20).collect();
        let (experiment, results) = self::results(&first, &then);
        assert!(results.paired(&experiment, 0, (0, 1)).is_none());
        let said = not_in_turns(&experiment, &results).remove(0);
        assert!(said.contains("not interleaved; 10 runs against 10"), "{said}");
    }

    #[test]
    fn runs_that_were_taken_in_turns_are_pairs() {
        // As in an experiment: within each repeat in either order.
        let (experiment, results) = results(&[0, 30, 40, 70, 80, 110], &[10, 20, 50, 60, 90, 100]);
        let comparison = Comparison::of(&experiment, &results, 0, 1);
        assert_eq!(doubt(&experiment, &results), Verdict::Valid);
        let ratio = comparison.against[0].metrics[1].ratio.unwrap();
        assert_eq!((ratio.pairs, (ratio.ratio * 1000.0).round()), (6, 2000.0));
        assert!(not_in_turns(&experiment, &results).is_empty());
    }

    #[test]
    fn a_condition_goes_by_the_plain_ratio_and_says_so() {
        let (experiment, results) = results(&[HOUR], &[2 * HOUR]);
        let judge = |text: &str| {
            let check: Check = text.parse().unwrap();
            check.judge(&experiment, &results, &[]).remove(0)
        };
        let met = judge("one / other rate > 1.5");
        assert_eq!(met.answer, Answer::Met);
        assert!(
            met.text.ends_with("it was 2.00, without an interval: there is one run of each"),
            "{met:?}"
        );
        assert_eq!(judge("one / other rate < 1.5").answer, Answer::NotMet);
    }
}
