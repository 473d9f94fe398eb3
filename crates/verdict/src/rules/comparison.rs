//! Rates that stand beside each other, and so will be compared by whoever reads them.

use super::arithmetic::{rate_over_all, url};
use super::consistency::rate_is_contradicted;
use super::work::{Circumstances, Work};
use crate::printed::{
    LoneRate, Looped, Report, Text, Tool, is_warm_up, sections, shown_label, without_load,
    words_of_target,
};

/// Rates beside each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// In the order of the text.
    pub members: Vec<Member>,
}

/// One rate and the work it was measured on, as far as that is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// What to call it: `report 3`, or the words before a lone rate.
    pub name: String,
    /// Line of the text, from 1; a saved run has none.
    pub line: Option<usize>,
    /// The server and the words above the report.
    pub remark: String,
    /// Requests per second.
    pub rate_per_s: f64,
    /// Requests of the run.
    pub requests: Option<u64>,
    /// In flight as asked for.
    pub concurrency: Option<u64>,
    /// The work, for those with a report.
    pub work: Option<Work>,
    /// What tells this target from the others: equal for repeats of the same run.
    pub identity: String,
    /// How the text tells that it is of this target and no other: equal for what are runs of one. `None` where the text does
    /// not say.
    pub told: Option<String>,
    /// The curve that it is a point of, if its concurrency varies.
    pub curve: String,
    /// Whether it stands for several runs, whose spread is known.
    pub of_several: bool,
    /// Whether other figures of its report contradict the rate, so that nobody knows it.
    pub is_contradicted: bool,
}

impl Member {
    /// What only a Run knows of how it was measured.
    pub(crate) fn circumstances(&self) -> Option<&Circumstances> {
        self.work.as_ref()?.circumstances.as_ref()
    }
}

/// The lone rates of a text that stand under the same command, or each under one of the same words.
pub fn of_lone_rates(text: &Text) -> Vec<Comparison> {
    let mut comparisons: Vec<Comparison> = Vec::new();
    let mut before: Option<&LoneRate> = None;
    let warms_up = |rate: &LoneRate| rate.label.as_deref().is_some_and(is_warm_up);
    let all_warm_up = text.rates.iter().all(warms_up);
    for rate in text.rates.iter().filter(|rate| all_warm_up || !warms_up(rate)) {
        // Each run of its loop is of something else: they are no runs of one, and no targets.
        if rate.looped == Some(Looped::Varies) {
            before = None;
            continue;
        }
        let member = of_rate(rate);
        let continues = before.is_some_and(|before| {
            let text = |rate: &LoneRate| rate.command.as_ref().map(|command| command.text.clone());
            text(before) == text(rate) && before.of_several == rate.of_several
        });
        match comparisons.last_mut().filter(|_| continues) {
            Some(comparison) => comparison.members.push(member),
            None => comparisons.push(Comparison { members: vec![member] }),
        }
        before = Some(rate);
    }
    comparisons.retain(|comparison| comparison.members.len() > 1);
    comparisons
}

/// The whole reports of a text, the first of which has this number. What only warmed a target up is not compared with what
/// was measured then.
pub fn members(text: &Text, first: usize) -> Vec<Member> {
    let warms_up = |report: &Report| report.label.as_deref().is_some_and(is_warm_up);
    let all_warm_up = text.reports.iter().all(warms_up);
    let reports = text.reports.iter().enumerate();
    let reports = reports.filter(|(_, report)| all_warm_up || !warms_up(report));
    reports.filter_map(|(index, report)| of_report(report, index + first)).collect()
}

fn of_rate(rate: &LoneRate) -> Member {
    let command_line = rate.command.as_ref().map(|command| command.line);
    let label = rate.label.as_deref().map(shown_label);
    let name = label.unwrap_or_else(|| format!("line {}", rate.line));
    let command = rate.command.as_ref();
    let words = rate.label.as_deref().map(words_of_target).filter(|words| !words.is_empty());
    // `run 2`; a number alone may be a concurrency.
    let is_numbered = words.is_none()
        && rate.label.as_ref().is_some_and(|label| label.contains(char::is_alphabetic));
    // Without words of their own, those of one command are repeats.
    let (identity, is_told) = match (&rate.looped, words, command) {
        (Some(Looped::Repeats(text)), words, _) => (format!("{words:?} {text}"), true),
        (Some(_), words, _) => (format!("{words:?}"), false),
        // What a variable stands for may be another target each time.
        (None, None, Some(command)) => {
            (command.text.clone(), is_numbered || !command.text.contains('$'))
        }
        (None, None, None) => (String::new(), is_numbered),
        (None, Some(words), _) => (format!("{words} {command_line:?}"), true),
    };
    Member {
        identity,
        told: is_told.then(String::new),
        curve: name.clone(),
        name,
        line: Some(rate.line),
        remark: String::new(),
        rate_per_s: rate.rate_per_s.value,
        requests: command.and_then(|command| command.requests),
        concurrency: command
            .map(|command| command.concurrency)
            .filter(|(low, high)| low == high)
            .map(|(low, _)| low),
        work: None,
        of_several: rate.of_several,
        is_contradicted: false,
    }
}

fn of_report(report: &Report, number: usize) -> Option<Member> {
    let label = report.label.as_deref().map(|label| target(label, report));
    let label = label.filter(|label| !label.is_empty());
    let told = told(report, label.is_some());
    let section = report.label.as_deref().and_then(sections).map(|above| target(above, report));
    let identity = (label, &report.server, &report.host, report.port, &report.path);
    Some(Member {
        name: format!("report {number}"),
        line: Some(report.line),
        remark: [report.server.clone(), report.label.as_deref().map(shown_label)]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", "),
        // What bombardier prints is a mean of samples.
        rate_per_s: match report.tool {
            Tool::Bombardier => rate_over_all(report).or_else(|| report.rate())?,
            _ => report.rate()?,
        },
        requests: report.complete,
        concurrency: report.asked(),
        identity: format!("{:?} {identity:?}", report.tool),
        told,
        curve: format!(
            "{} {} {}",
            section.unwrap_or_default(),
            report.server.as_deref().unwrap_or_default(),
            url(report).unwrap_or_default()
        )
        .trim()
        .replace("  ", " "),
        of_several: false,
        is_contradicted: rate_is_contradicted(report),
        work: Some(Work::of_report(report)),
    })
}

/// Runs that are numbered are of one target, and those below the same title or command, unless what else was typed may
/// have put another one in its place.
fn told(report: &Report, has_title: bool) -> Option<String> {
    let setting = &report.setting;
    let is_numbered = report.label.is_some() && !has_title;
    let is_under_command = report.command.is_some() || setting.is_own;
    match setting.in_counting_loop {
        _ if is_numbered => Some(String::new()),
        Some(false) => None,
        Some(true) => Some(setting.typed.clone()),
        None => (has_title || is_under_command).then(|| setting.typed.clone()),
    }
}

/// Whether the text does not say if two are runs of one target, which nothing tells apart.
pub(crate) fn may_be_two(one: &Member, other: &Member) -> bool {
    let same = one.told.is_some() && one.told == other.told;
    !std::ptr::eq(one, other) && one.identity == other.identity && !same
}

/// The words of a label, without the number of a run and the load that the report itself prints.
fn target(label: &str, report: &Report) -> String {
    let words = words_of_target(label);
    // wrk opens fewer than it prints where its threads cannot share them out.
    let loads = [report.asked(), report.concurrency];
    loads.into_iter().flatten().fold(words, |words, load| without_load(&words, load))
}
