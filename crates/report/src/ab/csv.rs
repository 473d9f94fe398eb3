//! ab's `-e`: within what time each percentage of the requests was served.

use std::io::{self, Write};

use ablaze_model::Run;

use super::figures::{Figures, at_rank_ns};

/// Writes a line of names and 101 lines, for 0 to 100 percent.
///
/// # Errors
/// Those of writing.
pub fn write(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let total = Figures::of(run, true).times.total;
    let count = total.count();
    writeln!(out, "Percentage served,Time in ms")?;
    for percentage in 0..=100 {
        // ab's index, rounded to the nearest; it runs past the end for few requests, this not.
        let index = (count * percentage + 50) / 100;
        let milliseconds = (at_rank_ns(&total, index + 1) / 1000) as f64 / 1000.0;
        writeln!(out, "{percentage},{milliseconds:.3}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn there_are_101_lines_that_never_fall_and_end_at_the_longest_request() {
        let mut out = Vec::new();
        super::write(&sample::run(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("Percentage served,Time in ms"));
        let rows: Vec<(u64, f64)> = lines
            .map(|line| line.split_once(',').unwrap())
            .map(|(percentage, ms)| (percentage.parse().unwrap(), ms.parse().unwrap()))
            .collect();
        assert_eq!(rows.len(), 101);
        assert!(rows.iter().enumerate().all(|(number, row)| row.0 == number as u64));
        assert!(rows.windows(2).all(|pair| pair[0].1 <= pair[1].1));
        // Ten requests of 3 to 12 ms: index 0.5 + n·i/100, cut off.
        assert_eq!((rows[0].1, rows[4].1, rows[50].1), (3.0, 3.0, 8.0));
        assert!((rows[5].1 - 4.0).abs() < 0.001);
        assert!(rows[95..].iter().all(|row| row.1 == 12.0));
    }
}
