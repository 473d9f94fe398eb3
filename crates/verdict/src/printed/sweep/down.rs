//! Concurrencies in the first column, and a column of rates for each target below its name.

use super::super::line::cleaned;
use super::{Curve, MOST, POINTS, concurrencies, holds_rates, is_rule, names_concurrency, rate};

/// What sets the cells of a line apart.
#[derive(Clone, Copy, PartialEq)]
enum Apart {
    Bars,
    Commas,
    /// Tabs, or two blanks and more: names may have single ones.
    Gaps,
    Blanks,
}

impl Apart {
    const ALL: [Self; 4] = [Self::Bars, Self::Commas, Self::Gaps, Self::Blanks];

    /// The cells of a line; `None` where it ends the table.
    fn cells(self, raw: &str) -> Option<Vec<String>> {
        let line = cleaned(raw);
        let owned = |cell: &str| cleaned(cell.trim());
        let cells: Vec<String> = match self {
            _ if line.is_empty() => return None,
            Self::Bars => raw.trim().trim_matches('|').split('|').map(owned).collect(),
            Self::Commas => line.split(',').map(owned).collect(),
            Self::Gaps => {
                let gaps = raw.trim().replace('\t', "  ");
                gaps.split("  ").map(owned).filter(|cell| !cell.is_empty()).collect()
            }
            Self::Blanks => line.split_whitespace().map(owned).collect(),
        };
        (cells.len() > 1).then_some(cells)
    }
}

/// The curves of the table that begins here, and how many lines it took.
pub fn down(lines: &[&str]) -> Option<(Vec<Curve>, usize)> {
    Apart::ALL.into_iter().find_map(|apart| table(lines, apart))
}

fn table(lines: &[&str], apart: Apart) -> Option<(Vec<Curve>, usize)> {
    let head = apart.cells(lines.first()?)?;
    let named = names_concurrency(&head[0]) && !head[0].is_empty();
    if !named || head[1..].iter().any(|cell| rate(cell).is_some()) {
        return None;
    }
    let rows = lines[1..].iter().take(MOST + 1).map_while(|line| apart.cells(line));
    let rows: Vec<Vec<String>> = rows.collect();
    let used = rows.len() + 1;
    let body: Vec<Vec<String>> = rows.into_iter().filter(|row| !is_rule(row)).collect();
    // A name of several words has no column of its own.
    if apart == Apart::Blanks && body.iter().any(|row| row.len() != head.len()) {
        return None;
    }
    let firsts: Vec<String> = body.iter().map(|row| row[0].clone()).collect();
    let levels = concurrencies(&firsts)?;
    let curves: Vec<Curve> = (1..head.len())
        .filter(|column| holds_rates(&head[*column]))
        .filter_map(|column| {
            let cells = body.iter().map(|row| row.get(column).and_then(|cell| rate(cell)));
            let points = levels.iter().zip(cells).filter_map(|(c, rate)| Some((*c, rate?)));
            let points: Vec<(u64, f64)> = points.collect();
            (points.len() >= POINTS).then(|| Curve { name: head[column].clone(), points })
        })
        .collect();
    (!curves.is_empty()).then_some((curves, used))
}
