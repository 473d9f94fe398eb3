//! Goes through a text line by line and gathers what belongs together. A report begins with the
//! first of its labels and ends where a label comes that must stand before what was read already,
//! or where the text goes on about something else.

use std::collections::HashSet;

use ablaze_model::printable::printable;

use super::abort;
use super::finish::{banner, finish, fits, says_that_it_runs};
use super::labels::{self, Label, Labelled};
use super::line::{cleaned, with_points};
use super::naming::{beside, is_markup, is_progress, shortened};
use super::{
    Abort, Begun, Command, Handshakes, LoneRate, PrintedVerdict, Report, Text, Tool, command,
    logged, native, peers, remarks, sweep, targets, verdict,
};

/// So many lines without a figure end a report: more than any tool prints between two.
const LINES_BETWEEN_FIGURES: usize = 20;

/// So many lines with an impossible figure are kept of a report.
const IMPOSSIBLE_MOST: usize = 100;

/// Reads a text.
pub fn read(text: &str) -> Text {
    let text = logged::bare(text);
    let mut json = peers::json::find(&text).into_iter().peekable();
    let text = &*with_points(&text);
    let mut reader = Reader::default();
    let mut read_until = 0;
    let lines: Vec<&str> = text.lines().collect();
    for (raw, number) in lines.iter().zip(1..) {
        if let Some((_, last, report)) = json.next_if(|(first, ..)| *first == number) {
            reader.whole(report);
            read_until = last;
        }
        if number <= read_until {
            continue;
        }
        match command::continued(&lines[number - 1..], number) {
            Some((command, lines)) => {
                reader.begins(command);
                read_until = number + lines - 1;
            }
            None => reader.line(raw, number),
        }
    }
    reader.close();
    reader.ended();
    reader.told();
    reader.text.verdicts.extend(reader.said.take());
    reader.text.sweeps = sweep::find(text);
    reader.text.rates.extend(targets::find(text));
    reader.text
}

#[derive(Default)]
struct Reader {
    text: Text,
    current: Option<Current>,
    /// The words a report may be named after: a heading, else the last line of other text.
    heading: Option<String>,
    words: Option<String>,
    /// The command that the next report may be the output of.
    command: Option<Command>,
    /// An error that ended the run, unless its report still comes.
    abort: Option<Abort>,
    in_fence: bool,
    /// Between the verdict above a report of ablaze and the report itself.
    in_verdict: bool,
    /// The verdict that was read last, unless its report has come.
    said: Option<PrintedVerdict>,
    /// What ablaze said of its run on stderr beside a report in another tool's form, which may stand on either side.
    beside: Beside,
}

/// What a program wrote beside its report, since the last command.
#[derive(Default)]
struct Beside {
    said: Option<PrintedVerdict>,
    handshakes: Handshakes,
    /// The report it is of, once that was read: its number.
    of: Option<usize>,
}

/// A report that is being read.
struct Current {
    report: Report,
    seen: HashSet<Label>,
    part: u8,
    /// Lines of other text since its last figure; empty ones and progress do not count.
    other_lines: usize,
    /// It is ablaze's own: what a log has put before each line, in characters, and where in it the reader is.
    native: Option<(usize, native::Place)>,
}

impl Reader {
    fn line(&mut self, raw: &str, number: usize) {
        let line = cleaned(raw);
        self.text.images += remarks::images(&line);
        if self.text.best_of_line.is_none() && remarks::says_best_of(&line) {
            self.text.best_of_line = Some(number);
        }
        if line.starts_with("```") || line.starts_with("~~~") {
            self.in_fence = !self.in_fence;
            self.close();
            return self.ended();
        }
        if line.is_empty() {
            return self.said.iter_mut().for_each(PrintedVerdict::ends_a_finding);
        }
        self.other_line(&line);
        if let Some(command) = command::find(&line, number) {
            return self.begins(command);
        }
        if self.native_line(&line, number) || self.peer_line(&line, number) {
            return;
        }
        match labels::find(&line) {
            Some(labelled) => self.labelled(&labelled, number),
            None => self.unlabelled(raw, &line, number),
        }
    }

    /// What is below a command is its output.
    fn begins(&mut self, command: Command) {
        self.close();
        self.ended();
        self.told();
        self.text.commands.push(command.clone());
        self.command = Some(command);
    }

