//! An experiment as a page: one HTML file that opens offline, and its twin in Markdown. The verdict
//! first, then what was asked, with every chart's figures in a table; all from what is kept, so that
//! it can be drawn again at any time.

use ablaze_model::Run;
use ablaze_model::experiment::{Description, Experiment, Figures, JudgedTogether, Results, Target};
use ablaze_model::finding::Severity;

use super::comparison::{Against, Comparison};
use super::curve::{Curve, Pick, Point};
use super::over_loads::{self, Multiples};
use super::pooled::{self, Pooled};
use super::whence::{ELSEWHERE, IN_FOLDER, Whence, of_figures};
use super::{charts, counters, groups, profiles, text, workers};
use crate::number::rate;
use crate::page::section;
use crate::page::{Banner, Block, FindingText, Page, Section, TableBlock};

/// An experiment with what came of it, for its page.
#[derive(Debug, Clone, Copy)]
pub struct Reported<'a> {
    /// What was to be done.
    pub experiment: &'a Experiment,
    /// What it came to.
    pub results: &'a Results,
    /// What was found in the runs together.
    pub judged: &'a JudgedTogether,
    /// The runs of each target that was measured, under each load that is shown ([`pooled::shown_loads`]).
    pub runs: &'a [Pooled],
    /// The profiled runs, by target.
    pub profiled: &'a [(usize, Run)],
}

/// How a page is to show its experiment.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// Whether ratios may be shown.
    pub ranked: bool,
    /// Which of a point's repeats is drawn.
    pub pick: Pick,
    /// Its report in words, which is folded away at the end.
    pub printed: &'a str,
    /// Its figures, as JSON has them: they lie in the page.
    pub figures: &'a str,
    /// How it was asked for, and by which file.
    pub asked: &'a Description,
    /// The file that describes it; empty if there is none.
    pub file: &'a str,
    /// What was to hold or must not, with what came of it; the last column is the answer.
    pub checks: &'a [[String; 2]],
}

/// The page of an experiment.
pub fn of_experiment(reported: Reported<'_>, shown: Shown<'_>) -> Page {
    let Reported { experiment, results, judged, runs, profiled } = reported;
    let Shown { ranked, pick, printed, figures, asked, file, checks } = shown;
    let names: Vec<&str> = experiment.targets.iter().map(|target| target.name.as_str()).collect();
    let names = names.join(", ");
    let mut page = Page::new(if asked.title.is_empty() { &names } else { &asked.title });
    page.about = asked.about.clone();
    page.subtitle = text::what(experiment, results);
    if !asked.title.is_empty() {
        page.subtitle = format!("{names} · {}", page.subtitle);
    }
    page.sections.push(verdict(experiment, results, judged));
    let last = experiment.control();
    if experiment.loads.len() == 1 {
        let comparison = Comparison::of(experiment, results, 0, last);
        page.sections.push(rows(experiment, results, &comparison, IN_FOLDER));
        page.sections.extend(ratios(experiment, &comparison, judged, ranked));
    } else {
        page.sections.extend(over_loads(experiment, results, pick, IN_FOLDER));
    }
    page.figures.push((experiment.title.clone(), figures.to_owned()));
    page.sections.extend(checked(checks));
    page.sections.extend(found(experiment, results, judged));
    if let Some(pooled) = runs.first() {
        page.when = section::started(&pooled.first);
        page.sections.extend(pooled::sections(experiment, runs));
        page.sections.extend(workers::section(experiment, runs));
    }
    page.sections.extend(profiles::section(experiment, profiled));
    page.sections.extend(repeat(asked, file));
    page.sections.extend(commands(experiment, runs));
    if let Some(pooled) = runs.first() {
        page.sections.push(section::environment(&pooled.first));
    }
    let report = Block::Report { name: "The report".to_owned(), text: printed.to_owned() };
    page.sections.push(Section::default().with(report));
    page.explain_findings();
    page
}

