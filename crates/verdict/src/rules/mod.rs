//! Judges what a text says by the diagnoses that can be seen in one ([`crate::diagnosis`]): its
//! reports, what stands beside each other, its commands ([`judge`]); with what several of them compute.

pub(crate) mod aborted;
pub(crate) mod arithmetic;
pub(crate) mod comparison;
pub(crate) mod consistency;
pub(crate) mod curve;
pub(crate) mod differences;
mod files;
pub(crate) mod own_limits;
mod said;
pub(crate) mod work;

#[cfg(test)]
pub(crate) mod sample;

pub use crate::diagnosis::d05_unequal_comparison::is_equal_work;
pub use arithmetic::rate_over_all;
pub use comparison::{Comparison, Member, members};
pub use consistency::rate_is_contradicted;
pub(crate) use curve::{Curves, of_members as curves_of};
pub use differences::{Difference, between as differences};
pub use work::{Circumstances, CpuPerResponse, Pace, Responses, Server, Work};

use crate::DiagnosisId::{self, D01, D02, D04, D06, D07, D08, D09, D14, D18, D30, D36, D37, D43};
use crate::diagnosis::{Diagnosis, Forms};
use crate::finding::{Finding, Severity, Verdict, settled};
use crate::printed::{Abort, Begun, Command, LoneRate, PrintedVerdict, Report, Sweep, Text};
pub use crate::printed::{counts_runs, target_of_file};
use crate::several::{self, Several};
use consistency::figure::Figure;
pub use files::of_file;

/// What was judged, with what was found against it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged<T> {
    /// The report, comparison or command that the findings are about.
    pub subject: T,
    /// The gravest first.
    pub findings: Vec<Finding>,
    /// The verdict that ablaze printed of it; what it stood on may not be in the text.
    said: Verdict,
}

impl<T> Judged<T> {
    pub(crate) fn new(subject: T, findings: Vec<Finding>) -> Self {
        Self { subject, findings: settled(findings), said: Verdict::Valid }
    }

    /// The same, with what ablaze printed of it.
    fn with_said(mut self, said: &PrintedVerdict) -> Self {
        self.said = self.said.max(said.verdict);
        self.findings = said::added(self.findings, said);
        self
    }

