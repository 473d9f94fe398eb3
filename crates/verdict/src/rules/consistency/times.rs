//! Times: what the order of values, their mean and their deviation must be; and what the requests of so
//! many connections can have taken in the time of the run.

use super::figure::Figure::{self, *};
use super::figure::{Column, Range, Row, digits};
use super::{Contradiction, h2load};
use crate::printed::{Report, Tool};
use crate::words::{amount, counted, decimal, grouped, time};

pub fn contradictions(report: &Report) -> Vec<Contradiction> {
    let mut found = Vec::new();
    found.extend(longer_than_the_run(report));
    for row in Row::ALL {
        found.extend(order_of_row(report, row));
        // What each of h2load's clients has once has closer bounds.
        let is_of_clients = report.tool == Tool::H2load && row == Row::Connect;
        found.extend(deviation(report, row).filter(|_| !is_of_clients));
    }
    found.extend(order_of_percentiles(report));
    found.extend(longest(report));
    found.extend(longest_within_sum(report));
    found.extend(middle(report));
    found.extend(parts(report));
    found.extend(parts_of_hey(report));
    found.extend(mean_within_percentiles(report));
    found.extend(deviation_within_percentiles(report));
    found.extend(in_flight(report));
    found
}

/// How far values may be apart that ought to be equal, as a share: histograms round.
fn rounding(tool: Tool) -> f64 {
    match tool {
        Tool::Ab | Tool::Gurl => 1e-9,
        _ => 0.01,
    }
}

/// One figure that cannot be larger than another, but for rounding.
fn at_most(report: &Report, less: Figure, more: Figure) -> Option<Contradiction> {
    at_most_within(report, less, more, rounding(report.tool))
}

/// The same of figures that may be so far apart, as a share.
fn at_most_within(report: &Report, less: Figure, more: Figure, off: f64) -> Option<Contradiction> {
    let (low, high) = (less.printed(report)?, more.printed(report)?);
    let finest = if low.step == high.step { 0.0 } else { low.step.max(high.step) };
    (low.value > high.value * (1.0 + off) + finest).then(|| {
        let said = format!(
            "{} is {} ms, more than {} ({} ms).",
            less.name(report),
            digits(low),
            more.name(report),
            digits(high)
        );
        Contradiction::new([less, more], said)
    })
}

/// The least, then mean and median, then the most.
fn order_of_row(report: &Report, row: Row) -> Vec<Contradiction> {
    use Column::*;
    let pairs = [(Min, Mean), (Min, Median), (Mean, Max), (Median, Max), (Min, Max)];
    let held = |(less, more)| at_most(report, Cell(row, less), Cell(row, more));
    // The mean is of all responses, and the others of those that hey keeps. siege divides the times of all, of those that
    // failed too, by the number of the others.
    let apart = report.responses_beyond_kept().is_some()
        || report.tool == Tool::Siege && report.failed != Some(0);
    let of_the_same = |(less, more): &(Column, Column)| !apart || *less != Mean && *more != Mean;
    pairs.into_iter().filter(of_the_same).filter_map(held).collect()
}

/// For each time wrk adds as many values as the usual interval of its connection fits into it (stats_correct). All times
/// of a connection fit into the run: so it adds no more values than there are requests, but for rounding.
const CORRECTED: f64 = 2.5;

/// A deviation has bounds: the longest alone makes a part of it, and values between least and most have at
/// most so much (Bhatia and Davis, American Mathematical Monthly 107(4), 2000). Of a sample of n it is
/// larger by n / (n - 1).
fn deviation(report: &Report, row: Row) -> Option<Contradiction> {
    use Column::*;
    let at = |column| Cell(row, column);
    let range = |column| at(column).range(report);
    let (sd, mean, max) = (range(Deviation)?, range(Mean)?, range(Max)?);
    let min = range(Min).unwrap_or(Range { low: 0.0, high: mean.high });
    // Where connections are kept, few of them were opened.
    let of_each = row == Row::Total || report.tool.is_ab_like();
    let n = if of_each { report.complete.filter(|n| *n > 1)? as f64 } else { 2.0 };
    let near = 1.0 + rounding(report.tool);
    let most = ((max.high - mean.low).max(0.0) * (mean.high - min.low).max(0.0)).sqrt();
    let most = most * (n / (n - 1.0)).sqrt() * near;
    let alone = (max.low - mean.high).max(0.0);
    // h2load has all four of the same sample of them, which is no larger: the bound holds all the more.
    let least = match report.tool {
        _ if !of_each => 0.0,
        Tool::Wrk | Tool::Wrk2 => alone / (n * CORRECTED).sqrt() / near,
        _ => alone / (n - 1.0).sqrt() / near,
    };
    let figures = [at(Deviation), at(Mean), at(Max), at(Min)];
    let said = |bound: &str, ms: f64| {
        format!(
            "{} is {} ms: with a mean of {} and a maximum of {} ms it is {bound} {} ms.",
            at(Deviation).name(report),
            at(Deviation).digits(report),
            at(Mean).digits(report),
            at(Max).digits(report),
            amount(ms)
        )
    };
    if sd.low > most {
        return Some(Contradiction::new(figures, said("at most", most)));
    }
    let with_count = [&figures[..3], &[Complete]].concat();
    (sd.high < least).then(|| Contradiction::new(with_count, said("at least", least)))
}

