//! Times as Go writes and reads them: `1m30.5s`, `1.692ms`, `938.555µs`.

const SECOND: u64 = 1_000_000_000;

/// Units as reports round by them: each time to the next smaller one.
const UNITS: [u64; 6] = [3600 * SECOND, 60 * SECOND, SECOND, 1_000_000, 1_000, 1];

/// A time rounded to the unit below its own, as vegeta prints it.
pub fn duration(ns: u64) -> String {
    let at = UNITS.iter().position(|unit| ns >= *unit);
    let rounded = match at.and_then(|at| UNITS.get(at + 1)) {
        // Halves up.
        Some(unit) => (ns + unit / 2) / unit * unit,
        None => ns,
    };
    exact(rounded)
}

/// A time as Go's `Duration.String` has it.
pub fn exact(ns: u64) -> String {
    let part = |amount: u64, unit: u64, name: &str| {
        let (whole, rest) = (amount / unit, amount % unit);
        let digits = unit.ilog10() as usize;
        let rest = format!("{rest:0digits$}");
        match rest.trim_end_matches('0') {
            "" => format!("{whole}{name}"),
            rest => format!("{whole}.{rest}{name}"),
        }
    };
    match ns {
        0 => "0s".to_owned(),
        1..1_000 => format!("{ns}ns"),
        1_000..1_000_000 => part(ns, 1_000, "µs"),
        1_000_000..SECOND => part(ns, 1_000_000, "ms"),
        _ => {
            let (hours, minutes) = (ns / (3600 * SECOND), ns / (60 * SECOND) % 60);
            let seconds = part(ns % (60 * SECOND), SECOND, "s");
            match (hours, minutes) {
                (0, 0) => seconds,
                (0, minutes) => format!("{minutes}m{seconds}"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}"),
            }
        }
    }
}

/// A time as Go's `time.ParseDuration` reads it, ns.
pub fn parse_duration(text: &str) -> Option<u64> {
    if text == "0" {
        return Some(0);
    }
    let mut total: u64 = 0;
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(end);
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let unit = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => SECOND,
            "m" => 60 * SECOND,
            "h" => 3600 * SECOND,
            _ => return None,
        };
        let ns = number.parse::<f64>().ok()? * unit as f64;
        total = total.checked_add(ns as u64)?;
        rest = after;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_and_read_as_go_does() {
        // Printed by vegeta and by Go's time package.
        for (ns, rounded) in [
            (0, "0s"),
            (999, "999ns"),
            (857_709, "857.709µs"),
            (1_019_643, "1.02ms"),
            (2_274_833, "2.275ms"),
            (951_632_869, "951.633ms"),
            (1_234_567_890, "1.235s"),
            (90_400_000_000, "1m30s"),
            (7_261_000_000_000, "2h1m0s"),
        ] {
            assert_eq!(duration(ns), rounded, "{ns}");
        }
        assert_eq!(exact(90_500_000_000), "1m30.5s");
        for ns in [0, 1, 1_500, 2_000_000, 90_500_000_000, 3_600_000_000_000] {
            assert_eq!(parse_duration(&exact(ns)), Some(ns));
        }
        for wrong in ["", "5", "s", "1x", "1s5", "-1s"] {
            assert_eq!(parse_duration(wrong), None, "{wrong}");
        }
    }
}
