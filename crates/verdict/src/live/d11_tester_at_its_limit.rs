//! D11: the tester had no time left, so the server could have done more.

use ablaze_model::Run;

use super::Rule;
use super::figures::{server, tester};
use crate::DiagnosisId::D11;
use crate::finding::{Finding, Severity};
use crate::limit::{self, Limit};
use crate::words::percent;

/// A server this busy would not have done much more.
const NEARLY: f64 = 0.85;

pub const RULE: Rule = Rule { id: D11, check, seen };

fn check(run: &Run) -> Option<Finding> {
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
            check(&sample::with_shares(server, tester)).map(|finding| finding.severity)
        };
        assert_eq!(severity(0.60, 0.90), Some(Severity::Suspect));
        assert_eq!(severity(0.86, 0.88), Some(Severity::Note));
        assert_eq!(severity(0.96, 0.97), None);
        assert_eq!(severity(0.60, 0.80), None);
        let mut unseen = sample::with_shares(0.5, 0.9);
        unseen.witness = None;
        assert_eq!(check(&unseen).unwrap().severity, Severity::Suspect);
    }
}
