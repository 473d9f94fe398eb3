//! D21: this process, or the one that served, could open no more descriptors.

use ablaze_engine::{FailureKind, Run};

use super::Rule;
use super::figures::{target, witness};
use crate::DiagnosisId::D21;
use crate::finding::{Finding, Severity};
use crate::words::{counted, grouped, percent};

/// From this share of the requests on the number is that of the shortage.
const MOST: f64 = 0.5;

pub const RULE: Rule = Rule { id: D21, check, seen };

fn check(run: &Run) -> Option<Finding> {
    let failed = run.record.failures_of(FailureKind::LocalDescriptors);
    if failed == 0 {
        return server_is_full(run);
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

/// The server has all the descriptors that it may have: whoever came later was not accepted.
fn server_is_full(run: &Run) -> Option<Finding> {
    let target = target(run)?;
    let (process, limit) = target.processes.iter().find_map(|process| {
        let limit = process.serving.as_ref()?.descriptor_limit?;
        (process.descriptors?.max >= limit).then_some((process, limit))
    })?;
    let waiting = target.listener.as_ref().and_then(|listener| listener.longest_queue);
    let waiting = waiting.map_or(String::new(), |waiting| {
        format!(" Up to {} waited to be accepted.", counted(waiting, "connection"))
    });
    Some(Finding::new(
        D21,
        Severity::Suspect,
        format!(
            "The server ({}, process {}) had all the {} descriptors open that it may have.{waiting}",
            process.name,
            process.pid,
            grouped(limit)
        ),
        "Each connection needs a descriptor, and the limit on the server's is too low: connections \
         beyond it stand, and nobody answers them.",
        "Raise the limit before the server starts (`ulimit -n`, or LimitNOFILE= of its service), or \
         lower -c.",
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
    use ablaze_sys::witness::{Range, Serving};

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

    #[test]
    fn a_server_with_all_its_descriptors_open_is_found() {
        let mut run = sample::run();
        let mut with = |max| {
            let process = &mut sample::witness(&mut run).target.processes[0];
            process.descriptors = Some(Range { min: 8, max, last: max });
            process.serving = Some(Serving { descriptor_limit: Some(64), ..Serving::default() });
            check(&run)
        };
        assert_eq!(with(63), None);
        let finding = with(64).unwrap();
        assert!(finding.evidence.contains("had all the 64 descriptors"), "{}", finding.evidence);
        assert!(finding.evidence.contains("Up to 3 connections waited"), "{}", finding.evidence);
    }
}
