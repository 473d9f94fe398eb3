//! Lists and ranges: statuses, CPUs, ports.

use std::ops::RangeInclusive;

/// Statuses: `2xx,3xx,418,500-503`.
///
/// # Errors
/// When a part is neither a status (100 to 999), nor a range, nor a class such as 2xx.
pub fn statuses(text: &str) -> Result<Vec<RangeInclusive<u16>>, String> {
    text.split(',').map(|part| status_range(part.trim())).collect()
}

fn status_range(part: &str) -> Result<RangeInclusive<u16>, String> {
    let wrong = || format!("`{part}` is not a status: expected a list such as 2xx,3xx,418,500-503");
    let status = |text: &str| {
        let digits = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u16>().ok().filter(|status| digits && *status >= 100).ok_or_else(wrong)
    };
    if let Some((first, last)) = part.split_once('-') {
        let range = status(first)?..=status(last)?;
        return if range.is_empty() { Err(wrong()) } else { Ok(range) };
    }
    if let Some(class) = part.to_ascii_lowercase().strip_suffix("xx") {
        let hundred = status(&format!("{class}00"))?;
        return Ok(hundred..=hundred + 99);
    }
    let one = status(part)?;
    Ok(one..=one)
}

/// CPUs: `0,2-3`, each once.
///
/// # Errors
/// When a part is neither a number nor a range, or names a CPU twice.
pub fn cpus(text: &str) -> Result<Vec<u32>, String> {
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let wrong = || format!("`{part}` is not a CPU: expected a list such as 0,2-3");
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|cpu| *cpu < 65_536);
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = number(first).zip(number(last)).ok_or_else(wrong)?;
        if first > last {
            return Err(wrong());
        }
        for cpu in first..=last {
            if cpus.contains(&cpu) {
                return Err(format!("CPU {cpu} is given twice"));
            }
            cpus.push(cpu);
        }
    }
    Ok(cpus)
}

/// Ports: `20000-30000`, or a single one.
///
/// # Errors
/// When it is not a range of ports from 1 to 65535.
pub fn ports(text: &str) -> Result<RangeInclusive<u16>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let port = |text: &str| text.trim().parse::<u16>().ok().filter(|port| *port > 0);
    match (port(first), port(last)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        _ => Err("expected a range of ports such as 20000-30000".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_lists() {
        assert_eq!(
            statuses("2xx,3XX, 418,500-503"),
            Ok(vec![200..=299, 300..=399, 418..=418, 500..=503])
        );
        for text in ["", "2x", "99", "0xx", "503-500", "200,", "1000", "+20", "2000-3000"] {
            assert!(statuses(text).is_err(), "{text}");
        }
    }

    #[test]
    fn cpu_lists() {
        assert_eq!(cpus("0,2-3"), Ok(vec![0, 2, 3]));
        for text in ["", "3-2", "a", "0,0", "1-", "0-99999999"] {
            assert!(cpus(text).is_err(), "{text}");
        }
    }

    #[test]
    fn port_ranges() {
        assert_eq!(ports("20000-30000"), Ok(20_000..=30_000));
        assert_eq!(ports("7"), Ok(7..=7));
        for text in ["", "0-5", "5-4", "1-65536", "a-b"] {
            assert!(ports(text).is_err(), "{text}");
        }
    }
}
