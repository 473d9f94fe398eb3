//! Numbers with wrk's units. A unit is left for the next larger one at 85 % of it.

/// Microseconds: `635.91us`, `0.89ms`, `1.02s`, `1.50m`.
pub fn time_us(us: f64) -> String {
    match us {
        1_000_000.0.. => scaled(us / 1e6, 60.0, "s", &["m", "h"], 2),
        _ => scaled(us, 1000.0, "us", &["ms", "s"], 2),
    }
}

/// Whole seconds: `30s`, `2m`.
pub fn time_s(seconds: f64) -> String {
    scaled(seconds, 60.0, "s", &["m", "h"], 0)
}

/// Bytes, without their `B`: `10.14K`.
pub fn binary(bytes: f64) -> String {
    scaled(bytes, 1024.0, "", &["K", "M", "G", "T", "P"], 2)
}

/// Numbers of something: `12.34k`.
pub fn metric(number: f64) -> String {
    scaled(number, 1000.0, "", &["k", "M", "G", "T", "P"], 2)
}

/// wrk never comes to the last unit of a list, and neither does this: two hours are `120m`.
fn scaled(number: f64, scale: f64, base: &str, units: &[&str], digits: usize) -> String {
    let (mut amount, mut unit) = (number, base);
    for next in &units[..units.len() - 1] {
        if amount < scale * 0.85 {
            break;
        }
        amount /= scale;
        unit = next;
    }
    format!("{amount:.digits$}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_left_at_85_percent_of_the_next() {
        let times = [
            (0.0, "0.00us"),
            (849.99, "849.99us"),
            (850.0, "0.85ms"),
            (12_920.0, "12.92ms"),
            (999_990.0, "999.99ms"),
            (1_000_000.0, "1.00s"),
            (50_900_000.0, "50.90s"),
            (51_000_000.0, "0.85m"),
            (7.2e9, "120.00m"),
        ];
        for (us, text) in times {
            assert_eq!(time_us(us), text);
        }
        let seconds = [(1.0, "1s"), (50.0, "50s"), (60.0, "1m"), (120.0, "2m"), (7200.0, "120m")];
        for (number, text) in seconds {
            assert_eq!(time_s(number), text);
        }
        assert_eq!((binary(870.0), binary(871.0)), ("870.00".into(), "0.85K".into()));
        assert_eq!(binary(10.0 * 1024.0 * 1024.0), "10.00M");
        assert_eq!((metric(849.0), metric(12_340.0)), ("849.00".into(), "12.34k".into()));
    }
}