/// More of the requests took longer: also as a histogram rounds them.
fn order_of_percentiles(report: &Report) -> Vec<Contradiction> {
    let percents = report.percentiles.windows(2).map(|pair| [pair[0].0, pair[1].0]);
    let held =
        |[less, more]: [f64; 2]| at_most_within(report, Percentile(less), Percentile(more), 1e-9);
    let mut found: Vec<Contradiction> = percents.filter_map(held).collect();
    if let (Some((first, _)), Some((last, _))) =
        (report.percentiles.first(), report.percentiles.last())
    {
        found.extend(at_most(report, Cell(Row::Total, Column::Min), Percentile(*first)));
        found.extend(at_most(report, Percentile(*last), Cell(Row::Total, Column::Max)));
    }
    found
}

/// The longest is printed twice.
fn longest(report: &Report) -> Option<Contradiction> {
    at_most(report, Cell(Row::Total, Column::Max), Percentile(100.0))
}

/// The longest is one of those that make the mean, and each of the others took the least at least. Where a deviation is
/// printed, that has a closer bound.
fn longest_within_sum(report: &Report) -> Option<Contradiction> {
    if !matches!(report.tool, Tool::Vegeta | Tool::Oha | Tool::Hey) {
        return None;
    }
    let [max, mean, min] = [Column::Max, Column::Mean, Column::Min].map(|of| Cell(Row::Total, of));
    let (most, average) = (max.range(report)?, mean.range(report)?);
    // The mean is of no more than these: older versions of hey divide by those that failed, too. And the least is only of
    // those that it keeps.
    let failed = report.failed.filter(|_| report.tool == Tool::Hey).unwrap_or(0);
    let n = report.complete?.saturating_add(failed) as f64;
    let least = min.range(report).filter(|_| report.responses_beyond_kept().is_none());
    let least = least.map_or(0.0, |min| min.low).min(average.low);
    let bound = (least + n * (average.high - least)) * (1.0 + rounding(report.tool));
    (n > 0.0 && most.low > bound).then(|| {
        let said = format!(
            "{} is {} ms, but of {} of {} ms on average none took more than {}.",
            max.name(report),
            max.digits(report),
            counted(n as u64, "request"),
            mean.digits(report),
            time(bound)
        );
        Contradiction::new([max, mean, min, Complete], said)
    })
}

/// The median, too. ab's takes, of an odd number, the mean of the middle one and the next; the textbook's, which
/// `ablaze ab` prints under the same labels, of an even number the mean of the two in the middle, of which 50 % is the
/// upper one: half of that at least.
fn middle(report: &Report) -> Vec<Contradiction> {
    let median = Cell(Row::Total, Column::Median);
    let odd = report.complete.is_none_or(|complete| complete % 2 == 1);
    let of_two = report.complete.is_none_or(|complete| complete % 2 == 0);
    let mut found = Vec::new();
    let printed = Percentile(50.0).printed(report).zip(median.printed(report));
    let half = printed.is_some_and(|(half, median)| {
        half.value <= 2.0 * median.value + half.step.max(median.step)
    });
    if !(report.tool.is_ab_like() && of_two && half) {
        found.extend(at_most(report, Percentile(50.0), median));
    }
    if report.complete.is_some_and(|complete| complete >= 10) {
        let above = if odd && report.tool.is_ab_like() { 66.0 } else { 50.0 };
        found.extend(at_most(report, median, Percentile(above)));
    }
    found
}

/// Connecting and processing make the total, and waiting is a part of processing: of each request, so of
/// each mean, least and most. After failures ab has times of earlier requests in them.
fn parts(report: &Report) -> Vec<Contradiction> {
    use Column::*;
    if !report.tool.is_ab_like() || report.failed != Some(0) || report.write_errors.is_some() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for column in [Min, Mean, Median, Max] {
        let cell = |row| Cell(row, column);
        let pairs = [
            (Row::Connect, Row::Total),
            (Row::Waiting, Row::Processing),
            (Row::Processing, Row::Total),
        ];
        let held = |(less, more)| at_most(report, cell(less), cell(more));
        found.extend(pairs.into_iter().filter_map(held));
    }
    found.extend(sum_of_means(report));
    found.extend(longest_of_both(report));
    found
}

