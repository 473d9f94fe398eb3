//! Values as people type them: times, counts, sizes, statuses, lists. Pure functions from text;
//! their errors are the second half of a sentence that begins with the option and the value.

mod addresses;
mod body;
mod connect_to;
mod http;
mod listening;
mod lists;
mod proxy;
mod rate;

pub use addresses::local_addresses;
pub use body::{body, standard_input};
pub use connect_to::connect_to;
pub use http::{feed_order, http_version};
pub use listening::listening;
pub use lists::{cpus, ports, statuses};
pub use proxy::{ProxyAsked, proxy};
pub use rate::{per_second, rate};

const DURATION_HELP: &str =
    "expected a time such as 10s, 500ms, 1m30s or 2h; a bare number is seconds";

/// A time in nanoseconds: `10`, `1.5s`, `500ms`, `1m30s`. A bare number is seconds.
///
/// # Errors
/// When it is not such a time, or longer than 500 years.
pub fn duration_ns(text: &str) -> Result<u64, String> {
    duration_with(text, |unit| match unit {
        "ns" => Some(1),
        "us" | "µs" => Some(1_000),
        "ms" => Some(1_000_000),
        "s" | "sec" => Some(1_000_000_000),
        "m" | "min" => Some(60_000_000_000),
        "h" => Some(3_600_000_000_000),
        _ => None,
    })
}

/// A time above zero in nanoseconds, as [`duration_ns`] reads it.
///
/// # Errors
/// When it is not such a time, or 0.
pub fn some_time_ns(text: &str) -> Result<u64, String> {
    match duration_ns(text)? {
        0 => Err("the time must be above zero, such as 10s".to_owned()),
        ns => Ok(ns),
    }
}

/// A time made of numbers and the units that `unit_ns` knows, in nanoseconds.
///
/// # Errors
/// When it is not such a time, or longer than 500 years.
pub fn duration_with(text: &str, unit_ns: impl Fn(&str) -> Option<u64>) -> Result<u64, String> {
    let text = text.trim();
    if let Some(seconds) = decimal(text) {
        return scaled(seconds, 1_000_000_000).ok_or_else(|| DURATION_HELP.to_owned());
    }
    let mut total: u64 = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let (number, after) = split_number(rest);
        let end = after.find(|letter: char| letter.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let part = decimal(number).zip(unit_ns(unit)).and_then(|(n, unit)| scaled(n, unit));
        total = part.and_then(|part| total.checked_add(part)).ok_or(DURATION_HELP)?;
        rest = after;
    }
    if text.is_empty() { Err(DURATION_HELP.to_owned()) } else { Ok(total) }
}

/// A count: `1000`, `10k`, `2.5M`.
///
/// # Errors
/// When it is not a whole number.
pub fn count(text: &str) -> Result<u64, String> {
    let (number, unit) = split_number(text.trim());
    let factor = match unit {
        "" => Some(1),
        "k" | "K" => Some(1_000),
        "m" | "M" => Some(1_000_000),
        "G" => Some(1_000_000_000),
        _ => None,
    };
    whole(number, factor).ok_or_else(|| "expected a count such as 1000, 10k or 2M".to_owned())
}

/// A seed.
///
/// # Errors
/// When it is not a whole number of 64 bits.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

/// A count that fits 32 bits.
///
/// # Errors
/// When it is not a whole number, or too large.
pub fn small_count(text: &str) -> Result<u32, String> {
    count(text)?.try_into().map_err(|_| format!("the maximum is {}", u32::MAX))
}

/// A number of bytes: `4096`, `64KB` (1000), `64KiB` (1024).
///
/// # Errors
/// When it is not a whole number of bytes.
pub fn size_bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split_number(text.trim());
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => Some(1),
        "kb" => Some(1_000),
        "mb" => Some(1_000_000),
        "gb" => Some(1_000_000_000),
        "kib" => Some(1 << 10),
        "mib" => Some(1 << 20),
        "gib" => Some(1 << 30),
        _ => None,
    };
    whole(number, factor)
        .ok_or_else(|| "expected a size such as 4096, 64KB (1000) or 64KiB (1024)".to_owned())
}

/// The digits and points in front, and what follows them.
fn split_number(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text.split_at(end)
}

/// A decimal number as its digits and the power of ten they are to be divided by.
fn decimal(text: &str) -> Option<(u128, u128)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || digits.len() > 20 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some((digits.parse().ok()?, 10u128.pow(fraction.len() as u32)))
}

/// The number times a factor, rounded down; `None` beyond what nanoseconds in an i64 hold.
fn scaled((digits, divisor): (u128, u128), factor: u64) -> Option<u64> {
    let value = digits.checked_mul(u128::from(factor))? / divisor;
    u64::try_from(value).ok().filter(|value| *value <= i64::MAX as u64)
}

/// The number times a factor, if that is whole.
fn whole(number: &str, factor: Option<u64>) -> Option<u64> {
    let (digits, divisor) = decimal(number)?;
    let value = digits.checked_mul(u128::from(factor?))?;
    (value % divisor == 0).then(|| u64::try_from(value / divisor).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let good = [
            ("10", 10_000_000_000),
            ("0.5", 500_000_000),
            ("1.5s", 1_500_000_000),
            ("100ns", 100),
            ("250us", 250_000),
            ("250µs", 250_000),
            ("10ms", 10_000_000),
            ("2m", 120_000_000_000),
            ("1h", 3_600_000_000_000),
            ("1m30s", 90_000_000_000),
            ("0", 0),
        ];
        for (text, expected) in good {
            assert_eq!(duration_ns(text), Ok(expected), "{text}");
        }
        for text in ["", "s", "10x", "-1", "1m30", "1e3", "{\"a\":1}", "1..5", "99999999999h"] {
            assert!(duration_ns(text).is_err(), "{text}");
        }
    }

    #[test]
    fn counts() {
        let good = [("1", 1), ("10k", 10_000), ("2.5M", 2_500_000), ("0", 0), ("1.5k", 1500)];
        for (text, expected) in good {
            assert_eq!(count(text), Ok(expected), "{text}");
        }
        for text in ["", "k", "1.5", "ten", "-1", "1kk", "99999999999999999999999"] {
            assert!(count(text).is_err(), "{text}");
        }
        assert!(small_count("5G").is_err());
    }

    #[test]
    fn sizes() {
        let good = [
            ("4096", 4096),
            ("1KB", 1000),
            ("1KiB", 1024),
            ("1.5MiB", 1_572_864),
            ("2MB", 2_000_000),
            ("1b", 1),
        ];
        for (text, expected) in good {
            assert_eq!(size_bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "64k", "1.0001KB", "KB", "1 TB"] {
            assert!(size_bytes(text).is_err(), "{text}");
        }
    }
}
