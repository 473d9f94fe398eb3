//! The machines that carried a run out together: a row for each of the first, and what is to be said of them.

use ablaze_model::Run;

use super::{Style, first_rows};
use crate::fleet::{HEAD, rows, sentences};
use crate::table::{Table, sentence};

/// More workers than this are cut off.
const ROWS: usize = 16;

/// The lines on workers; none where one machine did it all.
pub(super) fn lines(run: &Run, style: &Style) -> Vec<String> {
    let rows = rows(run);
    if rows.is_empty() {
        return Vec::new();
    }
    let table = Table::new(&[0, 1, HEAD.len() - 1]);
    let mut lines = first_rows::lines(table, HEAD.map(str::to_owned).to_vec(), rows, ROWS, style);
    lines.extend(sentences(run).iter().flat_map(|text| sentence("  ", text, style.width)));
    lines
}
