//! One distribution in the file: the figures a reader wants at hand, and what they come from,
//! without loss.

use std::collections::BTreeMap;

use crate::Phases;
use crate::record::{Handshakes, Intended};
use ablaze_stats::{Exact, Latency, RestoreError};
use serde::{Deserialize, Serialize};

/// The quantiles that machine-readable reports list, with their names.
pub const QUANTILES: [(&str, f64); 7] = [
    ("p50", 0.5),
    ("p75", 0.75),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("p99.99", 0.9999),
];

/// The phases of one outcome.
#[derive(Serialize, Deserialize)]
pub(super) struct PhasesOf {
    connect: Distribution,
    wait: Distribution,
    receive: Distribution,
    total: Distribution,
    processing: Distribution,
    /// From when a request was due; in open loop only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response: Option<Distribution>,
    /// From when it was due to when it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lag: Option<Distribution>,
    /// The handshake of TLS, for exchanges that had to connect; on https only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tls: Option<Distribution>,
    /// Connect and handshake together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    connect_and_tls: Option<Distribution>,
}

/// A distribution of times in ns. Without values every figure is null.
#[derive(Serialize, Deserialize)]
pub(super) struct Distribution {
    count: u64,
    min: Option<u64>,
    mean: Option<f64>,
    sd: Option<f64>,
    p50: Option<u64>,
    p75: Option<u64>,
    p90: Option<u64>,
    p95: Option<u64>,
    p99: Option<u64>,
    #[serde(rename = "p99.9")]
    p99_9: Option<u64>,
    #[serde(rename = "p99.99")]
    p99_99: Option<u64>,
    max: Option<u64>,
    /// 95 % intervals of the percentiles that the count supports, by name.
    intervals_95: BTreeMap<String, (u64, u64)>,
    /// Decimal digits as text: the sums exceed what a JSON number is sure to hold.
    sum: String,
    sum_of_squares: String,
    /// V2-deflate, base64.
    hdr_histogram: String,
}

/// Why a distribution could not be read, and which.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub name: String,
    pub reason: String,
}

impl PhasesOf {
    pub(super) fn save(phases: &Phases) -> Self {
        let (intended, tls) = (phases.intended.as_ref(), phases.tls.as_ref());
        Self {
            connect: Distribution::save(&phases.connect),
            wait: Distribution::save(&phases.wait),
            receive: Distribution::save(&phases.receive),
            total: Distribution::save(&phases.total),
            processing: Distribution::save(&phases.processing),
            response: intended.map(|intended| Distribution::save(&intended.response)),
            lag: intended.map(|intended| Distribution::save(&intended.lag)),
            tls: tls.map(|tls| Distribution::save(&tls.handshake)),
            connect_and_tls: tls.map(|tls| Distribution::save(&tls.connected)),
        }
    }

    pub(super) fn restore(&self, name: &str) -> Result<Phases, Unreadable> {
        let restore = |distribution: &Distribution, phase: &str| {
            distribution.restore(&format!("{name}.{phase}"))
        };
        Ok(Phases {
            connect: restore(&self.connect, "connect")?,
            wait: restore(&self.wait, "wait")?,
            receive: restore(&self.receive, "receive")?,
            total: restore(&self.total, "total")?,
            processing: restore(&self.processing, "processing")?,
            intended: match (&self.response, &self.lag) {
                (Some(response), Some(lag)) => Some(Box::new(Intended {
                    response: restore(response, "response")?,
                    lag: restore(lag, "lag")?,
                })),
                _ => None,
            },
            tls: match (&self.tls, &self.connect_and_tls) {
                (Some(handshake), Some(connected)) => Some(Box::new(Handshakes {
                    handshake: restore(handshake, "tls")?,
                    connected: restore(connected, "connect_and_tls")?,
                })),
                _ => None,
            },
        })
    }
}

impl Distribution {
    pub(super) fn save(latency: &Latency) -> Self {
        let q = |q| latency.quantile_ns(q);
        let exact = latency.exact();
        let intervals = QUANTILES.iter().filter_map(|(name, q)| {
            latency.quantile_interval_ns(*q).map(|ends| (name.to_string(), ends))
        });
        Self {
            count: latency.count(),
            min: latency.min_ns(),
            mean: latency.mean_ns(),
            sd: latency.deviation_ns(),
            p50: q(0.5),
            p75: q(0.75),
            p90: q(0.9),
            p95: q(0.95),
            p99: q(0.99),
            p99_9: q(0.999),
            p99_99: q(0.9999),
            max: latency.max_ns(),
            intervals_95: intervals.collect(),
            sum: exact.sum_ns.to_string(),
            sum_of_squares: exact.sum_of_squares.to_string(),
            hdr_histogram: latency.to_base64(),
        }
    }

    /// Only what is exact is read; the figures follow from it, and one that does not was changed.
    pub(super) fn restore(&self, name: &str) -> Result<Latency, Unreadable> {
        let unreadable = |reason: String| Unreadable { name: name.to_string(), reason };
        let whole = |text: &str| {
            text.parse::<u128>().map_err(|_| unreadable(format!("`{text}` is not a whole number")))
        };
        let exact = Exact {
            sum_ns: whole(&self.sum)?,
            sum_of_squares: whole(&self.sum_of_squares)?,
            min_ns: self.min,
            max_ns: self.max,
        };
        let latency = Latency::restore(&self.hdr_histogram, exact)
            .map_err(|error: RestoreError| unreadable(error.to_string()))?;
        if latency.count() != self.count {
            return Err(unreadable(
                "its count is not the number of values in its histogram".to_string(),
            ));
        }
        let own = Self::save(&latency);
        let changed = self.figures().into_iter().zip(own.figures()).find(|((_, said), (_, is))| {
            let (Some(said), Some(is)) = (*said, *is) else { return false };
            differ(said, is)
        });
        match changed {
            Some(((figure, said), (_, is))) => Err(unreadable(format!(
                "{figure} is {}, and {} by its histogram",
                said.unwrap_or_default(),
                is.unwrap_or_default()
            ))),
            None => Ok(latency),
        }
    }

    /// What stands there for readers.
    fn figures(&self) -> [(&'static str, Option<f64>); 9] {
        let times = [self.p50, self.p75, self.p90, self.p95, self.p99, self.p99_9, self.p99_99];
        let [p50, p75, p90, p95, p99, p99_9, p99_99] = times.map(|ns| ns.map(|ns| ns as f64));
        [
            ("mean", self.mean),
            ("sd", self.sd),
            ("p50", p50),
            ("p75", p75),
            ("p90", p90),
            ("p95", p95),
            ("p99", p99),
            ("p99.9", p99_9),
            ("p99.99", p99_99),
        ]
    }
}

/// Whether two figures cannot be the same one: other versions may round otherwise, by less than this share or 1.
pub(super) fn differ(said: f64, is: f64) -> bool {
    const SHARE: f64 = 0.01;
    (said - is).abs() > 1.0_f64.max(said.abs().max(is.abs()) * SHARE)
}
