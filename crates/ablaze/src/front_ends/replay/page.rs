//! The page of a replay: what the document did, then and now side by side, what was wrong with it, and
//! every part of the fair version.

use ablaze_chart::{Axis, BarRow, Bars, Chart, Plot, Series, Unit};
use ablaze_model::experiment::Figures;
use ablaze_model::moment::rfc3339;
use ablaze_report::experiment::page::in_short;
use ablaze_report::number::grouped;
use ablaze_report::page::{Banner, Block, Page, Section, section};
use ablaze_verdict::Verdict;

use super::again::{Again, Tool, shortened};
use super::document::Document;
use super::wrong::{self, Found};
use crate::experiments::series::Done;

/// Everything that a replay came to.
#[derive(Debug)]
pub struct Replayed<'a> {
    /// The document.
    pub document: &'a Document,
    /// What is wrong with its figures.
    pub found: Vec<Found>,
    /// Its lines, run again.
    pub again: Vec<Again>,
    /// The fair version.
    pub done: Vec<Done>,
    /// What was left out to save time; empty without `--quick`.
    pub shortened: String,
    /// Whether Ctrl-C came before the end.
    pub interrupted: bool,
}

/// What the columns of that table are.
const UNDER_THE_TABLE: &str = "Machines and servers differ, so do not compare a published rate \
    with a new one; the document compared the rows of one column. `found` lists what `explain` \
    finds in each report.";

/// Head of the table of lines.
pub const HEAD: [&str; 6] =
    ["line", "published /s", "original tool /s", "ablaze /s", "found in published", "found now"];

