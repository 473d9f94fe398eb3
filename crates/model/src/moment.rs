//! A moment as RFC 3339 writes it, in UTC, to the nanosecond.

/// Nanoseconds since 1970 as `2026-11-21T09:05:09.123456789Z`.
pub fn rfc3339(unix_ns: u64) -> String {
    let (seconds, nanoseconds) = (unix_ns / 1_000_000_000, unix_ns % 1_000_000_000);
    let (days, second_of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil_from_days(days);
    let (hour, minute, second) =
        (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanoseconds:09}Z")
}

/// Nanoseconds since 1970 of a moment as RFC 3339 writes it, in any time zone; `None` of another text and before 1970.
pub fn unix_ns(text: &str) -> Option<u64> {
    let number = |at: std::ops::Range<usize>| {
        let digits = text.get(at).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?;
        digits.parse::<u64>().ok()
    };
    let mark = |at: usize, marks: &[u8]| text.as_bytes().get(at).is_some_and(|b| marks.contains(b));
    let marks = [(4, b"--"), (7, b"--"), (10, b"Tt"), (13, b"::"), (16, b"::")];
    marks.iter().all(|(at, marks)| mark(*at, marks.as_slice())).then_some(())?;
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let rest = text.get(19..)?;
    let fraction = rest.strip_prefix('.').unwrap_or("");
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    let nanoseconds = format!("{:0<9}", &fraction[..digits]).get(..9)?.parse::<u64>().ok()?;
    let zone = if digits > 0 { &fraction[digits..] } else { rest };
    let days = days_from_civil(year, month, day)?;
    let local_s = ((days * 24 + hour) * 60 + minute) * 60 + second;
    let unix_s = match zone {
        "Z" | "z" => local_s,
        _ => {
            let at = text.len().checked_sub(6)?;
            let ahead_s = (number(at + 1..at + 3)? * 60 + number(at + 4..at + 6)?) * 60;
            match (zone.len(), *zone.as_bytes().first()?) {
                (6, b'+') => local_s.checked_sub(ahead_s)?,
                (6, b'-') => local_s + ahead_s,
                _ => return None,
            }
        }
    };
    unix_s.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
}

/// Seconds since 1970 as OpenSSL prints a certificate's times: `Nov  2 09:05:09 2026 GMT`.
pub fn openssl(unix_s: u64) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (year, month, day) = civil_from_days(unix_s / 86_400);
    let (hour, minute, second) = (unix_s / 3600 % 24, unix_s / 60 % 60, unix_s % 60);
    let month = MONTHS[(month as usize - 1) % MONTHS.len()];
    format!("{month} {day:2} {hour:02}:{minute:02}:{second:02} {year} GMT")
}

/// Year, month and day of a number of days since 1970-01-01 (H. Hinnant, "chrono-Compatible
/// Low-Level Date Algorithms", `civil_from_days`, for days that are not negative).
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468; // since 0000-03-01
    let era = shifted / 146_097; // of 400 years
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

/// The other way (the same source, `days_from_civil`); `None` before 1970.
fn days_from_civil(year: u64, month: u64, day: u64) -> Option<u64> {
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some(())?;
    let year = year.checked_sub(u64::from(month <= 2))?;
    let (era, year_of_era) = (year / 400, year % 400);
    let month_from_march = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * 146_097 + day_of_era).checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::{openssl, rfc3339, unix_ns};

    #[test]
    fn moments_are_read_in_any_time_zone() {
        for ns in [0, 951_826_209_000_000_001, 1_795_450_576_564_350_195, 4_107_542_399_999_999_999]
        {
            assert_eq!(unix_ns(&rfc3339(ns)), Some(ns));
        }
        // date -u -d 2026-11-23T16:16:16 +%s
        let whole = Some(1_795_450_576_000_000_000);
        for text in
            ["2026-11-23T16:16:16Z", "2026-11-23T17:16:16+01:00", "2026-11-23T10:46:16.000-05:30"]
        {
            assert_eq!(unix_ns(text), whole, "{text}");
        }
        for text in [
            "",
            "2026-11-23",
            "2026-13-23T16:16:16Z",
            "2026-11-23T16:16:16",
            "1960-01-01T00:00:00Z",
            "2026-11-23T16:16:16é",
        ] {
            assert_eq!(unix_ns(text), None, "{text}");
        }
    }

    #[test]
    fn moments_are_those_of_the_calendar() {
        // Each checked with `date -u -d @SECONDS`.
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000000000Z"),
            (951_782_400, "2000-02-29T00:00:00.000000000Z"),
            (1_709_251_199, "2024-02-29T23:59:59.000000000Z"),
            (1_709_251_200, "2024-03-01T00:00:00.000000000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000000000Z"),
            (1_795_251_909, "2026-11-21T09:05:09.000000000Z"),
        ] {
            assert_eq!(rfc3339(seconds * 1_000_000_000), text);
        }
        assert_eq!(openssl(1_795_251_909), "Nov 21 09:05:09 2026 GMT");
        assert_eq!(openssl(0), "Jan  1 00:00:00 1970 GMT");
        assert_eq!(rfc3339(1_000_000_001), "1970-01-01T00:00:01.000000001Z");
    }
}
