//! D14: a run too short, or with too few requests per connection, to have left its beginning
//! behind.

use super::Comparison;
use super::arithmetic::concurrency_missed;
use crate::DiagnosisId::D14;
use crate::finding::{Finding, Severity};
use crate::printed::{Command, Curve, Program, Report, Tool};
use crate::words::{amount, counted, decimal, grouped, listed};

/// Runs shorter than this are noted, and than this suspected, in seconds.
const SHORT_S: f64 = 5.0;
const TOO_SHORT_S: f64 = 1.0;
/// The same for requests per connection slot.
const FEW: f64 = 100.0;
const TOO_FEW: f64 = 10.0;

const CAUSE: &str = "Opening connections, filling caches and finding a steady state take their share of a \
                     short run, and one disturbance weighs as much as a change worth finding.";
const REMEDY: &str = "Let it run for 10 s or more, with 100 requests or more for each connection";

/// How to ask this tool for a longer run.
fn remedy(tool: Option<Tool>) -> String {
    let how = match tool {
        Some(Tool::Ab | Tool::AblazeAb) => {
            " (-t 10 -n 1000000, in this order: -t alone stops at 50,000 requests)"
        }
        Some(Tool::Gurl | Tool::AblazeGurl) => " (-duration 10s)",
        Some(Tool::Ablaze) => " (-d 10s --warmup 1s)",
        None => "",
    };
    format!("{REMEDY}{how}.")
}

pub fn check(report: &Report) -> Option<Finding> {
    let complete = report.complete.filter(|complete| *complete > 0)?;
    let taken_s = report.taken_s.map(|taken| taken.value);
    let mut severity = None;
    let mut evidence = Vec::new();
    if let Some(taken_s) = taken_s.filter(|taken_s| *taken_s < SHORT_S) {
        severity = severity.max(Some(gravity(taken_s < TOO_SHORT_S)));
        evidence.push(format!("The run took {} s.", decimal(taken_s, 3)));
    }
    let asked = report.concurrency.filter(|_| !concurrency_missed(report)).unwrap_or(1);
    let each = complete as f64 / asked.max(1) as f64;
    if asked > 1 && each < FEW {
        severity = severity.max(Some(gravity(each < TOO_FEW)));
        evidence.push(per_connection(complete, asked));
    }
    Some(Finding::new(D14, severity?, evidence.join(" "), CAUSE, remedy(Some(report.tool))))
}

fn gravity(too_much: bool) -> Severity {
    if too_much { Severity::Suspect } else { Severity::Note }
}

fn per_connection(requests: u64, asked: u64) -> String {
    format!(
        "{} by {} make {} for each connection.",
        counted(requests, "request"),
        counted(asked, "connection"),
        amount(requests as f64 / asked as f64)
    )
}

/// A comparison of runs over one kept connection each: a sample of one.
pub fn one_connection(comparison: &Comparison) -> Option<Finding> {
    let one = |concurrency: Option<u64>| concurrency == Some(1);
    if comparison.members.is_empty() || !comparison.members.iter().all(|m| one(m.concurrency)) {
        return None;
    }
    let requests = comparison.members.iter().find_map(|member| member.requests);
    let requests = requests.map_or(String::new(), |requests| {
        format!(", {} one after another", counted(requests, "request"))
    });
    Some(Finding::new(
        D14,
        Severity::Note,
        format!("Each rate was measured over one connection{requests}."),
        "However many the requests, this is a sample of one connection and one order of events: \
         whatever that connection met is in all of them, and nothing ran beside it.",
        "Repeat the runs, and measure with 10 and with 100 connections as well (ab: -c 100).",
    ))
}

fn of_program(program: Program) -> Option<Tool> {
    Some(match program {
        Program::Ab => Tool::Ab,
        Program::Gurl => Tool::Gurl,
        Program::Ablaze => Tool::Ablaze,
    })
}

/// A command whose report is not there.
pub fn of_command(command: &Command) -> Option<Finding> {
    let asked = command.concurrency.1;
    let requests = command.requests.filter(|_| !command.timed)?;
    let each = requests as f64 / asked.max(1) as f64;
    if asked <= 1 || each >= FEW {
        return None;
    }
    let evidence = per_connection(requests, asked);
    Some(Finding::new(
        D14,
        gravity(each < TOO_FEW),
        evidence,
        CAUSE,
        remedy(of_program(command.program)),
    ))
}

