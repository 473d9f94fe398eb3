//! D14: a run too short, or with too few requests per connection, to have left its beginning
//! behind.

use ablaze_engine::Run;
use ablaze_engine::plan::Load;

use super::Rule;
use super::figures::elapsed_s;
use crate::DiagnosisId::D14;
use crate::finding::{Finding, Severity};
use crate::words::{amount, counted, time};

/// Runs shorter than this are noted, and than this suspected, in seconds.
const SHORT_S: f64 = 5.0;
const TOO_SHORT_S: f64 = 1.0;
/// The same for requests per connection.
const FEW: f64 = 100.0;
const TOO_FEW: f64 = 10.0;

pub const RULE: Rule = Rule { id: D14, check, seen };

fn check(run: &Run) -> Option<Finding> {
    if run.record.answers == 0 || run.elapsed_ns == 0 {
        return None;
    }
    let length_s = elapsed_s(run);
    let mut severity = None;
    let mut evidence = Vec::new();
    if length_s < SHORT_S {
        severity = Some(gravity(length_s < TOO_SHORT_S));
        evidence.push(format!("The run took {}.", time(length_s * 1e3)));
    }
    if let Load::Closed { connections, .. } = run.plan.load {
        let each = run.record.finished() as f64 / f64::from(connections);
        if each < FEW {
            severity = severity.max(Some(gravity(each < TOO_FEW)));
            evidence.push(format!(
                "{} requests per connection, with {}.",
                amount(each),
                counted(connections.into(), "connection")
            ));
        }
    }
    Some(Finding::new(
        D14,
        severity?,
        evidence.join(" "),
        "Opening connections, filling caches and finding a steady state take their share of a short \
         run, and one disturbance weighs as much as a change worth finding.",
        "Let it run for 10 s or more, with 100 requests or more for each connection.",
    ))
}

fn seen(run: &Run) -> Option<String> {
    let length = time(elapsed_s(run) * 1e3);
    match run.plan.load {
        _ if run.record.answers == 0 => None,
        Load::Closed { connections, .. } => Some(format!(
            "The run took {length}; {} requests fell to each of {}.",
            amount(run.record.finished() as f64 / f64::from(connections)),
            counted(connections.into(), "connection")
        )),
        Load::Open { .. } => Some(format!("The run took {length}.")),
    }
}

fn gravity(too_short: bool) -> Severity {
    if too_short { Severity::Suspect } else { Severity::Note }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn seconds_and_requests_per_connection_decide() {
        let severity = |length_ns, answers| {
            let mut run = sample::run();
            run.elapsed_ns = length_ns;
            run.record.answers = answers;
            check(&run).map(|finding| finding.severity)
        };
        assert_eq!(severity(5_000_000_000, 10_000), None);
        assert_eq!(severity(4_900_000_000, 10_000), Some(Severity::Note));
        assert_eq!(severity(990_000_000, 10_000), Some(Severity::Suspect));
        assert_eq!(severity(5_000_000_000, 9_999), Some(Severity::Note));
        assert_eq!(severity(5_000_000_000, 999), Some(Severity::Suspect));
        assert_eq!(severity(5_000_000_000, 0), None);
    }

    #[test]
    fn the_connections_of_an_open_loop_are_no_measure() {
        let mut run = sample::run();
        sample::open_loop(&mut run, 10.0);
        run.record.answers = 100;
        assert_eq!(check(&run), None);
    }
}
