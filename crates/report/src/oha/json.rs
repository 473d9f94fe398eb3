//! oha's JSON: its keys, with times in seconds.

use ablaze_model::Run;
use ablaze_stats::Latency;
use serde_json::{Map, Value, json as value};

use super::{PERCENTS, connect, errors, histogram, latency, rate_per_s, success_rate};

/// The report as JSON.
pub fn json(run: &Run, corrected: bool) -> String {
    let record = &run.record;
    let latency = latency(run, corrected);
    let seconds = run.elapsed_ns as f64 / 1e9;
    let per_s = if seconds > 0.0 { record.bytes_of_responses() as f64 / seconds } else { 0.0 };
    let statuses =
        record.statuses.iter().map(|(status, count)| (status.to_string(), (*count).into()));
    let statuses: Map<String, Value> = statuses.collect();
    let errors: Map<String, Value> =
        errors(run).into_iter().map(|(what, count)| (what.to_owned(), count.into())).collect();
    let lookup = value!({"average": 0.0, "fastest": 0.0, "slowest": 0.0});
    let document = value!({
        "summary": {
            "successRate": success_rate(run),
            "total": seconds,
            "slowest": latency.max_ns().map(s),
            "fastest": latency.min_ns().map(s),
            "average": latency.mean_ns().map(|ns| ns / 1e9),
            "requestsPerSec": rate_per_s(run),
            "totalData": record.bytes_of_responses(),
            "sizePerRequest": record.bytes_of_responses().checked_div(record.responses),
            "sizePerSec": per_s,
        },
        "responseTimeHistogram": marks(latency),
        "latencyPercentiles": percentiles(latency),
        "firstByteHistogram": marks(&record.answered.wait),
        "firstBytePercentiles": percentiles(&record.answered.wait),
        "rps": rates(run),
        "details": {
            "DNSDialup": times(connect(run)),
            "DNSLookup": lookup,
            "firstByte": times(&record.answered.wait),
        },
        "statusCodeDistribution": statuses,
        "errorDistribution": errors,
    });
    format!("{document:#}\n")
}

fn s(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn marks(latency: &Latency) -> Value {
    let marks = histogram(latency).into_iter();
    marks.map(|(ns, count)| ((ns / 1e9).to_string(), count.into())).collect::<Map<_, _>>().into()
}

fn percentiles(latency: &Latency) -> Value {
    let of = |percent: &f64| {
        (format!("p{percent}"), value!(latency.quantile_ns(percent / 100.0).map(s)))
    };
    PERCENTS.iter().map(of).collect::<Map<_, _>>().into()
}

fn times(latency: &Latency) -> Value {
    value!({
        "average": latency.mean_ns().map(|ns| ns / 1e9),
        "fastest": latency.min_ns().map(s),
        "slowest": latency.max_ns().map(s),
    })
}

/// Responses per second in each slice of the run.
fn rates(run: &Run) -> Value {
    let slices = &run.record.slices;
    let slice_s = s(slices.slice_ns.max(1));
    let rates: Vec<f64> =
        slices.slices.iter().map(|slice| slice.responses as f64 / slice_s).collect();
    // In thousandths, so that a histogram of whole numbers has them.
    let mut all = Latency::new(4);
    rates.iter().for_each(|rate| all.record((rate * 1e3) as u64));
    let rate = |thousandths: u64| thousandths as f64 / 1e3;
    let percentiles: Map<String, Value> = PERCENTS
        .iter()
        .map(|percent| (format!("p{percent}"), value!(all.quantile_ns(percent / 100.0).map(rate))))
        .collect();
    value!({
        "mean": all.mean_ns().map(|mean| mean / 1e3),
        "stddev": all.deviation_ns().map(|deviation| deviation / 1e3),
        "max": all.max_ns().map(rate),
        "min": all.min_ns().map(rate),
        "percentiles": percentiles,
    })
}