    /// The worst root finding; never better than what ablaze itself printed.
    pub fn verdict(&self) -> Verdict {
        Verdict::of(&self.findings).max(self.said)
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
    /// Runs that began and of which nothing more is there. There is nothing to judge.
    pub begun: Vec<Begun>,
    /// Commands, in a text that has no figures.
    pub commands: Vec<Judged<Command>>,
    /// Rates that stand alone in such a text, and not beside each other.
    pub rates: Vec<LoneRate>,
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
    settled(of_report(report))
}

/// Rules that compute from the figures what the report does not print.
const COMPUTED: [DiagnosisId; 7] = [D01, D07, D08, D09, D14, D18, D30];

/// Whether a rule that counts requests or responses does so from this figure.
fn is_counted(by: DiagnosisId, figure: &Figure) -> bool {
    match figure {
        _ if ![D02, D04, D37].contains(&by) => false,
        Figure::Own(name) => name.starts_with("the number") || name.ends_with("transactions"),
        Figure::Complete | Figure::Statuses => true,
        Figure::Failed | Figure::FailedParts => by != D04,
        Figure::WriteErrors => by == D02,
        Figure::Non2xx => by == D04,
        _ => false,
    }
}

/// Rules on the text itself: what stands in it, and not what the run was. The others looked at the run already
/// where ablaze says what it found, and there they saw more than a text has.
const OF_THE_TEXT: [DiagnosisId; 2] = [D36, D43];

/// What is found in a report. From figures that contradict each other nothing follows.
fn of_report(report: &Report) -> Vec<Finding> {
    let mut findings = found(|forms| forms.report?(report));
    if let Some(sound) = consistency::sound(report) {
        findings.retain(|one| one.id == D43);
        let others = found(|forms| forms.report?(&sound));
        findings.extend(others.into_iter().filter(|one| one.id != D43));
    }
    if report.said.is_some() {
        // Whole milliseconds are ab's form, not that of the run.
        let coarse = |id: DiagnosisId| id == D06 && report.tool.is_ablaze_in_other_form();
        findings.retain(|one| OF_THE_TEXT.contains(&one.id) || coarse(one.id));
    }
    let contradictory = |one: &Finding| one.id == D43 && one.severity == Severity::Invalid;
    if findings.iter().any(contradictory) {
        findings.retain(|finding| {
            let counts = |figure: &Figure| is_counted(finding.id, figure);
            !COMPUTED.contains(&finding.id) && !consistency::may_be_wrong(report, counts)
        });
        // How coarse the times are stands in themselves; what the rate makes of them is not known.
        let without_rate = Report { rate_per_s: None, taken_s: None, ..report.clone() };
        if let Some(coarse) = findings.iter_mut().find(|one| one.id == D06) {
            let others = found(|forms| forms.report?(&without_rate));
            others.into_iter().filter(|one| one.id == D06).for_each(|one| *coarse = one);
        }
    }
    findings
}

/// Judges everything in a text: each report, and what stands beside it.
pub fn judge(text: &Text) -> Judgement {
    let mut judgement = each(text);
    let line = text.reports.first().map_or(1, |report| report.line);
    match several::beside_each_other(members(text, 1), text.best_of_line) {
        Some(Several::Comparison(comparison)) => judgement.comparisons.insert(0, comparison),
        Some(Several::Curves(curves)) => {
            let subject = Sweep { line, curves: curves.subject };
            judgement.sweeps.push(Judged::new(subject, curves.findings));
        }
        None => {}
    }
    if judgement.is_empty() && text.begun.is_empty() {
        judgement.rates.clone_from(&text.rates);
        judgement.commands = text
            .commands
            .iter()
            .map(|command| {
                let findings = found(|forms| forms.command?(command, text.best_of_line));
                Judged::new(command.clone(), findings)
            })
            .collect();
    }
    judgement
}

/// Judges everything in a text but what its reports say beside each other.
pub fn each(text: &Text) -> Judgement {
    let judged = |one: &Report| {
        let judged = Judged::new(one.clone(), of_report(one));
        match &one.said {
            Some(said) => judged.with_said(said),
            None => judged,
        }
    };
    let compared = comparison::of_lone_rates(text).into_iter();
    let sweeps = text.sweeps.iter().map(|sweep| {
        let requests = curve::requests_per_point(sweep, &text.commands);
        let table = Curves::of_table(&sweep.curves, requests, text.best_of_line);
        Judged::new(sweep.clone(), curve_findings(&table))
    });
    let aborted = |abort: &Abort| Judged::new(abort.clone(), found(|forms| forms.abort?(abort)));
    let mut judgement = Judgement {
        reports: text.reports.iter().map(judged).collect(),
        aborts: text.aborts.iter().map(aborted).collect(),
        comparisons: compared
            .map(|comparison| {
                let findings = comparison_findings(&comparison, text.best_of_line);
                Judged::new(comparison, findings)
            })
            .collect(),
        sweeps: sweeps.collect(),
        begun: text.begun.clone(),
        commands: Vec::new(),
        rates: Vec::new(),
    };
    // What is said of no report is said of the table of targets, or of loads, that the page shows.
    let said = &text.verdicts;
    if let Some(first) = judgement.comparisons.first_mut() {
        *first = said.iter().fold(first.clone(), Judged::with_said);
    } else if let Some(first) = judgement.sweeps.first_mut() {
        *first = said.iter().fold(first.clone(), Judged::with_said);
    }
    judgement
}

/// What the diagnoses find, each by the form that is picked.
fn found(check: impl Fn(&Forms) -> Option<Finding>) -> Vec<Finding> {
    Diagnosis::all().iter().filter_map(|diagnosis| check(&diagnosis.forms)).collect()
}

/// What is found in rates beside each other.
pub(crate) fn comparison_findings(
    comparison: &Comparison,
    best_of_line: Option<usize>,
) -> Vec<Finding> {
    found(|forms| forms.comparison?(comparison, best_of_line))
}

/// What is found in rates over concurrency.
pub(crate) fn curve_findings(curves: &Curves<'_>) -> Vec<Finding> {
    found(|forms| forms.curves?(curves))
}
