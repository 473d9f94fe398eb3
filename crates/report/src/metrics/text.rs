//! Metrics as text: Prometheus' format 0.0.4, and OpenMetrics 1.0, which differs in where `_total` stands and how it ends.

use std::fmt::Write as _;

use ablaze_stats::touched::{self, Touched};

use super::{Family, Sample, USUAL_BOUNDS_NS, Value, sum_s};

pub(super) fn write(families: &[Family], open_metrics: bool) -> String {
    let mut text = String::new();
    for family in families {
        let total = if family.kind() == "counter" { "_total" } else { "" };
        // The older format knows no families of counters: what it describes is the sample.
        let described = if open_metrics { "" } else { total };
        let name = family.name;
        let _ = writeln!(text, "# HELP {name}{described} {}", family.help);
        let _ = writeln!(text, "# TYPE {name}{described} {}", family.kind());
        if open_metrics && !family.unit.is_empty() {
            let _ = writeln!(text, "# UNIT {name} {}", family.unit);
        }
        for sample in &family.samples {
            let _ = match &sample.value {
                Value::Counter(count) => {
                    writeln!(text, "{name}{total}{} {count}", labels(sample, None))
                }
                Value::Gauge(figure) => writeln!(text, "{name}{} {figure}", labels(sample, None)),
                Value::Times(times) => {
                    write_histogram(&mut text, name, sample, times);
                    Ok(())
                }
            };
        }
    }
    if open_metrics {
        text.push_str("# EOF\n");
    }
    text
}

fn write_histogram(text: &mut String, name: &str, sample: &Sample, times: &[Touched]) {
    let (mut rest, mut below) = (times.iter().peekable(), 0);
    for bound_ns in USUAL_BOUNDS_NS {
        let last = touched::bucket_of(bound_ns);
        while let Some(touched) = rest.next_if(|touched| touched.bucket <= last) {
            below += u64::from(touched.count);
        }
        let bound_s = touched::bounds_ns(last).1 as f64 / 1e9;
        let _ = writeln!(text, "{name}_bucket{} {below}", labels(sample, Some(bound_s)));
    }
    let all = touched::count(times);
    let _ = writeln!(text, "{name}_bucket{} {all}", labels(sample, Some(f64::INFINITY)));
    let _ = writeln!(text, "{name}_sum{} {}", labels(sample, None), sum_s(times));
    let _ = writeln!(text, "{name}_count{} {all}", labels(sample, None));
}

fn labels(sample: &Sample, up_to: Option<f64>) -> String {
    let own = sample.labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    let up_to = up_to.map(|bound_s| match bound_s.is_finite() {
        true => format!("le=\"{bound_s}\""),
        false => "le=\"+Inf\"".to_owned(),
    });
    format!("{{{}}}", own.chain(up_to).collect::<Vec<_>>().join(","))
}

/// The value of a label: both formats escape these three characters.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
