//! Where the CPU time went, if that was asked for.

use ablaze_model::Run;

use super::Style;
use crate::profiling;
use crate::table::{Table, sentence};

/// So many functions are named.
const MOST: usize = 10;
/// Longer names are cut: those of generic functions have no end.
const NAME_LENGTH: usize = 60;

/// The lines on each profile; none where none was asked for.
pub(super) fn lines(run: &Run, style: &Style) -> Vec<String> {
    let Some(came_to) = &run.profiling else { return Vec::new() };
    let mut lines = vec![String::new()];
    for profile in &came_to.profiles {
        let label = format!("  {:<17}  ", format!("{} profile", profiling::side(profile.of)));
        lines.extend(sentence(&label, &profiling::headline(profile), style.width));
        let mut table = Table::new(&[3]);
        let (head, rows) = profiling::table(profile, MOST, 0);
        for mut row in std::iter::once(head).chain(rows) {
            row.rotate_left(1);
            row[3] = shortened(&row[3]);
            table.row(row, "");
        }
        lines.extend(table.lines());
        for doubt in profiling::doubts(profile) {
            lines.extend(sentence("  ", &doubt, style.width).iter().map(|line| style.dim(line)));
        }
    }
    for refused in &came_to.refused {
        let label = format!("  {:<17}  ", format!("{} profile", profiling::side(refused.of)));
        let text = profiling::refused(refused);
        lines.extend(sentence(&label, &text, style.width).iter().map(|line| style.warning(line)));
    }
    if let Some(profiled) = &came_to.run {
        let text = profiling::cost(run, profiled);
        lines.extend(sentence("  profiling cost     ", &text, style.width));
    }
    lines
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= NAME_LENGTH {
        return name.to_owned();
    }
    // The end of a path says most.
    let length = name.chars().count();
    let end: String = name.chars().skip(length - (NAME_LENGTH - 1)).collect();
    format!("…{end}")
}
