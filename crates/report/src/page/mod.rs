//! The page: one HTML file that opens offline, and the same as Markdown with its charts beside it.
//!
//! A [`Page`] is a title and sections; a [`Section`] is a heading and blocks; a [`Block`] is a piece of
//! text, a table, a chart, a command, the verdict or findings. Nothing in a block is markup: every text
//! is escaped where it is written, and a page asks nothing of any network (its own policy forbids
//! it). [`Page::html`] writes the file, [`Page::markdown`] its twin for code-hosting pages.
//!
//! [`of_run`] is the page of one Run. A page of several is put together from the same pieces:
//!
//! ```
//! # use ablaze_report::page::{self, Block, Page, Section, ShownRun};
//! # fn experiment(before: &ablaze_model::Assessed, after: &ablaze_model::Assessed, curve: ablaze_chart::Chart) -> String {
//! // Each target keeps its slot: its colour, marker and dash in every chart of the page.
//! let subjects = [ShownRun::new("before", 0, &before.run), ShownRun::new("after", 1, &after.run)];
//! let mut page = Page::new("before and after");
//! page.subtitle = "GET /hello · 14 B · keep-alive".to_owned();
//! page.sections.push(
//!     Section::new("Rate over connections")
//!         .with(Block::chart(curve))
//!         .with(Block::table(&["target", "rate"], vec![vec!["before".into(), "208,500/s".into()]])),
//! );
//! page.sections.push(page::section::percentiles(&subjects));
//! page.sections.push(page::section::distribution(&subjects));
//! page.sections.push(page::section::cpu(&subjects));
//! page.sections.push(page::section::environment(&after.run));
//! page.sections.push(page::section::command(&after.run.command_line));
//! page.explain_findings();
//! page.runs.push(("before".into(), ablaze_report::json::write(before)));
//! page.runs.push(("after".into(), ablaze_report::json::write(after)));
//! page.html()
//! # }
//! ```
//!
//! Every Run given in [`Page::runs`] lies in the file whole and can be read back: [`run_json`].

mod chart_data;
pub mod charts;
mod checks;
mod command;
mod embedded;
mod explained;
pub(crate) mod fleet;
mod html;
pub mod live;
mod markdown;
mod over_time;
pub mod profile;
mod run;
mod script;
pub mod section;
mod several;
mod so_far;

use ablaze_chart::{Chart, Table};
use ablaze_model::Run;
use ablaze_model::finding::{Finding, Verdict};

pub use command::shell_text;
pub use embedded::{figures_json, run_json, runs_json};
pub use markdown::{Markdown, markdown_of_run};
pub use run::of_run;
pub use several::of_runs;
pub use so_far::SoFar;

/// A page under construction.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// What it is about; the largest heading, and the title of its window.
    pub title: String,
    /// What it is about, in a sentence or two; may be empty.
    pub about: String,
    /// A line below it.
    pub subtitle: String,
    /// When it was measured, for its head.
    pub when: String,
    /// What it says, from the top down.
    pub sections: Vec<Section>,
    /// Runs that lie in the file: a name, and the text of [`crate::json::write`].
    pub runs: Vec<(String, String)>,
    /// Figures of several runs that lie in the file: a name, and JSON.
    pub figures: Vec<(String, String)>,
}

/// A heading and what stands below it.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// The heading; none if it is empty.
    pub heading: String,
    /// What stands below it.
    pub blocks: Vec<Block>,
}

/// A piece of a page.
#[derive(Debug, Clone)]
pub enum Block {
    /// The verdict, large: at the top of a page.
    Verdict(Banner),
    /// Findings with their evidence, cause and fix.
    Findings(Vec<FindingText>),
    /// A few figures that matter most.
    Figures(Vec<Figure>),
    /// A paragraph.
    Text(String),
    /// A paragraph that may be skipped.
    Remark(String),
    /// The same on what only the HTML file has: its Markdown leaves it out.
    OfTheFile(String),
    /// A table.
    Table(TableBlock),
    /// A chart, and below it what should be known to read it.
    Chart {
        /// The chart.
        chart: Chart,
        /// A sentence below it; none if it is empty.
        caption: String,
        /// Whether its figures stand in a table that can be opened.
        figures: bool,
    },
    /// Charts on one scale, beside each other where there is room, each with its figures in a table.
    Multiples(Vec<Chart>),
    /// A command to repeat, with a button that copies it.
    Command(String),
    /// Text as a terminal shows it, folded away behind its name.
    Report {
        /// The summary that is shown while the text is folded.
        name: String,
        /// The text.
        text: String,
    },
    /// Paragraphs with a heading and an anchor, for findings to point to.
    Explained(Vec<Explained>),
    /// An SVG drawn elsewhere, trusted as it is: a flame graph.
    Drawing {
        /// What it shows, for those who do not see it.
        name: String,
        /// The `svg` element, without XML declaration.
        svg: String,
        /// A sentence below it; none if it is empty.
        caption: String,
    },
}

