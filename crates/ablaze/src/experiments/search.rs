//! What a search gives to be kept: its page, its chart, its figures.

use ablaze_lab::search::{Goal, Search, Searched, StageFolder, chart, of_search};
use ablaze_lab::{csv, json, text};
use ablaze_report::exporters::Contents;

/// What of a search can be saved; without the page if a saved stage cannot be read.
pub fn contents(
    search: &Search,
    folder: &StageFolder,
    searched: &Searched,
    goal: &Goal,
) -> Contents {
    let page = of_search(search, folder, searched, goal)
        .map_err(|error| format!("cannot read a saved stage: {error}"));
    Contents {
        page,
        chart: Some(chart(searched)),
        json: json::search(search, searched),
        csv: Some(csv::search(searched)),
        text: text::search(search, searched, goal),
    }
}
