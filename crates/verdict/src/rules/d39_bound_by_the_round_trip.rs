//! D39: with one client, different targets show the same rate: the round trip takes the time, and
//! none of them works long enough to be told apart.

use super::comparison::{Comparison, Member};
use super::curve::{spread, whole};
use crate::DiagnosisId::D39;
use crate::finding::{Finding, Severity};
use crate::printed::Curve;
use crate::words::{listed, percent, time};

/// Rates no further apart are the same.
const SAME: f64 = 0.03;
/// Share of a core from which on a server is at work most of the time.
const AT_WORK: f64 = 0.5;

pub fn of_curves(curves: &[Curve]) -> Option<Finding> {
    let at_one = curves.iter().filter_map(|curve| curve.points.first());
    finding(&at_one.filter(|(c, _)| *c == 1).map(|(_, rate)| *rate).collect::<Vec<_>>())
}

pub fn of_comparison(comparison: &Comparison) -> Option<Finding> {
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
pub fn is_server_at_work(member: &Member) -> bool {
    let server = member.work.as_ref().and_then(|work| work.server());
    server.is_some_and(|server| server.busiest >= AT_WORK)
}

fn finding(rates: &[f64]) -> Option<Finding> {
    let apart = spread(rates).filter(|apart| rates.len() > 1 && *apart < SAME)?;
    let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let evidence = format!(
        "At c = 1 all lie within {}: {}/s, {} per request.",
        percent(apart),
        listed(rates.iter().map(|rate| whole(*rate))),
        time(1e3 / slowest)
    );
    Some(Finding::new(
        D39,
        Severity::Note,
        evidence,
        "One request at a time measures the way there and back and the waking up, which is the same \
         for all; the targets are idle most of the time.",
        "Do not compare targets at c = 1; take the rates from where they no longer grow.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_rate_at_one_client_says_nothing() {
        let sweep = |first: u64, rates: &[f64]| {
            let curve = |rate: &f64| Curve { name: "x".into(), points: vec![(first, *rate)] };
            of_curves(&rates.iter().map(curve).collect::<Vec<_>>())
        };
        // 14,123 / 13,749 = 1.0272; 1 / 13,749 s = 72.7 µs.
        let evidence = sweep(1, &[13_749.0, 14_046.0, 14_123.0]).unwrap().evidence;
        assert!(evidence.contains("2.7 %") && evidence.contains("72.7 µs"), "{evidence}");
        assert_eq!(sweep(1, &[7105.0, 9171.0]), None);
        assert_eq!(sweep(1, &[7105.0]), None);
        assert_eq!(sweep(2, &[100.0, 100.0]), None);
    }
}