    /// Counts a line, until it turns out to be a figure; after too many the report is over.
    fn other_line(&mut self, line: &str) {
        let Some(current) = &mut self.current else { return };
        current.other_lines += usize::from(!is_progress(line));
        if current.other_lines > LINES_BETWEEN_FIGURES {
            self.close();
        }
    }

    /// A line of ablaze's own report; whether it was one.
    fn native_line(&mut self, line: &str, number: usize) -> bool {
        if let Some(at) = native::begins_at(line) {
            self.close();
            self.begin(Report::empty(Tool::Ablaze, number), Some(line[..at].chars().count()));
        }
        // Its head was left out.
        if self.in_verdict && self.current.is_none() && native::is_figures(line) {
            self.begin(Report::empty(Tool::Ablaze, number), Some(0));
        }
        let Some(current) = &mut self.current else { return false };
        let Some((before, place)) = &mut current.native else { return false };
        let start = line.char_indices().nth(*before).map_or(line.len(), |(at, _)| at);
        let taken = native::take(&mut current.report, place, line[start..].trim_start());
        if taken {
            current.other_lines = 0;
        }
        taken
    }

    /// A line of another load generator's report; whether it was one.
    fn peer_line(&mut self, line: &str, number: usize) -> bool {
        let line = line.trim_start();
        let going_on = self.current.as_mut().filter(|current| current.is_of_peer());
        let taken = going_on.is_some_and(|current| {
            // What it began with begins the next one.
            let again = peers::begins(line).is_some();
            let over = again && current.report.rate_per_s.is_some();
            !over && peers::take(&mut current.report, line)
        });
        if !taken {
            let Some(tool) = peers::begins(line) else { return false };
            self.close();
            self.ended();
            let mut report = Report::empty(tool, number);
            peers::take(&mut report, line);
            self.begin(report, None);
        }
        if let Some(current) = &mut self.current {
            current.other_lines = 0;
            if peers::is_impossible(line) {
                current.impossible(line);
            }
        }
        true
    }

    fn labelled(&mut self, labelled: &Labelled<'_>, number: usize) {
        let belongs = self.current.as_ref().is_some_and(|current| current.takes(labelled.label));
        if !belongs {
            self.close();
            self.go_on_with_begun();
            let mut report = Report::empty(Tool::Ab, number);
            report.label = beside(labelled.before);
            self.begin(report, None);
        }
        if let Some(current) = &mut self.current {
            current.take(labelled);
        }
    }

    fn unlabelled(&mut self, raw: &str, line: &str, number: usize) {
        if PrintedVerdict::of_stderr(&mut self.beside.said, line)
            || abort::handshake(&mut self.beside.handshakes, line)
        {
            return;
        }
        if let Some(abort) = abort::find(line, number, self.command.as_ref()) {
            self.abort = Some(abort);
            return;
        }
        if let (Some(abort), Some(complete)) = (&mut self.abort, abort::completed(line)) {
            abort.complete = Some(complete);
        }
        if let Some(tool) = banner(line) {
            self.close();
            self.ended();
            self.begin(Report::empty(tool, number), None);
            return;
        }
        if self.current.as_mut().is_some_and(|current| current.unlabelled(line)) {
            return;
        }
        let heading = raw.trim_start().strip_prefix('#').map(|rest| rest.trim_start_matches('#'));
        if let (Some(heading), false) = (heading, self.in_fence) {
            self.heading = shortened(heading);
            self.words = None;
            self.command = None;
            self.in_verdict = false;
        } else if let Some(verdict) = verdict::verdict(line) {
            self.in_verdict = true;
            self.text.verdicts.extend(self.said.replace(PrintedVerdict::new(verdict)));
        } else if let (Some(said), true) = (&mut self.said, self.in_verdict) {
            said.take(line);
        } else if !is_progress(line) && !is_markup(line) && !self.in_verdict {
            self.words = shortened(line);
        }
    }

    /// Begins a report, named after the words on its line or else after those above it.
    fn begin(&mut self, mut report: Report, before: Option<usize>) {
        self.in_verdict = false;
        if self.beside.of.is_some() && self.beside.said.is_some() {
            self.told();
        }
        let above: Vec<String> =
            [self.heading.take(), self.words.take()].into_iter().flatten().collect();
        if report.label.is_none() && !above.is_empty() {
            report.label = Some(above.join(", "));
        }
        if before.is_some() {
            report.said = self.said.take();
        }
        let native = before.map(|before| (before, native::Place::default()));
        self.current =
            Some(Current { report, seen: HashSet::new(), part: 0, other_lines: 0, native });
    }

