//! Checks on a page: a table of them, and samples of what failed, folded away.

use ablaze_model::Run;

use super::{Block, Section};
use crate::checks;
use crate::number::{counted, grouped};

/// Lines of a head or a body that are shown: all that can be kept, as good as.
const LINES: usize = 200;

/// Characters of a check that are shown.
const CHECK_CHARS: usize = 200;

/// How each check went; nothing where there are none.
pub fn section(run: &Run) -> Option<Section> {
    let own = run.record.checks.as_ref()?;
    let (share, items) = checks::summary(own);
    let text = format!("{share} {}.", items.join(" · "));
    let rows = own.each.iter().map(|check| {
        let counts = [grouped(check.passed), grouped(check.failed)];
        let [passed, failed] = counts;
        let text = checks::text(check, CHECK_CHARS);
        vec![text, checks::share(check), passed, failed, checks::first(check)]
    });
    let head = ["check", "share", "passed", "failed", "the first that failed"];
    let table = Block::table(&head, rows.collect::<Vec<_>>());
    Some(Section::new("Checks").with(Block::Remark(text.trim().to_owned())).with(table))
}

/// Requests and responses that failed; nothing where none did.
pub fn samples(run: &Run) -> Option<Section> {
    let samples = run.record.samples.as_ref()?;
    let kept = samples.in_order();
    if kept.is_empty() {
        return None;
    }
    let texts: Vec<String> =
        kept.iter().map(|sample| checks::lines(sample, LINES).join("\n")).collect();
    let of = counted(samples.failed, "response");
    let name = format!("{} of {of} that failed", grouped(kept.len() as u64));
    Some(Section::default().with(Block::Report { name, text: texts.join("\n\n") }))
}
