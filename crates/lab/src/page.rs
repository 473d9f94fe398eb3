//! An experiment as a page: one HTML file that opens offline, and its twin in Markdown. The verdict
//! first, then what was asked, with every chart's figures in a table; all from the folder of
//! results, so that it can be drawn again at any time.

use ablaze_chart::{Axis, BarLook, BarRow, Bars, Chart, Plot, Series, Unit};
use ablaze_engine::Run;
use ablaze_report::number::grouped;
use ablaze_report::page::section;
use ablaze_report::page::{Banner, Block, FindingText, Page, Section, Subject};
use ablaze_verdict::Severity;
use ablaze_verdict::several::Several;

use crate::comparison::{Against, Comparison};
use crate::curve::{Curve, Pick, Point, worst};
use crate::experiment::{Experiment, Figures, Folder, FolderError, Results};
use crate::text;

/// The page of an experiment. `printed` is its report in words, which is folded away at the end;
/// `ranked` tells whether ratios may be shown.
///
/// # Errors
/// When a kept run cannot be read back.
pub fn of_experiment(
    experiment: &Experiment,
    folder: &Folder,
    results: &Results,
    several: Option<&Several>,
    ranked: bool,
    printed: &str,
) -> Result<Page, FolderError> {
    let names: Vec<&str> =
        experiment.subjects.iter().map(|subject| subject.name.as_str()).collect();
    let mut page = Page::new(&names.join(", "));
    page.subtitle = text::what(experiment);
    page.sections.push(verdict(experiment, results, several));
    let last = experiment.subjects.len() - 1;
    if experiment.loads.len() == 1 {
        let comparison = Comparison::of(experiment, results, 0, last);
        page.sections.push(rows(experiment, results, &comparison));
        if ranked && !comparison.against.is_empty() {
            page.sections.push(ratios(experiment, &comparison));
        }
    } else {
        page.sections.extend(curves(experiment, results));
    }
    let runs = first_runs(experiment, folder, results)?;
    let subjects: Vec<Subject<'_>> =
        runs.iter().map(|(slot, run)| Subject::new(names[*slot], *slot, run)).collect();
    if let Some((_, run)) = runs.first() {
        page.when = section::started(run);
        page.sections.push(section::percentiles(&subjects));
        page.sections.push(section::cpu(&subjects));
    }
    page.sections.push(commands(experiment, &runs));
    if let Some((_, run)) = runs.first() {
        page.sections.push(section::environment(run));
    }
    let report = Block::Report { name: "The report".to_owned(), text: printed.to_owned() };
    page.sections.push(Section::new("In words").with(report));
    page.explain_findings();
    Ok(page)
}

/// What a page of several experiments says of one of them, under one heading: the verdict, the table
/// or the curves, and the ratios if they may be shown.
pub fn section_of(
    heading: &str,
    experiment: &Experiment,
    results: &Results,
    several: Option<&Several>,
    ranked: bool,
) -> Section {
    let mut verdict = verdict(experiment, results, several);
    let is_finding = |block: &Block| matches!(block, Block::Findings(_));
    // Its own page has the notes too.
    let (findings, verdict) = std::mem::take(&mut verdict.blocks).into_iter().partition(is_finding);
    let mut parts = vec![Section { blocks: verdict, ..Section::default() }];
    if experiment.loads.len() == 1 {
        let last = experiment.subjects.len() - 1;
        let comparison = Comparison::of(experiment, results, 0, last);
        let mut rows = rows(experiment, results, &comparison);
        rows.blocks.extend(rate_bars(experiment, &comparison));
        parts.push(rows);
        if ranked && !comparison.against.is_empty() {
            parts.push(ratios(experiment, &comparison));
        }
    } else {
        parts.extend(curves(experiment, results));
    }
    parts.push(Section { blocks: graver_than_notes(findings), ..Section::default() });
    let what = Block::Remark(text::what(experiment));
    let blocks = std::iter::once(what).chain(parts.into_iter().flat_map(|part| part.blocks));
    Section { heading: heading.to_owned(), blocks: blocks.collect() }
}