/// What an experiment that goes on has come to so far: the table or the curves. Ratios are for its end: an interval that is
/// looked at after every run, until it shows something, shows too much.
pub fn so_far(experiment: &Experiment, results: &Results, pick: Pick) -> Vec<Section> {
    if results.measured().next().is_none() {
        return Vec::new();
    }
    let mut sections = match experiment.loads.len() {
        1 => {
            let comparison = Comparison::of(experiment, results, 0, experiment.control());
            vec![rows(experiment, results, &comparison, IN_FOLDER)]
        }
        _ => over_loads(experiment, results, pick, IN_FOLDER),
    };
    for section in &mut sections {
        section.blocks.retain(|block| !matches!(block, Block::OfTheFile(_)));
    }
    sections
}

/// What a page of several experiments says of one of them, under one heading: the verdict, the table
/// or the curves, and the ratios if they may be shown.
pub fn section_of(
    heading: &str,
    experiment: &Experiment,
    results: &Results,
    judged: &JudgedTogether,
    ranked: bool,
) -> Section {
    let mut parts = vec![verdict(experiment, results, judged)];
    if experiment.loads.len() == 1 {
        let last = experiment.control();
        let comparison = Comparison::of(experiment, results, 0, last);
        parts.push(rows(experiment, results, &comparison, ELSEWHERE));
        parts.extend(ratios(experiment, &comparison, judged, ranked));
    } else {
        parts.extend(over_loads(experiment, results, Pick::Median, ELSEWHERE));
    }
    // Its own page has the notes too.
    let mut grave = findings(experiment, results, judged);
    grave.retain(|text| text.finding.severity > Severity::Note);
    if !grave.is_empty() {
        parts.push(Section::default().with(Block::Findings(grave)));
    }
    let what = Block::Remark(text::what(experiment, results));
    let blocks = std::iter::once(what).chain(parts.into_iter().flat_map(|part| part.blocks));
    Section { heading: heading.to_owned(), blocks: blocks.collect() }
}

/// What an experiment came to, in a row for each pair or curve: the metric that decides, or the
/// highest point.
pub fn in_short(experiment: &Experiment, results: &Results, ranked: bool) -> Vec<Vec<String>> {
    if experiment.loads.len() > 1 {
        return Curve::all(experiment, results, Pick::Median)
            .iter()
            .filter_map(|curve| Some(vec![curve.name.clone(), highest(experiment, curve)?]))
            .collect();
    }
    let row = |what: &str, text: String| vec![vec![what.to_owned(), text]];
    let comparison = Comparison::of(experiment, results, 0, experiment.control());
    if results.measured().next().is_none() {
        let why = results.failed().next().map_or("interrupted", |(trial, why)| {
            text::why_of(&experiment.targets[trial.target], why)
        });
        return row(text::NOTHING_MEASURED, why.to_owned());
    }
    if !ranked {
        return row("no ranking", "the targets did different work".to_owned());
    }
    let named = experiment.targets.iter().zip(&comparison.rows);
    let rates = named.filter_map(|(target, point)| {
        Some(format!("{} {}/s", target.name, rate(point.as_ref()?.rate_per_s)))
    });
    let compared = comparison.against.iter().filter_map(Against::headline);
    if !compared.clone().any(|compared| compared.answer.is_some()) {
        return row("no ranking", rates.collect::<Vec<_>>().join(" · "));
    }
    let rows = text::ratio_rows(experiment, &comparison).into_iter();
    // The first row of each pair has its name.
    rows.filter(|row| row.first().is_some_and(|pair| !pair.is_empty())).collect()
}

fn highest(experiment: &Experiment, curve: &Curve) -> Option<String> {
    let points = curve.points.iter().zip(&experiment.loads);
    let points = points.filter_map(|(point, load)| Some((point.as_ref()?, load)));
    let (point, load) =
        points.max_by(|(one, _), (other, _)| one.rate_per_s.total_cmp(&other.rate_per_s))?;
    Some(format!("highest {}/s, at {}", rate(point.rate_per_s), load.label))
}

