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
mod d31_units;
mod d32_counter_wrapped;
mod d36_not_from_that_command;
mod d37_lengths_differ;
mod d39_bound_by_the_round_trip;

#[cfg(test)]
mod sample;

pub use comparison::{Comparison, Member};
pub use d36_not_from_that_command::of_run as not_from_its_command;

use crate::finding::{Finding, Verdict, settled};
use crate::printed::{Abort, Command, Report, Sweep, Text};

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
    fn new(subject: T, findings: Vec<Finding>) -> Self {
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

/// Judges everything in a text.
pub fn judge(text: &Text) -> Judgement {
    let judged = |one: &Report| Judged { findings: report(one), subject: one.clone() };
    let series = curve::of_reports(&text.reports);
    let compared = if series.is_none() { comparison::of(text) } else { Vec::new() };
    let comparisons = compared.into_iter().map(|comparison| {
        let findings = comparison_findings(&comparison, text);
        Judged::new(comparison, findings)
    });
    let tables = text.sweeps.iter().cloned().chain(series);
    let sweeps = tables.map(|sweep| {
        let findings = sweep_findings(&sweep, text);
        Judged::new(sweep, findings)
    });
    let mut judgement = Judgement {
        reports: text.reports.iter().map(judged).collect(),
        aborts: text.aborts.iter().map(aborted_run).collect(),
        comparisons: comparisons.collect(),
        sweeps: sweeps.collect(),
        commands: Vec::new(),
    };
    if judgement.is_empty() {
        judgement.commands = text
            .commands
            .iter()
            .map(|command| Judged::new(command.clone(), command_findings(command, text)))
            .collect();
    }
    judgement
}

fn aborted_run(abort: &Abort) -> Judged<Abort> {
    Judged::new(abort.clone(), vec![aborted::check(abort)])
}

fn comparison_findings(comparison: &Comparison, text: &Text) -> Vec<Finding> {
    let found = [
        d05_unequal_comparison::check(comparison),
        d14_too_short::one_connection(comparison),
        d15_noise::of_comparison(comparison, text.best_of_line),
        d39_bound_by_the_round_trip::of_comparison(comparison),
    ];
    found.into_iter().flatten().collect()
}

fn sweep_findings(sweep: &Sweep, text: &Text) -> Vec<Finding> {
    let found = [
        d14_too_short::of_sweep(sweep, curve::requests_per_point(sweep, &text.commands)),
        d15_noise::of_sweep(sweep, text.best_of_line),
        d16_impossible_speed_up::check(sweep),
        d17_cliff::check(sweep),
        d39_bound_by_the_round_trip::of_sweep(sweep),
    ];
    found.into_iter().flatten().collect()
}

fn command_findings(command: &Command, text: &Text) -> Vec<Finding> {
    let found =
        [d14_too_short::of_command(command), d15_noise::of_command(command, text.best_of_line)];
    found.into_iter().flatten().collect()
}