fn graver_than_notes(mut blocks: Vec<Block>) -> Vec<Block> {
    for block in &mut blocks {
        if let Block::Findings(findings) = block {
            findings.retain(|text| text.finding.severity > Severity::Note);
        }
    }
    blocks
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
    let comparison = Comparison::of(experiment, results, 0, experiment.subjects.len() - 1);
    if results.measured().next().is_none() {
        let why = results.failed().next().map_or("interrupted", |(_, why)| why);
        return row("nothing was measured", why.to_owned());
    }
    if !ranked {
        return row("no ranking", "the work was not equal".to_owned());
    }
    let named = experiment.subjects.iter().zip(&comparison.rows);
    let rates = named.filter_map(|(subject, point)| {
        let rate = grouped(point.as_ref()?.rate_per_s.round() as u64);
        Some(format!("{} {rate}/s", subject.name))
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
    let rate = grouped(point.rate_per_s.round() as u64);
    Some(format!("highest {rate}/s, at {}", load.label))
}

/// Whether the runs are to be believed, what was found in them, and which failed.
fn verdict(experiment: &Experiment, results: &Results, several: Option<&Several>) -> Section {
    let runs: Vec<&Figures> = results.measured().map(|(_, figures)| figures).collect();
    let limits = text::limits(&runs);
    let banner = Banner { verdict: worst(&runs), text: limits };
    let mut section = Section::default().with(Block::Verdict(banner));
    let found = text::found(results);
    let mut findings: Vec<FindingText> = found
        .iter()
        .filter(|found| found.gravest.severity > Severity::Note)
        .map(|found| FindingText {
            of: format!("{} of {} runs{}", found.runs, runs.len(), found.names(experiment)),
            finding: found.gravest.clone(),
            explains: Vec::new(),
        })
        .collect();
    findings.extend(several.into_iter().flat_map(Several::findings).map(|finding| FindingText {
        of: "the runs together".to_owned(),
        finding: finding.clone(),
        explains: Vec::new(),
    }));
    if !findings.is_empty() {
        section = section.with(Block::Findings(findings));
    }
    for line in text::failures(experiment, results) {
        section = section.with(Block::Text(line.trim().to_owned()));
    }
    if results.interrupted {
        let text = "Interrupted: the results up to then.".to_owned();
        section = section.with(Block::Text(text));
    }
    section
}

/// A row per target of a comparison.
fn rows(experiment: &Experiment, results: &Results, comparison: &Comparison) -> Section {
    let row = |(at, (subject, point)): (usize, (&crate::Subject, &Option<Point>))| {
        let mut cells = vec![subject.name.clone()];
        match point {
            Some(point) => cells.extend(text::cells(point)),
            None => {
                cells.push(results.skipped(at).unwrap_or("not measured").to_owned());
                cells.extend(["-"; 4].map(String::from));
            }
        }
        cells
    };
    let rows = experiment.subjects.iter().zip(&comparison.rows).enumerate().map(row).collect();
    let head = ["target", "rate /s", "slowest–fastest", "p50", "p99", "server CPU/request"];
    Section::new("Targets").with(Block::table(&head, rows))
}

/// The ratios of a comparison with their intervals, as dots around 1 and in words.
fn ratios(experiment: &Experiment, comparison: &Comparison) -> Section {
    let mut section = Section::new("Ratios");
    for against in &comparison.against {
        section = section.with(dots(experiment, against));
    }
    let rows = text::ratio_rows(experiment, comparison);
    section.with(Block::list(rows))
}

/// The rates as bars, each with its slowest and fastest run.
fn rate_bars(experiment: &Experiment, comparison: &Comparison) -> Option<Block> {
    let mut bars = Bars::new("answers per second, slowest to fastest", Unit::PerSecond, &["rate"]);
    for (slot, (subject, point)) in experiment.subjects.iter().zip(&comparison.rows).enumerate() {
        let Some(point) = point else { continue };
        let mut row = BarRow::new(&subject.name, slot, &[point.rate_per_s]);
        row.interval = (point.rates_per_s.len() > 1).then(|| point.extent());
        bars.rows.push(row);
    }
    let chart = Chart::of("Rate", bars);
    let is_empty = comparison.rows.iter().all(Option::is_none);
    (!is_empty).then(|| Block::Chart { chart, caption: String::new(), figures: false })
}

fn dots(experiment: &Experiment, against: &Against) -> Block {
    let name = |at: usize| experiment.subjects[at].name.as_str();
    let title = format!("{} / {}", name(against.subject), name(against.control));
    let mut bars = Bars::new("ratio of the medians, 99 % interval", Unit::Ratio, &["ratio"]);
    bars.look = BarLook::Dots;
    bars.reference = Some((1.0, "equal".to_owned()));
    for compared in &against.metrics {
        let Ok(ratio) = compared.ratio else { continue };
        let mut row = BarRow::new(compared.metric.name(), against.subject, &[ratio.ratio]);
        row.interval = Some((ratio.low, ratio.high));
        bars.rows.push(row);
    }
    Block::chart(Chart::of(&title, bars))
}

/// A line per target over the loads: rate, 99 % time and CPU time of the server.
fn curves(experiment: &Experiment, results: &Results) -> Vec<Section> {
    let curves = Curve::all(experiment, results, Pick::Median);
    let places: Vec<f64> = places(experiment);
    let axis = || Axis::categories(&axis_title(experiment), Unit::Count, &places);
    let mut rate = Plot::new(axis(), Axis::linear("answers per second", Unit::PerSecond));
    rate.table = true;
    let mut p99 = Plot::new(axis(), Axis::log("99 % took at most", Unit::TimeNs));
    let mut cpu = Plot::new(axis(), Axis::linear("CPU per request", Unit::TimeNs));
    for (slot, curve) in curves.iter().enumerate() {
        let points = || curve.points.iter().zip(&places);
        let rates = points().filter_map(|(point, x)| {
            let (low, high) = point.as_ref()?.extent();
            Some((*x, point.as_ref()?.rate_per_s, low, high))
        });
        rate.series.push(match experiment.repeats {
            1 => {
                Series::line(&curve.name, slot, rates.map(|(x, y, ..)| (x, y)).collect::<Vec<_>>())
            }
            _ => Series::with_intervals(&curve.name, slot, rates.collect::<Vec<_>>()),
        });
        let of = |figure: fn(&Point) -> Option<f64>| {
            points()
                .filter_map(|(point, x)| Some((*x, figure(point.as_ref()?)?)))
                .collect::<Vec<_>>()
        };
        p99.series.push(Series::line(&curve.name, slot, of(|point| point.p99_ns)));
        cpu.series.push(Series::line(&curve.name, slot, of(|point| point.server_cpu_ns)));
    }
    let section =
        |title: &str, plot: Plot| Section::new(title).with(Block::chart(Chart::of(title, plot)));
    let mut sections = vec![section("Rate", rate), section("Latency", p99)];
    if cpu.series.iter().any(|series| !series.points.is_empty()) {
        sections.push(section("CPU of the server", cpu));
    }
    sections
}

/// Where the loads stand on the axis: at their values, or one after the other.
fn places(experiment: &Experiment) -> Vec<f64> {
    let known: Option<Vec<f64>> = experiment.loads.iter().map(|load| load.x).collect();
    known.unwrap_or_else(|| (1..=experiment.loads.len()).map(|at| at as f64).collect())
}

fn axis_title(experiment: &Experiment) -> String {
    let option = experiment.loads[0].label.split('=').next().unwrap_or("load");
    if option == "c" { "connections".to_owned() } else { option.to_owned() }
}

/// The first run of each target that was measured, under the middle load.
fn first_runs(
    experiment: &Experiment,
    folder: &Folder,
    results: &Results,
) -> Result<Vec<(usize, Run)>, FolderError> {
    let load = experiment.loads.len() / 2;
    let mut runs = Vec::new();
    for subject in 0..experiment.subjects.len() {
        let mut of = results.measured().map(|(trial, _)| trial);
        if let Some(trial) = of.find(|trial| trial.subject == subject && trial.load == load)
            && let Some(run) = folder.run(experiment, trial)?
        {
            runs.push((subject, run));
        }
    }
    Ok(runs)
}

/// One command of each target, as it was carried out.
fn commands(experiment: &Experiment, runs: &[(usize, Run)]) -> Section {
    let mut section = Section::new("The commands");
    for (subject, run) in runs {
        let name = &experiment.subjects[*subject].name;
        section = section.with(Block::Remark(format!("{name}, one of its runs:")));
        section.blocks.extend(section::command(&run.command_line).blocks);
    }
    section
}