/// The verdict in large.
#[derive(Debug, Clone)]
pub struct Banner {
    /// Whether the numbers are to be believed.
    pub verdict: Verdict,
    /// Behind it, in a sentence: what limited the rate.
    pub text: String,
}

/// One finding on a page.
#[derive(Debug, Clone)]
pub struct FindingText {
    /// Which run it is of, where there are several; else empty.
    pub of: String,
    /// The finding.
    pub finding: Finding,
    /// The findings that it explains, as `D08 connection attempts lost`.
    pub explains: Vec<String>,
}

/// A figure in large: `208,914/s`, what it is, and a few words below it.
#[derive(Debug, Clone)]
pub struct Figure {
    /// The label above the figure.
    pub name: String,
    /// The figure with its unit.
    pub value: String,
    /// A few words below it.
    pub note: String,
}

/// A table on a page.
#[derive(Debug, Clone)]
pub struct TableBlock {
    /// Its cells; the first column is flush left and heads its row, the others flush right.
    pub table: Table,
    /// Whether all columns are words, flush left.
    pub words: bool,
    /// Whether the last column is words among columns of figures: flush left, and broken between words.
    pub ends_in_words: bool,
    /// The column whose figures the rows descend by, if they can be sorted by another at a click.
    pub sorted_by: Option<usize>,
    /// A sentence below it; none if it is empty.
    pub caption: String,
}

/// A paragraph on a diagnosis.
#[derive(Debug, Clone)]
pub struct Explained {
    /// Its place on the page.
    pub anchor: String,
    /// Its heading.
    pub heading: String,
    /// Paragraphs, of words with `code` in backticks.
    pub paragraphs: Vec<String>,
}

/// A Run by the name and the slot (colour, marker, dash) that it has in all charts of a page.
#[derive(Debug, Clone, Copy)]
pub struct ShownRun<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Its slot, from 0.
    pub slot: usize,
    /// The Run.
    pub run: &'a Run,
}

impl Page {
    /// A page with nothing on it.
    pub fn new(title: &str) -> Self {
        Self { title: title.to_owned(), ..Self::default() }
    }

    /// Adds a section with the paragraph of docs/diagnoses.md for every finding on the page, so that
    /// the links of the findings lead somewhere without a network. Nothing when there is none.
    pub fn explain_findings(&mut self) {
        let mut ids = Vec::new();
        for block in self.sections.iter().flat_map(|section| &section.blocks) {
            if let Block::Findings(findings) = block {
                ids.extend(findings.iter().map(|text| text.finding.id));
            }
        }
        ids.sort_unstable();
        ids.dedup();
        if !ids.is_empty() {
            let explained = ids.into_iter().map(explained::of).collect();
            let section = Section::new("What the findings mean");
            self.sections.push(section.with(Block::Explained(explained)));
        }
    }

    /// The page as one HTML file.
    pub fn html(&self) -> String {
        html::write(self)
    }

    /// The page as Markdown, with its charts as files whose names begin with `stem`: `run.svg`,
    /// `run-2.svg`.
    pub fn markdown(&self, stem: &str) -> Markdown {
        markdown::write(self, stem)
    }
}

impl Section {
    /// A section with nothing below its heading.
    pub fn new(heading: &str) -> Self {
        Self { heading: heading.to_owned(), blocks: Vec::new() }
    }

    /// The same with one more block.
    #[must_use]
    pub fn with(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }
}

impl Block {
    /// A chart without a caption, its figures in a table that can be opened.
    pub fn chart(chart: Chart) -> Self {
        Self::Chart { chart, caption: String::new(), figures: true }
    }

    /// A table of figures.
    pub fn table(head: &[&str], rows: Vec<Vec<String>>) -> Self {
        let head = head.iter().map(|cell| (*cell).to_owned()).collect();
        Self::Table(TableBlock {
            table: Table { head, rows },
            words: false,
            ends_in_words: false,
            sorted_by: None,
            caption: String::new(),
        })
    }

    /// A table of words: names and what they are.
    pub fn list(rows: Vec<Vec<String>>) -> Self {
        Self::Table(TableBlock {
            table: Table { head: Vec::new(), rows },
            words: true,
            ends_in_words: false,
            sorted_by: None,
            caption: String::new(),
        })
    }
}

impl<'a> ShownRun<'a> {
    /// A Run by its name and slot.
    pub fn new(name: &'a str, slot: usize, run: &'a Run) -> Self {
        Self { name, slot, run }
    }
}

#[cfg(test)]
mod answering_tests;
#[cfg(test)]
mod browser_tests;
#[cfg(test)]
mod tests;