/// Whether the runs are to be believed, and which failed.
fn verdict(experiment: &Experiment, results: &Results, judged: &JudgedTogether) -> Section {
    let banner = Banner { verdict: judged.verdict, text: text::what_limited(experiment, results) };
    let mut section = Section::default().with(Block::Verdict(banner));
    for line in text::failures(experiment, results) {
        section = section.with(Block::Text(line.trim().to_owned()));
    }
    let partial = text::partial(experiment, results);
    section.blocks.extend(partial.map(|text| Block::Text(section::sentence(&text))));
    section
}

/// What was found in the runs, and what in all of them together; `None` where nothing was.
fn found(experiment: &Experiment, results: &Results, judged: &JudgedTogether) -> Option<Section> {
    let findings = findings(experiment, results, judged);
    (!findings.is_empty()).then(|| Section::new(section::FOUND).with(Block::Findings(findings)))
}

fn findings(
    experiment: &Experiment,
    results: &Results,
    judged: &JudgedTogether,
) -> Vec<FindingText> {
    let runs: Vec<&Figures> = results.measured().map(|(_, figures)| figures).collect();
    let found = text::found(results);
    let mut findings: Vec<FindingText> = found
        .iter()
        .filter(|found| found.gravest.severity > Severity::Note)
        .map(|found| {
            let mut finding = found.gravest.clone();
            finding.fix = found.fix(experiment);
            let of = format!("{} of {} runs{}", found.runs, runs.len(), found.example(experiment));
            FindingText { of, finding, explains: Vec::new() }
        })
        .collect();
    findings.extend(judged.findings.iter().map(|finding| FindingText {
        of: "all runs together".to_owned(),
        finding: finding.clone(),
        explains: Vec::new(),
    }));
    findings
}

/// A row per target of a comparison.
fn rows(
    experiment: &Experiment,
    results: &Results,
    comparison: &Comparison,
    whence: Whence,
) -> Section {
    let row = |(at, (target, point)): (usize, (&Target, &Option<Point>))| {
        let mut cells = vec![target.name.clone()];
        match point {
            Some(point) => cells.extend(text::cells(point)),
            None => {
                cells.push(results.skipped(at).unwrap_or("not measured").to_owned());
                cells.extend(["-"; 4].map(String::from));
            }
        }
        cells
    };
    let rows = experiment.targets.iter().zip(&comparison.rows).enumerate().map(row).collect();
    let head = ["target", "rate /s", "slowest–fastest", "p50", "p99", "server CPU/request"];
    let table = Section::new("Targets").with(Block::table(&head, rows));
    if comparison.rows.iter().all(Option::is_none) {
        return table;
    }
    let chart = Block::Chart {
        chart: charts::targets(experiment, comparison),
        caption: "From the slowest to the fastest run.".to_owned(),
        figures: false,
    };
    let mut section = table.with(chart);
    let dashes = text::dashes(experiment, results, comparison);
    section.blocks.extend(dashes.map(|why| Block::Text(format!("“-”: {why}."))));
    section.blocks.extend(of_figures(Pick::Median, whence));
    if let Some((head, rows)) = counters::table(experiment, results) {
        let mut table = Block::table(&head, rows);
        if let Block::Table(TableBlock { caption, .. }) = &mut table {
            *caption = counters::caption(whence.counters);
        }
        section = section.with(Block::Text("What the servers counted:".to_owned())).with(table);
    }
    section.blocks.extend(of_groups(experiment, results));
    section
}

/// Groups, steps, journeys and checks side by side.
fn of_groups(experiment: &Experiment, results: &Results) -> Option<Block> {
    let (head, rows) = groups::table(experiment, results)?;
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = Block::table(&head, rows);
    if let Block::Table(TableBlock { caption, .. }) = &mut table {
        *caption = groups::CAPTION.to_owned();
    }
    Some(table)
}

