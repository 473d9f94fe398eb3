//! A figure with as many digits as tell it from its limit: `p99<30ms` is met by 29.97 ms, not by `30.0 ms`.

use crate::number::{decimal, percent, rate, time, time_unit};

/// More tell nothing of what was measured.
const MOST_DECIMALS: usize = 9;

/// A value as it is usually written, or with more decimals where the limit, from which it differs, would look the same.
pub fn told_from(
    (value, limit): (f64, f64),
    usual: impl Fn(f64) -> String,
    with_decimals: impl Fn(f64, usize) -> String,
) -> String {
    let text = usual(value);
    if value == limit || text != usual(limit) {
        return text;
    }
    let texts = (1..=MOST_DECIMALS)
        .map(|decimals| (with_decimals(value, decimals), with_decimals(limit, decimals)));
    let mut apart = texts.filter(|(one, other)| one != other);
    apart.next().map_or(text, |(value, _)| value)
}

/// A time, ns.
pub(super) fn time_from(ns: f64, limit_ns: f64) -> String {
    let (length, unit) = time_unit(limit_ns);
    told_from((ns, limit_ns), time, |ns, decimals| {
        format!("{} {unit}", decimal(ns / length, decimals))
    })
}

/// A number per second, without what follows it.
pub(super) fn rate_from(per_s: f64, limit_per_s: f64) -> String {
    told_from((per_s, limit_per_s), rate, decimal)
}

/// A share in percent.
pub(super) fn percent_from(share: f64, limit: f64) -> String {
    told_from(
        (share, limit),
        |share| percent(share, 100.0),
        |share, decimals| format!("{} %", decimal(share, decimals)),
    )
}
