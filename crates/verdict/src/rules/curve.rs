//! Rates over concurrency: the shape of one curve, and curves made of whole reports.

use std::collections::BTreeMap;

use crate::printed::{Command, Curve, Printed, Report, Sweep};

/// Fewer points show no shape.
const POINTS: usize = 3;

/// Neighbouring points of a curve.
pub fn steps(curve: &Curve) -> impl Iterator<Item = [(u64, f64); 2]> + '_ {
    curve.points.windows(2).map(|pair| [pair[0], pair[1]])
}

/// The smallest concurrency that reaches 95 % of the highest rate.
pub fn knee(curve: &Curve) -> Option<(u64, f64)> {
    let most = curve.points.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    curve.points.iter().copied().find(|(_, rate)| *rate >= 0.95 * most)
}

/// How many requests each point of a table took: what the last command above it asks for.
pub fn requests_per_point(sweep: &Sweep, commands: &[Command]) -> Option<u64> {
    let above = commands.iter().rfind(|command| command.line < sweep.line)?;
    above.requests.filter(|requests| *requests > 1 && !above.timed)
}

/// One table from reports that differ in concurrency alone, if all of them belong to it.
pub fn of_reports(reports: &[Report]) -> Option<Sweep> {
    let mut targets: BTreeMap<String, BTreeMap<u64, f64>> = BTreeMap::new();
    for report in reports {
        let server = report.server.as_deref().unwrap_or_default();
        let url = super::arithmetic::url(report).unwrap_or_default();
        let name = format!("{server} {url}").trim().to_owned();
        let (asked, rate) = (report.concurrency?, report.rate()?);
        // Twice the same concurrency is a repeat, and no curve.
        if targets.entry(name).or_default().insert(asked, rate).is_some() {
            return None;
        }
    }
    let curves: Vec<Curve> = targets
        .into_iter()
        .map(|(name, points)| Curve { name, points: points.into_iter().collect() })
        .collect();
    let enough = !curves.is_empty() && curves.iter().all(|curve| curve.points.len() >= POINTS);
    enough.then(|| Sweep { line: reports.first().map_or(1, |report| report.line), curves })
}

/// How far rates lie apart, as a share of the lowest.
pub fn spread(rates: &[f64]) -> Option<f64> {
    let least = rates.iter().copied().reduce(f64::min).filter(|least| *least > 0.0)?;
    Some(rates.iter().copied().fold(0.0, f64::max) / least - 1.0)
}

/// A rate as a table has it.
pub fn whole(rate: f64) -> String {
    crate::words::grouped(Printed { value: rate, step: 1.0 }.value.round() as u64)
}
