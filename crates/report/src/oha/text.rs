//! oha's text: the summary, the histogram and the distributions that it prints where nothing else is asked for.

use std::fmt::Write as _;

use ablaze_model::Run;
use ablaze_model::printable::printable;
use ablaze_stats::Latency;

use super::{PERCENTS, connect, errors, histogram, latency, rate_per_s, success_rate};

/// The longest bar of the histogram.
const BAR_LETTERS: u64 = 32;

/// A unit of times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    name: &'static str,
    ns: f64,
}

impl Unit {
    const NANOSECOND: Self = Self { name: "ns", ns: 1.0 };

    /// The units by the names that `-u` takes, and those that reports print.
    const ALL: [(&'static str, Self); 6] = [
        ("ns", Self::NANOSECOND),
        ("us", Self { name: "us", ns: 1e3 }),
        ("ms", Self { name: "ms", ns: 1e6 }),
        ("s", Self { name: "sec", ns: 1e9 }),
        ("m", Self { name: "min", ns: 60e9 }),
        ("h", Self { name: "hr", ns: 3600e9 }),
    ];

    /// The unit of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(own, _)| *own == name).map(|(_, unit)| *unit)
    }

    /// The largest of which the longest time has at least one; nanoseconds without a time.
    fn of(longest_ns: Option<u64>) -> Self {
        let fits = |unit: &&(&str, Self)| longest_ns.is_some_and(|ns| ns as f64 >= unit.1.ns);
        Self::ALL.iter().rev().find(fits).map_or(Self::NANOSECOND, |(_, unit)| *unit)
    }

    /// A time with four digits.
    fn shown(self, ns: f64) -> String {
        match ns / self.ns {
            value if value.is_infinite() => {
                format!("{}inf {}", if value < 0.0 { "-" } else { "" }, self.name)
            }
            value => format!("{value:.4} {}", self.name),
        }
    }
}

/// The report, in this unit or in one that suits it.
pub fn text(run: &Run, unit: Option<Unit>, corrected: bool) -> String {
    let latency = latency(run, corrected);
    let unit = unit.unwrap_or_else(|| Unit::of(latency.max_ns()));
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = summary(run, latency, unit, &mut out);
    let _ = bars(latency, unit, &mut out);
    let _ = percentiles(latency, unit, &mut out);
    let _ = details(run, unit, &mut out);
    let _ = distributions(run, &mut out);
    out
}

fn summary(run: &Run, latency: &Latency, unit: Unit, out: &mut String) -> std::fmt::Result {
    let record = &run.record;
    let seconds = run.elapsed_ns as f64 / 1e9;
    let edge = |ns: Option<u64>, nothing: f64| unit.shown(ns.map_or(nothing, |ns| ns as f64));
    writeln!(out, "Summary:")?;
    writeln!(out, "  Success rate:\t{:.2}%", success_rate(run) * 100.0)?;
    writeln!(out, "  Total:\t{}", unit.shown(run.elapsed_ns as f64))?;
    writeln!(out, "  Slowest:\t{}", edge(latency.max_ns(), f64::NEG_INFINITY))?;
    writeln!(out, "  Fastest:\t{}", edge(latency.min_ns(), f64::INFINITY))?;
    writeln!(out, "  Average:\t{}", unit.shown(latency.mean_ns().unwrap_or(f64::NAN)))?;
    writeln!(out, "  Requests/sec:\t{:.4}", rate_per_s(run))?;
    writeln!(out)?;
    writeln!(out, "  Total data:\t{}", size(record.bytes_of_responses() as f64))?;
    let each = record.bytes_of_responses().checked_div(record.responses);
    let each = each.map_or_else(|| "NaN".to_owned(), |bytes| size(bytes as f64));
    writeln!(out, "  Size/request:\t{each}")?;
    let per_s = if seconds > 0.0 { record.bytes_of_responses() as f64 / seconds } else { 0.0 };
    writeln!(out, "  Size/sec:\t{}\n", size(per_s))
}

/// `327 B`, `63.87 KiB`.
fn size(bytes: f64) -> String {
    let mut amount = bytes;
    let mut units = ["B", "KiB", "MiB", "GiB", "TiB"].into_iter().peekable();
    while let Some(unit) = units.next() {
        if amount < 1024.0 || units.peek().is_none() {
            return match unit {
                "B" => format!("{} B", amount as u64),
                unit => format!("{amount:.2} {unit}"),
            };
        }
        amount /= 1024.0;
    }
    String::new()
}

fn bars(latency: &Latency, unit: Unit, out: &mut String) -> std::fmt::Result {
    writeln!(out, "Response time histogram:")?;
    let marks = histogram(latency);
    let most = marks.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let cells: Vec<(String, String, u64)> = marks
        .iter()
        .map(|(ns, count)| (format!("{:.3}", ns / unit.ns), format!("[{count}]"), *count))
        .collect();
    let width =
        |cell: fn(&(String, String, u64)) -> usize| cells.iter().map(cell).max().unwrap_or(0);
    let (of_marks, of_counts) = (width(|cell| cell.0.len()), width(|cell| cell.1.len()));
    for (mark, shown, count) in &cells {
        let bar = "■".repeat((count * BAR_LETTERS / most) as usize);
        writeln!(out, "  {mark:>of_marks$} {} {shown:<of_counts$} |{bar}", unit.name)?;
    }
    writeln!(out)
}

fn percentiles(latency: &Latency, unit: Unit, out: &mut String) -> std::fmt::Result {
    writeln!(out, "Response time distribution:")?;
    for percent in PERCENTS {
        let ns = latency.quantile_ns(percent / 100.0);
        writeln!(out, "  {percent:.2}% in {}", unit.shown(ns.map_or(f64::NAN, |ns| ns as f64)))?;
    }
    writeln!(out, "\n")
}

fn details(run: &Run, unit: Unit, out: &mut String) -> std::fmt::Result {
    let connect = connect(run);
    let row = |values: [f64; 3]| values.map(|ns| unit.shown(ns)).join(", ");
    let connected = match (connect.mean_ns(), connect.min_ns(), connect.max_ns()) {
        (Some(mean), Some(min), Some(max)) => [mean, min as f64, max as f64],
        _ => [f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
    };
    writeln!(out, "Details (average, fastest, slowest):")?;
    writeln!(out, "  DNS+dialup:\t{}", row(connected))?;
    writeln!(out, "  DNS-lookup:\t{}", row([0.0; 3]))?;
    writeln!(out)
}

fn distributions(run: &Run, out: &mut String) -> std::fmt::Result {
    writeln!(out, "Status code distribution:")?;
    for (status, count) in &run.record.statuses {
        writeln!(out, "  [{status}] {count} responses")?;
    }
    let errors = errors(run);
    if !errors.is_empty() {
        writeln!(out, "\nError distribution:")?;
        for (what, count) in errors {
            writeln!(out, "  [{count}] {}", printable(what))?;
        }
    }
    Ok(())
}
