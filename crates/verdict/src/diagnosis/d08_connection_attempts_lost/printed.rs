//! D08 in printed reports: of one the longest connect tells, if it stands at one of the kernel's timers.

use crate::DiagnosisId::D08;
use crate::finding::{Finding, Severity};
use crate::printed::Report;
use crate::rules::arithmetic::slow_requests;
use crate::words::{decimal, grouped, time};

/// When Linux sends it again: after 1, 3 and 7 s, and since 6.5 (`tcp_syn_linear_timeouts`) also after
/// 2, 4 and 5 s.
const RESENT_AFTER_MS: [f64; 6] = [1000.0, 2000.0, 3000.0, 4000.0, 5000.0, 7000.0];
/// How much later than the timer such a connection may stand.
const LATER_MS: f64 = 60.0;
/// Connections usually take less than this share of the longest.
const USUAL: f64 = 0.1;

pub fn on_report(report: &Report) -> Option<Finding> {
    let row = report.connect?;
    let max = row.max_ms?.value;
    let timer_ms = timer_ms(report)?;
    let (usual, median) = match row.median_ms {
        Some(median) => ("median", median),
        None => ("mean", row.mean_ms?),
    };
    let median = match median.step {
        step if step < 1.0 => time(median.value),
        _ => format!("{} ms", decimal(median.value, 0)),
    };
    let complete = report.complete?;
    let number = slow_requests(&row, complete)
        .filter(|(_, slow, _)| *slow >= 1.0)
        .map(|(_, slow, _)| {
            format!(
                " The standard deviation suggests about {} of them.",
                grouped(slow.round() as u64)
            )
        })
        .unwrap_or_default();
    let evidence = format!(
        "The longest connect took {} ms, the {usual} {}: {} s is when Linux sends a SYN packet \
         again.{number}",
        grouped(max.round() as u64),
        median,
        decimal(timer_ms / 1e3, 0)
    );
    let asked = report.asked().map_or("as many connections as requested".to_owned(), |asked| {
        format!("{} connections at once", grouped(asked))
    });
    if report.asked().is_some_and(|asked| asked < FILLS_A_QUEUE) {
        let cause = "A packet that opens a connection was lost on the network, or dropped by the server. So few connections fill no \
                     accept queue, unless other clients connect, too.";
        return Some(Finding::new(D08, Severity::Suspect, evidence, cause, LOOK_FOR_LOSS));
    }
    Some(Finding::new(
        D08,
        Severity::Suspect,
        evidence,
        format!(
            "Connection attempts were dropped, most likely because the server's accept queue was \
             full: it is as long as the backlog given to listen(), and {asked} arrived."
        ),
        "Give listen() a longer backlog, raise net.core.somaxconn to match, and watch `ss -lnt` \
         and `nstat TcpExtListenOverflows` on the server during a run.",
    ))
}

/// The shortest backlogs in use are 5, and Linux lets one more wait.
const FILLS_A_QUEUE: u64 = 6;

const LOOK_FOR_LOSS: &str = "Measure again, and watch `nstat TcpRetransSegs` on the client and `nstat TcpExtListenOverflows` on \
                             the server during the run.";

/// The kernel's timer that the longest connect stands at, if it does.
pub fn timer_ms(report: &Report) -> Option<f64> {
    let row = report.connect?;
    let max_ms = row.max_ms?.value;
    let usual_ms = row.median_ms.or(row.mean_ms)?.value;
    let stands_at = |ms: f64, timer_ms: f64| (timer_ms..=timer_ms + LATER_MS).contains(&ms);
    // Where most were sent again, the shortest tells how long the others take.
    let shortest = row.min_ms.filter(|shortest| shortest.value <= USUAL * max_ms);
    let is_apart = |timer_ms: f64| {
        usual_ms <= USUAL * max_ms || shortest.is_some() && stands_at(usual_ms, timer_ms)
    };
    let mut timers = RESENT_AFTER_MS.into_iter().filter(|timer_ms| stands_at(max_ms, *timer_ms));
    let timer_ms = timers.find(|timer_ms| is_apart(*timer_ms))?;
    (!has_connects_between(report, timer_ms)).then_some(timer_ms)
}

/// Whether connects took times between the usual one and the timer: then the longest is the end of a tail. A request whose
/// time is longer than the longest from connect to end spent the rest on the connect.
fn has_connects_between(report: &Report, timer_ms: f64) -> bool {
    let Some(longest) = report.processing.and_then(|row| row.max_ms) else { return false };
    // Some may have waited for an earlier one.
    let at_a_timer = |total_ms: f64| {
        let ends = |after: &f64| after + LATER_MS + longest.value;
        RESENT_AFTER_MS.iter().any(|after| (*after..=ends(after)).contains(&total_ms))
    };
    let totals = report.percentiles.iter().map(|(_, total)| total.value);
    let waited = |total_ms: &f64| total_ms - longest.value > WAITED * timer_ms;
    totals.into_iter().filter(waited).any(|total_ms| total_ms < timer_ms && !at_a_timer(total_ms))
}

/// A connect that took this share of the timer was not one of the usual ones.
const WAITED: f64 = 0.05;
