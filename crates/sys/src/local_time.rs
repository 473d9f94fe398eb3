//! Wall-clock time as people here read it: the time zone of this process, by the C library,
//! which knows `TZ` and `/etc/localtime`.

/// A moment in local time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalTime {
    /// Year, such as 2026.
    pub year: i32,
    /// 1 to 12.
    pub month: u8,
    /// Day of the month, 1 to 31.
    pub day: u8,
    /// Day of the week, 0 for Sunday.
    pub weekday: u8,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 60.
    pub second: u8,
}

/// The local time at this many seconds since 1970; `None` when it has no calendar date.
pub fn local_time(unix_s: i64) -> Option<LocalTime> {
    // SAFETY: `tm` is plain data for which all-zero is a valid value (a null `tm_zone` included).
    let mut parts: libc::tm = unsafe { std::mem::zeroed() };
    let seconds: libc::time_t = unix_s;
    // SAFETY: both pointers are to live values of the right type for the length of the call, and
    // localtime_r writes only through the second.
    let result = unsafe { libc::localtime_r(&seconds, &mut parts) };
    if result.is_null() {
        return None;
    }
    Some(LocalTime {
        year: parts.tm_year + 1900,
        month: parts.tm_mon as u8 + 1,
        day: parts.tm_mday as u8,
        weekday: parts.tm_wday as u8,
        hour: parts.tm_hour as u8,
        minute: parts.tm_min as u8,
        second: parts.tm_sec as u8,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_day_in_the_middle_of_a_month_is_right_in_every_time_zone() {
        // 15 June 2026, 12:00 UTC, a Monday: no zone is more than 14 hours away.
        let time = super::local_time(1_781_524_800).unwrap();
        assert_eq!((time.year, time.month), (2026, 6));
        assert!((14..=16).contains(&time.day));
        assert_eq!((i32::from(time.weekday) - i32::from(time.day)).rem_euclid(7), 0);
    }
}
