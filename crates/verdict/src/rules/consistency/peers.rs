//! What only one tool prints, held against its other figures.

use super::figure::Figure::{self, *};
use super::figure::{Column, Range, Row, digits};
use super::{Contradiction, bombardier, h2load, histogram as bins, native, siege, wrk};
use crate::printed::{HEY_KEEPS, HEY_PHASES, Printed, RATIO, Report, Tool, VEGETA_SUM};
use crate::words::{counted, decimal, grouped};

pub fn contradictions(report: &Report) -> Vec<Contradiction> {
    let mut found = match report.tool {
        Tool::Hey | Tool::Oha => {
            let mut found: Vec<Contradiction> = sizes(report);
            found.extend(phases(report));
            found.extend(successes(report, "the success rate", responses(report), Statuses));
            found.extend(histogram(report));
            found
        }
        Tool::Vegeta => vegeta(report),
        Tool::Siege => siege::contradictions(report),
        Tool::H2load => h2load::contradictions(report),
        Tool::Bombardier => bombardier::contradictions(report),
        Tool::Wrk | Tool::Wrk2 => wrk::contradictions(report),
        Tool::Ablaze => native::contradictions(report),
        _ => Vec::new(),
    };
    found.extend(printed_twice(report));
    found.extend(mean_above_maximum(report));
    found
}

/// The parts of a request as hey prints them: each lies between its fastest and its slowest, which is a part of a request.
fn phases(report: &Report) -> Option<Contradiction> {
    let rows = HEY_PHASES.iter().map(|names| names.map(Own));
    let pairs = rows.flat_map(|[fastest, mean, slowest]| {
        let whole = Cell(Row::Total, Column::Max);
        [(fastest, mean), (mean, slowest), (fastest, slowest), (slowest, whole)]
    });
    pairs.into_iter().find_map(|(less, more)| {
        let (low, high) = (less.range(report)?, more.range(report)?);
        (low.low > high.high).then(|| {
            let said = format!(
                "{} is {} ms, more than {} ({} ms).",
                less.name(report),
                less.digits(report),
                more.name(report),
                more.digits(report)
            );
            Contradiction::new([less, more], said)
        })
    })
}

fn responses(report: &Report) -> u64 {
    report.statuses.values().copied().fold(0, u64::saturating_add)
}

pub(super) fn product(a: Range, b: Range) -> Range {
    Range { low: a.low * b.low, high: a.high * b.high }
}

pub(super) fn divided(a: Range, b: Range) -> Option<Range> {
    (b.low > 0.0).then(|| Range { low: a.low / b.high, high: a.high / b.low })
}

/// `target` is what follows from the others: `how` says from which, in words and figures.
pub(super) fn must_be(
    report: &Report,
    target: Figure,
    by: Option<Range>,
    others: &[Figure],
    how: &str,
) -> Option<Contradiction> {
    let (range, printed) = (by?, target.printed(report)?);
    (!range.overlaps(Range::of(printed))).then(|| {
        let text = |value: f64| digits(Printed { value, step: printed.step });
        let (low, high) = (text(range.low), text(range.high));
        let makes = if low == high { low } else { format!("{low} to {high}") };
        let said = format!(
            "{how} makes {} {makes}, but {} is printed.",
            target.name(report),
            target.digits(report)
        );
        Contradiction::new([&[target], others].concat(), said)
    })
}

/// `name / other = 5,000 / 1.2345`.
pub(super) fn quotient_in_words(report: &Report, of: Figure, by: Figure) -> String {
    format!(
        "{} / {} = {} / {}",
        of.name(report),
        by.name(report),
        of.digits(report),
        by.digits(report)
    )
}

/// The bytes of all responses, of each and of each second.
fn sizes(report: &Report) -> Vec<Contradiction> {
    let (data, each, per_s) =
        (Own("the total data"), Own("the size per request"), Own("the size per second"));
    let responses = responses(report);
    // The 0s of nothing, and more than hey keeps.
    if responses == 0 || report.tool == Tool::Hey && responses >= HEY_KEEPS {
        return Vec::new();
    }
    let total = data.range(report);
    let of_each = total.and_then(|total| divided(total, Range::exactly(responses as f64)));
    let how = format!("{} of {} B in all", counted(responses, "response"), data.digits(report));
    let mut found = Vec::new();
    found.extend(must_be(report, each, of_each, &[data, Statuses], &how));
    let taken = Taken.range(report);
    let of_second = total.zip(taken).and_then(|(total, taken)| divided(total, taken));
    let how = quotient_in_words(report, data, Taken);
    found.extend(must_be(report, per_s, of_second, &[data, Taken], &how));
    found
}

