//! A table of which only the first rows are shown, and a line that says where the others are.

use super::Style;
use crate::number::grouped;
use crate::table::Table;

/// The lines of an empty table with this head and at most so many of these rows.
pub(super) fn lines(
    mut table: Table,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    most: usize,
    style: &Style,
) -> Vec<String> {
    let more = rows.len().saturating_sub(most);
    table.row(head, "");
    rows.into_iter().take(most).for_each(|row| table.row(row, ""));
    let mut lines = table.lines();
    if more > 0 {
        let text =
            format!("  {} more: all are in -o FILE.json and FILE.html", grouped(more as u64));
        lines.push(style.dim(&text));
    }
    lines
}
