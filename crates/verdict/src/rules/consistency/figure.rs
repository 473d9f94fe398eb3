//! A printed figure: what its tool calls it, and the range it may stand for.

use crate::printed::{Printed, Report, Times, Tool};
use crate::words::{decimal, grouped};

/// One figure of a report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Figure {
    Concurrency,
    Taken,
    Complete,
    Failed,
    FailedParts,
    WriteErrors,
    Non2xx,
    Kept,
    Statuses,
    /// The requests by their time.
    Histogram,
    Document,
    TotalBytes,
    /// The same, rounded.
    Kilobytes,
    BodyBytes,
    SentBytes,
    Rate,
    PerRequest,
    Across,
    Received,
    Sent,
    Both,
    Cell(Row, Column),
    /// The requests that took at most a time: percent.
    Percentile(f64),
    /// One that cannot be.
    Line,
    /// What only one tool prints, by what it is called there.
    Own(&'static str),
}

/// A row of the table of times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Row {
    Connect,
    Processing,
    Waiting,
    Total,
}

/// A column of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Column {
    Min,
    Mean,
    Deviation,
    Median,
    Max,
}

use Figure::*;

/// What a figure may stand for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    pub low: f64,
    pub high: f64,
}

impl Range {
    pub fn exactly(value: f64) -> Self {
        Self { low: value, high: value }
    }

    /// A whole step to each side: tools round to the nearest, down, or compute from rounded figures.
    pub fn of(printed: Printed) -> Self {
        // Binary fractions are off by their last bit.
        let step = printed.step * 1.000_001;
        Self { low: (printed.value - step).max(0.0), high: printed.value + step }
    }

    pub fn overlaps(self, other: Self) -> bool {
        let near = 1.0 + 1e-9;
        self.low <= other.high * near && other.low <= self.high * near
    }
}

impl Row {
    pub const ALL: [Self; 4] = [Self::Connect, Self::Processing, Self::Waiting, Self::Total];

    pub fn of(self, report: &Report) -> Option<Times> {
        match self {
            Self::Connect => report.connect,
            Self::Processing => report.processing,
            Self::Waiting => report.waiting,
            Self::Total => report.total,
        }
    }
}

impl Column {
    pub fn of(self, times: &Times) -> Option<Printed> {
        match self {
            Self::Min => times.min_ms,
            Self::Mean => times.mean_ms,
            Self::Deviation => times.deviation_ms,
            Self::Median => times.median_ms,
            Self::Max => times.max_ms,
        }
    }
}

impl Figure {
    /// As printed, if it is.
    pub fn printed(self, report: &Report) -> Option<Printed> {
        let exact = |value: f64| Printed { value, step: 0.0 };
        let count = |value: Option<u64>| value.map(|value| exact(value as f64));
        match self {
            Concurrency => count(report.concurrency),
            Taken => report.taken_s,
            Complete => count(report.complete),
            Failed => count(report.failed),
            TotalBytes => report.total_bytes.map(|bytes| exact(bytes as f64)),
            BodyBytes => report.body_bytes.map(|bytes| exact(bytes as f64)),
            SentBytes => count(report.sent_bytes),
            Rate => report.rate_per_s,
            PerRequest => report.per_request_ms,
            Across => report.across_ms,
            Kilobytes => report.received_kilobytes,
            Received => report.kilobytes_per_s,
            Sent => report.sent_kilobytes_per_s,
            Both => report.both_kilobytes_per_s,
            Cell(row, column) => column.of(&row.of(report)?),
            Percentile(percent) => report.percentile(percent),
            Own(name) => report.own(name),
            WriteErrors => count(report.write_errors),
            FailedParts | Non2xx | Kept | Statuses | Histogram | Document | Line => None,
        }
    }

    pub fn range(self, report: &Report) -> Option<Range> {
        self.printed(report).map(Range::of)
    }

    /// The digits of it.
    pub fn digits(self, report: &Report) -> String {
        self.printed(report).map_or(String::new(), digits)
    }

    /// Whether it says nothing of requests and their times.
    pub fn is_of_bytes(self) -> bool {
        match self {
            Own(name) => ["data", "size", "bytes", "throughput"].iter().any(|of| name.contains(of)),
            Document | TotalBytes | Kilobytes | BodyBytes | SentBytes | Received | Sent | Both => {
                true
            }
            _ => false,
        }
    }

    /// What the report's tool calls it.
    pub fn name(self, report: &Report) -> String {
        match self {
            Cell(row, column) => {
                let of = match row {
                    Row::Total if report.tool == Tool::AblazeGurl => {
                        return "`Time per request`".into();
                    }
                    row => format!("{row:?}"),
                };
                let name = match column {
                    Column::Deviation => "deviation".to_owned(),
                    column => format!("{column:?}").to_lowercase(),
                };
                match report.tool.has_ab_labels() {
                    true => format!("`{of}` {name}"),
                    false => format!("{} {name}", of.to_lowercase()),
                }
            }
            Percentile(percent) => format!("{percent} %"),
            Own(name) => name.to_owned(),
            // Its line has several numbers of requests.
            Complete if report.tool == Tool::H2load => {
                "the number of responses (succeeded + failed - errored)".to_owned()
            }
            Failed if report.tool == Tool::H2load => "the number errored".to_owned(),
            Line => "that line".to_owned(),
            _ if report.tool.has_ab_labels() => format!("`{}`", self.label()),
            _ => self.words().to_owned(),
        }
    }

    fn label(self) -> &'static str {
        match self {
            Concurrency => "Concurrency Level",
            Taken => "Time taken for tests",
            Complete => "Complete requests",
            Failed => "Failed requests",
            FailedParts => "Connect, Receive, Length, Exceptions",
            WriteErrors => "Write errors",
            Non2xx => "Non-2xx responses",
            Kept => "Keep-Alive requests",
            Statuses => "Status Codes",
            Histogram => "Response time histogram",
            Document => "Document Length",
            TotalBytes => "Total transferred",
            Kilobytes => "",
            BodyBytes => "HTML transferred",
            SentBytes => "Total body sent",
            Rate => "Requests per second",
            PerRequest => "Time per request",
            Across => "Time per request (across all)",
            Received => "Transfer rate",
            Sent => "kb/s sent",
            Both => "kb/s total",
            Cell(..) | Percentile(_) | Own(_) | Line => "",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Concurrency => "the concurrency",
            Taken => "the length of the run",
            Complete => "the number of requests",
            Failed => "the number of errors",
            Statuses => "the numbers by status",
            Histogram => "the histogram",
            TotalBytes => "the bytes received",
            BodyBytes => "the bytes of bodies",
            Kilobytes => "the kilobytes received",
            Rate => "the rate",
            Received => "the transfer rate",
            other => other.label(),
        }
    }
}

/// A figure with as many digits as it was printed with.
pub fn digits(printed: Printed) -> String {
    if printed.step == 0.0 {
        return match printed.value {
            value if value < 0.0 => format!("{value:.0}"),
            value => grouped(value as u64),
        };
    }
    let places = (-printed.step.log10()).round().clamp(0.0, 9.0) as usize;
    decimal(printed.value, places)
}
