//! The one place that says how figures are written, in text, pages, Markdown, findings and
//! experiments: the same quantity reads the same everywhere.
//!
//! | quantity | written | by |
//! |---|---|---|
//! | count | whole, commas between thousands: `2,089,140` | [`grouped`], [`counted`] |
//! | rate per second, mean, ratio | three significant digits, whole digits never dropped: `208,914`, `12.3`, `0.162` | [`rate`], [`amount`] |
//! | time | three significant digits in the unit that fits, whole nanoseconds whole: `472 µs`, `61 ns` | [`time`], [`time_in`] |
//! | length of a run or a wait | four significant digits: `10.00 s` | [`length`] |
//! | edge or setting | exactly: `250 µs` | [`time_exact`] |
//! | bytes, bytes per second | three significant digits in binary units: `31.1 MiB/s` | [`bytes`], [`bytes_rate`] |
//! | share | two significant digits, never 0 for what exists nor 100 for what is not all: `75 %`, `6.2 %` | [`percent`] |
//!
//! Two kinds of figures are not written here: those that `ablaze ab` and `ablaze gurl` print, which
//! are ab's and gurl's to the byte, and those of JSON and CSV, which keep all their digits. A finding
//! that quotes a printed report keeps the decimals that stand there ([`decimal`]), so that its
//! arithmetic can be followed.

/// The time units of reports, largest first, with their length in ns.
const TIME_UNITS: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];

/// A whole number with commas between thousands: `2,089,140`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with this many decimals and commas between thousands, as a report has printed it:
/// `9,709.59`.
pub fn decimal(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let sign = if value < 0.0 { "-" } else { "" };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), grouped);
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}

/// A number to three significant digits: `0.162`, `4.85`, `48,349`.
pub fn amount(value: f64) -> String {
    significant(value, 3)
}

/// A value to this many significant digits; whole digits are never dropped: `1.30`, `208,914`.
/// What is no number (there is none in a Run) reads `-`.
pub fn significant(value: f64, digits: u32) -> String {
    if !value.is_finite() || value < 0.0 {
        return "-".to_string();
    }
    let mut decimals = decimals(value, digits);
    // 9.996 to three digits is 10.0, not 10.00.
    let rounded = round_to(value, decimals);
    if decimals > 0 && rounded > 0.0 {
        decimals = self::decimals(rounded, digits);
    }
    let text = format!("{value:.*}", decimals as usize);
    match text.split_once('.') {
        Some(_) => text,
        None => grouped(value.round() as u64),
    }
}

/// Decimals that give a value this many significant digits.
fn decimals(value: f64, digits: u32) -> u32 {
    if value == 0.0 {
        return 0;
    }
    let whole_digits = value.log10().floor() as i32 + 1;
    (digits as i32 - whole_digits).clamp(0, 12) as u32
}

fn round_to(value: f64, decimals: u32) -> f64 {
    let scale = 10f64.powi(decimals as i32);
    (value * scale).round() / scale
}

/// The unit a time is best read in: its length in ns, and its name. Chosen after rounding, so
/// that 999.7 µs reads `1.00 ms`.
pub fn time_unit(ns: f64) -> (f64, &'static str) {
    TIME_UNITS
        .into_iter()
        .find(|(length, _)| ns / length >= 0.9995)
        .unwrap_or(TIME_UNITS[TIME_UNITS.len() - 1])
}

/// A time to three significant digits in the unit that fits: `472 µs`, `1.30 ms`, `61 ns`.
pub fn time(ns: f64) -> String {
    let (length, unit) = time_unit(ns);
    format!("{} {unit}", time_in(ns, length))
}

/// A length of time to four significant digits, for what was waited for: `10.00 s`.
pub fn length(ns: f64) -> String {
    let (length, unit) = time_unit(ns);
    if unit == "ns" { time(ns) } else { format!("{} {unit}", significant(ns / length, 4)) }
}

/// A time to three significant digits in a given unit, which is not named. Below a nanosecond
/// there is nothing to show: whole nanoseconds stay whole.
pub fn time_in(ns: f64, unit_ns: f64) -> String {
    if unit_ns == 1.0 && ns.fract() == 0.0 {
        return significant(ns, 1);
    }
    significant(ns / unit_ns, 3)
}

