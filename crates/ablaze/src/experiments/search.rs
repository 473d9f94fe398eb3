//! What a search gives to be kept: its page, its chart, its figures.

use ablaze_lab::search::StageFolder;
use ablaze_model::experiment::{Search, Searched};
use ablaze_report::experiment::search_page::{chart, of_search};
use ablaze_report::experiment::{cases, csv, json, text};
use ablaze_report::exporters::Contents;
use ablaze_report::junit::{Case, CaseOutcome, Suite};

use super::asked;

/// What of a search can be saved; without the page if a saved stage cannot be read.
pub fn contents(search: &Search, folder: &StageFolder, searched: &Searched) -> Contents {
    let run = folder.shown_run(searched);
    let page = run
        .map(|run| of_search(search, searched, run.as_ref(), &asked::kept(folder.path())))
        .map_err(|error| format!("cannot read a saved stage: {error}"));
    Contents {
        page,
        chart: Some(chart(searched)),
        json: json::search(search, searched),
        csv: Some(csv::search(search, searched)),
        text: text::search(search, searched),
        suites: vec![suite(search, searched)],
    }
}

/// The search as the cases of a test: whether it has an answer, and its verdict.
fn suite(search: &Search, searched: &Searched) -> Suite {
    let outcome = match (searched.is_answered(), searched.interrupted) {
        (_, true) => CaseOutcome::Failed("it was interrupted".to_owned()),
        (true, false) => CaseOutcome::Passed,
        (false, false) => CaseOutcome::Failed("no rate was found".to_owned()),
    };
    let name = format!("a rate at which {} holds", search.goal);
    let output = text::search(search, searched);
    let case = Case { class: "search", name, outcome, output };
    let cases = vec![case, cases::search_verdict(searched)];
    let begun = searched.stages.iter().filter(|stage| stage.measured.is_some());
    let elapsed_ns = begun.map(|stage| search.length_ns(stage.asked_per_s, stage.confirming)).sum();
    Suite { name: search.target.name.clone(), elapsed_ns, cases }
}
