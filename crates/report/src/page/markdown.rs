//! A page as Markdown for code-hosting pages (GitHub Flavored Markdown, with its footnotes): charts
//! are files beside it, findings are footnotes, a report stands in a fence as the terminal shows
//! it, so that `ablaze explain` reads it back.

use std::fmt::Write;

use ablaze_chart::Table;
use ablaze_model::Assessed;

use super::{Block, Figure, FindingText, Page, Section, ShownRun, section};

/// A page as Markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Markdown {
    /// The page.
    pub text: String,
    /// The charts that it shows: name of the file, which belongs beside the page, and contents.
    pub files: Vec<(String, String)>,
}

/// One Run as Markdown: the verdict, the figures, the main chart, the command, the environment,
/// and the report as the terminal shows it. Its chart is `stem.svg`.
pub fn markdown_of_run(assessed: &Assessed, stem: &str) -> Markdown {
    let run = &assessed.run;
    let mut page = super::run::begun(run);
    page.sections.push(section::verdict(assessed));
    page.sections.push(section::figures(run));
    page.sections.extend(section::found(&assessed.judged));
    if run.record.responses > 0 {
        page.sections.push(section::main(run));
        if run.record.answered.intended.is_some() {
            page.sections.push(section::percentiles(&[ShownRun::new("all responses", 0, run)]));
        }
    }
    page.sections.extend(section::journeys(run));
    page.sections.extend(super::checks::section(run));
    page.sections.extend(section::groups(run));
    page.sections.push(section::command(&run.command_line));
    page.sections.push(section::environment(run));
    page.sections.push(section::report(assessed));
    write(&page, stem)
}

/// The page as Markdown.
pub(super) fn write(page: &Page, stem: &str) -> Markdown {
    let mut writer = Writer { text: String::new(), files: Vec::new(), notes: Vec::new(), stem };
    writer.paragraph(&format!("# {}", plain(&page.title)));
    if !page.about.is_empty() {
        writer.paragraph(&plain(&page.about));
    }
    let below: Vec<String> = [&page.subtitle, &page.when]
        .into_iter()
        .filter(|line| !line.is_empty())
        .map(|line| plain(line))
        .collect();
    if !below.is_empty() {
        writer.paragraph(&below.join("  \n"));
    }
    page.sections.iter().for_each(|section| writer.section(section));
    let notes = std::mem::take(&mut writer.notes);
    for (name, text) in notes {
        writer.paragraph(&format!("[^{name}]: {text}"));
    }
    Markdown { text: writer.text.trim_end().to_owned() + "\n", files: writer.files }
}

struct Writer<'a> {
    text: String,
    files: Vec<(String, String)>,
    /// Footnotes: name and text.
    notes: Vec<(String, String)>,
    stem: &'a str,
}

