//! The table of targets on the page of a comparison: a row per target with the median rate of its
//! runs, and the slowest and the fastest of them.

use super::line::{cleaned, number};
use super::{LoneRate, Printed};

/// The cells that such a table begins with.
const HEAD: [&str; 2] = ["target", "rate /s"];

/// The rates of every such table.
pub fn find(text: &str) -> Vec<LoneRate> {
    let mut rates = Vec::new();
    let mut inside = false;
    for (line, raw) in (1..).zip(text.lines()) {
        let Some(cells) = cells(raw) else {
            inside = false;
            continue;
        };
        let is_head = cells.len() > HEAD.len() && HEAD.iter().zip(&cells).all(|(a, b)| a == b);
        if inside && !is_head {
            rates.extend(rate(&cells, line));
        }
        inside |= is_head;
    }
    rates
}

fn cells(raw: &str) -> Option<Vec<String>> {
    let row = raw.trim().strip_prefix('|')?.strip_suffix('|')?;
    // A bar in a name is written `\|`.
    let row = row.replace("\\|", "\u{0}");
    Some(row.split('|').map(|cell| cleaned(&cell.replace('\u{0}', "\\|"))).collect())
}

fn rate(cells: &[String], line: usize) -> Option<LoneRate> {
    let (rate_per_s, rest): (Printed, &str) = number(cells.get(1)?)?;
    if !rest.trim().is_empty() {
        return None;
    }
    let (slowest, fastest) = cells.get(2)?.split_once('–')?;
    Some(LoneRate {
        line,
        label: Some(cells[0].clone()),
        rate_per_s,
        command: None,
        of_several: slowest != fastest,
        looped: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_is_a_rate_with_its_name() {
        let text = "| target | rate /s | slowest–fastest | p50 |\n|:--|--:|--:|--:|\n\
                    | a\\|b | 12,345 | 12,000–12,500 | 9 µs |\n| gone |  |  |  |\n\
                    | c | 7 | 7–7 | 1 s |\n\n| other | 5 | 6 | 7 |\n";
        let found: Vec<_> = find(text)
            .into_iter()
            .map(|rate| (rate.line, rate.label.unwrap(), rate.rate_per_s.value, rate.of_several))
            .collect();
        let expected = [(3, "a|b".to_owned(), 12_345.0, true), (5, "c".to_owned(), 7.0, false)];
        assert_eq!(found, expected);
    }
}