/// A percentage of the requests that were successful: `good` of them, which `figure` says, and those that failed.
pub(super) fn successes(
    report: &Report,
    name: &'static str,
    good: u64,
    figure: Figure,
) -> Option<Contradiction> {
    let failed = report.failed?;
    let all = good.saturating_add(failed);
    let share = (all > 0).then(|| Range::exactly(good as f64 * 100.0 / all as f64));
    let how = format!("{} of {}", grouped(good), counted(all, "request"));
    must_be(report, Own(name), share, &[Failed, figure], &how)
}

/// All responses are in it, from the shortest to the longest.
fn histogram(report: &Report) -> Vec<Contradiction> {
    let (Some(first), Some(last)) = (report.histogram.first(), report.histogram.last()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let sum = report.histogram.iter().map(|(_, count)| *count).fold(0, u64::saturating_add);
    let responses = responses(report);
    let kept = responses > 0 && (report.tool == Tool::Oha || responses < HEY_KEEPS);
    if kept && sum != responses {
        let said = format!(
            "The histogram has {}, but the numbers by status add up to {}.",
            counted(sum, "response"),
            grouped(responses)
        );
        found.push(Contradiction::new([Histogram, Statuses], said));
    }
    let older = has_older_histogram(report);
    for (mark, column, which) in [(first, Column::Min, "first"), (last, Column::Max, "last")] {
        let cell = Cell(Row::Total, column);
        let at = Range::of(mark.0);
        let apart = |ms: &Range| match older {
            true => column == Column::Max && at.low > ms.high,
            false => !ms.overlaps(at),
        };
        if let Some(ms) = cell.range(report).filter(|ms| kept && apart(ms)) {
            let ms = decimal((ms.low + ms.high) / 2.0, 3);
            let said = format!(
                "The {which} mark of the histogram is {} ms, but {} is {ms} ms.",
                decimal(mark.0.value, 3),
                cell.name(report)
            );
            found.push(Contradiction::new([Histogram, cell], said));
        }
    }
    found.extend(uneven_mark(report, first.0, last.0).filter(|_| kept));
    // With another number of responses, or other ends, it is another's.
    let is_sound = kept && !older && found.is_empty();
    found.extend(bins::against_percentiles(report).filter(|_| is_sound));
    found
}

/// Up to version 0.5 oha's marks are where its bins end, from 0 or from the shortest time on, and the last bin has all
/// that took more than three times the mean. So they begin above the shortest and may end below the longest. It
/// printed the rate of successes as a ratio then; of some versions that did, the marks are as today.
fn has_older_histogram(report: &Report) -> bool {
    report.tool == Tool::Oha && report.own(RATIO).is_some()
}

/// Its marks are as far from each other.
fn uneven_mark(report: &Report, first: Printed, last: Printed) -> Option<Contradiction> {
    let steps = report.histogram.len().checked_sub(1).filter(|steps| *steps > 1)?;
    let each = (last.value - first.value) / steps as f64;
    let marks = report.histogram.iter().enumerate();
    let (at, mark) = marks.map(|(at, (mark, _))| (at, *mark)).find(|(at, mark)| {
        let even = Printed { value: first.value + each * *at as f64, step: mark.step };
        !Range::of(*mark).overlaps(Range::of(even))
    })?;
    let said = format!(
        "The histogram goes from {} to {} ms in {steps} steps, but its mark {} is {} ms.",
        decimal(first.value, 3),
        decimal(last.value, 3),
        at + 1,
        decimal(mark.value, 3)
    );
    Some(Contradiction::new([Histogram], said))
}

const NANOSECOND_MS: f64 = 1e-6;

/// Its lengths, its rates, its ratio and its means.
fn vegeta(report: &Report) -> Vec<Contradiction> {
    let (attack, wait) = (Own("the length of the attack"), Own("the wait at its end"));
    let good: u64 = report
        .statuses
        .iter()
        .filter(|(status, _)| (200..400).contains(*status))
        .map(|(_, responses)| *responses)
        .fold(0, u64::saturating_add);
    let good_range = Range::exactly(good as f64);
    let range = |figure: Figure| figure.range(report);
    let mut found = Vec::new();
    let both = range(attack).zip(range(wait));
    let both = both.map(|(a, b)| Range { low: a.low + b.low, high: a.high + b.high });
    let how = format!(
        "{} and {}, {} s and {} s,",
        attack.name(report),
        wait.name(report),
        attack.digits(report),
        wait.digits(report)
    );
    found.extend(must_be(report, Taken, both, &[attack, wait], &how));
    // Of one request there is no rate.
    let one = attack.printed(report).is_some_and(|attack| attack.value == 0.0);
    let of_attack = range(Complete).zip(range(attack)).and_then(|(n, s)| divided(n, s));
    // Older versions print a rate that is a little off.
    let of_attack = of_attack.map(|rate| Range { low: rate.low * 0.99, high: rate.high * 1.01 });
    let how = quotient_in_words(report, Complete, attack);
    let rate = Own("the rate of the attack");
    found.extend(must_be(report, rate, of_attack, &[Complete, attack], &how));
    let sum = responses(report).saturating_add(report.failed.unwrap_or(0));
    if let Some(complete) = report.complete.filter(|complete| *complete != sum && sum > 0) {
        let said = format!(
            "The numbers by status add up to {}, but {} is {}.",
            grouped(sum),
            Complete.name(report),
            grouped(complete)
        );
        found.push(Contradiction::new([Complete, Statuses], said));
    }
    let good_per_s = Own("the rate of the good responses");
    if sum > 0 && !one {
        let per_s = range(Taken).and_then(|taken| divided(good_range, taken));
        let how =
            format!("{} with 2xx or 3xx in {} s", counted(good, "response"), Taken.digits(report));
        found.extend(must_be(report, good_per_s, per_s, &[Statuses, Taken], &how));
    }
    if sum > 0 {
        let ratio = Range::exactly(good as f64 * 100.0 / sum as f64);
        let how = format!("{} of {} with 2xx or 3xx", grouped(good), counted(sum, "request"));
        let success = Own("the success ratio");
        found.extend(must_be(report, success, Some(ratio), &[Statuses], &how));
    }
    let (sum_ms, mean) = (Own(VEGETA_SUM), Cell(Row::Total, Column::Mean));
    let of_each = range(sum_ms).zip(range(Complete)).and_then(|(ms, n)| divided(ms, n));
    // It cuts the mean to whole nanoseconds.
    let of_each = of_each.map(|ms| Range { low: ms.low - NANOSECOND_MS, ..ms });
    let how = quotient_in_words(report, sum_ms, Complete);
    found.extend(must_be(report, mean, of_each, &[sum_ms, Complete], &how));
    let mean = range(BodyBytes).zip(range(Complete)).and_then(|(bytes, n)| divided(bytes, n));
    let how = quotient_in_words(report, BodyBytes, Complete);
    found.extend(must_be(report, Own("the mean of bytes in"), mean, &[BodyBytes, Complete], &how));
    let out = Own("the total of bytes out");
    let mean = range(out).zip(range(Complete)).and_then(|(bytes, n)| divided(bytes, n));
    let how = quotient_in_words(report, out, Complete);
    found.extend(must_be(report, Own("the mean of bytes out"), mean, &[out, Complete], &how));
    found
}

/// wrk and bombardier: requests per second, of the parts of a run.
fn mean_above_maximum(report: &Report) -> Option<Contradiction> {
    let of_wrk = (Own("the mean of Req/Sec"), Own("the maximum of Req/Sec"));
    let of_bombardier = (Rate, Own("the maximum of Reqs/sec"));
    let above = |(mean, max): (Figure, Figure)| {
        (mean.range(report)?.low > max.range(report)?.high).then(|| {
            let said = format!(
                "{} is {}, more than {} ({}).",
                mean.name(report),
                mean.digits(report),
                max.name(report),
                max.digits(report)
            );
            Contradiction::new([mean, max], said)
        })
    };
    [of_wrk, of_bombardier].into_iter().find_map(above)
}

/// What a tool prints once more, in other digits.
fn printed_twice(report: &Report) -> Vec<Contradiction> {
    let pairs = [
        (Own("the mean of the spectrum"), Cell(Row::Total, Column::Mean)),
        (Own("the deviation of the spectrum"), Cell(Row::Total, Column::Deviation)),
        (Own("the maximum of the spectrum"), Cell(Row::Total, Column::Max)),
        (Own("p50 beside the rate"), Percentile(50.0)),
        (Own("p95 beside the rate"), Percentile(95.0)),
        (Own("p99 beside the rate"), Percentile(99.0)),
        (Own("max beside the rate"), Percentile(100.0)),
    ];
    let apart = |(own, cell): (Figure, Figure)| {
        let (one, other) = (own.printed(report)?, cell.printed(report)?);
        let name = own.name(report);
        (!Range::of(one).overlaps(Range::of(other))).then(|| {
            let said = format!(
                "{name} is {} ms, but {} is {} ms.",
                digits(one),
                cell.name(report),
                digits(other)
            );
            Contradiction::new([own, cell], said)
        })
    };
    pairs.into_iter().filter_map(apart).collect()
}
