//! Rates that stand beside each other in a text, and so will be compared by whoever reads it.

use super::arithmetic::{in_flight, nothing_came_back};
use crate::printed::{Connections, LoneRate, Report, Text, Tool};
use crate::words::amount;

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
    /// Line of the text, from 1.
    pub line: usize,
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
}

/// What a rate was measured on.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// Whose report.
    pub tool: Tool,
    /// What came back.
    pub answers: Answers,
    /// `Document Length`, or body bytes per request.
    pub body_bytes: Option<f64>,
    /// Bytes per request, head and body.
    pub bytes: Option<f64>,
    /// How connections were used.
    pub connections: Connections,
    /// In flight on average: bounds by Little's law.
    pub in_flight: Option<(f64, f64)>,
    /// Path of the URL.
    pub path: Option<String>,
    /// TLS was spoken.
    pub tls: bool,
    /// Requests were sent on a schedule.
    pub open_loop: bool,
}

/// What came back, roughly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// Not a byte.
    Nothing,
    /// All of them 2xx.
    Good,
    /// None of them 2xx.
    Other,
    /// Some of both.
    Mixed,
    /// Not printed.
    Unknown,
}

/// The comparisons a text invites: between its whole reports, and between lone rates that stand
/// under the same command.
pub fn of(text: &Text) -> Vec<Comparison> {
    let reports = text.reports.iter().enumerate();
    let whole: Vec<Member> =
        reports.filter_map(|(index, report)| of_report(report, index + 1)).collect();
    let mut comparisons = vec![Comparison { members: whole }];
    for rate in &text.rates {
        let line = rate.command.as_ref().map(|command| command.line);
        let member = of_rate(rate, line);
        let last = comparisons.last_mut().filter(|_| comparisons_continue(text, rate));
        match last {
            Some(comparison) => comparison.members.push(member),
            None => comparisons.push(Comparison { members: vec![member] }),
        }
    }
    comparisons.retain(|comparison| comparison.members.len() > 1);
    comparisons
}

/// Whether a lone rate stands under the same command as the lone rate before it.
fn comparisons_continue(text: &Text, rate: &LoneRate) -> bool {
    let before = text.rates.iter().take_while(|other| other.line < rate.line).last();
    before.is_some_and(|before| before.command == rate.command)
}

fn of_rate(rate: &LoneRate, command_line: Option<usize>) -> Member {
    let name = rate.label.clone().unwrap_or_else(|| format!("line {}", rate.line));
    let command = rate.command.as_ref();
    Member {
        identity: format!("{name} {command_line:?}"),
        name,
        line: rate.line,
        remark: String::new(),
        rate_per_s: rate.rate_per_s.value,
        requests: command.and_then(|command| command.requests),
        concurrency: command
            .map(|command| command.concurrency)
            .filter(|(low, high)| low == high)
            .map(|(low, _)| low),
        work: None,
    }
}

fn of_report(report: &Report, number: usize) -> Option<Member> {
    let label = report.label.as_deref().filter(|label| !counts_runs(label));
    let identity = (label, &report.server, &report.host, report.port, &report.path);
    Some(Member {
        name: format!("report {number}"),
        line: report.line,
        remark: [&report.server, &report.label]
            .into_iter()
            .flatten()
            .cloned()
            .collect::<Vec<_>>()
            .join(", "),
        rate_per_s: report.rate()?,
        requests: report.complete,
        concurrency: report.concurrency,
        identity: format!("{:?} {identity:?}", report.tool),
        work: Some(Work {
            tool: report.tool,
            answers: answers(report),
            body_bytes: report.body_bytes_per_request(),
            bytes: report.bytes_per_request(),
            connections: report.connections,
            in_flight: in_flight(report),
            path: report.path.clone(),
            tls: report.tls,
            open_loop: report.open_loop,
        }),
    })
}

/// `run 2`, `第3次`: words that number runs of the same, and name no target.
fn counts_runs(label: &str) -> bool {
    const WORDS: [&str; 9] =
        ["run", "round", "trial", "attempt", "try", "repeat", "iteration", "第次", "次"];
    let letters = label.to_lowercase().replace(|c: char| !c.is_alphabetic(), "");
    label.contains(|c: char| c.is_ascii_digit()) && WORDS.contains(&letters.as_str())
}

fn answers(report: &Report) -> Answers {
    let complete = report.complete.unwrap_or(0);
    match report.non_2xx {
        _ if nothing_came_back(report) => Answers::Nothing,
        _ if complete == 0 => Answers::Unknown,
        None => Answers::Unknown,
        Some(0) => Answers::Good,
        Some(others) if others >= complete => Answers::Other,
        Some(_) => Answers::Mixed,
    }
}

impl Work {
    /// In flight on average, in words: as asked for where that is possible.
    pub fn in_flight_text(&self, asked: Option<u64>) -> Option<String> {
        let (low, high) = self.in_flight?;
        Some(match asked {
            Some(asked) if (low * 0.95..=high * 1.05).contains(&(asked as f64)) => {
                crate::words::grouped(asked)
            }
            _ if low == 0.0 => format!("fewer than {}", amount(high)),
            _ => format!("{} to {}", amount(low), amount(high)),
        })
    }
}
