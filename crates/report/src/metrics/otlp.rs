//! Metrics as OTLP in JSON (`ExportMetricsServiceRequest` of opentelemetry-proto, by the JSON mapping of the OTLP
//! specification: camelCase, 64-bit integers as strings). Sums and histograms are cumulative, so that what could not be
//! sent is in what is sent next.

use ablaze_stats::touched::{self, Touched};
use serde_json::{Value as Json, json};

use super::{Family, Sample, Value, exponential, sum_s};

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u32 = 2;

/// The request for a collector. Times are ns since the Unix epoch: when counting began, and now.
pub fn write(families: &[Family], version: &str, since_unix_ns: u64, now_unix_ns: u64) -> String {
    let times = (since_unix_ns, now_unix_ns);
    let metrics: Vec<Json> = families.iter().map(|family| metric(family, times)).collect();
    let target = families.first().and_then(|family| family.samples.first());
    let target = target.and_then(|sample| sample.labels.first()).map(|(_, target)| target);
    let mut resource =
        vec![attribute("service.name", "ablaze"), attribute("service.version", version)];
    resource.extend(target.map(|url| attribute("url.full", url)));
    json!({"resourceMetrics": [{
        "resource": {"attributes": resource},
        "scopeMetrics": [{
            "scope": {"name": "ablaze", "version": version},
            "metrics": metrics,
        }],
    }]})
    .to_string()
}

fn metric(family: &Family, times: (u64, u64)) -> Json {
    let (unit, suffix) = match family.unit {
        "seconds" => ("s", "_seconds"),
        "bytes" => ("By", "_bytes"),
        _ => ("1", ""),
    };
    // Exporters to Prometheus put the unit, and `_total`, behind the name again.
    let name = family.name.strip_suffix(suffix).unwrap_or(family.name).replacen('_', ".", 1);
    let points: Vec<Json> = family.samples.iter().map(|sample| point(sample, times)).collect();
    let mut metric = json!({"name": name, "description": family.help, "unit": unit});
    let (kind, data) = match family.kind() {
        "counter" => (
            "sum",
            json!({
                "dataPoints": points, "aggregationTemporality": CUMULATIVE, "isMonotonic": true
            }),
        ),
        "gauge" => ("gauge", json!({"dataPoints": points})),
        _ => (
            "exponentialHistogram",
            json!({"dataPoints": points, "aggregationTemporality": CUMULATIVE}),
        ),
    };
    metric[kind] = data;
    metric
}

fn point(sample: &Sample, (since, now): (u64, u64)) -> Json {
    let attributes = sample.labels.iter().map(|(name, value)| attribute(name, value));
    let mut point = json!({
        "attributes": attributes.collect::<Vec<_>>(),
        "startTimeUnixNano": since.to_string(),
        "timeUnixNano": now.to_string(),
    });
    match &sample.value {
        Value::Counter(count) => point["asInt"] = json!(count.to_string()),
        Value::Gauge(figure) => point["asDouble"] = json!(figure),
        Value::Times(times) => histogram(&mut point, times),
    }
    point
}

fn histogram(point: &mut Json, times: &[Touched]) {
    let buckets = exponential::buckets(times);
    let first = buckets.keys().next().copied().unwrap_or(1);
    let last = buckets.keys().next_back().copied().unwrap_or(first - 1);
    let counts = (first..=last)
        .map(|number| buckets.get(&number).copied().unwrap_or(0).to_string())
        .collect::<Vec<_>>();
    point["count"] = json!(touched::count(times).to_string());
    point["sum"] = json!(sum_s(times));
    point["scale"] = json!(exponential::SCHEMA);
    point["zeroCount"] = json!("0");
    // Bucket 0 of OTLP is the one above 1, which Prometheus numbers 1.
    point["positive"] = json!({"offset": first - 1, "bucketCounts": counts});
}

fn attribute(name: &str, value: &str) -> Json {
    json!({"key": name, "value": {"stringValue": value}})
}
