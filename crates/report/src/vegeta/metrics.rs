//! The figures over results, by vegeta's rules: an attack lasts from the first request's beginning to the last one's, the wait
//! after it to the end of the last response; a success has a status from 200 to 399.

use std::collections::{BTreeMap, BTreeSet};

use ablaze_model::moment::rfc3339;
use serde_json::{Value, json as value};

use super::{Buckets, Hit};

/// Figures over results.
#[derive(Debug, Clone, Default)]
pub struct Metrics {
    /// Latencies in ascending order, ns.
    pub latencies_ns: Vec<u64>,
    /// When the first request began, ns since 1970.
    pub earliest_ns: u64,
    /// When the last one did.
    pub latest_ns: u64,
    /// When the last response was complete.
    pub end_ns: u64,
    /// Bytes of requests' bodies.
    pub bytes_out: u64,
    /// Bytes of responses' bodies.
    pub bytes_in: u64,
    /// Requests with a status from 200 to 399.
    pub successes: u64,
    /// Requests by status; 0 is none.
    pub codes: BTreeMap<u16, u64>,
    /// Different errors, in the order in which they came.
    pub errors: Vec<String>,
}

impl Metrics {
    /// Those of these results.
    pub fn of(hits: &[Hit]) -> Self {
        let mut metrics = Self { earliest_ns: u64::MAX, ..Self::default() };
        let mut known = BTreeSet::new();
        for hit in hits {
            metrics.latencies_ns.push(hit.latency_ns);
            metrics.earliest_ns = metrics.earliest_ns.min(hit.began_unix_ns);
            metrics.latest_ns = metrics.latest_ns.max(hit.began_unix_ns);
            metrics.end_ns = metrics.end_ns.max(hit.began_unix_ns.saturating_add(hit.latency_ns));
            metrics.bytes_out += hit.bytes_out;
            metrics.bytes_in += hit.bytes_in;
            metrics.successes += u64::from((200..400).contains(&hit.code));
            *metrics.codes.entry(hit.code).or_default() += 1;
            if !hit.error.is_empty() && known.insert(&hit.error) {
                metrics.errors.push(hit.error.clone());
            }
        }
        metrics.earliest_ns = metrics.earliest_ns.min(metrics.latest_ns);
        metrics.latencies_ns.sort_unstable();
        metrics
    }

    /// Requests.
    pub fn requests(&self) -> u64 {
        self.latencies_ns.len() as u64
    }

    /// From the first request's beginning to the last one's, ns.
    pub fn attack_ns(&self) -> u64 {
        self.latest_ns - self.earliest_ns
    }

    /// From then to the end of the last response, ns.
    pub fn wait_ns(&self) -> u64 {
        self.end_ns - self.latest_ns
    }

    /// Requests per second of the attack.
    pub fn rate(&self) -> f64 {
        per_s(self.requests(), self.attack_ns(), self.attack_ns())
    }

    /// Successes per second of attack and wait.
    pub fn throughput(&self) -> f64 {
        per_s(self.successes, self.attack_ns(), self.attack_ns() + self.wait_ns())
    }

    /// The share of successes.
    pub fn success(&self) -> f64 {
        self.successes as f64 / self.requests().max(1) as f64
    }

    /// All latencies together, ns.
    pub fn total_ns(&self) -> u64 {
        self.latencies_ns.iter().sum()
    }

    /// Their mean, ns.
    pub fn mean_ns(&self) -> u64 {
        self.total_ns() / self.requests().max(1)
    }

    /// The latency at a quantile, ns, interpolated between the middles of the values' shares (Hazen 1914): what vegeta's
    /// t-digest has where no values are merged in it.
    pub fn quantile_ns(&self, q: f64) -> u64 {
        let values = &self.latencies_ns;
        let (Some(first), Some(last)) = (values.first(), values.last()) else { return 0 };
        let index = q * values.len() as f64;
        let above = (index - 0.5).ceil();
        if above < 1.0 {
            return *first;
        }
        let Some(high) = values.get(above as usize) else { return *last };
        let low = values[above as usize - 1];
        let (from_low, to_high) = (index - (above - 0.5), (above + 0.5) - index);
        ((low as f64 * to_high + *high as f64 * from_low) / (from_low + to_high)) as u64
    }

    /// Bytes for each request.
    pub fn mean_bytes(&self, bytes: u64) -> f64 {
        bytes as f64 / self.requests().max(1) as f64
    }
}

/// vegeta does not divide by a length of 0.
fn per_s(count: u64, attack_ns: u64, of_ns: u64) -> f64 {
    // To the last digit as Go's Duration.Seconds has it: whole seconds, and the rest apart.
    let seconds = (of_ns / 1_000_000_000) as f64 + (of_ns % 1_000_000_000) as f64 / 1e9;
    if attack_ns == 0 { count as f64 } else { count as f64 / seconds }
}

/// vegeta's JSON.
pub fn json(metrics: &Metrics, buckets: Option<&Buckets>) -> String {
    let quantile = |q| metrics.quantile_ns(q);
    let edge = |at: Option<&u64>| at.copied().unwrap_or(0);
    let bytes = |total: u64| value!({"total": total, "mean": metrics.mean_bytes(total)});
    let codes: serde_json::Map<String, Value> =
        metrics.codes.iter().map(|(code, count)| (code.to_string(), (*count).into())).collect();
    let mut document = value!({
        "latencies": {
            "total": metrics.total_ns(),
            "mean": metrics.mean_ns(),
            "50th": quantile(0.5),
            "90th": quantile(0.9),
            "95th": quantile(0.95),
            "99th": quantile(0.99),
            "max": edge(metrics.latencies_ns.last()),
            "min": edge(metrics.latencies_ns.first()),
        },
        "bytes_in": bytes(metrics.bytes_in),
        "bytes_out": bytes(metrics.bytes_out),
        "earliest": rfc3339(metrics.earliest_ns),
        "latest": rfc3339(metrics.latest_ns),
        "end": rfc3339(metrics.end_ns),
        "duration": metrics.attack_ns(),
        "wait": metrics.wait_ns(),
        "requests": metrics.requests(),
        "rate": metrics.rate(),
        "throughput": metrics.throughput(),
        "success": metrics.success(),
        "status_codes": codes,
        "errors": metrics.errors,
    });
    if let Some(buckets) = buckets {
        let counts = buckets.edges_ns.iter().zip(buckets.counts(metrics));
        let counts: serde_json::Map<String, Value> =
            counts.map(|(edge, count)| (edge.to_string(), count.into())).collect();
        document["buckets"] = counts.into();
    }
    format!("{document}\n")
}