/// No request takes longer than the longest to connect and the longest processing together. ab rounds each to ms.
fn longest_of_both(report: &Report) -> Option<Contradiction> {
    let figures = [Row::Connect, Row::Processing, Row::Total].map(|row| Cell(row, Column::Max));
    let [connect, processing, total] = figures.map(|figure| figure.range(report));
    let (connect, processing, total) = (connect?, processing?, total?);
    let most = (connect.high + processing.high) * (1.0 + rounding(report.tool));
    (total.low > most).then(|| {
        let [one, other, all] = figures.map(|figure| figure.digits(report));
        let said = format!(
            "`Connect` takes {one} ms and `Processing` {other} ms at most, but `Total` {all} ms."
        );
        Contradiction::new(figures, said)
    })
}

/// hey has the time to connect in that of the request, counted as 0 where a connection was there, and those of sending
/// it and of reading. Not that of waiting: where the first byte came before Go said that the request was written, hey
/// takes it from the start of the run on.
fn parts_of_hey(report: &Report) -> Vec<Contradiction> {
    if report.tool != Tool::Hey {
        return Vec::new();
    }
    let mean = |row| Cell(row, Column::Mean);
    let (write, read) = (Own("the mean of req write"), Own("the mean of resp read"));
    let parts = [mean(Row::Connect), write, read];
    parts.into_iter().filter_map(|part| at_most(report, part, mean(Row::Total))).collect()
}

fn sum_of_means(report: &Report) -> Option<Contradiction> {
    let figures = [Row::Connect, Row::Processing, Row::Total].map(|row| Cell(row, Column::Mean));
    let [connect, processing, total] = figures.map(|figure| figure.range(report));
    let (connect, processing, total) = (connect?, processing?, total?);
    let near = rounding(report.tool);
    let sum = Range {
        low: (connect.low + processing.low) * (1.0 - near),
        high: (connect.high + processing.high) * (1.0 + near),
    };
    (!sum.overlaps(total)).then(|| {
        let [one, other, all] = figures.map(|figure| figure.digits(report));
        let said = format!(
            "`Connect` takes {one} ms and `Processing` {other} ms on average, but `Total` {all} ms."
        );
        Contradiction::new(figures, said)
    })
}

/// The percentiles leave a range to the mean: so many took at most this, and the next at least that.
fn mean_within_percentiles(report: &Report) -> Option<Contradiction> {
    let figure = Cell(Row::Total, Column::Mean);
    let mean = figure.range(report)?;
    let n = report.complete.filter(|n| *n > 0)? as f64;
    let mut points: Vec<(f64, Range)> =
        report.percentiles.iter().map(|(percent, ms)| (percent / 100.0, Range::of(*ms))).collect();
    let max = report.max_ms().map(Range::of)?;
    // The percentiles are of other responses then.
    if points.is_empty() || report.responses_beyond_kept().is_some() {
        return None;
    }
    points.push((1.0, max));
    // Tools count to a percentile in different ways, one request more or less.
    let slack = 2.0 * max.high / n;
    let near = rounding(report.tool);
    let least = Cell(Row::Total, Column::Min).range(report).map_or(0.0, |min| min.low);
    let (mut low, mut high, mut before, mut from) = (0.0, 0.0, least, 0.0);
    for (share, ms) in points {
        low += (share - from) * before;
        high += (share - from) * ms.high;
        (before, from) = (ms.low, share);
    }
    let (low, high) = (low * (1.0 - near) - slack, high * (1.0 + near) + slack);
    // Where these contradict each other, they leave nothing to it.
    (low <= high && (mean.high < low || mean.low > high)).then(|| {
        let percentiles = report.percentiles.iter().map(|(percent, _)| Percentile(*percent));
        let said = format!(
            "{} is {} ms, but the percentiles leave {} to {} to the mean.",
            figure.name(report),
            figure.digits(report),
            time(low.max(0.0)),
            time(high)
        );
        let end = if mean.high < low { Column::Min } else { Column::Max };
        let others = [figure, Cell(Row::Total, end)];
        let figures: Vec<Figure> = others.into_iter().chain(percentiles).collect();
        Contradiction::new(figures, said)
    })
}

