//! The Date header (RFC 9110, 6.6.1), written anew at most once a second by each worker.

use rustix::time::{ClockId, clock_gettime};

/// Length of a date in the form that HTTP prefers: `Sun, 06 Nov 1994 08:49:37 GMT`.
pub const DATE_BYTES: usize = 29;

const DAYS: [&[u8; 3]; 7] = [b"Thu", b"Fri", b"Sat", b"Sun", b"Mon", b"Tue", b"Wed"];
const MONTHS: [&[u8; 3]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

/// The present date as text.
#[derive(Debug, Clone)]
pub struct Date {
    unix_s: i64,
    text: [u8; DATE_BYTES],
}

impl Date {
    /// The date now.
    pub fn now() -> Self {
        let unix_s = unix_seconds();
        Self { unix_s, text: format(unix_s) }
    }

    /// Follows the clock; the text is written only when the second has changed.
    #[inline]
    pub fn update(&mut self) {
        let unix_s = unix_seconds();
        if unix_s != self.unix_s {
            *self = Self { unix_s, text: format(unix_s) };
        }
    }

    /// The date as it stands in the header.
    pub fn text(&self) -> &[u8; DATE_BYTES] {
        &self.text
    }
}

/// The coarse clock is exact to a timer tick, which is enough for seconds, and the cheapest.
fn unix_seconds() -> i64 {
    clock_gettime(ClockId::RealtimeCoarse).tv_sec
}

fn format(unix_s: i64) -> [u8; DATE_BYTES] {
    let days = unix_s.div_euclid(86_400);
    let second_of_day = unix_s.rem_euclid(86_400);
    let (year, month, day) = civil_from_days(days);
    let mut text = *b"Thu, 01 Jan 1970 00:00:00 GMT";
    text[..3].copy_from_slice(DAYS[days.rem_euclid(7) as usize]);
    two_digits(&mut text[5..7], day);
    text[8..11].copy_from_slice(MONTHS[(month - 1) as usize]);
    two_digits(&mut text[12..14], year / 100);
    two_digits(&mut text[14..16], year % 100);
    two_digits(&mut text[17..19], second_of_day / 3600);
    two_digits(&mut text[20..22], second_of_day / 60 % 60);
    two_digits(&mut text[23..25], second_of_day % 60);
    text
}

fn two_digits(into: &mut [u8], value: i64) {
    into[0] = b'0' + (value / 10 % 10) as u8;
    into[1] = b'0' + (value % 10) as u8;
}

/// Year, month (1 to 12) and day (1 to 31) of a number of days since 1970-01-01, in the
/// proleptic Gregorian calendar. Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms",
/// `civil_from_days`: years begin in March, so that the leap day is the last of its year.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_specification_and_of_date_1() {
        // The first is RFC 9110's example; the others come from `LC_ALL=C date -u -d @SECONDS`.
        let known: [(i64, &str); 5] = [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_827_696, "Tue, 29 Feb 2000 12:34:56 GMT"),
            (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
            (4_102_444_800, "Fri, 01 Jan 2100 00:00:00 GMT"),
        ];
        for (unix_s, text) in known {
            assert_eq!(std::str::from_utf8(&format(unix_s)).unwrap(), text);
        }
    }
}
