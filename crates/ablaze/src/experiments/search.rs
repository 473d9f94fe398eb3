//! What a search gives to be kept: its page, its chart, its figures.

use ablaze_lab::search::StageFolder;
use ablaze_model::experiment::{Search, Searched};
use ablaze_report::experiment::search_page::{chart, of_search};
use ablaze_report::experiment::{csv, json, text};
use ablaze_report::exporters::Contents;

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
        csv: Some(csv::search(searched)),
        text: text::search(search, searched),
    }
}
