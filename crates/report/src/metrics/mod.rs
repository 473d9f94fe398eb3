//! A run under way as metrics for Prometheus: which there are ([`families`]), and the two forms of text and the binary one
//! in which they are exposed. Names, units and labels follow prometheus.io/docs/practices/naming.

mod exponential;
pub mod otlp;
mod protobuf;
mod text;

use ablaze_model::progress::{Interval, Stage};
use ablaze_model::{FailureKind, printable};
use ablaze_stats::touched::{self, Touched};

/// A form in which metrics are exposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Prometheus' text format 0.0.4.
    Text,
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// Prometheus' protocol buffers, each with its length in front; distributions are native histograms.
    Protobuf,
}

/// What is known of a run under way.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Everything so far.
    pub so_far: Interval,
    /// Its stage.
    pub stage: Stage,
    /// Time since the clock started, ns.
    pub elapsed_ns: u64,
    /// What is loaded: the URL.
    pub target: String,
    /// The names of its groups: steps of journeys, lines of `--urls`.
    pub groups: Vec<String>,
}

/// A metric with its samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// Its name, that of a counter without `_total`.
    pub name: &'static str,
    /// What it counts.
    pub help: &'static str,
    /// Its unit, which its name ends with; empty where it has none.
    pub unit: &'static str,
    /// One value for each set of labels.
    pub samples: Vec<Sample>,
}

/// A value under labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Names and values.
    pub labels: Vec<(&'static str, String)>,
    /// The value.
    pub value: Value,
}

/// A value of a metric.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A count that only grows.
    Counter(u64),
    /// A figure that goes up and down.
    Gauge(f64),
    /// How many responses took how long.
    Times(Vec<Touched>),
}

/// The upper bounds of classic buckets, ns, as they are usually chosen. Those exposed are the ends of the run's own buckets
/// that these fall in, at most 1 % above: only there is the number of shorter times known exactly.
const USUAL_BOUNDS_NS: [u64; 20] = [
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
    30_000_000_000,
];

/// The names of all metrics, as a query has them: what a distribution is made of, and counters with `_total`.
pub fn names() -> Vec<String> {
    let snapshot = Snapshot {
        so_far: Interval {
            statuses: vec![(200, 0)],
            groups: vec![Default::default()],
            ..Interval::default()
        },
        groups: vec![String::new()],
        ..Snapshot::default()
    };
    let of = |family: Family| match family.kind() {
        "counter" => vec![format!("{}_total", family.name)],
        "histogram" => {
            ["_bucket", "_count", "_sum", ""].map(|end| format!("{}{end}", family.name)).to_vec()
        }
        _ => vec![family.name.to_owned()],
    };
    families(&snapshot).into_iter().flat_map(of).collect()
}

