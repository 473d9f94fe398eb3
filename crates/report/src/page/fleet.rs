//! The section on the machines that carried a run out together.

use ablaze_model::Run;

use super::{Block, Section};
use crate::fleet::{HEAD, rows, sentences};

/// The workers, a row each; nothing where one machine did it all.
pub(super) fn section(run: &Run) -> Option<Section> {
    let rows = rows(run);
    if rows.is_empty() {
        return None;
    }
    let section = Section::new("Workers").with(Block::table(&HEAD, rows));
    Some(section.with(Block::Remark(sentences(run).join(" "))))
}
