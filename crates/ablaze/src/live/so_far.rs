//! What is known of a run that goes on, as sections of a page: for browsers, and for the page that the live view saves.

use ablaze_load::carry_out::WorkerProgress;
use ablaze_model::Run;
use ablaze_report::page::{Block, Page, Section, ShownRun, section};

use super::findings::Findings;
use super::sections;

/// The sections by the names of their places, from the top down. `remark` says below the figures how exact they are.
/// `workers` are the machines of a fleet.
pub fn sections(
    run: &Run,
    workers: &[WorkerProgress],
    findings: &Findings,
    remark: &str,
) -> Vec<(&'static str, Vec<Section>)> {
    let subjects = [ShownRun::new("all responses", 0, run)];
    let figures = section::figures(run).with(Block::Remark(remark.to_owned()));
    let mut all =
        vec![("figures", vec![figures]), ("found", findings.section().into_iter().collect())];
    if run.record.responses > 0 {
        all.push(("over-time", vec![section::over_time(run)]));
        all.push(("percentiles", vec![section::percentiles(&subjects)]));
        all.push(("distribution", vec![section::distribution(&subjects)]));
    }
    all.push(("outcome", vec![section::outcome(run)]));
    all.push(("groups", section::groups(run).into_iter().collect()));
    all.push(("workers", sections::workers_section(workers).into_iter().collect()));
    all
}

/// A page of its own, of a run that was `how_far` when it was saved.
pub fn page(
    (title, load): (&str, &str),
    how_far: &str,
    run: &Run,
    workers: &[WorkerProgress],
    findings: &Findings,
) -> Page {
    let mut page = Page::new(title);
    page.subtitle = format!("{load} · saved after {how_far}, while the run went on");
    let remark = "The run went on when this was saved: these figures are those of buckets 1 % wide, and are not judged.";
    page.sections = self::sections(run, workers, findings, remark)
        .into_iter()
        .flat_map(|(_, all)| all)
        .collect();
    page
}