/// The ratios of a comparison with their intervals, as dots around 1 and in words; or why there are none. `None` of one
/// target.
fn ratios(
    experiment: &Experiment,
    comparison: &Comparison,
    judged: &JudgedTogether,
    ranked: bool,
) -> Option<Section> {
    let mut section = Section::new("Ratios");
    let note = text::of_ranking(judged, ranked);
    section.blocks.extend(note.map(|text| Block::Text(section::sentence(text))));
    if comparison.against.is_empty() || !ranked {
        return (!comparison.against.is_empty() && note.is_some()).then_some(section);
    }
    for against in &comparison.against {
        let chart = charts::ratios(experiment, comparison, against);
        if charts::has_rows(&chart) {
            section = section.with(Block::chart(chart));
        }
    }
    let rows = text::ratio_rows(experiment, comparison);
    Some(section.with(Block::list(rows)))
}

/// A line per target over the loads: rate, 99 % time and CPU time of the server.
fn over_loads(
    experiment: &Experiment,
    results: &Results,
    pick: Pick,
    whence: Whence,
) -> Vec<Section> {
    let drawn = [
        Some(over_loads::rate_curves(experiment, results, pick)),
        over_loads::latency_curves(experiment, results, pick),
        over_loads::cpu_curves(experiment, results, pick),
    ];
    let mut sections: Vec<Section> = drawn.into_iter().flatten().map(multiples).collect();
    sections[0].blocks.extend(text::with_errors(experiment, results).map(Block::Remark));
    sections[0].blocks.extend(of_groups(experiment, results));
    sections[0].blocks.extend(of_figures(pick, whence));
    let dashes = text::dashes_of_sweep(results, &Curve::all(experiment, results, pick));
    sections[0].blocks.extend(dashes.map(|why| Block::Text(format!("“-”: {why}."))));
    let doubtful = text::doubtful(experiment, results);
    if !doubtful.is_empty() {
        let rows = doubtful.iter().map(|cell| cell.to_vec()).collect();
        sections.push(Section::new("Combinations that are not VALID").with(Block::list(rows)));
    }
    sections
}

/// One chart with its title above it, or several beside each other under theirs.
fn multiples(drawn: Multiples) -> Section {
    let title = drawn.title().to_owned();
    let mut charts = drawn.charts();
    match charts.len() {
        1 => Section::default().with(Block::chart(charts.remove(0))),
        _ => Section::new(&title).with(Block::Multiples(charts)),
    }
}

/// What was to hold, each with its result; `None` where nothing was asked.
pub fn checked(checks: &[[String; 2]]) -> Option<Section> {
    let rows = checks.iter().map(|check| check.to_vec()).collect();
    (!checks.is_empty()).then(|| {
        let mut table = Block::table(&["check", "result"], rows);
        if let Block::Table(table) = &mut table {
            table.words = true;
        }
        Section::new("Checks").with(table)
    })
}

/// The command that repeats an experiment or a search, and the file that it reads.
pub fn repeat(asked: &Description, file: &str) -> Option<Section> {
    let mut section = Section::new("To repeat it");
    if !asked.command.is_empty() {
        section.blocks.extend(section::command(&asked.command).blocks);
    }
    if !file.is_empty() {
        let name = "The file of the experiment, kept as `experiment.toml`".replace('`', "");
        section = section.with(Block::Report { name, text: file.to_owned() });
    }
    (!section.blocks.is_empty()).then_some(section)
}

/// One command of each target that can be loaded again by it: one that an experiment starts has another port
/// each time.
fn commands(experiment: &Experiment, runs: &[Pooled]) -> Option<Section> {
    let mut section = Section::new("Commands of single runs");
    for Pooled { target, load, first, .. } in runs {
        let Target { name, .. } = &experiment.targets[*target];
        if experiment.targets[*target].is_started_here() {
            continue;
        }
        let label = &experiment.loads[*load].label;
        section = section.with(Block::Remark(format!("{name}, {label}:")));
        section.blocks.extend(section::command(&first.command_line).blocks);
    }
    (!section.blocks.is_empty()).then_some(section)
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
