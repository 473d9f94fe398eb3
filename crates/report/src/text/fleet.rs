//! The machines that carried a run out together: a row for each of the first, and what is to be said of them.

use ablaze_model::Run;

use super::Style;
use crate::fleet::{HEAD, rows, sentences};
use crate::number::grouped;
use crate::table::{Table, sentence};

/// More workers than this are cut off.
const ROWS: usize = 16;

/// The lines on workers; none where one machine did it all.
pub(super) fn lines(run: &Run, style: &Style) -> Vec<String> {
    let rows = rows(run);
    if rows.is_empty() {
        return Vec::new();
    }
    let more = rows.len().saturating_sub(ROWS);
    let mut table = Table::new(&[0, 1, HEAD.len() - 1]);
    table.row(HEAD.map(str::to_owned).to_vec(), "");
    rows.into_iter().take(ROWS).for_each(|row| table.row(row, ""));
    let mut lines = table.lines();
    if more > 0 {
        let text =
            format!("  {} more: all are in -o FILE.json and FILE.html", grouped(more as u64));
        lines.push(style.dim(&text));
    }
    lines.extend(sentences(run).iter().flat_map(|text| sentence("  ", text, style.width)));
    lines
}
