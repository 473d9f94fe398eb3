//! Numbers, sizes and times as they stand in paths and queries.

/// The value of a parameter in a query; nothing if it does not stand there.
pub fn parameter<'a>(query: &'a [u8], name: &str) -> Option<&'a [u8]> {
    query
        .split(|byte| *byte == b'&')
        .find_map(|pair| pair.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

/// A number of bytes: `4096`, `64KB` (1000), `64KiB` (1024), up to GB and GiB.
pub fn size_bytes(text: &[u8]) -> Option<u64> {
    let (number, unit) = number_and_unit(text)?;
    let factor: u64 = match unit {
        b"" | b"B" => 1,
        b"k" | b"K" | b"kB" | b"KB" => 1000,
        b"M" | b"MB" => 1_000_000,
        b"G" | b"GB" => 1_000_000_000,
        b"KiB" => 1 << 10,
        b"MiB" => 1 << 20,
        b"GiB" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(factor)
}

/// A time of at most a day, in nanoseconds: `5us`, `100ms`, `2s`; a bare number is milliseconds.
pub fn time_ns(text: &[u8]) -> Option<u64> {
    const DAY_NS: u64 = 86_400_000_000_000;
    let (number, unit) = number_and_unit(text)?;
    let factor: u64 = match unit {
        b"ns" => 1,
        b"us" => 1_000,
        b"" | b"ms" => 1_000_000,
        b"s" => 1_000_000_000,
        _ => return None,
    };
    number.checked_mul(factor).filter(|ns| *ns <= DAY_NS)
}

/// A whole number.
pub fn whole(text: &[u8]) -> Option<u64> {
    number_and_unit(text).filter(|(_, unit)| unit.is_empty()).map(|(number, _)| number)
}

fn number_and_unit(text: &[u8]) -> Option<(u64, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, unit) = text.split_at(digits);
    // Without digits, this is no number.
    std::str::from_utf8(number).ok()?.parse().ok().map(|number| (number, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("0", 0),
            ("18446744073709551615", u64::MAX),
            ("8MiB", 8 << 20),
            ("64KB", 64_000),
            ("64k", 64_000),
            ("1GiB", 1 << 30),
            ("3B", 3),
        ] {
            assert_eq!(size_bytes(text.as_bytes()), Some(bytes), "{text}");
        }
        for text in ["", "-1", "1.5", "x", "KiB", "18446744073709551616", "99999999999GiB", "1 B"] {
            assert_eq!(size_bytes(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn times() {
        let known = [("5", 5_000_000), ("5ms", 5_000_000), ("2s", 2_000_000_000), ("7us", 7_000)];
        for (text, ns) in known {
            assert_eq!(time_ns(text.as_bytes()), Some(ns), "{text}");
        }
        for text in ["", "ms", "86401s", "18446744073709551615s", "1h"] {
            assert_eq!(time_ns(text.as_bytes()), None, "{text}");
        }
        assert_eq!((whole(b"12"), whole(b"12k"), whole(b"")), (Some(12), None, None));
    }

    #[test]
    fn parameters() {
        let query = b"lines=3&every=10ms&lines=4&linesmore=5&empty=";
        assert_eq!(parameter(query, "lines"), Some(&b"3"[..]));
        assert_eq!(parameter(query, "every"), Some(&b"10ms"[..]));
        assert_eq!(parameter(query, "empty"), Some(&b""[..]));
        assert_eq!(parameter(query, "linesm"), None);
        assert_eq!(parameter(b"", "lines"), None);
    }
}
