//! bombardier: its counts, its progress, and the mean of the rates of parts that it prints as its rate.

use super::Contradiction;
use super::figure::Figure::*;
use crate::printed::Report;
use crate::words::{counted, decimal, grouped};

pub fn contradictions(report: &Report) -> Vec<Contradiction> {
    let rules = [more_than_asked_for, progress, done, by_length];
    rules.into_iter().filter_map(|rule| rule(report)).collect()
}

/// An interrupted run has fewer requests than were asked for, never more.
fn more_than_asked_for(report: &Report) -> Option<Contradiction> {
    let asked = Own("the number asked for");
    let n = asked.printed(report)?.value as u64;
    let sum = report.complete?.saturating_add(report.failed?);
    (sum > n).then(|| {
        let said = format!(
            "The numbers by status add up to {}, but {} were asked for.",
            grouped(sum),
            counted(n, "request")
        );
        Contradiction::new([Statuses, Complete, Failed, asked], said)
    })
}

/// A run of which all is done has the rate beside its progress: the count by the time. What bombardier prints below is
/// the mean of the rates of parts that are about as long, of which a second has a hundred.
fn progress(report: &Report) -> Option<Contradiction> {
    let (beside, asked) = (Own("the rate beside the progress"), Own("the number asked for"));
    let (per_s, n) = (beside.printed(report)?.value, asked.printed(report)?.value);
    let done = report.complete?.saturating_add(report.failed?) as f64 == n;
    let rate = report.rate_per_s?.value;
    let apart = rate > per_s * PROGRESS_APART || rate < per_s / PROGRESS_APART;
    (done && per_s > 0.0 && n / per_s >= 1.0 && apart).then(|| {
        let said = format!(
            "{} is {}, but that of {} beside the progress is {}.",
            Rate.name(report),
            Rate.digits(report),
            counted(n as u64, "request"),
            beside.digits(report)
        );
        Contradiction::new([Rate, beside], said)
    })
}

/// Each request is under a status or under `others`; at the end the progress has all of them.
fn done(report: &Report) -> Option<Contradiction> {
    let (by_progress, asked) =
        (Own("the number done by the progress"), Own("the number asked for"));
    let (done, n) = (by_progress.printed(report)?.value, asked.printed(report)?.value);
    let sum = report.complete?.saturating_add(report.failed?);
    (done == n && (sum as f64) < n).then(|| {
        let said = format!(
            "The numbers by status and `others` add up to {}, but {} are done by the progress.",
            grouped(sum),
            counted(n as u64, "request")
        );
        Contradiction::new([Statuses, Complete, Failed, by_progress], said)
    })
}

/// Where the length is printed, as in its JSON, the mean of the parts is not far from the count by the length.
fn by_length(report: &Report) -> Option<Contradiction> {
    let taken = report.taken_s.filter(|taken| taken.value >= 1.0 && report.asked_s.is_none())?;
    let all = report.complete?.saturating_add(report.failed?) as f64;
    let (per_s, rate) = (all / taken.value, report.rate_per_s?.value);
    let apart = rate > per_s * PROGRESS_APART || rate < per_s / PROGRESS_APART;
    (all > 0.0 && apart).then(|| {
        let said = format!(
            "{} is {}, but {} in {} s are {}/s.",
            Rate.name(report),
            Rate.digits(report),
            counted(all as u64, "request"),
            Taken.digits(report),
            decimal(per_s, 1)
        );
        Contradiction::new([Rate, Complete, Taken], said)
    })
}

/// Means of unequal parts differ by less.
const PROGRESS_APART: f64 = 2.0;
