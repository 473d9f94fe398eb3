//! D21: this process could open no more descriptors.

use ablaze_engine::{FailureKind, Run};

use super::Rule;
use super::figures::witness;
use crate::DiagnosisId::D21;
use crate::finding::{Finding, Severity};
use crate::words::{grouped, percent};

/// From this share of the requests on the number is that of the shortage.
const MOST: f64 = 0.5;

pub const RULE: Rule = Rule { id: D21, check, seen };

fn check(run: &Run) -> Option<Finding> {
    let failed = run.record.failures_of(FailureKind::LocalDescriptors);
    if failed == 0 {
        return None;
    }
    let share = failed as f64 / run.record.finished() as f64;
    let limit = witness(run).and_then(|witness| witness.environment.descriptors.soft);
    let more = limit.map_or(String::new(), |limit| {
        format!(" The limit was {} when the run began.", grouped(limit))
    });
    let severity = if share >= MOST { Severity::Invalid } else { Severity::Suspect };
    Some(Finding::new(
        D21,
        severity,
        format!(
            "{} connections failed because no descriptor was left: {} of all requests.{more}",
            grouped(failed),
            percent(share)
        ),
        "Each connection needs a descriptor, and the limit on them is too low.",
        "Raise the limit in the shell before the run (`ulimit -n`), or lower -c.",
    ))
}

fn seen(run: &Run) -> Option<String> {
    let limit = witness(run).and_then(|witness| witness.environment.descriptors.soft);
    let limit = limit.map_or(String::new(), |limit| {
        format!("; {} were permitted when the run began", grouped(limit))
    });
    Some(format!("No connection failed for want of a descriptor{limit}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn one_is_a_doubt_and_half_is_another_experiment() {
        let mut run = sample::run();
        assert_eq!(check(&run), None);
        let with = |run: &mut Run, number| {
            run.record.failures[FailureKind::LocalDescriptors as usize] = number;
            check(run).map(|finding| finding.severity)
        };
        assert_eq!(with(&mut run, 1), Some(Severity::Suspect));
        assert_eq!(with(&mut run, 20_000), Some(Severity::Invalid));
        assert!(check(&run).unwrap().evidence.contains("The limit was 1,024"));
    }
}
