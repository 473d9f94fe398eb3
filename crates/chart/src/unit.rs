//! What a number on an axis is, and how it is written: as the reports write it.

use crate::number;

/// What the numbers of an axis are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Things: `12,345`.
    Count,
    /// Things per second: `12,345/s`.
    PerSecond,
    /// A time in ns: `4.60 µs`.
    TimeNs,
    /// A share from 0 to 1, written in percent: `12 %`.
    Share,
    /// One divided by another: `1.15`.
    Ratio,
    /// Bytes: `48,576 B`.
    Bytes,
    /// A quantile from 0 to 1, written as a percentile: `p99.9`.
    Quantile,
}

impl Unit {
    /// A value as a sentence or a table shows it; `-` for what is no number.
    pub fn text(self, value: f64) -> String {
        if !value.is_finite() {
            return "-".to_owned();
        }
        let size = value.abs();
        let text = match self {
            Self::Count | Self::Bytes if size.fract() == 0.0 && size < 1e18 => {
                number::grouped(size as u64)
            }
            Self::Count | Self::Ratio | Self::Bytes => number::significant(size, 3),
            Self::PerSecond => format!("{}/s", number::rate(size)),
            Self::TimeNs => number::time(size),
            Self::Share => number::percent(size, 1.0),
            Self::Quantile => percentile_text(size),
        };
        let text = if self == Self::Bytes { format!("{text} B") } else { text };
        if value < 0.0 { format!("−{text}") } else { text }
    }

    /// The same without the unit, for the columns of a table whose head has it; times keep theirs.
    pub fn bare_text(self, value: f64) -> String {
        let text = self.text(value);
        let bare = match self {
            Self::PerSecond => text.strip_suffix("/s"),
            Self::Bytes => text.strip_suffix(" B"),
            _ => None,
        };
        bare.unwrap_or(&text).to_owned()
    }

    /// A length in this unit that ticks are counted in, and its name for the axis's title:
    /// times up to some ms are counted in ms.
    pub(crate) fn scale_for(self, largest: f64) -> (f64, &'static str) {
        match self {
            Self::TimeNs => number::time_unit(largest),
            Self::Share => (0.01, "%"),
            Self::Bytes => (1.0, "bytes"),
            Self::Count | Self::PerSecond | Self::Ratio | Self::Quantile => (1.0, ""),
        }
    }
}

/// `p99.9` for 0.999.
fn percentile_text(q: f64) -> String {
    // Three digits, and two more than the nines of what is near 1: p13.4, p99.9, p99.9937.
    let nines = if q < 1.0 { -(1.0 - q).log10() } else { 0.0 };
    let digits = (nines.max(0.0) as usize + 1).min(6);
    let percent = format!("{:.digits$}", q * 100.0);
    // Nothing but the slowest is 100 %.
    let percent =
        if q < 1.0 && percent.starts_with("100") { format!("{:.6}", q * 100.0) } else { percent };
    if !percent.contains('.') {
        return format!("p{percent}");
    }
    format!("p{}", percent.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::Unit;

    #[test]
    fn figures_read_as_in_the_reports() {
        for (unit, value, text) in [
            (Unit::PerSecond, 12_345.4, "12,345/s"),
            (Unit::TimeNs, 4_600.0, "4.60 µs"),
            (Unit::Share, 0.123, "12 %"),
            (Unit::Count, 10_000.0, "10,000"),
            (Unit::Ratio, 1.149, "1.15"),
            (Unit::Ratio, -0.02, "−0.0200"),
            (Unit::Quantile, 0.999, "p99.9"),
            (Unit::Quantile, 0.5, "p50"),
            (Unit::Bytes, 48_576.0, "48,576 B"),
            (Unit::TimeNs, f64::NAN, "-"),
            (Unit::PerSecond, f64::INFINITY, "-"),
        ] {
            assert_eq!(unit.text(value), text);
        }
        assert_eq!(Unit::PerSecond.bare_text(12_345.4), "12,345");
        assert_eq!(Unit::TimeNs.bare_text(4_600.0), "4.60 µs");
    }
}