/// A time exactly, without trailing zeros, in the unit that fits: `250 µs`, `1 ms`, `100.25 ms`.
pub fn time_exact(ns: u64) -> String {
    let (length, unit) = time_unit(ns as f64);
    let text = format!("{:.9}", ns as f64 / length);
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A rate per second: whole from 100 on, else three significant digits.
pub fn rate(per_s: f64) -> String {
    amount(per_s)
}

/// Bytes in binary units: `7.63 GiB`.
pub fn bytes(bytes: f64) -> String {
    let units = [(1024f64.powi(3), "GiB"), (1024f64.powi(2), "MiB"), (1024.0, "KiB")];
    let (length, unit) =
        units.into_iter().find(|(length, _)| bytes / length >= 0.9995).unwrap_or((1.0, "B"));
    format!("{} {unit}", amount(bytes / length))
}

/// Bytes per second in binary units: `31.1 MiB/s`.
pub fn bytes_rate(per_s: f64) -> String {
    format!("{}/s", bytes(per_s))
}

/// A share in percent: `75 %`, `0.012 %`; what exists is never shown as 0.
pub fn percent(part: f64, whole: f64) -> String {
    if whole <= 0.0 || part <= 0.0 {
        return "0 %".to_string();
    }
    let value = part / whole * 100.0;
    if value < 1e-4 {
        return "under 0.0001 %".to_string();
    }
    // 99.97 % of the responses must not read "100 %".
    if part < whole && value > 99.9 {
        return "over 99.9 %".to_string();
    }
    format!("{} %", significant(value, 2.max(if value >= 99.0 { 3 } else { 2 })))
}

/// `1 thread`, `2 threads`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        let texts = [0, 7, 999, 1000, 2_089_140, u64::MAX].map(grouped);
        let expected = ["0", "7", "999", "1,000", "2,089,140", "18,446,744,073,709,551,615"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn times_have_three_digits_and_the_unit_that_fits() {
        for (ns, text) in [
            (0.0, "0 ns"),
            (1.0, "1 ns"),
            (999.0, "999 ns"),
            (999.6, "1.00 µs"),
            (61_049.0, "61.0 µs"),
            (472_400.0, "472 µs"),
            (999_700.0, "1.00 ms"),
            (1_300_000.0, "1.30 ms"),
            (9_996_000.0, "10.0 ms"),
            (99_960_000.0, "100 ms"),
            (6_012_000.0, "6.01 ms"),
            (30_000_000_000.0, "30.0 s"),
            (3_600_000_000_000.0, "3,600 s"),
        ] {
            assert_eq!(time(ns), text);
        }
    }

    #[test]
    fn what_a_report_printed_keeps_its_decimals_and_else_three_digits_say_it() {
        assert_eq!(decimal(9709.59, 2), "9,709.59");
        assert_eq!(decimal(-1234.5, 1), "-1,234.5");
        let amounts = [0.0, 0.16186, 4.854_8, 9.999, 99.96, 0.099_96, 17_357.2].map(amount);
        assert_eq!(amounts, ["0", "0.162", "4.85", "10.0", "100", "0.100", "17,357"]);
    }

    #[test]
    fn no_number_is_a_dash() {
        assert_eq!(significant(f64::NAN, 3), "-");
        assert_eq!(significant(f64::INFINITY, 3), "-");
        assert_eq!(percent(0.0, 0.0), "0 %");
    }

    #[test]
    fn shares_hide_nothing() {
        assert_eq!(percent(1.0, 1e7), "under 0.0001 %");
        assert_eq!(percent(1.0, 10_000.0), "0.010 %");
        assert_eq!(percent(9_999.0, 10_000.0), "over 99.9 %");
        assert_eq!(percent(3.0, 4.0), "75 %");
        assert_eq!(percent(1.0, 1.0), "100 %");
    }

    #[test]
    fn edges_are_exact() {
        let texts = [250_000, 1_000_000, 100_250_000, 2_500].map(time_exact);
        assert_eq!(texts, ["250 µs", "1 ms", "100.25 ms", "2.5 µs"]);
        assert_eq!(bytes_rate(32_610_713.6), "31.1 MiB/s");
        assert_eq!(bytes_rate(0.0), "0 B/s");
        assert_eq!(bytes(8_192_000_000.0), "7.63 GiB");
        assert_eq!(rate(208_914.3), "208,914");
        assert_eq!(rate(12.345), "12.3");
    }
}
