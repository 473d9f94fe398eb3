//! Rates as people type them: `1000/s`, `10/ms`, `150k`, `100/s..5000/s`.

use ablaze_model::plan::RateProfile;

const HELP: &str = "expected a rate such as 1000/s, 10/ms, 600/m, 20k or 100/s..5000/s; a bare \
                    number is per second";

/// A rate, or two with `..` between them for one that changes over the duration.
///
/// # Errors
/// When it is not a rate, or 0.
pub fn rate(text: &str) -> Result<RateProfile, String> {
    let (from, to) = match text.split_once("..") {
        Some((from, to)) => (per_second(from)?, per_second(to)?),
        None => (per_second(text)?, per_second(text)?),
    };
    if from == 0.0 && to == 0.0 {
        return Err("a rate of 0 sends nothing: use a higher one".to_owned());
    }
    Ok(RateProfile { from_per_s: from, to_per_s: to, steps: 0 })
}

/// A single rate, per second.
///
/// # Errors
/// When it is not a rate.
pub fn per_second(text: &str) -> Result<f64, String> {
    let (number, unit) = text.trim().split_once('/').unwrap_or((text.trim(), "s"));
    let seconds = match unit.trim() {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(HELP.to_owned()),
    };
    let number = number.trim();
    let (digits, factor) = match number.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1e3),
        None => number.strip_suffix(['m', 'M']).map_or((number, 1.0), |digits| (digits, 1e6)),
    };
    let is_plain = |c: char| c.is_ascii_digit() || c == '.';
    let rate = digits.parse::<f64>().ok().filter(|_| digits.chars().all(is_plain));
    let rate = rate.ok_or_else(|| HELP.to_owned())? * factor / seconds;
    if rate > 1e9 {
        return Err("the maximum is 1,000,000,000 per second".to_owned());
    }
    Ok(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates() {
        let good = [
            ("1000", 1000.0, 1000.0),
            ("1000/s", 1000.0, 1000.0),
            ("10/ms", 10_000.0, 10_000.0),
            ("90/m", 1.5, 1.5),
            ("0.5/s", 0.5, 0.5),
            ("150k", 150_000.0, 150_000.0),
            ("2.5k/s", 2500.0, 2500.0),
            ("100/s..5000/s", 100.0, 5000.0),
            ("0..1k", 0.0, 1000.0),
        ];
        for (text, from_per_s, to_per_s) in good {
            assert_eq!(rate(text), Ok(RateProfile { from_per_s, to_per_s, steps: 0 }), "{text}");
        }
        for text in ["", "/s", "0", "0/s", "-5", "1e3", "ten", "5/x", "1..", "inf", "NaN", "9M/us"]
        {
            assert!(rate(text).is_err(), "{text}");
        }
    }
}
