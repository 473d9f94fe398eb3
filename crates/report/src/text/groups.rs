//! The table of groups: the first rows of it, in the width of the terminal.

use ablaze_model::Run;

use super::{Style, first_rows};
use crate::groups::{self, Columns, GroupTable};
use crate::table::Table;

/// More groups than this are cut off.
const ROWS: usize = 10;
/// A name that is longer than this gives up columns to be told apart from others.
const NAME_CHARS: usize = 24;
/// A name has at least this much of the width, whatever stands beside it.
const NAME_CHARS_MIN: usize = 12;

/// The lines on groups; none without any.
pub(super) fn lines(run: &Run, style: &Style) -> Vec<String> {
    let Some(whole) = groups::table(run, Columns::All, usize::MAX) else { return Vec::new() };
    let names = shown(&whole).skip(1).filter_map(|row| row.first());
    let wanted = names.map(|name| name.chars().count().min(NAME_CHARS)).max().unwrap_or(0);
    let beside = |columns| groups::table(run, columns, 0).as_ref().map_or(0, beside_names);
    let fits = beside(Columns::All) + wanted <= style.width;
    let columns = if fits { Columns::All } else { Columns::Few };
    let name_chars = style.width.saturating_sub(beside(columns)).max(NAME_CHARS_MIN);
    let Some(GroupTable { head, rows }) = groups::table(run, columns, name_chars) else {
        return Vec::new();
    };
    first_rows::lines(Table::new(&[0]), head, rows, ROWS, style)
}

/// The head and the rows that are shown.
fn shown(table: &GroupTable) -> impl Iterator<Item = &Vec<String>> {
    std::iter::once(&table.head).chain(table.rows.iter().take(ROWS))
}

/// Width of everything but the names, of the rows that are shown.
fn beside_names(table: &GroupTable) -> usize {
    let width = |column: usize| {
        let cells = shown(table).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    // Two columns of indentation, and two between columns.
    2 + (1..table.head.len()).map(|column| width(column) + 2).sum::<usize>()
}
