//! Dates: in cookies, in RFC 3339, and as Hurl writes them. Proleptic Gregorian, UTC, without leap seconds.

use std::io::Write;

/// µs since 1970 as `2026-11-23T08:05:00.000000Z`.
pub(crate) fn write_iso(unix_us: i64, out: &mut Vec<u8>) -> std::io::Result<()> {
    let seconds = unix_us.div_euclid(1_000_000);
    let (year, month, day) = civil(seconds.div_euclid(86_400));
    let of_day = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let fraction = unix_us.rem_euclid(1_000_000);
    write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:06}Z")
}

/// Days since 1970 of a date. H. Hinnant, "chrono-Compatible Low-Level Date Algorithms".
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The inverse of [`days`].
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * years + years / 4 - years / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = years + era * 400 + i64::from(month <= 2);
    (year, month, of_year - (153 * shifted + 2) / 5 + 1)
}

/// Seconds since 1970 of a date and a time, if there is such a date.
fn seconds(date: (i64, i64, i64), time: (i64, i64, i64)) -> Option<i64> {
    let (year, month, day) = date;
    let since = days(year, month, day);
    let is_real = civil(since) == date && time.0 < 24 && time.1 < 60 && time.2 < 60;
    is_real.then(|| since * 86_400 + time.0 * 3600 + time.1 * 60 + time.2)
}

/// The date of a cookie, as RFC 6265, 5.1.1, reads the many forms there are. Seconds since 1970.
pub(crate) fn cookie_date(text: &str) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    let is_delimiter = |c: char| matches!(c, '\t' | '\u{20}'..='\u{2f}' | '\u{3b}'..='\u{40}' | '\u{5b}'..='\u{60}' | '\u{7b}'..='\u{7e}');
    for token in text.split(is_delimiter).filter(|token| !token.is_empty()) {
        if time.is_none() && clock(token).is_some() {
            time = clock(token);
        } else if day.is_none() && number(token, 1, 2).is_some() {
            day = number(token, 1, 2);
        } else if month.is_none() && month_of(token).is_some() {
            month = month_of(token);
        } else if year.is_none() {
            year = number(token, 2, 4);
        }
    }
    let year = match year? {
        short @ 70..=99 => short + 1900,
        short @ 0..=69 => short + 2000,
        long => long,
    };
    if year < 1601 { None } else { seconds((year, month?, day?), time?) }
}

/// A number of so many digits, which something else than a digit may follow.
fn number(token: &str, least: usize, most: usize) -> Option<i64> {
    let digits = token.bytes().take_while(u8::is_ascii_digit).count();
    if (least..=most).contains(&digits) { token[..digits].parse().ok() } else { None }
}

/// `hh:mm:ss`, which something else than a digit may follow.
fn clock(token: &str) -> Option<(i64, i64, i64)> {
    let mut parts = token.splitn(3, ':');
    let whole = |part: &str| number(part, 1, 2).filter(|_| part.len() <= 2);
    let hour = whole(parts.next()?)?;
    let minute = whole(parts.next()?)?;
    Some((hour, minute, number(parts.next()?, 1, 2)?))
}

fn month_of(token: &str) -> Option<i64> {
    const MONTHS: &str = "janfebmaraprmayjunjulaugsepoctnovdec";
    let name = token.get(..3)?.to_ascii_lowercase();
    let at = MONTHS.as_bytes().chunks(3).position(|month| month == name.as_bytes())?;
    Some(at as i64 + 1)
}

/// Whether this is a date and a time as RFC 3339 has them.
pub(crate) fn is_rfc3339(text: &str) -> bool {
    rfc3339(text.as_bytes()).is_some()
}

fn rfc3339(text: &[u8]) -> Option<()> {
    let digits = |from: usize, length: usize| -> Option<i64> {
        let part = text.get(from..from + length)?;
        let all = part.iter().all(u8::is_ascii_digit);
        all.then(|| part.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
    };
    let is = |at: usize, wanted: &[u8]| text.get(at).is_some_and(|byte| wanted.contains(byte));
    let marks = is(4, b"-") && is(7, b"-") && is(10, b"Tt ") && is(13, b":") && is(16, b":");
    // A leap second is a second.
    let second = digits(17, 2)?.min(if digits(17, 2)? == 60 { 59 } else { 60 });
    let date = (digits(0, 4)?, digits(5, 2)?, digits(8, 2)?);
    seconds(date, (digits(11, 2)?, digits(14, 2)?, second)).filter(|_| marks)?;
    let mut at = 19;
    if is(at, b".") {
        let fraction = text[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        at += 1 + fraction;
        if fraction == 0 {
            return None;
        }
    }
    let is_zulu = is(at, b"Zz") && text.len() == at + 1;
    let is_offset = is(at, b"+-") && is(at + 3, b":") && text.len() == at + 6;
    let offset = || Some(digits(at + 1, 2)? < 24 && digits(at + 4, 2)? < 60);
    (is_zulu || (is_offset && offset()?)).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iso(unix_us: i64) -> String {
        let mut out = Vec::new();
        write_iso(unix_us, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn days_and_dates_are_inverse() {
        assert_eq!(iso(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(iso(951_782_399_999_999), "2000-02-28T23:59:59.999999Z");
        assert_eq!(iso(951_782_400_000_000), "2000-02-29T00:00:00.000000Z");
        assert_eq!(iso(-1), "1969-12-31T23:59:59.999999Z");
        for day in (-800_000..800_000).step_by(97) {
            let (year, month, of_month) = civil(day);
            assert_eq!(days(year, month, of_month), day);
        }
    }

    #[test]
    fn cookies_have_dates_of_many_forms() {
        let expected = Some(1_610_576_581); // 2021-01-13T22:23:01Z
        for text in [
            "Wed, 13 Jan 2021 22:23:01 GMT",
            "Wed, 13-Jan-2021 22:23:01 GMT",
            "Wednesday, 13-Jan-21 22:23:01 GMT",
            "Wed Jan 13 22:23:01 2021",
            "22:23:01 13 january 2021",
        ] {
            assert_eq!(cookie_date(text), expected, "{text}");
        }
        for text in [
            "",
            "13 Jan 2021",
            "32 Jan 2021 00:00:00",
            "30 Feb 2021 00:00:00",
            "1 Jan 1600 00:00:00",
        ] {
            assert_eq!(cookie_date(text), None, "{text}");
        }
    }

    #[test]
    fn rfc3339_is_told_from_what_looks_like_it() {
        for text in
            ["2020-09-16T08:50:02Z", "2020-09-16T08:50:02.123+02:00", "2020-02-29t00:00:60z"]
        {
            assert!(is_rfc3339(text), "{text}");
        }
        for text in [
            "",
            "2020-09-16",
            "2020-09-16T08:50:02",
            "2019-02-29T00:00:00Z",
            "2020-09-16T24:00:00Z",
            "2020-09-16T08:50:02.Z",
            "2020-09-16T08:50:02Zx",
        ] {
            assert!(!is_rfc3339(text), "{text}");
        }
    }
}
