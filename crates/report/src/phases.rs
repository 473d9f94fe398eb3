//! The phases of an exchange by the names that reports and saved runs use: the one place where
//! a name and a histogram meet.

use ablaze_model::{Phases, Record};
use ablaze_stats::Latency;

/// The phases of one outcome, in the order of an exchange's life; last what ab calls processing.
/// The handshake of TLS is there where there was one.
pub fn of(phases: &Phases) -> impl Iterator<Item = (&'static str, &Latency)> {
    let tls = phases.tls.as_ref().map(|tls| ("tls", &tls.handshake));
    let others = [
        ("wait", &phases.wait),
        ("receive", &phases.receive),
        ("total", &phases.total),
        ("processing", &phases.processing),
    ];
    std::iter::once(("connect", &phases.connect)).chain(tls).chain(others)
}

/// What only an open loop has: times from when a request was due, which hold what waited.
fn from_when_due(phases: &Phases) -> impl Iterator<Item = (&'static str, &Latency)> {
    let intended = phases.intended.as_ref();
    intended.into_iter().flat_map(|due| [("response", &due.response), ("lag", &due.lag)])
}

/// Every distribution of a record with a flat name, for the formats that know no nesting.
pub fn flat(record: &Record) -> Vec<(String, &Latency)> {
    let mut all = vec![("setup-connect".to_string(), &record.setup_connect)];
    all.extend(record.setup_tls.as_deref().map(|latency| ("setup-tls".to_string(), latency)));
    all.extend(record.stream_wait.as_deref().map(|latency| ("stream-wait".to_string(), latency)));
    for (prefix, phases) in [("", &record.answered), ("failed-", &record.failed)] {
        let named = of(phases).chain(from_when_due(phases));
        all.extend(named.map(|(name, latency)| (format!("{prefix}{name}"), latency)));
    }
    all.push(("event-age".to_string(), &record.event_age));
    all
}

pub use ablaze_model::saved::QUANTILES;
