//! A report that is being read: which lines can still belong to it, and what they say.

use std::collections::HashSet;

use ablaze_model::printable::printable;

use super::labels::{self, Label, Labelled};
use super::naming::{shortened, shown};
use super::{Command, Report, Tool, native};

/// So many lines with an impossible figure are kept of a report.
const IMPOSSIBLE_MOST: usize = 100;

/// The parts of ab's report that have its counts, and its rates.
const COUNTS: u8 = 3;
const RATES: u8 = 4;

/// A report that is being read.
pub struct Current {
    pub report: Report,
    pub seen: HashSet<Label>,
    part: u8,
    /// The line of its last label.
    last_line: usize,
    /// Lines of other text since its last figure; empty ones and progress do not count.
    pub other_lines: usize,
    /// It is ablaze's own: what a log has put before each line, in characters, and where in it the reader is.
    pub native: Option<(usize, native::Place)>,
    /// What ab said to have finished before its first figure; of several runs at once each of them.
    pub finished: Vec<u64>,
    /// The command above it, where a heading stands below that: a report is not yet over there.
    pub command: Option<Command>,
}

impl Current {
    pub fn new(report: Report, native: Option<(usize, native::Place)>) -> Self {
        Self {
            report,
            seen: HashSet::new(),
            part: 0,
            last_line: 0,
            other_lines: 0,
            native,
            finished: Vec::new(),
            command: None,
        }
    }

    /// Its form is that of another load generator than ab, gurl and ablaze.
    pub fn is_of_peer(&self) -> bool {
        !self.report.tool.has_ab_labels() && self.report.tool != Tool::Ablaze
    }

    /// Whether this label can still belong to the report. Lines of counts and rates may be exchanged, where the line above
    /// is one of the same report.
    pub fn takes(&self, label: Label, line: usize) -> bool {
        let exchanged = (COUNTS..=RATES).contains(&label.part())
            && self.part == RATES
            && self.seen.len() > 2
            && self.last_line + 1 == line;
        self.native.is_none()
            && !self.is_of_peer()
            && (label.part() >= self.part || exchanged)
            && !self.seen.contains(&label)
    }

    pub fn take(&mut self, labelled: &Labelled<'_>, line: usize) {
        self.last_line = line;
        labels::take(&mut self.report, labelled);
        if labels::is_impossible(&self.report, labelled) {
            let words = format!("{}: {}", labelled.label.text(), labelled.value.trim());
            self.impossible(&words);
        }
        self.seen.insert(labelled.label);
        self.part = self.part.max(labelled.label.part());
        self.other_lines = 0;
    }

    pub fn impossible(&mut self, line: &str) {
        if self.report.impossible.len() < IMPOSSIBLE_MOST {
            self.report.impossible.extend(shortened(&shown(&printable(line))));
        }
    }

    /// What belongs to a report without a label of its own; whether the line did.
    pub fn unlabelled(&mut self, line: &str) -> bool {
        if self.is_of_peer() {
            return false;
        }
        if self.seen.is_empty() {
            self.finished.extend(labels::finished(line));
        }
        let in_percentages = self.seen.contains(&Label::Percentages);
        if in_percentages && labels::percentage_is_impossible(line) {
            self.impossible(line);
        }
        if line.contains("The median and mean for") {
            self.report.warned = true;
        } else if self.seen.contains(&Label::Kilobytes) && labels::sent(&mut self.report, line) {
        } else if let Some((percent, ms)) =
            labels::percentage(line).filter(|_| self.seen.contains(&Label::Percentages))
        {
            let last = self.report.percentiles.last().map_or(0.0, |(percent, _)| *percent);
            if percent <= last {
                return false;
            }
            self.report.percentiles.push((percent, ms));
            if line.contains("longest request") {
                self.seen.insert(Label::Total);
            }
        } else {
            // Between its first figure and its last there is nothing else; a lone rate has no more. Behind its rates it may
            // have been cut off, and the words there be those of the next.
            let may_be_over = self.seen.contains(&Label::Kilobytes) && !is_between(line);
            return self.seen.len() > 1 && self.part < Label::Percentages.part() && !may_be_over;
        }
        self.other_lines = 0;
        true
    }
}

/// What ab prints between its rates and its percentages, besides figures.
fn is_between(line: &str) -> bool {
    const OWN: [&str; 3] = ["Connection Times (ms)", "WARNING: ", "These results are "];
    OWN.iter().any(|own| line.starts_with(own))
        || line.contains("min ") && line.contains(" max")
        || !line.contains(|c: char| c.is_alphabetic()) && !line.starts_with(['=', '-', '~', '#'])
}