impl Replayed<'_> {
    /// The lines: what they came to then, and now.
    pub fn rows(&self) -> Vec<Vec<String>> {
        let texts = self.document.read();
        let whole = |rate: f64| grouped(rate.round() as u64);
        let row = |again: &Again| {
            let then = again.line.then.in_its_digits(&texts).unwrap_or_else(|| "-".to_owned());
            let figures = |tool| again.with(tool).map(|run| run.as_ref().map(|run| run.figures()));
            let now = |tool| match figures(tool) {
                None => "-".to_owned(),
                Some(Err(why)) => why.clone(),
                Some(Ok(figures)) => figures.map_or("-".to_owned(), |f| whole(f.rate_per_s)),
            };
            let found_now = match (figures(Tool::Itself), figures(Tool::Ablaze)) {
                (Some(Ok(Some(figures))), _) | (_, Some(Ok(Some(figures)))) => {
                    wrong::ids_of(&figures.findings)
                }
                _ => "-".to_owned(),
            };
            let found_then = wrong::ids(&self.found, &again.line.name);
            vec![
                again.line.name.clone(),
                then,
                now(Tool::Itself),
                now(Tool::Ablaze),
                found_then,
                found_now,
            ]
        };
        self.again.iter().map(row).collect()
    }

    /// What the fair version came to: a row for each response, the part in front.
    pub fn in_short(&self) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for done in &self.done {
            let responses = in_short(&done.planned.experiment, &done.results, done.ranked());
            for (at, mut response) in responses.into_iter().enumerate() {
                let heading = if at == 0 { done.planned.heading.clone() } else { String::new() };
                response.insert(0, heading);
                rows.push(response);
            }
        }
        rows
    }

    /// Whether anything at all was measured.
    pub fn is_measured(&self) -> bool {
        let again = self.again.iter().any(|again| again.with.iter().any(|(_, run)| run.is_ok()));
        again || self.done.iter().any(|done| done.results.measured().next().is_some())
    }

    /// The page.
    pub fn page(&self, printed: &str) -> Page {
        let document = self.document;
        let mut page = Page::new(&format!("Replay {}: {}", document.number, document.title));
        page.subtitle = document.about.to_owned();
        let first = self.figures().map(|figures| figures.started_unix_ns).min();
        if let Some(started) = first {
            let text = rfc3339(started);
            let minute: String = text.chars().take(16).collect();
            page.when = format!("{} UTC", minute.replace('T', " "));
        }
        page.sections.extend([self.head(), self.then_and_now(), self.wrong()]);
        page.sections.extend(self.done.iter().map(Done::section));
        page.sections.push(self.repeated());
        if let Some(environment) = self.environment() {
            page.sections.push(environment);
        }
        let report = Block::Report { name: "The report".to_owned(), text: printed.to_owned() };
        page.sections.push(Section::new("Report").with(report));
        page.explain_findings();
        page.figures = self.done.iter().map(Done::figures).collect();
        page
    }

    fn figures(&self) -> impl Iterator<Item = &Figures> {
        self.done.iter().flat_map(|done| done.results.measured().map(|(_, figures)| figures))
    }

    /// The verdict on the fair version, and what it came to.
    fn head(&self) -> Section {
        let mut section = Section::default();
        if let Some(verdict) = self.figures().map(|figures| figures.verdict).max() {
            let text = match verdict {
                Verdict::Valid => "the runs of the fair version are valid.".to_owned(),
                _ => {
                    let all = self.figures().count();
                    let worst = self.figures().filter(|f| f.verdict == verdict).count();
                    format!("{worst} of {all} runs of the fair version; its parts below say why.")
                }
            };
            section = section.with(Block::Verdict(Banner { verdict, text }));
        }
        if self.interrupted {
            let text = "Interrupted: partial results.".to_owned();
            section = section.with(Block::Text(text));
        }
        if !self.shortened.is_empty() {
            section = section.with(Block::Text(self.shortened.clone()));
        }
        let rows = self.in_short();
        if !rows.is_empty() {
            section = section.with(Block::list(rows));
        }
        section
    }

    fn then_and_now(&self) -> Section {
        let mut section = Section::new("What the document did");
        for paragraph in self.document.did {
            section = section.with(Block::Text((*paragraph).to_owned()));
        }
        section = section
            .with(Block::Remark(format!("Source of the figures: {}.", self.document.source)));
        if !self.again.is_empty() {
            section = section.with(self.chart_of_then());
            section = section.with(Block::table(&HEAD, self.rows()));
            section = section.with(Block::Remark(UNDER_THE_TABLE.to_owned()));
        }
        for again in &self.again {
            let printed = Block::Remark(format!("{}: `{}`", again.line.name, again.line.words));
            // A sweep has one line in many rows.
            if !again.line.name.starts_with("c = ") {
                section = section.with(printed);
            }
        }
        section
    }

    /// The curves as they were printed, or a bar for each line then and now.
    fn chart_of_then(&self) -> Block {
        let texts = self.document.read();
        // Of several charts of a document the first is the one that can be replayed.
        if let Some(sweep) = texts.iter().flat_map(|text| &text.sweeps).next() {
            // In the order of the servers that stand in for them, whose curves have the same colours.
            let named =
                |name: &str| self.again.iter().position(|again| again.line.name.ends_with(name));
            let mut curves: Vec<_> =
                sweep.curves.iter().filter(|c| named(&c.name).is_some()).collect();
            curves.sort_by_key(|curve| named(&curve.name));
            let mut places: Vec<f64> =
                curves.iter().flat_map(|curve| &curve.points).map(|(c, _)| *c as f64).collect();
            places.sort_by(f64::total_cmp);
            places.dedup();
            let mut plot = Plot::new(
                Axis::categories("connections", Unit::Count, &places),
                Axis::linear("responses per second", Unit::PerSecond),
            );
            plot.table = true;
            for (slot, curve) in curves.iter().enumerate() {
                let points = curve.points.iter().map(|(c, rate)| (*c as f64, *rate));
                plot.series.push(Series::line(&curve.name, slot, points.collect::<Vec<_>>()));
            }
            return Block::Chart {
                chart: Chart::of("As published", plot),
                caption: String::new(),
                figures: false,
            };
        }
        let mut bars = Bars::new("responses per second", Unit::PerSecond, &["rate"]);
        for again in &self.again {
            let mut row = |when: &str, slot, rate: Option<f64>| {
                let name = format!("{}, {when}", again.line.name);
                bars.rows.extend(rate.map(|rate| BarRow::new(&name, slot, &[rate])));
            };
            let now = |tool| {
                let figures = again.with(tool)?.as_ref().ok()?.figures()?;
                Some(figures.rate_per_s)
            };
            row("published", 0, again.line.then.rate_per_s(&texts));
            row(&format!("{} now", Tool::Itself.name(&again.line)), 1, now(Tool::Itself));
            row(&format!("{} now", Tool::Ablaze.name(&again.line)), 2, now(Tool::Ablaze));
        }
        Block::Chart {
            chart: Chart::of("Published and new", bars),
            caption: String::new(),
            figures: false,
        }
    }

    fn wrong(&self) -> Section {
        let mut section = Section::new("What was wrong with it");
        let remark = "Found by `ablaze explain` in the published figures:";
        let findings = wrong::on_a_page(&self.found);
        if !findings.is_empty() {
            section = section.with(Block::Remark(remark.to_owned()));
            section = section.with(Block::Findings(findings));
        }
        for text in self.document.wrong {
            section = section.with(Block::Text((*text).to_owned()));
        }
        section
    }

    fn repeated(&self) -> Section {
        let number = self.document.number;
        let mut section = Section::new("How to repeat it")
            .with(Block::Command(format!("ablaze replay {number}")));
        let file = |name: &str| Block::Command(format!("ablaze run experiments/{name}"));
        section.blocks.extend(self.document.files.iter().map(|(name, _)| file(name)));
        section
    }

    /// Of the first run that was kept.
    fn environment(&self) -> Option<Section> {
        self.done.iter().find_map(|done| {
            let (trial, _) = done.results.measured().next()?;
            let run = done.folder.run(&done.planned.experiment, trial).ok()??;
            Some(section::environment(&run))
        })
    }
}

/// What of the lines was shortened: `10,000 to 30,000 requests a line instead of up to 1,000,000`.
pub fn lines_shortened(again: &[Again]) -> Option<String> {
    let all: Vec<(u64, u64)> = again.iter().filter_map(|again| shortened(&again.line)).collect();
    let (least, most) =
        (all.iter().map(|(now, _)| *now).min()?, all.iter().map(|(now, _)| *now).max()?);
    let then = grouped(all.iter().map(|(_, then)| *then).max()?);
    let now = match least == most {
        true => grouped(least),
        false => format!("{} to {}", grouped(least), grouped(most)),
    };
    Some(format!("{now} requests per line instead of up to {then}"))
}
