//! D39: with one request in flight and nothing at its limit, the rate is that of the way there and
//! back, and no server's capacity.
//! Beside each other: with one client, different targets show the same rate, and none of them works
//! long enough to be told apart.

use ablaze_model::Run;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D39;
use crate::finding::{Finding, Severity};
use crate::limit::{self, Limit};
use crate::live::figures::asked_in_flight;
use crate::live::options::{Opt, spelled};
use crate::rules::comparison::{Comparison, Member};
use crate::rules::curve::{Curves, spread};
use crate::words::{counted, listed, percent, rate, time};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D39,
    shown_by: ShownBy::Text,
    severities: &[Severity::Note],
    explained_by: &[],
    forms: Forms {
        run: Some(OnRun { check: on_run, seen }),
        comparison: Some(on_comparison),
        curves: Some(on_curves),
        ..Forms::NONE
    },
};

/// Rates no further apart are the same.
const SAME: f64 = 0.03;
/// Share of a core from which on a server is at work most of the time.
const AT_WORK: f64 = 0.5;

fn on_run(run: &Run) -> Option<Finding> {
    let limited = limit::of(run);
    let waited = matches!(limited.by, Limit::RoundTrip | Limit::ResponseTime);
    if asked_in_flight(run) != Some(1) || !waited {
        return None;
    }
    Some(Finding::new(
        D39,
        Severity::Note,
        format!("With c = 1, {}.", limited.evidence),
        "One request at a time measures how long a single response takes, the round trip and \
         wake-ups included: c = 1 compares that, not capacity.",
        format!(
            "To measure capacity, use 10 connections, 100 and more ({}) until the rate no longer grows; c = 1 only shows the \
             shortest time a response can take.",
            spelled(run, Opt::Connections)
        ),
    ))
}

fn seen(run: &Run) -> Option<String> {
    let requests = asked_in_flight(run)?;
    Some(format!("{} in flight; {}.", counted(requests, "request"), limit::of(run)))
}

fn on_curves(shown: &Curves<'_>) -> Option<Finding> {
    let mut members = shown.members.iter().filter(|member| member.concurrency == Some(1));
    if members.any(is_server_at_work) {
        return None;
    }
    let at_one = shown.curves.iter().filter_map(|curve| curve.points.first());
    finding(&at_one.filter(|(c, _)| *c == 1).map(|(_, rate)| *rate).collect::<Vec<_>>())
}

fn on_comparison(comparison: &Comparison, _: Option<usize>) -> Option<Finding> {
    let one = comparison
        .members
        .iter()
        .all(|member| member.concurrency == Some(1) && !is_server_at_work(member));
    let rates: Vec<f64> = comparison.members.iter().map(|member| member.rate_per_s).collect();
    let first = comparison.members.first()?;
    let several = comparison.members.iter().any(|member| member.identity != first.identity);
    (one && several).then(|| finding(&rates)).flatten()
}

/// A server that is busy for half of the time or more is measured, also by one client.
fn is_server_at_work(member: &Member) -> bool {
    let server = member.work.as_ref().and_then(|work| work.server());
    server.is_some_and(|server| server.busiest >= AT_WORK)
}

fn finding(rates: &[f64]) -> Option<Finding> {
    let apart = spread(rates).filter(|apart| rates.len() > 1 && *apart < SAME)?;
    let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let evidence = format!(
        "At c = 1 all are within {}: {}/s, {} per request.",
        percent(apart),
        listed(rates.iter().map(|per_s| rate(*per_s))),
        time(1e3 / slowest)
    );
    Some(Finding::new(
        D39,
        Severity::Note,
        evidence,
        "One request at a time measures how long a single response takes, the round trip and wake-ups included: rates that \
         are close at c = 1 say nothing of how many each target could serve.",
        "Do not compare targets at c = 1; take the rates from where they no longer grow.",
    ))
}

#[cfg(test)]
mod tests_on_runs {
    use super::*;
    use crate::live::sample;
    use ablaze_model::plan::Load;

    #[test]
    fn one_in_flight_and_nothing_full_is_the_round_trip() {
        let mut run = sample::with_shares(0.4, 0.3);
        assert_eq!(on_run(&run), None, "100 in flight");
        assert!(
            seen(&run).unwrap().starts_with("100 requests in flight; limited by the response time")
        );
        run.plan.load = Load::Closed { connections: 1, pipeline: 1 };
        let finding = on_run(&run).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        assert!(
            finding.evidence.starts_with("With c = 1, the one request"),
            "{}",
            finding.evidence
        );
        run.plan.load = Load::Closed { connections: 1, pipeline: 4 };
        assert_eq!(on_run(&run), None);
        // The server is what takes the time.
        let mut full = sample::run();
        full.plan.load = Load::Closed { connections: 1, pipeline: 1 };
        assert_eq!(on_run(&full), None);
    }
}

#[cfg(test)]
mod tests_beside_each_other {
    use super::*;
    use crate::printed::Curve;

    #[test]
    fn the_same_rate_at_one_client_says_nothing() {
        let sweep = |first: u64, rates: &[f64]| {
            let curve = |rate: &f64| Curve { name: "x".into(), points: vec![(first, *rate)] };
            let curves: Vec<Curve> = rates.iter().map(curve).collect();
            on_curves(&Curves::of_table(&curves, None, None))
        };
        // 14,123 / 13,749 = 1.0272; 1 / 13,749 s = 72.7 µs.
        let evidence = sweep(1, &[13_749.0, 14_046.0, 14_123.0]).unwrap().evidence;
        assert!(evidence.contains("2.7 %") && evidence.contains("72.7 µs"), "{evidence}");
        assert_eq!(sweep(1, &[7105.0, 9171.0]), None);
        assert_eq!(sweep(1, &[7105.0]), None);
        assert_eq!(sweep(2, &[100.0, 100.0]), None);
    }
}