impl Writer<'_> {
    fn paragraph(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push_str("\n\n");
    }

    fn section(&mut self, section: &Section) {
        // What findings mean is a page of the documentation; a footnote says which.
        if section.blocks.iter().all(|block| matches!(block, Block::Explained(_))) {
            return;
        }
        if !section.heading.is_empty() {
            self.paragraph(&format!("## {}", plain(&section.heading)));
        }
        section.blocks.iter().for_each(|block| self.block(block));
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Verdict(banner) => {
                let text = with_code(&banner.text);
                self.paragraph(&format!("**{}** {text}", banner.verdict));
            }
            Block::Findings(findings) => self.findings(findings),
            Block::Figures(figures) => self.figures(figures),
            Block::Text(text) | Block::Remark(text) => self.paragraph(&with_code(text)),
            Block::Table(block) => {
                self.table(&block.table, block.words);
                self.caption(&block.caption);
            }
            Block::Chart { chart, caption, figures } => {
                self.file(&chart.title, chart.svg_file());
                self.caption(caption);
                if *figures {
                    chart.tables().iter().for_each(|table| self.table(table, false));
                }
            }
            Block::Multiples(charts) => {
                for chart in charts {
                    self.file(&chart.title, chart.svg_file());
                    chart.tables().iter().for_each(|table| self.table(table, false));
                }
            }
            Block::Drawing { name, svg, caption } => {
                self.file(name, format!("{svg}\n"));
                self.caption(caption);
            }
            Block::Command(text) => self.fence("sh", text),
            Block::Report { name, text } => {
                self.paragraph(&format!("## {}", plain(name)));
                self.fence("text", text);
            }
            Block::Explained(_) | Block::OfTheFile(_) => {}
        }
    }

    fn findings(&mut self, findings: &[FindingText]) {
        let mut items = Vec::new();
        for FindingText { of, finding, explains } in findings {
            let id = finding.id;
            let number = self.notes.len() + 1;
            let name = format!("{}-{number}", id.to_string().to_lowercase());
            let of = if of.is_empty() { String::new() } else { format!("{}: ", plain(of)) };
            items.push(format!("- {of}{id} {} ({})[^{name}]", id.name(), finding.severity));
            let explains = match explains.as_slice() {
                [] => String::new(),
                names => format!(" It explains {}.", plain(&names.join(", "))),
            };
            let parts = [&finding.evidence_in_line(), &finding.cause, &finding.fix]
                .map(|part| with_code(part));
            let ended = |part: &String| part.is_empty() || part.ends_with(['.', '!', '?']);
            let stop = |part: String| if ended(&part) { part } else { format!("{part}.") };
            let text = parts.map(stop).join(" ");
            let anchor = id.anchor();
            let note = format!("{}{explains} See docs/diagnoses.md#{anchor}.", text.trim());
            self.notes.push((name, note));
        }
        if !items.is_empty() {
            self.paragraph(&items.join("\n"));
        }
    }

    fn figures(&mut self, figures: &[Figure]) {
        let head = figures.iter().map(|figure| figure.name.clone()).collect();
        let rows = vec![
            figures.iter().map(|figure| figure.value.clone()).collect::<Vec<_>>(),
            figures.iter().map(|figure| figure.note.clone()).collect(),
        ];
        self.rows(&Table { head, rows }, |_| ":--");
    }

    fn table(&mut self, table: &Table, words: bool) {
        self.rows(table, |column| if words || column == 0 { ":--" } else { "--:" });
    }

    fn rows(&mut self, table: &Table, alignment: impl Fn(usize) -> &'static str) {
        let columns = table.rows.iter().map(Vec::len).chain([table.head.len()]).max().unwrap_or(0);
        if columns == 0 {
            return;
        }
        let line = |cells: &[String]| {
            let cells =
                (0..columns).map(|column| cells.get(column).map_or(String::new(), |c| plain(c)));
            format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
        };
        let rule: Vec<&str> = (0..columns).map(alignment).collect();
        let mut lines = vec![line(&table.head), format!("|{}|", rule.join("|"))];
        lines.extend(table.rows.iter().map(|row| line(row)));
        self.paragraph(&lines.join("\n"));
    }

    fn caption(&mut self, caption: &str) {
        if !caption.is_empty() {
            self.paragraph(&with_code(caption));
        }
    }

    /// A picture, in a file of its own.
    fn file(&mut self, name: &str, svg: String) {
        let number = self.files.len() + 1;
        let file = match number {
            1 => format!("{}.svg", self.stem),
            _ => format!("{}-{number}.svg", self.stem),
        };
        let link = if file.contains([' ', '(', ')', '<', '>']) {
            format!("<{}>", file.replace(['<', '>'], "_"))
        } else {
            file.clone()
        };
        self.paragraph(&format!("![{}]({link})", plain(name)));
        self.files.push((file, svg));
    }

    /// A fence longer than any in the text.
    fn fence(&mut self, language: &str, text: &str) {
        let mut fence = "```".to_owned();
        while text.contains(&fence) {
            fence.push('`');
        }
        let mut block = String::new();
        let _ = write!(block, "{fence}{language}\n{}\n{fence}", text.trim_end());
        self.paragraph(&block);
    }
}

/// Text in which nothing is taken for markup, on one line.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' => out.push(' '),
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '~' | '#' => out.extend(['\\', character]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            _ => out.push(character),
        }
    }
    out
}

/// The same, with what stands in backticks left as code.
fn with_code(text: &str) -> String {
    let pieces = text.split('`').enumerate();
    let pieces = pieces.map(|(index, piece)| match index % 2 {
        0 => plain(piece),
        _ => format!("`{piece}`"),
    });
    pieces.collect()
}
