//! Bars as characters.

use super::{Characters, padded, sign};
use crate::bars::Look;
use crate::{BarRow, Bars};

pub(super) fn lines(bars: &Bars, width: usize, characters: Characters) -> Vec<String> {
    let length = |text: &str| text.chars().count();
    let names = bars.rows.iter().map(|row| length(&row.name)).max().unwrap_or(0).min(width / 3);
    let words = bars.rows.iter().map(|row| length(&row.words(bars.unit))).max().unwrap_or(0);
    let room = width.saturating_sub(names + words + 6).max(4);
    let mut lines = vec![bars.drawn_title()];
    if bars.parts.len() > 1 {
        let item =
            |(index, part): (usize, &String)| format!("  {} {part}", fill(index, characters));
        lines.push(bars.parts.iter().enumerate().map(item).collect());
    }
    let span = span(bars);
    for row in &bars.rows {
        let drawn = match bars.look {
            Look::Bars => bar(bars, row, span, room, characters),
            Look::Dots => dot(bars, row, span, room, characters),
        };
        lines.push(format!("  {} {drawn} {}", padded(&row.name, names), row.words(bars.unit)));
    }
    if let (Some((value, text)), Look::Dots) = (&bars.reference, bars.look) {
        lines.push(format!("  {} {}", padded("", names), at_column(*value, span, room, text)));
    }
    lines
}

/// The values at both ends of the room for bars, and whether distances between them are ratios.
#[derive(Debug, Clone, Copy)]
struct Span {
    low: f64,
    high: f64,
    ratio: bool,
}

fn span(bars: &Bars) -> Span {
    let even = |low, high| Span { low, high, ratio: false };
    match (bars.look, bars.extent(), bars.ratio_ends()) {
        (_, None, _) => even(0.0, 1.0),
        (_, _, Some((low, high))) => Span { low, high, ratio: true },
        (Look::Bars, Some((_, high)), _) => even(0.0, if high > 0.0 { high } else { 1.0 }),
        (Look::Dots, Some((low, high)), _) if low == high => even(low - 1.0, high + 1.0),
        (Look::Dots, Some((low, high)), _) => even(low, high),
    }
}

fn column(value: f64, span: Span, room: usize) -> usize {
    let Span { low, high, ratio } = span;
    let share = match ratio {
        true => (value / low).ln() / (high / low).ln(),
        false => (value - low) / (high - low),
    };
    let share = share.clamp(0.0, 1.0);
    if share.is_nan() { 0 } else { (share * (room - 1) as f64).round() as usize }
}

/// What a part is filled with.
fn fill(index: usize, characters: Characters) -> char {
    let fills = match characters {
        Characters::Unicode => ['█', '▒', '░', '▓'],
        Characters::Ascii => ['#', '=', '-', '%'],
    };
    fills[index % fills.len()]
}

fn bar(bars: &Bars, row: &BarRow, span: Span, room: usize, characters: Characters) -> String {
    if bars.parts.len() > 1 {
        let (mut drawn, mut sum) = (String::new(), 0.0);
        for (index, value) in row.values.iter().enumerate() {
            if crate::axis::usable(*value) && *value > 0.0 {
                sum += value;
                let to = ((sum / span.high).clamp(0.0, 1.0) * room as f64).round() as usize;
                let more = to.saturating_sub(drawn.chars().count());
                drawn.extend(std::iter::repeat_n(fill(index, characters), more));
            }
        }
        return drawn;
    }
    let share = (row.sum().unwrap_or(0.0) / span.high).clamp(0.0, 1.0);
    if share <= 0.0 || share.is_nan() {
        return String::new();
    }
    if characters == Characters::Ascii {
        return "#".repeat(((share * room as f64).round() as usize).max(1));
    }
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = ((share * room as f64 * 8.0).round() as usize).max(1);
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

fn dot(bars: &Bars, row: &BarRow, span: Span, room: usize, characters: Characters) -> String {
    let mut cells = vec![' '; room];
    let (line, left, right, reference) = match characters {
        Characters::Unicode => ('─', '├', '┤', '┊'),
        Characters::Ascii => ('-', '|', '|', ':'),
    };
    if let Some((value, _)) = bars.reference {
        cells[column(value, span, room)] = reference;
    }
    if let Some((low, high)) = row.interval {
        let (from, to) = (column(low, span, room), column(high, span, room));
        if from < to {
            cells[from..=to].fill(line);
            (cells[from], cells[to]) = (left, right);
        }
    }
    if let Some(value) = row.sum() {
        cells[column(value, span, room)] = sign(row.slot, characters);
    }
    cells.into_iter().collect()
}

/// A text centred under the column of a value, as far as there is room.
fn at_column(value: f64, span: Span, room: usize, text: &str) -> String {
    let length = text.chars().count();
    let from = column(value, span, room).saturating_sub(length / 2);
    let from = from.min(room.saturating_sub(length));
    format!("{}{text}", " ".repeat(from))
}
