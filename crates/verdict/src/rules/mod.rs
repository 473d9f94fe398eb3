//! The rules: one file per diagnosis, each a pure function from what a report says to a finding.
//! [`judge`] applies them to everything in a text.

mod aborted;
mod arithmetic;
mod comparison;
mod curve;

mod d01_concurrency_not_reached;
mod d02_no_response;
mod d03_echoed_request;
mod d04_error_pages;
mod d05_unequal_comparison;
mod d06_too_coarse;
mod d07_global_stall;
mod d08_connection_attempts_lost;
mod d09_retransmission;
mod d14_too_short;
mod d15_noise;
mod d16_impossible_speed_up;
mod d17_cliff;
mod d18_connections_cut;
mod d19_keep_alive_refused;
mod d25_path_not_exercised;
mod d31_units;
mod d32_counter_wrapped;
mod d36_not_from_that_command;
mod d37_lengths_differ;
mod d39_bound_by_the_round_trip;
mod differences;
mod work;

#[cfg(test)]
mod sample;

pub use comparison::{Comparison, Member, counts_runs, members};
pub(crate) use curve::of_members as curves_of;
pub(crate) use d05_unequal_comparison::at_some_level as unequal_at_some_level;
pub use d05_unequal_comparison::is_equal_work;
pub(crate) use d15_noise::of_points as noise_of_points;
pub use d36_not_from_that_command::of_run as not_from_its_command;
pub(crate) use d39_bound_by_the_round_trip::{
    is_server_at_work, of_curves as bound_by_the_round_trip,
};
pub use differences::{Difference, between as differences};
pub use work::{Answers, Circumstances, Server, Work};

use crate::DiagnosisId;
use crate::finding::{Finding, Verdict, settled};
use crate::printed::{Abort, Command, Curve, Report, Sweep, Text};
use crate::several::{self, Several};

/// A rule on one report.
type Rule = fn(&Report) -> Option<Finding>;

const RULES: [Rule; 15] = [
    d01_concurrency_not_reached::check,
    d02_no_response::check,
    d03_echoed_request::check,
    d04_error_pages::check,
    d06_too_coarse::check,
    d07_global_stall::check,
    d08_connection_attempts_lost::check,
    d09_retransmission::check,
    d14_too_short::check,
    d18_connections_cut::check,
    d19_keep_alive_refused::check,
    d31_units::check,
    d32_counter_wrapped::check,
    d36_not_from_that_command::check,
    d37_lengths_differ::check,
];

/// What was judged, with what was found against it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged<T> {
    /// What was judged.
    pub subject: T,
    /// The gravest first.
    pub findings: Vec<Finding>,
}

impl<T> Judged<T> {
    pub(crate) fn new(subject: T, findings: Vec<Finding>) -> Self {
        Self { subject, findings: settled(findings) }
    }

    /// The worst root finding.
    pub fn verdict(&self) -> Verdict {
        Verdict::of(&self.findings)
    }
}

/// Everything that can be said of a text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Judgement {
    /// Each report for itself.
    pub reports: Vec<Judged<Report>>,
    /// Runs that ended without a report.
    pub aborts: Vec<Judged<Abort>>,
    /// Rates that stand beside each other.
    pub comparisons: Vec<Judged<Comparison>>,
    /// Rates over concurrency.
    pub sweeps: Vec<Judged<Sweep>>,
    /// Commands, in a text that has no figures.
    pub commands: Vec<Judged<Command>>,
}

impl Judgement {
    /// Nothing was found to judge.
    pub fn is_empty(&self) -> bool {
        self.reports.is_empty()
            && self.aborts.is_empty()
            && self.comparisons.is_empty()
            && self.sweeps.is_empty()
            && self.commands.is_empty()
    }
}

/// Judges one report by itself.
pub fn report(report: &Report) -> Vec<Finding> {
    settled(RULES.iter().filter_map(|rule| rule(report)).collect())
}

/// Judges everything in a text: each report, and what stands beside it.
pub fn judge(text: &Text) -> Judgement {
    let mut judgement = each(text);
    let line = text.reports.first().map_or(1, |report| report.line);
    match several::beside_each_other(members(text, 1), text.best_of_line) {
        Some(Several::Comparison(comparison)) => judgement.comparisons.insert(0, comparison),
        Some(Several::Curves(curves)) => {
            let subject = Sweep { line, curves: curves.subject };
            judgement.sweeps.push(Judged { subject, findings: curves.findings });
        }
        None => {}
    }
    if judgement.is_empty() {
        judgement.commands = text
            .commands
            .iter()
            .map(|command| Judged::new(command.clone(), command_findings(command, text)))
            .collect();
    }
    judgement
}

/// Judges everything in a text but what its reports say beside each other.
pub fn each(text: &Text) -> Judgement {
    let judged = |one: &Report| Judged { findings: report(one), subject: one.clone() };
    let compared = comparison::of_lone_rates(text).into_iter();
    let sweeps = text.sweeps.iter().map(|sweep| {
        let requests = curve::requests_per_point(sweep, &text.commands);
        let mut findings = curve_findings(&sweep.curves, |_, _| Vec::new());
        findings.extend(d14_too_short::of_curves(&sweep.curves, requests));
        findings.extend(d15_noise::of_single_points(&sweep.curves, text.best_of_line));
        findings.extend(bound_by_the_round_trip(&sweep.curves));
        Judged::new(sweep.clone(), findings)
    });
    Judgement {
        reports: text.reports.iter().map(judged).collect(),
        aborts: text.aborts.iter().map(aborted_run).collect(),
        comparisons: compared
            .map(|comparison| {
                let findings = comparison_findings(&comparison, text.best_of_line);
                Judged::new(comparison, findings)
            })
            .collect(),
        sweeps: sweeps.collect(),
        commands: Vec::new(),
    }
}

fn aborted_run(abort: &Abort) -> Judged<Abort> {
    Judged::new(abort.clone(), vec![aborted::check(abort)])
}

/// The rules on rates beside each other.
pub(crate) fn comparison_findings(
    comparison: &Comparison,
    best_of_line: Option<usize>,
) -> Vec<Finding> {
    let found = [
        d05_unequal_comparison::check(comparison),
        d14_too_short::one_connection(comparison),
        d15_noise::of_comparison(comparison, best_of_line),
        d25_path_not_exercised::check(comparison),
        d39_bound_by_the_round_trip::of_comparison(comparison),
    ];
    found.into_iter().flatten().collect()
}

/// The rules on the shape of curves.
pub(crate) fn curve_findings(
    curves: &[Curve],
    found: impl Fn(&Curve, u64) -> Vec<DiagnosisId>,
) -> Vec<Finding> {
    let found = [d16_impossible_speed_up::check(curves), d17_cliff::check(curves, found)];
    found.into_iter().flatten().collect()
}

fn command_findings(command: &Command, text: &Text) -> Vec<Finding> {
    let found =
        [d14_too_short::of_command(command), d15_noise::of_command(command, text.best_of_line)];
    found.into_iter().flatten().collect()
}
