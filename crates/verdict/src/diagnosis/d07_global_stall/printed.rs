//! D07 in a printed report. The deviation tells how many requests took the longest time. That these were as many as
//! were in flight is what a stall leaves; but requests that are slow one by one may be as many. A counted run tells
//! the two apart: of requests that are slow now and then some are under way when the last one is sent, and while
//! those come back the other connections are idle.

mod histogram;

use super::super::d08_connection_attempts_lost;
use super::{CAUSE, D07, OUTSIDE_THE_BULK, gravity};
use crate::finding::{Finding, Severity};
use crate::printed::{Connections, Report, Times};
use crate::rules::arithmetic::{in_flight, slow_requests};
use crate::words::{counted, decimal, grouped, percent, time};

/// So many times the 99 % time for two stalls of unequal lengths, which fit more than one number.
const FAR_FROM_THE_BULK: f64 = 20.0;
/// And the longest at least this much longer than the mean.
const NOTICED_MS: f64 = 100.0;
/// Fewer in flight prove nothing: one slow request out of one is all of them.
const FEWEST_IN_FLIGHT: u64 = 10;
/// How far the number of slow requests may lie from the number in flight.
const TOLERANCE: f64 = 0.02;
const TOLERANCE_REQUESTS: f64 = 2.0;
/// The usual scatter may make up so much of the variance.
const SCATTER: f64 = 0.1;
/// Connections of requests that are slow one by one are as busy to the end as these were no more often than this: then
/// it was a stall.
const SELDOM: f64 = 0.001;
/// A count that somebody asked for ends in two zeros as a rule, and one that a clock ended does not.
const ROUND: u64 = 100;

const FIRST_OF_EACH: &str =
    "Or the first request of each connection took that long, and those alone.";

/// Where the figures are the same for both.
const EITHER: (&str, &str) = (
    "Either everything in flight stopped for that long, or so many single requests were slow, each for itself, while \
     others were answered. The report does not say when a request was slow, so it does not tell the two apart.",
    "Run it again for longer: a stall adds as many slow requests as are in flight, and requests that are slow for themselves \
     grow in number with all requests. `ablaze` looks for times in which nothing came back.",
);

/// What the figures of a stall imply.
struct Stall {
    slow: f64,
    /// Length of each stall, in ms.
    each_ms: Vec<f64>,
    lost_s: f64,
}

impl Stall {
    fn of(report: &Report, slow: f64, each_ms: Vec<f64>) -> Option<Self> {
        let lost_s = each_ms.iter().sum::<f64>() / 1e3;
        (lost_s < report.taken_s?.value).then_some(Self { slow, each_ms, lost_s })
    }

    /// Which share the slow requests have of the time of so many connections, at least: if their times differ, they are more.
    fn share(&self, places: f64, row: &Times, taken_s: f64) -> Option<f64> {
        let each_s = (row.max_ms?.value - row.mean_ms?.value) / 1e3;
        Some((self.slow * each_s / (places * taken_s)).min(1.0))
    }
}

pub(super) fn on_report(report: &Report) -> Option<Finding> {
    let stall = stall(report)?;
    let (asked, taken_s, complete) = (report.asked()?, report.taken_s?.value, report.complete?);
    let row = report.total?;
    let (mean, max) = (row.mean_ms?.value, row.max_ms?.value);
    let how_many = match (row.deviation_ms, histogram::far(report)) {
        (Some(deviation), _) => format!(
            "A standard deviation of {deviation:.1} ms means {deviation:.1}² × {} / ({} - {})² = {:.1} such requests",
            grouped(complete - 1),
            decimal(max, 0),
            decimal(mean, 0),
            stall.slow,
            deviation = deviation.value,
        ),
        (None, Some(far)) => format!(
            "By the histogram {} took more than {}, and none between {} and that",
            counted(far.requests, "request"),
            time(far.above_ms),
            time(far.gap_from_ms)
        ),
        (None, None) => return None,
    };
    let seen = format!(
        "The longest request took {} ms, {} took at most {} ms. {how_many}, and {} were in flight:",
        decimal(max, 0),
        if report.percentile(99.0).is_some() { "99 %" } else { "half of them" },
        decimal(bulk_ms(report)?, 0),
        grouped(asked),
    );
    if chance(report, &stall).is_none_or(|chance| chance > SELDOM) {
        let evidence = format!(
            "{seen} as many as {} of all {} would leave, or as happened to be slow. They have {} of the time of all \
             connections.",
            match stall.each_ms.len() {
                1 => "one stall".to_owned(),
                2 => "two stalls".to_owned(),
                more => format!("{more} stalls"),
            },
            grouped(asked),
            percent(stall.share(asked as f64, &row, taken_s)?)
        );
        return Some(Finding::new(D07, Severity::Note, evidence, EITHER.0, EITHER.1));
    }
    let (low, high) = in_flight(report)?;
    let evidence = format!(
        "{seen} {}. Were single requests slow now and then, some would have been at the end, and left the other \
         connections idle; {} to {} of {} were in flight on average. That takes {} of {} s ({}); without it the rate \
         would be about {}/s.",
        fits(&stall, asked),
        decimal(low, 1),
        decimal(high.min(asked as f64), 1),
        grouped(asked),
        time(stall.lost_s * 1e3),
        decimal(taken_s, 1),
        percent(stall.lost_s / taken_s),
        amount_of(complete as f64 / (taken_s - stall.lost_s)),
    );
    let cause = match report.connections {
        Connections::PerRequest => CAUSE.to_owned(),
        _ => format!("{CAUSE} {FIRST_OF_EACH}"),
    };
    Some(Finding::new(
        D07,
        gravity(stall.lost_s / taken_s),
        evidence,
        cause,
        "Exclude the longest time from every comparison, and run again with `vmstat 1` running on \
         both machines: it shows which one stops.",
    ))
}