/// The percentiles leave a range to the deviation, too: each part of the requests lies between two of them, and is as far
/// from the mean as the nearer end at least, and as the farther one at most.
fn deviation_within_percentiles(report: &Report) -> Option<Contradiction> {
    let (sd_of, mean_of) = (Cell(Row::Total, Column::Deviation), Cell(Row::Total, Column::Mean));
    let (sd, mean) = (sd_of.range(report)?, mean_of.range(report)?);
    let n = report.complete.filter(|n| *n >= 100)? as f64;
    let all = report.tool.is_ab_like();
    let max = report.max_ms().map(Range::of)?;
    if !all || report.percentiles.len() < 3 {
        return None;
    }
    let least = Cell(Row::Total, Column::Min).range(report).map_or(0.0, |min| min.low);
    let mut points: Vec<(f64, Range)> =
        report.percentiles.iter().map(|(percent, ms)| (percent / 100.0, Range::of(*ms))).collect();
    points.push((1.0, max));
    // ab counts to a percentile by whole requests: a part has two more of them, or less.
    let slack = 2.0 / n;
    let (mut low, mut high, mut before, mut from) = (0.0, 0.0, least, 0.0);
    for (share, ms) in points {
        let nearer = (before - mean.high).max(mean.low - ms.high).max(0.0);
        let farther = (ms.high - mean.low).max(mean.high - before);
        low += (share - from - slack).max(0.0) * nearer.powi(2);
        high += (share - from + slack) * farther.powi(2);
        (before, from) = (ms.low, share);
    }
    let near = 1.0 + rounding(report.tool);
    let (low, high) = (low.sqrt() / near, high.sqrt() * near);
    (sd.high < low || sd.low > high * (n / (n - 1.0)).sqrt()).then(|| {
        let percentiles = report.percentiles.iter().map(|(percent, _)| Percentile(*percent));
        let said = format!(
            "{} is {} ms, but mean and percentiles leave {} to {} ms to it.",
            sd_of.name(report),
            sd_of.digits(report),
            decimal(low, 1),
            decimal(high, 1)
        );
        let ends = [Column::Min, Column::Max].map(|end| Cell(Row::Total, end));
        let others = [sd_of, mean_of].into_iter().chain(ends);
        let figures: Vec<Figure> = others.chain(percentiles).collect();
        Contradiction::new(figures, said)
    })
}

/// No more requests are under way than there are places for (Little's law). What began before the clock
/// may end after it: one for each place.
fn in_flight(report: &Report) -> Option<Contradiction> {
    let measured = report.tool.is_ab_like()
        || matches!(report.tool, Tool::Ablaze | Tool::AblazeGurl | Tool::Bombardier);
    if !measured || report.open_loop {
        return None;
    }
    let figures = [Complete, Cell(Row::Total, Column::Mean), Concurrency, Taken];
    let [n, mean, asked, taken] = figures.map(|figure| figure.range(report));
    let (n, mean, asked, taken) = (n?, mean?, asked?, taken?);
    let before = report.max_ms().map_or(0.0, |max| asked.high * (max.value + max.step));
    let before = if report.tool.is_ab_like() { 0.0 } else { before };
    let (sum, room) = (n.low * mean.low, asked.high * taken.high * 1e3 + before);
    (sum > room * (1.0 + rounding(report.tool))).then(|| {
        let said = format!(
            "{} × {} = {} requests × {} ms is {} in flight on average over {} s, but {} is {}.",
            Complete.name(report),
            figures[1].name(report),
            grouped(n.low as u64),
            figures[1].digits(report),
            amount(
                n.low * figures[1].printed(report).map_or(0.0, |mean| mean.value)
                    / 1e3
                    / taken.high
            ),
            Taken.digits(report),
            Concurrency.name(report),
            Concurrency.digits(report)
        );
        let max = (before > 0.0).then_some(Cell(Row::Total, Column::Max));
        Contradiction::new(figures.into_iter().chain(max).collect::<Vec<_>>(), said)
    })
}

/// Each request lies within the run.
fn longer_than_the_run(report: &Report) -> Option<Contradiction> {
    let within = match report.tool {
        // In a run by time some begin in the warm-up.
        Tool::H2load => h2load::is_by_count(report),
        Tool::Gurl | Tool::Wrk | Tool::Hey | Tool::Siege | Tool::Vegeta => true,
        tool => tool.is_ab_like(),
    };
    let (max, taken) = (report.max_ms()?, report.taken_s?);
    let room_ms = (taken.value + taken.step) * 1e3 * 1.02;
    (within && max.value - max.step > room_ms).then(|| {
        let figure = Cell(Row::Total, Column::Max);
        let printed = figure.printed(report).map_or(Percentile(100.0), |_| figure);
        let said = format!(
            "{} is {} ms, longer than the run ({} s).",
            printed.name(report),
            printed.digits(report),
            Taken.digits(report)
        );
        Contradiction::new([printed, Taken], said)
    })
}
