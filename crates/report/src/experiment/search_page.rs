//! A search as a page: the answer first, every stage as a point and as a row, and the runs behind
//! them in the folder.

use ablaze_chart::{Axis, Chart, Mark, Plot, Series, Unit};
use ablaze_model::Run;
use ablaze_model::experiment::{Description, Search, Searched, Stage};
use ablaze_model::finding::Finding;
use ablaze_stats::rate_search::{Found, Trial};

use super::page::repeat;
use super::{json, text, workers};
use crate::number::rate;
use crate::page::{Banner, Block, FindingText, Page, Section, TableBlock, section};
use crate::table::sentence;

/// Two decades.
const FAR_APART: f64 = 100.0;

/// The page of a search; its figures lie in it as JSON. `run` is that of the stage whose command and
/// environment it shows ([`Searched::shown_stage`]).
pub fn of_search(
    search: &Search,
    searched: &Searched,
    run: Option<&Run>,
    asked: &Description,
) -> Page {
    let printed = text::search(search, searched);
    let texts = search.conditions();
    let what = format!("{}: {}", search.target.name, search.goal);
    let mut page = Page::new(if asked.title.is_empty() { &what } else { &asked.title });
    page.about = asked.about.clone();
    page.subtitle = text::what_for(search);
    page.sections.push(answer(searched, &texts));
    let found = found(searched);
    page.sections.push(Section::new("Stages").with(drawn(searched)).with(rows(searched, &texts)));
    page.sections.extend(found);
    if let Some(run) = run {
        page.when = section::started(run);
        page.sections.extend(workers::of_one_run(run));
    }
    page.sections.extend(repeat(asked, ""));
    if let Some(run) = run {
        if !search.target.is_started_here() {
            let mut command = section::command(&run.command_line);
            command.heading = match searched.shown_stage().map(|at| &searched.stages[at]) {
                Some(stage) => format!("The command of the stage at {}/s", rate(stage.asked_per_s)),
                None => "The command of a stage".to_owned(),
            };
            page.sections.push(command);
        }
        page.sections.push(section::environment(run));
    }
    let report = Block::Report { name: "The report".to_owned(), text: folded(&printed) };
    page.sections.push(Section::default().with(report));
    page.figures.push((search.target.name.clone(), json::search(search, searched)));
    page.explain_findings();
    page
}

/// The stages of a search that goes on.
pub fn so_far(search: &Search, searched: &Searched) -> Vec<Section> {
    if searched.stages.is_empty() {
        return Vec::new();
    }
    let stages = Section::new("Stages so far").with(drawn(searched));
    vec![stages.with(rows(searched, &search.conditions()))]
}

/// The report with its sentences broken between words: a page does not break the lines of a report, which has tables.
fn folded(printed: &str) -> String {
    let fold = |line: &str| match line.chars().count() > text::WIDTH {
        true => sentence("", line, text::WIDTH).join("\n"),
        false => line.to_owned(),
    };
    printed.lines().map(|line| fold(line) + "\n").collect()
}

/// The answer, and how far it is to be believed.
fn answer(searched: &Searched, texts: &[&str]) -> Section {
    let banner = Banner { verdict: text::verdict(searched), text: text::answer(searched, texts) };
    let section = Section::default().with(Block::Verdict(banner));
    let doubts = text::unsupported(searched).into_iter();
    doubts
        .fold(section, |section, (text, why)| section.with(Block::Text(format!("{text}: {why}."))))
}

/// What takes something away from the answer, as the report has it; `None` where nothing does.
fn found(searched: &Searched) -> Option<Section> {
    let of_finding = |(of, finding): (String, &Finding)| FindingText {
        of,
        finding: finding.clone(),
        explains: Vec::new(),
    };
    let findings: Vec<FindingText> = text::findings(searched).into_iter().map(of_finding).collect();
    (!findings.is_empty()).then(|| Section::new(section::FOUND).with(Block::Findings(findings)))
}

/// How a stage went: of one that was not judged, or whose rate the client did not offer, nothing is known.
fn drawn_as(stage: &Stage) -> &'static str {
    match stage.trial {
        Trial::Holds => HOLDS,
        Trial::Fails if !stage.undecided => FAILS,
        Trial::Fails | Trial::LimitedByClient => UNKNOWN,
    }
}

const HOLDS: &str = "holds";
const FAILS: &str = "does not hold";
const UNKNOWN: &str = "not judged, or not offered";

/// Answered over requested rate: the stages that held, those that did not and those that tell nothing, with the highest
/// that holds.
pub fn chart(searched: &Searched) -> Chart {
    let axis = match far_apart(searched) {
        true => |title: &str| Axis::log(title, Unit::PerSecond),
        false => |title: &str| Axis::linear(title, Unit::PerSecond),
    };
    let mut plot = Plot::new(axis("requested per second"), axis("answered per second"));
    for (slot, name) in [HOLDS, FAILS, UNKNOWN].into_iter().enumerate() {
        let is_of = |stage: &&Stage| drawn_as(stage) == name;
        let mut points: Vec<(f64, f64)> = searched
            .stages
            .iter()
            .filter(is_of)
            .filter_map(|stage| Some((stage.asked_per_s, stage.measured.as_ref()?.answered_per_s)))
            .collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        if name != UNKNOWN || !points.is_empty() {
            plot.series.push(Series::line(name, slot, points));
        }
    }
    if let Some(Found::Limit { holds_per_s, .. } | Found::HighestHolds { holds_per_s }) =
        searched.found
    {
        plot.marks.push(Mark::at(holds_per_s, "highest that holds"));
    }
    Chart::of("Answered over requested rate", plot)
        .described("Every stage of the search: the requested rate and the answered rate.")
}

/// Whether the rates lie so far apart that on an even axis most would lie upon each other.
fn far_apart(searched: &Searched) -> bool {
    let measured = searched
        .stages
        .iter()
        .filter_map(|stage| Some([stage.asked_per_s, stage.measured.as_ref()?.answered_per_s]));
    let rates: Vec<f64> = measured.flatten().filter(|rate| *rate > 0.0).collect();
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    rates.iter().any(|rate| *rate > least * FAR_APART)
}

/// The chart without a table of its own: two stages of one rate would be one column, and all of them stand below it.
fn drawn(searched: &Searched) -> Block {
    Block::Chart { chart: chart(searched), caption: String::new(), figures: false }
}

fn rows(searched: &Searched, texts: &[&str]) -> Block {
    let mut head = vec!["requested /s", "answered /s, 2nd half"];
    head.extend(texts.iter().copied());
    head.push("outcome");
    let row = |stage: &Stage| text::cells_of_stage(stage, texts);
    let mut table = Block::table(&head, searched.stages.iter().map(row).collect());
    if let Block::Table(TableBlock { ends_in_words, .. }) = &mut table {
        *ends_in_words = true;
    }
    table
}
