//! The page of one Run.

use ablaze_model::{Assessed, Run};

use super::{Page, Section, ShownRun, profile, section};

/// The page of one Run, with the Run in it.
pub fn of_run(assessed: &Assessed) -> Page {
    let run = &assessed.run;
    let mut page = begun(run);
    let subjects = [ShownRun::new("all responses", 0, run)];
    page.sections.push(section::verdict(assessed));
    page.sections.push(section::figures(run));
    page.sections.extend(section::found(&assessed.judged));
    if run.record.responses > 0 {
        page.sections.push(section::over_time(run));
        page.sections.push(section::percentiles(&subjects));
        page.sections.push(section::distribution(&subjects));
        page.sections.push(joined("", [section::phases(&subjects), section::cpu(&subjects)]));
    }
    page.sections.extend(profile::of_run(run));
    page.sections.push(section::outcome(run));
    page.sections.extend(section::journeys(run));
    page.sections.extend(super::checks::section(run));
    page.sections.extend(super::checks::samples(run));
    page.sections.extend(section::groups(run));
    page.sections.extend(super::fleet::section(run));
    page.sections.push(section::command(&run.command_line));
    page.sections.push(joined("", [section::environment(run), section::report(assessed)]));
    page.explain_findings();
    page.runs.push((run.plan.target.url.clone(), crate::json::write(assessed)));
    page
}

/// A page with its head, and nothing on it.
pub(super) fn begun(run: &Run) -> Page {
    let mut page = Page::new(&crate::text::what_was_loaded(run));
    page.subtitle = crate::text::load_in_words(run);
    // A saved run may be of another version.
    page.when = format!(
        "measured {}, page written by ablaze {}",
        section::started(run),
        env!("CARGO_PKG_VERSION")
    );
    page
}

/// Sections as one; the first heading that there is stands above it.
fn joined(heading: &str, sections: impl IntoIterator<Item = Section>) -> Section {
    let mut all = Section::new(heading);
    for section in sections {
        if all.heading.is_empty() {
            all.heading = section.heading;
        }
        all.blocks.extend(section.blocks);
    }
    all
}