/// How often requests that are slow independently of each other leave the connections as busy as these were on average;
/// `None` where the report does not tell.
///
/// At any moment a connection is in a slow request with the probability that slow requests have of the time of all, and what is
/// left of that request is anything up to its length. When the last request is sent, the run lasts for as long as the
/// longest of those, and the connections without one are idle until then. So the time that they were idle at most bounds
/// that rest, and the chance is that no connection had more left than that.
fn chance(report: &Report, stall: &Stall) -> Option<f64> {
    if !is_counted(report) {
        return None;
    }
    let (places, taken_s) = (report.asked()? as f64, report.taken_s?.value);
    let row = report.total?;
    let each_s = (row.max_ms?.value - row.mean_ms?.value) / 1e3;
    let slow = stall.share(places, &row, taken_s)?;
    let (busy, _) = in_flight(report)?;
    let idle_s = (1.0 - busy / places).max(0.0) * taken_s;
    let rest = idle_s / ((1.0 - slow) * each_s);
    Some((1.0 - slow * (1.0 - rest).max(0.0)).powf(places))
}

/// Whether the run ended when so many requests were done, and not when the time was up.
fn is_counted(report: &Report) -> bool {
    match &report.command {
        _ if report.asked_s.is_some() => false,
        Some(command) => !command.timed,
        None => report.complete.is_some_and(|complete| complete.is_multiple_of(ROUND)),
    }
}

/// A rate to three digits: more the estimate does not give.
fn amount_of(rate: f64) -> String {
    let digit = 10f64.powf((rate.log10() - 2.0).floor().max(0.0));
    grouped(((rate / digit).round() * digit) as u64)
}

/// Whether a report has a global stall, for rules that it would mislead.
pub fn is_found(report: &Report) -> bool {
    stall(report).is_some()
}

fn fits(stall: &Stall, asked: u64) -> String {
    match stall.each_ms.as_slice() {
        [one] => format!("all {} once, stalled for {}", grouped(asked), time(*one)),
        [first, second] => format!(
            "consistent with two stalls of all {}, of {} and about {}",
            grouped(asked),
            time(*first),
            time(*second)
        ),
        each => format!("all {} {} times", grouped(asked), each.len()),
    }
}

fn bulk_ms(report: &Report) -> Option<f64> {
    report.percentile(99.0).or_else(|| report.median_ms()).map(|ms| ms.value)
}

fn stall(report: &Report) -> Option<Stall> {
    let asked = report.asked().filter(|asked| *asked >= FEWEST_IN_FLIGHT)? as f64;
    if d08_connection_attempts_lost::timer_ms(report).is_some() {
        return None;
    }
    let row = report.total?;
    let (mean, max) = (row.mean_ms?.value, row.max_ms?.value);
    let above_mean_ms = max - mean;
    let times_bulk = max / bulk_ms(report)?.max(1.0);
    if times_bulk <= OUTSIDE_THE_BULK || above_mean_ms < NOTICED_MS {
        return None;
    }
    if row.deviation_ms.is_none() {
        return histogram::stall(report, asked, above_mean_ms);
    }
    let deviation = row.deviation_ms?.value;
    // 95 % of a normal distribution lie below its mean plus 1.645 deviations.
    let spread = report.percentile(95.0).zip(report.percentile(50.0));
    let usual = spread.map_or(0.0, |(p95, p50)| (p95.value - p50.value) / 1.645);
    if usual.powi(2) > SCATTER * deviation.powi(2) {
        return None;
    }
    let (_, slow, _) = slow_requests(&row, report.complete?)?;
    let times_all = slow / asked;
    let whole = times_all.round();
    let near = |count: f64| is_near(slow, count * asked);
    let each_ms = if whole == 1.0 && near(1.0) {
        vec![above_mean_ms]
    } else if whole == 2.0 && near(2.0)
        || times_bulk > FAR_FROM_THE_BULK && (1.0..=2.0).contains(&times_all)
    {
        // Two of different lengths: asked × (d1² + d2²) is what the deviation holds.
        vec![above_mean_ms, above_mean_ms * (times_all - 1.0).clamp(0.0, 1.0).sqrt()]
    } else if whole == 3.0 && near(3.0) {
        vec![above_mean_ms; 3]
    } else {
        return None;
    };
    Stall::of(report, slow, each_ms)
}

fn is_near(slow: f64, all: f64) -> bool {
    (slow - all).abs() <= (TOLERANCE * all).max(TOLERANCE_REQUESTS)
}
