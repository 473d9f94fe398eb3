//! A row of least, mean, deviation and most of few values: how far apart they can lie.

use super::Contradiction;
use super::figure::{Column, Figure, Range, Row};
use crate::printed::{FIRST_BYTE_DEVIATION, H2LOAD_DEVIATION, Report, WRK_DEVIATION};
use crate::words::{decimal, grouped};

/// Whether this is the deviation of such a row, and no other rule's.
pub fn is_aside(figure: Figure) -> bool {
    let names = [WRK_DEVIATION, H2LOAD_DEVIATION, FIRST_BYTE_DEVIATION];
    match figure {
        Figure::Own(name) => names.contains(&name),
        Figure::Cell(Row::Connect, Column::Deviation) => true,
        _ => false,
    }
}

/// Such a row.
pub struct Spread {
    /// Where it is not printed, 0 is no more than it.
    pub least: Option<Figure>,
    pub mean: Figure,
    pub deviation: Figure,
    pub most: Figure,
    /// Behind each number: ` ms`.
    pub unit: &'static str,
}

/// Between least and most the deviation is bounded (Bhatia and Davis; of two values the factor is that of the smallest
/// sample), and of no more than so many values the farthest alone makes a part of it.
pub fn contradiction(report: &Report, row: &Spread, values: Option<f64>) -> Option<Contradiction> {
    let range = |figure: Figure| figure.range(report);
    let (mean, sd, most) = (range(row.mean)?, range(row.deviation)?, range(row.most)?);
    let least = row.least.map_or(Some(Range { low: 0.0, high: mean.high }), range)?;
    // The order of these is another rule's.
    if mean.low > most.high || least.low > mean.high {
        return None;
    }
    let above = (most.high - mean.low).max(0.0);
    let below = (mean.high - least.low).max(0.0);
    let at_most = (2.0 * above * below).sqrt() * NEAR;
    let farthest = (most.low - mean.high).max(mean.low - least.high).max(0.0);
    let at_least = match values.filter(|values| *values > 1.0) {
        Some(values) => farthest / (values - 1.0).sqrt() / NEAR,
        None => 0.0,
    };
    let (bound, value) = match () {
        () if sd.low > at_most => ("at most", at_most),
        () if sd.high < at_least => ("at least", at_least),
        () => return None,
    };
    let unit = row.unit;
    let of = values.filter(|_| bound == "at least").map_or(String::new(), |values| {
        format!("of no more than {} values ", grouped(values.ceil() as u64))
    });
    let ends = match row.least {
        Some(least) => format!(
            "{} {}{unit}, {} {}{unit}",
            least.name(report),
            least.digits(report),
            row.most.name(report),
            row.most.digits(report)
        ),
        None => format!("{} {}{unit}", row.most.name(report), row.most.digits(report)),
    };
    let said = format!(
        "{} is {}{unit}, but {} is {}{unit} and {ends}: {of}it is {bound} {}{unit}.",
        row.deviation.name(report),
        row.deviation.digits(report),
        row.mean.name(report),
        row.mean.digits(report),
        decimal(value, 2)
    );
    let figures = [row.deviation, row.mean, row.most].into_iter().chain(row.least);
    Some(Contradiction::new(figures.collect::<Vec<_>>(), said))
}

/// What computes them rounds.
const NEAR: f64 = 1.01;
