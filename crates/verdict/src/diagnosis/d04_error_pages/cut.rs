//! Printed reports of which a part is there: responses that are no success, without the number of all.

use super::{MOST, SHARE, classes};
use crate::DiagnosisId::D04;
use crate::finding::{Finding, Severity};
use crate::printed::Report;
use crate::words::{counted, grouped, percent};

/// Such responses, what share they may be of.
pub fn found(report: &Report, others: u64) -> Option<Finding> {
    if others == 0 {
        return None;
    }
    let which = classes::which(report);
    let had = format!("{} had a status other than 2xx{which}", counted(others, "response"));
    let all = match (report.rate_per_s, report.taken_s) {
        (Some(rate), Some(taken)) => Some(rate.high() * taken.high()).filter(|all| *all >= 1.0),
        _ => None,
    };
    let share = all.map(|all| (others as f64 / all).min(1.0));
    if share.is_some_and(|share| share <= SHARE) {
        return None;
    }
    let evidence = match (all, share) {
        (Some(all), Some(share)) => format!(
            "{had}. By rate and length there were about {} in all: {}.",
            grouped(all.floor() as u64),
            percent(share)
        ),
        _ => format!("{had}; how many responses there were in all is not in the text."),
    };
    let severity = match share {
        Some(share) if share >= MOST => Severity::Invalid,
        _ => Severity::Suspect,
    };
    let cause = "Load generators count such responses as complete, not as failed: the rate is that of other work than the \
                 intended page by as much as their share.";
    Some(Finding::new(D04, severity, evidence, cause, super::fix(report)))
}
