//! D11: the tester had no time left, so the server could have done more.

use ablaze_model::Run;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::{D11, D13, D20, D21, D23};
use crate::finding::{Finding, Severity};
use crate::limit::{self, Limit};
use crate::live::figures::{server, tester};
use crate::words::percent;

/// A server this busy would not have done much more.
const NEARLY: f64 = 0.85;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D11,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[D13, D20, D21, D23],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), ..Forms::NONE },
};

fn on_run(run: &Run) -> Option<Finding> {
    let limited = limit::of(run);
    if limited.by != Limit::Tester {
        return None;
    }
    let nearly = server(run).is_some_and(|server| server.busiest >= NEARLY);
    let severity = if nearly { Severity::Note } else { Severity::Suspect };
    Some(Finding::new(
        D11,
        severity,
        format!("Of the tester {}.", limited.evidence),
        "The tester could not ask faster: the rate is a lower bound of what the server can do, and the \
         times contain waiting in the tester.",
        "Give the tester more threads (-t) if there are processors left, or a machine of its own.",
    ))
}

fn seen(run: &Run) -> Option<String> {
    let tester = tester(run)?;
    Some(format!(
        "The tester's busiest thread worked {} of the time, {} counts as its limit.",
        percent(tester.busiest),
        percent(limit::TESTER_FULL)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn the_tester_is_accused_only_where_the_server_had_time_left() {
        let severity = |server, tester| {
            on_run(&sample::with_shares(server, tester)).map(|finding| finding.severity)
        };
        assert_eq!(severity(0.60, 0.90), Some(Severity::Suspect));
        assert_eq!(severity(0.86, 0.88), Some(Severity::Note));
        assert_eq!(severity(0.96, 0.97), None);
        assert_eq!(severity(0.60, 0.80), None);
        let mut unseen = sample::with_shares(0.5, 0.9);
        unseen.witness = None;
        assert_eq!(on_run(&unseen).unwrap().severity, Severity::Suspect);
    }
}
