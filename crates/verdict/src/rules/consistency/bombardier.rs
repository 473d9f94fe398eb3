//! bombardier: its counts, its progress, and the mean of the rates of parts that it prints as its rate.

use super::Contradiction;
use super::figure::Figure::{self, *};
use super::figure::{Column, Range, Row};
use crate::printed::{DEVIATION, Report};
use crate::words::{counted, decimal, grouped};

pub fn contradictions(report: &Report) -> Vec<Contradiction> {
    let rules = [more_than_asked_for, progress, done, by_length, longer_than_asked, deviation];
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

/// A run of which all is done has the rate beside its progress: the count by the time, which that may show up to a tick too
/// long.
fn progress(report: &Report) -> Option<Contradiction> {
    let (beside, asked) = (Own("the rate beside the progress"), Own("the number asked for"));
    let (per_s, n) = (beside.printed(report)?, asked.printed(report)?.value);
    let done = report.complete?.saturating_add(report.failed?) as f64 == n;
    if !done || per_s.low() <= 0.0 || n / per_s.value < 1.0 {
        return None;
    }
    let taken_s = n / per_s.low();
    let rate = Range { low: per_s.low(), high: n / (n / per_s.high() - TICK_S) };
    let what = format!(
        "that of {} beside the progress is {}",
        counted(n as u64, "request"),
        beside.digits(report)
    );
    samples_are_apart(report, rate, taken_s, &what, &[beside])
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

/// What is under way when the time is up takes no longer than the longest request; so much for all else, s.
const ENDS_S: f64 = 5.0;

/// A run by time ends with the last requests that it has begun.
fn longer_than_asked(report: &Report) -> Option<Contradiction> {
    let (taken, asked, max) = (report.taken_s?, report.asked_s?, report.max_ms()?);
    let most = asked.value + asked.step + max.high() / 1e3 + ENDS_S;
    (taken.value - taken.step > most).then(|| {
        let told = "the length asked for";
        let said = format!(
            "{} is {} s, but {} s were asked for, and the longest request took {} ms.",
            Taken.name(report),
            Taken.digits(report),
            decimal(asked.value, 0),
            decimal(max.value, 0)
        );
        let longest = Cell(Row::Total, Column::Max);
        Contradiction::new([Taken, Own(told), longest], said)
    })
}

/// Where the length is printed, as in its JSON.
fn by_length(report: &Report) -> Option<Contradiction> {
    let taken = report.taken_s.filter(|taken| taken.value >= 1.0 && report.asked_s.is_none())?;
    let all = report.complete?.saturating_add(report.failed?) as f64;
    let per_s = all / taken.value;
    let what = format!(
        "{} in {} s are {}/s",
        counted(all as u64, "request"),
        Taken.digits(report),
        decimal(per_s, 1)
    );
    let near = Range { low: per_s * 0.99, high: per_s * 1.01 };
    samples_are_apart(report, near, taken.high(), &what, &[Complete, Taken]).filter(|_| all > 0.0)
}

/// The samples are the rates of the parts between two ticks, and each counts alike in `Reqs/sec`, however long it was: where
/// the client had to wait for a processor, a part that had hardly any requests may be ten times as long as another. So
/// their mean may be several times the rate of the run. But that is a mean of them as well, by their lengths: it is no
/// higher than the highest, and no further from their mean than any of so many with this deviation can be (Samuelson).
fn samples_are_apart(
    report: &Report,
    rate: Range,
    taken_s: f64,
    what: &str,
    others: &[Figure],
) -> Option<Contradiction> {
    let (deviation, max) = (Own(DEVIATION), Own("the maximum of Reqs/sec"));
    let (mean, highest) = (Rate.range(report)?, max.range(report)?);
    if rate.low > highest.high * NEAR {
        let said = format!("{} is {}, but {what}.", max.name(report), max.digits(report));
        return Some(Contradiction::new([&[max], others].concat(), said));
    }
    let samples = taken_s * SAMPLES_PER_S + 2.0;
    let room = deviation.range(report)?.high * samples.sqrt();
    let apart = mean.low > rate.high * NEAR + room || mean.high + room < rate.low / NEAR;
    apart.then(|| {
        let said = format!(
            "{} is {} and {} {}, but {what}: no part of the run is so far from the mean of all.",
            Rate.name(report),
            Rate.digits(report),
            deviation.name(report),
            deviation.digits(report)
        );
        Contradiction::new([&[Rate, deviation], others].concat(), said)
    })
}

/// Of figures from 0 to the highest, the deviation is no more than the root of the mean × what is between that and the
/// highest (Bhatia and Davis).
fn deviation(report: &Report) -> Option<Contradiction> {
    let (deviation, max) = (Own(DEVIATION), Own("the maximum of Reqs/sec"));
    let (mean, highest) = (Rate.range(report)?, max.range(report)?);
    // Of a sample of n it is larger by n / (n - 1); and n of them, of which one is the highest, have this mean.
    let samples = (highest.low / mean.high).max(2.0);
    let most = (mean.high * (highest.high - mean.low).max(0.0) * samples / (samples - 1.0)).sqrt();
    (deviation.range(report)?.low > most).then(|| {
        let said = format!(
            "{} is {} and {} {}, but {} {}: figures between 0 and that with this mean lie no further apart than {}.",
            Rate.name(report),
            Rate.digits(report),
            max.name(report),
            max.digits(report),
            deviation.name(report),
            deviation.digits(report),
            decimal(most, 2)
        );
        Contradiction::new([Rate, max, deviation], said)
    })
}

/// bombardier takes a sample less often.
const SAMPLES_PER_S: f64 = 100.0;
/// It draws its progress so often.
const TICK_S: f64 = 0.2;
/// Clocks are read one after the other.
const NEAR: f64 = 1.05;
