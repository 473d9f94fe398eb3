//! Count, length, rate and bytes: each of ab's lines of rates is a quotient of the counts above it.

use super::Contradiction;
use super::figure::Figure::{self, *};
use super::figure::{Range, digits};
use crate::printed::{HEY_KEEPS, Printed, Report, Tool};

/// `target` = `factor` × the product of `times` / the product of `by`.
struct Formula {
    target: Figure,
    factor: f64,
    times: &'static [Figure],
    by: &'static [Figure],
}

const fn formula(
    target: Figure,
    factor: f64,
    times: &'static [Figure],
    by: &'static [Figure],
) -> Formula {
    Formula { target, factor, times, by }
}

/// Milliseconds in a second.
const MS: f64 = 1000.0;
/// Bytes in ab's kilobyte; gurl's has 1000.
const KILO: f64 = 1024.0;

/// Each holds without one of the figures of the others, so that one wrong figure is in all that it spoils
/// and the others show that the rest agree.
const FORMULAS: [Formula; 15] = [
    formula(Rate, 1.0, &[Complete], &[Taken]),
    formula(Across, MS, &[Taken], &[Complete]),
    formula(PerRequest, MS, &[Concurrency, Taken], &[Complete]),
    formula(Across, MS, &[], &[Rate]),
    formula(PerRequest, 1.0, &[Concurrency, Across], &[]),
    formula(PerRequest, MS, &[Concurrency], &[Rate]),
    formula(Received, 1.0 / KILO, &[TotalBytes], &[Taken]),
    formula(Received, 1.0 / KILO, &[TotalBytes, Rate], &[Complete]),
    formula(Received, MS / KILO, &[TotalBytes], &[Across, Complete]),
    formula(Received, MS / KILO, &[TotalBytes, Concurrency], &[PerRequest, Complete]),
    formula(Received, 1.0, &[Kilobytes], &[Taken]),
    formula(Received, 1.0, &[Kilobytes, Rate], &[Complete]),
    formula(Sent, 1.0 / KILO, &[SentBytes], &[Taken]),
    formula(Sent, 1.0 / KILO, &[SentBytes, Rate], &[Complete]),
    formula(Sent, 1.0, &[SentBytes, Received], &[TotalBytes]),
];

pub fn contradictions(report: &Report) -> Vec<Contradiction> {
    if !divides(report) {
        return Vec::new();
    }
    let mut found: Vec<Contradiction> =
        FORMULAS.iter().filter_map(|formula| formula.contradicted(report)).collect();
    found.extend(sum(report));
    found
}

/// Whether the tool's rates are the quotients of what it prints above them.
fn divides(report: &Report) -> bool {
    match report.tool {
        Tool::Hey => report.complete.is_some_and(|complete| complete < HEY_KEEPS),
        // A mean of samples, and only the good ones: `peers` has what holds there.
        Tool::Bombardier | Tool::Vegeta => false,
        _ => true,
    }
}

impl Formula {
    fn figures(&self) -> Vec<Figure> {
        [&[self.target], self.times, self.by].concat()
    }

    /// siege prints 0.00 for what it divides by a run of 0.00 s: its clock goes in steps of 10 ms.
    fn is_of_no_time(&self, report: &Report) -> bool {
        let is_zero = |figure: Figure| figure.printed(report).is_some_and(|of| of.value == 0.0);
        report.tool == Tool::Siege
            && self.by.contains(&Taken)
            && is_zero(Taken)
            && is_zero(self.target)
    }

    fn contradicted(&self, report: &Report) -> Option<Contradiction> {
        let figures = self.figures();
        // A mean of times that were measured follows from nothing else.
        let measured = matches!(report.tool, Tool::AblazeGurl) && figures.contains(&PerRequest);
        let wrapped = figures.contains(&TotalBytes) && bytes_wrapped(report);
        // Of no requests tools print 0 for what cannot be computed.
        let by_nothing = report.complete == Some(0)
            && figures
                .iter()
                .any(|figure| matches!(figure, Across | PerRequest) || self.by.contains(&Complete));
        if measured || wrapped || by_nothing || self.is_of_no_time(report) {
            return None;
        }
        let target = self.target.range(report)?;
        let mut range = Range::exactly(self.factor);
        for figure in self.times {
            let by = figure.range(report)?;
            range = Range { low: range.low * by.low, high: range.high * by.high };
        }
        for figure in self.by {
            let by = figure.range(report)?;
            range = Range { low: range.low / by.high, high: quotient(range.high, by.low) };
        }
        // Kilobytes have 1000 bytes for some tools, or as somebody converted them.
        let thousands = KILO / 1000.0;
        let others = Range { low: range.low * thousands, high: range.high * thousands };
        let of_bytes = figures.contains(&TotalBytes) && self.factor != 1.0;
        if range.overlaps(target) || of_bytes && others.overlaps(target) {
            return None;
        }
        let range = if of_bytes && !report.tool.is_ab_like() { others } else { range };
        Some(Contradiction::new(figures, self.said(report, range)))
    }

    /// ``Complete requests` / `Time taken for tests` = 100,000 / 10.000 is 9,999 to 10,001, but `Requests per second` is 5.00.``
    fn said(&self, report: &Report, range: Range) -> String {
        let joined = |word: &dyn Fn(Figure) -> String| {
            let mut product: Vec<String> = self.times.iter().map(|figure| word(*figure)).collect();
            match self.factor {
                MS => product.push("1,000".to_owned()),
                _ if product.is_empty() => product.push("1".to_owned()),
                _ => {}
            }
            let mut text = product.join(" × ");
            for figure in self.by {
                text.push_str(&format!(" / {}", word(*figure)));
            }
            text
        };
        let step = self.target.printed(report).map_or(1.0, |target| target.step);
        format!(
            "{} = {} makes {} {}, but {} is printed.",
            joined(&|figure| figure.name(report)),
            joined(&|figure| figure.digits(report)),
            self.target.name(report),
            between(range, step),
            self.target.digits(report)
        )
    }
}

fn quotient(of: f64, by: f64) -> f64 {
    if by > 0.0 { of / by } else { f64::INFINITY }
}

/// `9,999.00 to 10,001.00`, in the digits that the figure is printed in.
fn between(range: Range, step: f64) -> String {
    let text = |value: f64| digits(Printed { value, step });
    match (text(range.low), range.high.is_finite().then(|| text(range.high))) {
        (low, Some(high)) if low == high => low,
        (low, Some(high)) => format!("{low} to {high}"),
        (low, None) => format!("at least {low}"),
    }
}

/// Received and sent make both.
fn sum(report: &Report) -> Option<Contradiction> {
    let [received, sent, both] = [Received, Sent, Both].map(|figure| figure.range(report));
    let (received, sent, both) = (received?, sent?, both?);
    let sum = Range { low: received.low + sent.low, high: received.high + sent.high };
    (!sum.overlaps(both)).then(|| {
        let [one, other, all] = [Received, Sent, Both].map(|figure| figure.digits(report));
        let said = format!("{one} kb/s received and {other} sent are not {all} in total.");
        Contradiction::new([Received, Sent, Both], said)
    })
}

/// gurl counts bytes in 32 bits; what it counted is D32's.
pub fn bytes_wrapped(report: &Report) -> bool {
    report.total_bytes.is_some_and(|bytes| bytes < 0)
        || crate::diagnosis::d32_counter_wrapped::is_found(report)
}
