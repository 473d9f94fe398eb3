//! vegeta's reports for people: text, histogram, and the table that HdrHistogram's plotter reads.

use std::fmt::Write as _;

use ablaze_model::printable::printable;

use super::Metrics;
use super::duration::{duration, exact, parse_duration};

/// The figures as text.
pub fn text(metrics: &Metrics) -> String {
    let quantile = |q| duration(metrics.quantile_ns(q));
    let edge = |at: Option<&u64>| duration(at.copied().unwrap_or(0));
    let (attack_ns, wait_ns) = (metrics.attack_ns(), metrics.wait_ns());
    let latencies = [
        edge(metrics.latencies_ns.first()),
        duration(metrics.mean_ns()),
        quantile(0.5),
        quantile(0.9),
        quantile(0.95),
        quantile(0.99),
        edge(metrics.latencies_ns.last()),
    ];
    let times = [attack_ns + wait_ns, attack_ns, wait_ns].map(duration);
    let bytes = |total: u64| format!("{total}, {:.2}", metrics.mean_bytes(total));
    let codes: String =
        metrics.codes.iter().map(|(code, count)| format!("{code}:{count}  ")).collect();
    let (requests, rate) = (metrics.requests(), metrics.rate());
    let rows = [
        (
            "Requests",
            "[total, rate, throughput]",
            format!("{requests}, {rate:.2}, {:.2}", metrics.throughput()),
        ),
        ("Duration", "[total, attack, wait]", times.join(", ")),
        ("Latencies", "[min, mean, 50, 90, 95, 99, max]", latencies.join(", ")),
        ("Bytes In", "[total, mean]", bytes(metrics.bytes_in)),
        ("Bytes Out", "[total, mean]", bytes(metrics.bytes_out)),
        ("Success", "[ratio]", format!("{:.2}%", metrics.success() * 100.0)),
        ("Status Codes", "[code:count]", codes),
    ];
    let mut out = String::new();
    for (name, parts, figures) in rows {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{name:<14}{parts:<34}{figures}");
    }
    out.push_str("Error Set:\n");
    metrics.errors.iter().for_each(|error| out += &format!("{}\n", printable(error)));
    out
}

/// The edges of a histogram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buckets {
    /// In ascending order, from 0, ns; the last has no end.
    pub edges_ns: Vec<u64>,
}

impl Buckets {
    /// Reads `[0,1ms,10ms]`.
    pub fn read(text: &str) -> Option<Self> {
        let inside = text.strip_prefix('[')?.strip_suffix(']')?;
        let edges: Option<Vec<u64>> =
            inside.split(',').map(|edge| parse_duration(edge.trim())).collect();
        let mut edges_ns = edges?;
        if edges_ns.first().is_some_and(|first| *first > 0) {
            edges_ns.insert(0, 0);
        }
        edges_ns.is_sorted().then_some(Self { edges_ns })
    }

    /// How many latencies lie in each.
    pub fn counts(&self, metrics: &Metrics) -> Vec<u64> {
        let below = |edge: u64| metrics.latencies_ns.partition_point(|ns| *ns < edge);
        let ends = self.edges_ns.iter().skip(1).map(|edge| below(*edge));
        let ends = ends.chain([metrics.latencies_ns.len()]);
        let mut begin = 0;
        ends.map(|end| (end - std::mem::replace(&mut begin, end)) as u64).collect()
    }
}

/// The histogram as text.
pub fn histogram(metrics: &Metrics, buckets: &Buckets) -> String {
    let total = metrics.requests().max(1) as f64;
    let mut rows = vec![["Bucket", "", "#", "%", "Histogram"].map(str::to_owned)];
    for (at, count) in buckets.counts(metrics).into_iter().enumerate() {
        let ratio = count as f64 / total;
        let end = buckets.edges_ns.get(at + 1).map_or("+Inf".to_owned(), |edge| exact(*edge));
        rows.push([
            format!("[{},", exact(buckets.edges_ns[at])),
            format!("{end}]"),
            count.to_string(),
            format!("{:.2}%", ratio * 100.0),
            "#".repeat((ratio * 75.0) as usize),
        ]);
    }
    table(&rows)
}

/// Shares of the plot: a step of each tenth of what is left.
const SHARES: [f64; 24] = [
    0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.975,
    0.99, 0.995, 0.999, 0.9999, 0.99999, 0.999999, 1.0,
];

/// Latencies by their share, as HdrHistogram's plotter reads them.
pub fn hdrplot(metrics: &Metrics) -> String {
    let mut rows =
        vec![["Value(ms)", "Percentile", "TotalCount", "1/(1-Percentile)"].map(str::to_owned)];
    for share in SHARES {
        let one_by = if share < 1.0 { 1.0 / (1.0 - share) } else { 10_000_000.0 };
        rows.push([
            format!("{:.6}", metrics.quantile_ns(share) as f64 / 1e6),
            format!("{share:.6}"),
            format!("{}", (share * metrics.requests() as f64 + 0.5) as u64),
            format!("{one_by:.6}"),
        ]);
    }
    table(&rows)
}

/// Cells in columns, two blanks apart; the last is not filled up.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut out = String::new();
    for row in rows {
        for (cell, width) in row.iter().zip(&widths).take(N - 1) {
            // Writing to a String cannot fail.
            let _ = write!(out, "{cell:<width$}  ");
        }
        let _ = writeln!(out, "{}", row[N - 1]);
    }
    out
}