/// All metrics of a run.
pub fn families(snapshot: &Snapshot) -> Vec<Family> {
    let so_far = &snapshot.so_far;
    // What a person may look at with curl: text of others commands no terminal.
    let target = printable::printable_lines(&snapshot.target).into_owned();
    let labelled = |value: Value, more: Option<(&'static str, String)>| Sample {
        labels: [("target", target.clone())].into_iter().chain(more).collect(),
        value,
    };
    let counter = |count: u64| vec![labelled(Value::Counter(count), None)];
    let gauge = |figure: f64| vec![labelled(Value::Gauge(figure), None)];
    let statuses = so_far.statuses.iter().map(|(status, count)| {
        labelled(Value::Counter(*count), Some(("status", status.to_string())))
    });
    // A kind that did not occur has a sample, too: without it an alert would miss the first error.
    let errors = FailureKind::ALL.iter().zip(so_far.failures).map(|(kind, count)| {
        labelled(Value::Counter(count), Some(("kind", kind.key().to_owned())))
    });
    let of_steps = |value: fn(&ablaze_model::progress::GroupInterval) -> Value| {
        let steps = snapshot.groups.iter().zip(&so_far.groups);
        let named = |name: &String| printable::printable_lines(name).into_owned();
        steps.map(|(name, group)| labelled(value(group), Some(("step", named(name))))).collect()
    };
    let is_over = f64::from(u8::from(snapshot.stage == Stage::Over));
    let family = |name, unit, samples, help| Family { name, help, unit, samples };
    let mut families = vec![
        family(
            "ablaze_requests",
            "",
            counter(so_far.finished()),
            "Requests that ended, with a response or an error.",
        ),
        family("ablaze_responses", "", statuses.collect(), "Complete responses, by status."),
        family(
            "ablaze_unexpected_responses",
            "",
            counter(so_far.unexpected),
            "Responses outside of --expect.",
        ),
        family(
            "ablaze_errors",
            "",
            errors.collect(),
            "Requests that ended without a valid response, by kind of error.",
        ),
        family(
            "ablaze_connections_opened",
            "",
            counter(so_far.connections_opened),
            "Connections opened.",
        ),
        family(
            "ablaze_received_bytes",
            "bytes",
            counter(so_far.received_bytes),
            "Bytes received above TCP.",
        ),
        family(
            "ablaze_sent_bytes",
            "bytes",
            counter(so_far.sent_bytes),
            "Bytes of requests handed to the kernel.",
        ),
        family(
            "ablaze_request_duration_seconds",
            "seconds",
            vec![labelled(Value::Times(so_far.times.clone()), None)],
            "Time to the complete response; with --rate from when the request was due.",
        ),
        family(
            "ablaze_run_elapsed_seconds",
            "seconds",
            gauge(snapshot.elapsed_ns as f64 / 1e9),
            "Time since the clock of the run started.",
        ),
        family(
            "ablaze_run_over",
            "",
            gauge(is_over),
            "1 when the run has ended and the figures are final.",
        ),
    ];
    if !snapshot.groups.is_empty() {
        families.extend([
            family(
                "ablaze_step_responses",
                "",
                of_steps(|step| Value::Counter(step.responses)),
                "Complete responses to a step or a line of --urls.",
            ),
            family(
                "ablaze_step_errors",
                "",
                of_steps(|step| Value::Counter(step.failures)),
                "Requests of a step that ended without a valid response.",
            ),
            family(
                "ablaze_step_request_duration_seconds",
                "seconds",
                of_steps(|step| Value::Times(step.times.clone())),
                "Time to the complete response to a step.",
            ),
        ]);
    }
    families.retain(|family| !family.samples.is_empty());
    families
}

/// The metrics in this form.
pub fn write(families: &[Family], format: Format) -> Vec<u8> {
    match format {
        Format::Text => text::write(families, false).into_bytes(),
        Format::OpenMetrics => text::write(families, true).into_bytes(),
        Format::Protobuf => protobuf::write(families),
    }
}

impl Format {
    /// Its media type.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Protobuf => {
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; \
                 encoding=delimited"
            }
        }
    }

    /// The form that the field Accept prefers (RFC 9110, 12.5.1), of several alike the first; text where it names none.
    pub fn of_accept(accept: &str) -> Self {
        let mut best = (0.0, Self::Text);
        for range in accept.split(',') {
            let mut parts = range.split(';').map(|part| part.trim().to_ascii_lowercase());
            let media = parts.next().unwrap_or_default();
            let parameters: Vec<String> = parts.collect();
            let has = |wanted: &str| parameters.iter().any(|parameter| parameter == wanted);
            let format = match media.as_str() {
                "application/vnd.google.protobuf"
                    if has("proto=io.prometheus.client.metricfamily")
                        && has("encoding=delimited") =>
                {
                    Self::Protobuf
                }
                "application/openmetrics-text" => Self::OpenMetrics,
                "text/plain" | "text/*" => Self::Text,
                _ => continue,
            };
            let quality = parameters.iter().find_map(|parameter| parameter.strip_prefix("q="));
            let quality = quality.map_or(1.0, |quality| quality.parse::<f32>().unwrap_or(0.0));
            if quality > best.0 {
                best = (quality, format);
            }
        }
        best.1
    }
}

impl Family {
    /// What it is: `counter`, `gauge` or `histogram`.
    fn kind(&self) -> &'static str {
        match self.samples.first().map(|sample| &sample.value) {
            Some(Value::Gauge(_)) => "gauge",
            Some(Value::Times(_)) => "histogram",
            Some(Value::Counter(_)) | None => "counter",
        }
    }
}

/// The sum of times, s: each counts as the middle of its bucket, which is less than 0.5 % away from it.
fn sum_s(times: &[Touched]) -> f64 {
    times.iter().map(|touched| middle_s(touched) * f64::from(touched.count)).sum()
}

fn middle_s(touched: &Touched) -> f64 {
    let (lowest_ns, highest_ns) = touched::bounds_ns(touched.bucket);
    (lowest_ns + highest_ns) as f64 / 2e9
}

#[cfg(test)]
mod tests;
