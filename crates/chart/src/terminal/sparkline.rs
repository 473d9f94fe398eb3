//! A line of values in one row of characters: as much as a table has room for.

use super::Characters;

/// One character for each value, as high as its share of `highest`. What is no number is a gap, and what is more than
/// nothing is seen.
pub fn sparkline(values: &[f64], highest: f64, characters: Characters) -> String {
    let levels: &[char] = match characters {
        Characters::Unicode => &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
        Characters::Ascii => &['.', ':', '-', '=', '+', '*', '%', '#'],
    };
    let level = |value: &f64| match value / highest {
        share if share.is_finite() && *value > 0.0 => {
            let step = (share.clamp(0.0, 1.0) * levels.len() as f64).ceil() as usize;
            levels[step.clamp(1, levels.len()) - 1]
        }
        _ => ' ',
    };
    values.iter().map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_as_high_as_its_share() {
        let values = [0.0, 1e-9, 1.0, 4.0, 8.0, 9.0, f64::NAN, f64::INFINITY];
        assert_eq!(sparkline(&values, 8.0, Characters::Unicode), " ▁▁▄██  ");
        assert_eq!(sparkline(&values, 8.0, Characters::Ascii), " ..=##  ");
        assert_eq!(sparkline(&[1.0, 2.0], 0.0, Characters::Ascii), "  ");
    }
}
