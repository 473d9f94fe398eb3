//! The checks of a run, each in a line, and one of the responses that failed.

use ablaze_model::Run;
use ablaze_model::record::CheckRecord;

use super::outcome::start;
use super::style::Style;
use crate::checks;
use crate::number::grouped;
use crate::table::{Table, wrapped};

/// Characters of a check that are shown.
const CHECK_CHARS: usize = 60;

/// Lines of a head or a body that are shown.
const LINES: usize = 12;

/// How each check went; nothing where there are none.
pub(super) fn lines(run: &Run, style: &Style) -> Vec<String> {
    let Some(own) = &run.record.checks else { return Vec::new() };
    let (share, items) = checks::summary(own);
    let mut lines = wrapped(&start("checks", &share), &items, "    ", style.width);
    let mut table = Table::new(&[0]);
    for check in &own.each {
        let passed = format!("{} passed", grouped(check.passed));
        let failed = format!("{} failed", grouped(check.failed));
        let cells = vec![checks::text(check, CHECK_CHARS), checks::share(check), passed, failed];
        table.row(cells, &checks::first(check));
    }
    let dressed = |(row, check): (String, &CheckRecord)| match check.passed == check.looked_at() {
        true if check.passed > 0 => format!("  {row}"),
        _ => style.warning(&format!("  {row}")),
    };
    lines.extend(table.lines().into_iter().zip(&own.each).map(dressed));
    lines
}

/// One of the responses that failed a check, or an assert or a capture of a journey.
pub(super) fn sample(run: &Run, style: &Style) -> Vec<String> {
    let Some(samples) = &run.record.samples else { return Vec::new() };
    let kept = samples.in_order();
    let Some(first) = kept.first() else { return Vec::new() };
    let more = match kept.len() {
        1 => String::new(),
        kept => format!(" ({kept} are in -o FILE.json and FILE.html)"),
    };
    let of = crate::number::counted(samples.failed, "response");
    let mut lines = vec![style.warning(&format!("1 of {of} that failed{more}"))];
    lines.extend(checks::lines(first, LINES).into_iter().map(|line| format!("  {line}")));
    lines
}