    /// What began above and printed much else before its report, as ab does with `-v` or when each handshake fails, has
    /// its report here.
    fn go_on_with_begun(&mut self) {
        let reports = &self.text.reports;
        let of_ab = |begun: &Begun| {
            begun.tool.is_ab_like() && reports.last().is_none_or(|last| last.line < begun.line)
        };
        if self.command.is_none() && self.text.begun.last().is_some_and(of_ab) {
            self.command = self.text.begun.pop().and_then(|begun| begun.command);
            self.words = None;
        }
    }

    /// Takes a report that was read already.
    fn whole(&mut self, report: Report) {
        self.close();
        self.ended();
        self.begin(report, None);
        self.close();
    }

    /// Takes an error for the end of its run: no report has come.
    fn ended(&mut self) {
        if let Some(mut abort) = self.abort.take() {
            abort.command = self.command.take().filter(|above| fits(above.program, abort.tool));
            self.text.aborts.push(abort);
        }
    }

    /// Gives what was said beside a report to the one it is of.
    fn told(&mut self) {
        let Beside { said, handshakes, of } = std::mem::take(&mut self.beside);
        let Some(report) = of.and_then(|of| self.text.reports.get_mut(of)) else { return };
        // In the form of the others it does not say who printed it.
        let in_form_of_a_peer = !report.tool.has_ab_labels()
            && report.command.as_ref().is_none_or(Command::is_of_ablaze);
        if report.tool.is_ablaze_in_other_form() || in_form_of_a_peer {
            report.said = report.said.take().or(said);
        } else if report.tool == Tool::Ab {
            report.handshakes = handshakes;
        }
    }

    /// Ends the report that is being read, and keeps what it is.
    fn close(&mut self) {
        let Some(current) = self.current.take() else { return };
        let mut report = current.report;
        if report.rate().is_none() && report.complete.is_none() {
            if current.seen.is_empty() && self.abort.is_none() && says_that_it_runs(report.tool) {
                let command = self.command.take();
                self.text.begun.push(Begun { line: report.line, tool: report.tool, command });
            }
            return;
        }
        let lone = current.seen.len() == 1;
        let command = self.command.clone().filter(|command| fits(command.program, report.tool));
        match report.rate_per_s {
            Some(rate_per_s) if lone => {
                let (line, label) = (report.line, report.label);
                let of_several = false;
                self.text.rates.push(LoneRate { line, label, rate_per_s, command, of_several });
            }
            _ => {
                report.command = command;
                (self.command, self.abort) = (None, None);
                finish(&mut report, &current.seen);
                if self.beside.of.is_some() {
                    // What is said between two may be of either; it is said behind the report.
                    self.told();
                }
                self.beside.of = Some(self.text.reports.len());
                self.text.reports.push(report);
            }
        }
    }
}

impl Current {
    /// Its form is that of another load generator than ab, gurl and ablaze.
    fn is_of_peer(&self) -> bool {
        !self.report.tool.has_ab_labels() && self.report.tool != Tool::Ablaze
    }

    /// Whether this label can still belong to the report.
    fn takes(&self, label: Label) -> bool {
        self.native.is_none()
            && !self.is_of_peer()
            && label.part() >= self.part
            && !self.seen.contains(&label)
    }

    fn take(&mut self, labelled: &Labelled<'_>) {
        labels::take(&mut self.report, labelled);
        if labels::is_impossible(&self.report, labelled) {
            let words = format!("{}: {}", labelled.label.text(), labelled.value.trim());
            self.impossible(&words);
        }
        self.seen.insert(labelled.label);
        self.part = labelled.label.part();
        self.other_lines = 0;
    }

    fn impossible(&mut self, line: &str) {
        if self.report.impossible.len() < IMPOSSIBLE_MOST {
            self.report.impossible.extend(shortened(&printable(line)));
        }
    }

    /// What belongs to a report without a label of its own; whether the line did.
    fn unlabelled(&mut self, line: &str) -> bool {
        if self.is_of_peer() {
            return false;
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
            // Between its first figure and its last there is nothing else; a lone rate has no more.
            return self.seen.len() > 1 && self.part < Label::Percentages.part();
        }
        self.other_lines = 0;
        true
    }
}
