//! D39: with one request in flight and nothing at its limit, the rate is that of the way there and
//! back, and no server's capacity.

use ablaze_model::Run;

use super::Rule;
use super::figures::asked_in_flight;
use crate::DiagnosisId::D39;
use crate::finding::{Finding, Severity};
use crate::limit::{self, Limit};
use crate::words::counted;

pub const RULE: Rule = Rule { id: D39, check, seen };

fn check(run: &Run) -> Option<Finding> {
    let limited = limit::of(run);
    if asked_in_flight(run) != Some(1) || limited.by != Limit::RoundTrip {
        return None;
    }
    Some(Finding::new(
        D39,
        Severity::Note,
        format!("With c = 1, {}.", limited.evidence),
        "One request at a time measures the way there and back and the waking up, which are the same \
         for most servers: c = 1 compares round-trip latency, not capacity.",
        "For the capacity give -c 10, 100 and more until the rate no longer grows; take from c = 1 only \
         the shortest time that an answer can take.",
    ))
}

fn seen(run: &Run) -> Option<String> {
    let requests = asked_in_flight(run)?;
    Some(format!("{} in flight; {}.", counted(requests, "request"), limit::of(run)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;
    use ablaze_model::plan::Load;

    #[test]
    fn one_in_flight_and_nothing_full_is_the_round_trip() {
        let mut run = sample::with_shares(0.4, 0.3);
        assert_eq!(check(&run), None, "100 in flight");
        assert!(
            seen(&run).unwrap().starts_with("100 requests in flight; limited by the round trip")
        );
        run.plan.load = Load::Closed { connections: 1, pipeline: 1 };
        let finding = check(&run).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        assert!(
            finding.evidence.starts_with("With c = 1, the one request"),
            "{}",
            finding.evidence
        );
        run.plan.load = Load::Closed { connections: 1, pipeline: 4 };
        assert_eq!(check(&run), None);
        // The server is what takes the time.
        let mut full = sample::run();
        full.plan.load = Load::Closed { connections: 1, pipeline: 1 };
        assert_eq!(check(&full), None);
    }
}