/// A table of rates, each from so many requests.
pub fn of_curves(curves: &[Curve], requests: Option<u64>) -> Option<Finding> {
    let requests = requests?;
    let points = curves.iter().flat_map(|curve| {
        curve
            .points
            .iter()
            .map(|(asked, rate)| (curve.name.as_str(), *asked, requests as f64 / rate))
    });
    let short: Vec<(&str, u64, f64)> = points.filter(|(_, _, s)| *s < SHORT_S).collect();
    let mut evidence = Vec::new();
    let mut severity = None;
    if let Some((name, asked, least_s)) = short.iter().min_by(|a, b| a.2.total_cmp(&b.2)).copied() {
        severity = Some(gravity(least_s < TOO_SHORT_S));
        evidence.push(format!(
            "{} per point last under {SHORT_S} s at {}; the shortest, {name} at c = {}, lasted {} s.",
            counted(requests, "request"),
            where_short(curves, &short),
            grouped(asked),
            amount(least_s)
        ));
    }
    let levels = curves.iter().flat_map(|curve| curve.points.iter().map(|(asked, _)| *asked));
    let few = |asked: &u64| (requests as f64 / *asked as f64) < FEW;
    let (first, last) = (levels.clone().filter(few).min(), levels.max());
    if let (Some(first), Some(last)) = (first, last) {
        let each = requests as f64 / last as f64;
        severity = severity.max(Some(gravity(each < TOO_FEW)));
        evidence.push(format!(
            "From c = {} on, fewer than 100 requests fall to each connection: {} at c = {}.",
            grouped(first),
            amount(each),
            grouped(last)
        ));
    }
    Some(Finding::new(D14, severity?, evidence.join(" "), CAUSE, remedy(None)))
}

/// The concurrencies at which every curve is short, in words.
fn where_short(curves: &[Curve], short: &[(&str, u64, f64)]) -> String {
    let mut levels: Vec<u64> =
        curves.iter().flat_map(|curve| curve.points.iter().map(|(asked, _)| *asked)).collect();
    levels.sort_unstable();
    levels.dedup();
    let all_short = |level: &u64| {
        let having = curves.iter().filter(|c| c.points.iter().any(|(asked, _)| asked == level));
        short.iter().filter(|(_, asked, _)| asked == level).count() == having.count()
    };
    let from = levels.iter().rposition(|level| !all_short(level)).map_or(0, |at| at + 1);
    match levels.get(from) {
        Some(_) if from == 0 => "every concurrency".to_owned(),
        Some(level) => format!("every c ≥ {}", grouped(*level)),
        None => {
            let mut some: Vec<u64> = short.iter().map(|(_, asked, _)| *asked).collect();
            some.sort_unstable();
            some.dedup();
            format!("c = {}", listed(some))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::sample;

    fn with(taken_s: f64, complete: u64) -> Option<Severity> {
        let mut report = sample::ab();
        report.taken_s = Some(sample::printed(taken_s, 0.001));
        report.complete = Some(complete);
        report.rate_per_s = None;
        report.total = None;
        check(&report).map(|finding| finding.severity)
    }

    #[test]
    fn seconds_and_requests_per_connection_decide() {
        assert_eq!(with(5.0, 1_000_000), None);
        assert_eq!(with(4.999, 1_000_000), Some(Severity::Note));
        assert_eq!(with(0.999, 1_000_000), Some(Severity::Suspect));
        // 200 connections.
        assert_eq!(with(60.0, 20_000), None);
        assert_eq!(with(60.0, 19_999), Some(Severity::Note));
        assert_eq!(with(60.0, 2000), Some(Severity::Note));
        assert_eq!(with(60.0, 1999), Some(Severity::Suspect));
    }

    #[test]
    fn a_table_says_from_where_on() {
        let curve = |name: &str, rates: [f64; 3]| Curve {
            name: name.into(),
            points: [1, 10, 1000].into_iter().zip(rates).collect(),
        };
        let curves =
            vec![curve("a", [1000.0, 9000.0, 20_000.0]), curve("b", [900.0, 8000.0, 5000.0])];
        // 10,000 requests: 10 s, 11 s; 1.1 s, 1.25 s; 0.5 s, 2 s. 10,000 / 1000 = 10 each.
        let finding = of_curves(&curves, Some(10_000)).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        for part in
            ["every c ≥ 10", "a at c = 1,000, lasted 0.500 s", "From c = 1,000 on", ": 10.0 at"]
        {
            assert!(finding.evidence.contains(part), "{part}: {}", finding.evidence);
        }
        assert_eq!(of_curves(&curves, Some(1_000_000)), None);
        assert_eq!(of_curves(&curves, None), None);
    }
}
