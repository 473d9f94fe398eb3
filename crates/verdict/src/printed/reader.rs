//! Goes through a text line by line and gathers what belongs together. A report begins with the
//! first of its labels and ends where a label comes that must stand before what was read already,
//! or where the text goes on about something else.

mod ends;

use std::ops::Range;

use super::abort;
use super::above::Above;
use super::current::Current;
use super::cut::is_within_figure;
use super::finish::banner;
use super::labels::{self, Labelled};
use super::line::{cleaned, with_points};
use super::naming::{beside, is_markup, is_progress, typed};
use super::titles::{Titles, is_output_of};
use super::{
    Abort, Begun, Command, Errors, Handshakes, LoneRate, PrintedVerdict, Report, Text, Tool,
    command, headings, listed::Listed, logged, looped, named, native, peers, remarks, sweep,
    targets, thousands, verdict,
};

/// So many lines without a figure end a report: more than any tool prints between two.
const LINES_BETWEEN_FIGURES: usize = 20;

/// So many lines of a list of errors are read: a run has few kinds, each with as many addresses as it had connections.
const ERROR_SET_MOST: usize = 10_000;

/// Reads a text.
pub fn read(text: &str) -> Text {
    let has_end = text.ends_with('\n');
    let text = logged::bare(text);
    // Of its last line a log may have had nothing but the time.
    let has_end = has_end || text.ends_with('\n');
    let mut json = peers::json::find(&text).into_iter().peekable();
    let text = peers::h2load::unwrapped(&text);
    let text = &*native::without_rests(&with_points(&thousands::joined(&text))).into_owned();
    let mut reader = Reader::default();
    let mut read_until = 0;
    let lines: Vec<&str> = text.lines().collect();
    reader.titles = Titles::of(&lines);
    reader.looped = looped::of_peers(&lines);
    reader.tails = peers::wrk::tails(&lines);
    for (raw, number) in lines.iter().zip(1..) {
        if let Some((_, last, report)) = json.next_if(|(first, ..)| *first == number) {
            reader.whole(report);
            read_until = last;
        }
        if number <= read_until {
            continue;
        }
        let is_last = number == lines.len() && !has_end;
        if is_last && reader.is_in_report() && is_within_figure(&cleaned(raw)) {
            continue;
        }
        match command::continued(&lines[number - 1..], number) {
            Some((command, lines)) => {
                reader.listed.stands_in(raw);
                reader.begins(command);
                read_until = number + lines - 1;
            }
            None => {
                reader.line(raw, number);
                read_until = number + reader.error_set(raw, &lines[number..]);
            }
        }
    }
    reader.close();
    reader.ended();
    reader.told();
    reader.text.verdicts.extend(reader.said.take());
    headings::without_common(&mut reader.text);
    reader.text.sweeps = sweep::find(text);
    reader.text.sweeps.extend(looped::found(&lines, &mut reader.text.rates));
    reader.text.rates.extend(targets::find(text));
    reader.text
}

#[derive(Default)]
struct Reader {
    text: Text,
    current: Option<Current>,
    /// What the next report may be named after.
    above: Above,
    /// The command that the next report may be the output of.
    command: Option<Command>,
    /// Those that stand above as well, and have no report yet.
    listed: Listed,
    /// An error that ended the run, unless its report still comes.
    abort: Option<Abort>,
    in_fence: bool,
    /// The lines below loops of wrk, hey and oha.
    looped: Vec<Range<usize>>,
    /// Where what is left of a report of wrk's begins with its percentiles.
    tails: Vec<usize>,
    /// The last line of loadtest, some of whose labels are those of ab.
    loadtest: Option<usize>,
    /// How this text writes its headings.
    titles: Titles,
    /// Between the verdict above a report of ablaze and the report itself.
    in_verdict: bool,
    /// The verdict that was read last, unless its report has come.
    said: Option<PrintedVerdict>,
    /// What siege wrote of failed requests on stderr, of the run whose report comes next.
    errors: Errors,
    /// What siege wrote of that run on stdout.
    siege: peers::siege::Above,
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

impl Reader {
    /// More than one figure of a report was read, and more may come.
    fn is_in_report(&self) -> bool {
        let current = self.current.as_ref();
        current.is_some_and(|current| current.seen.len() > 1 || current.is_of_peer())
    }

    fn line(&mut self, raw: &str, number: usize) {
        let line = cleaned(raw);
        self.text.images += remarks::images(&line);
        if self.text.best_of_line.is_none() && remarks::says_best_of(&line) {
            self.text.best_of_line = Some(number);
        }
        if self.titles.is_fence(&line) && !self.above.is_underlined_by(&line) {
            self.fence();
            // A command may stand in the place of the language.
            let info = line.trim_start_matches(['`', '~']);
            let command = command::find(info, number).filter(|_| self.in_fence);
            return command.into_iter().for_each(|command| self.begins(command));
        }
        if line.is_empty() {
            self.above.empty_line();
            return self.ends_a_finding();
        }
        self.other_line(&line);
        let commands = command::all(&line, number);
        if !commands.is_empty() {
            self.listed.stands_in(raw);
            commands.into_iter().for_each(|command| self.begins(command));
            return self.above.comment(raw);
        }
        if self.native_line(&line, number) || self.peer_line(&line, number) {
            return;
        }
        if named::is_of_loadtest(&line) {
            self.loadtest = Some(number);
            self.current = self.current.take().filter(Current::is_of_peer);
        }
        match labels::find(&line) {
            Some(_) if self.loadtest.is_some_and(|at| number - at <= named::LINES) => {}
            Some(labelled) => self.labelled(&labelled, number),
            None => self.unlabelled(raw, &line, number),
        }
    }

    /// What is below a command is its output.
    fn begins(&mut self, command: Command) {
        self.close();
        self.ended();
        self.told();
        self.above.command();
        self.errors.clear();
        self.siege = peers::siege::Above::default();
        self.text.commands.push(command.clone());
        self.listed.add(self.command.replace(command));
    }

    /// Takes the lines below the one that begins vegeta's list of errors: nothing marks each of them. How many.
    fn error_set(&mut self, raw: &str, below: &[&str]) -> usize {
        let report = self.current.as_mut().map(|current| &mut current.report);
        let report = report.filter(|report| report.tool == Tool::Vegeta);
        let begins = || cleaned(raw).starts_with("Error Set:");
        let Some(report) = report.filter(|_| begins()) else { return 0 };
        let is_other =
            |line: &String| command::find(line, 1).is_some() || peers::begins(line).is_some();
        let below = below.iter().map(|line| cleaned(line)).take(ERROR_SET_MOST);
        peers::vegeta::error_set(report, below.take_while(|line| !is_other(line)))
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
        let begun = self.peer_begins(line, number);
        let going_on = self.current.as_mut().filter(|current| current.is_of_peer());
        let taken = going_on.is_some_and(|current| {
            // What it began with begins the next one.
            let over = begun.is_some() && peers::is_over(&current.report, line);
            !over && peers::take(&mut current.report, line)
        });
        if !taken {
            let Some(tool) = begun else { return false };
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

    /// The tool whose report begins in this line, or what `tail` left of one of wrk's. What `grep` leaves of a loop's runs
    /// are rates.
    fn peer_begins(&self, line: &str, number: usize) -> Option<Tool> {
        let in_loop = || self.looped.iter().any(|lines| lines.contains(&number));
        let is_end = || self.tails.contains(&number) || peers::wrk::is_of_end(line);
        peers::begins(line).or_else(|| (is_end() && !in_loop()).then_some(Tool::Wrk))
    }

    fn labelled(&mut self, labelled: &Labelled<'_>, number: usize) {
        let belongs =
            self.current.as_ref().is_some_and(|current| current.takes(labelled.label, number));
        if !belongs {
            self.close();
            let begun = self.go_on_with_begun();
            let mut report = Report::empty(begun.unwrap_or(Tool::Ab), number);
            report.announced = begun.is_some();
            report.label = beside(labelled.before);
            self.begin(report, None);
        }
        if let Some(current) = &mut self.current {
            current.take(labelled, number);
        }
    }

    fn unlabelled(&mut self, raw: &str, line: &str, number: usize) {
        if PrintedVerdict::of_stderr(&mut self.beside.said, line)
            || abort::handshake(&mut self.beside.handshakes, line)
            || peers::siege::error(&mut self.errors, line)
        {
            return;
        }
        self.siege.line(line);
        let current = self.current.as_ref();
        if current.is_some_and(|current| peers::wrk::is_of_autocannon(&current.report, line)) {
            self.current = None;
            return;
        }
        let in_loop = self.looped.iter().any(|lines| lines.contains(&number));
        if let Some(mut rate) = peers::lone_rate(line, number, self.command.as_ref(), in_loop)
            .or_else(|| self.below_headings(line, number))
        {
            if rate.label.is_none() && self.above.warms_up() {
                rate.label = self.above.name();
            }
            self.text.rates.push(rate);
            return;
        }
        if let Some(abort) = abort::find(line, number, self.command.as_ref()) {
            self.abort = Some(abort);
            return;
        }
        if let (Some(abort), Some(complete)) = (&mut self.abort, abort::completed(line)) {
            abort.complete = Some(complete);
            return;
        }
        if let Some(tool) = banner(line) {
            self.close();
            self.ended();
            self.begin(Report { announced: true, ..Report::empty(tool, number) }, None);
            return;
        }
        let heading = self.titles.heading(raw.trim_start()).filter(|_| !self.in_fence);
        // After the prompt of root stands a loop.
        if let (Some((level, heading)), None) = (heading, typed(line)) {
            self.heading(level, &heading);
        } else if self.current.as_mut().is_some_and(|current| current.unlabelled(line)) {
            // It is of that report.
        } else if let Some(verdict) = verdict::verdict(line) {
            self.in_verdict = true;
            self.text.verdicts.extend(self.said.replace(PrintedVerdict::new(verdict)));
        } else if let (Some(said), true) = (&mut self.said, self.in_verdict) {
            said.take(line);
        } else if !is_progress(line) && !is_markup(line) && !self.in_verdict && !self.continues(raw)
        {
            self.listed.other_line(line);
            self.above.line(line);
        }
    }

    /// A rate below a heading of its own, of the one command that the text has further up.
    fn below_headings(&mut self, line: &str, number: usize) -> Option<LoneRate> {
        let [first, others @ ..] = self.text.commands.as_slice() else { return None };
        let is_only = others.iter().all(|other| other.text == first.text);
        let rate = peers::lone_rate(line, number, Some(first).filter(|_| is_only), false)?;
        self.above.lowest()?;
        Some(LoneRate { label: self.above.name(), ..rate })
    }

    /// The line at which a block of code begins or ends.
    fn fence(&mut self) {
        self.in_fence = !self.in_fence;
        self.above.fence(self.in_fence);
        self.close();
        self.ended();
    }

    /// What is below a heading is about something else. The command above is that of the report which is being read.
    fn heading(&mut self, level: usize, heading: &str) {
        if self.abort.is_some() {
            self.close();
            self.ended();
        }
        if let Some(current) = &mut self.current {
            current.command = self.command.take().or(current.command.take());
        }
        let goes_on = self.above.lowest().is_some_and(|above| is_output_of(above, heading));
        self.above.heading(level, heading);
        if !goes_on {
            self.command = None;
            self.listed.is_over();
        }
        self.in_verdict = false;
    }

    /// Whether a line is the rest of one of ablaze's own report.
    fn continues(&self, raw: &str) -> bool {
        let native = self.current.as_ref().is_some_and(|current| current.native.is_some());
        native && raw.starts_with("  ")
    }

    /// Begins a report, named after the words on its line or else after those above it.
    fn begin(&mut self, mut report: Report, before: Option<usize>) {
        self.in_verdict = false;
        if self.beside.of.is_some() && self.beside.said.is_some() {
            self.told();
        }
        let above = self.above.name();
        report.setting = self.above.setting();
        report.label = report.label.or(above);
        if before.is_some() {
            report.said = self.said.take();
        }
        let (errors, siege) = (std::mem::take(&mut self.errors), std::mem::take(&mut self.siege));
        if report.tool == Tool::Siege {
            siege.give(&mut report, errors);
        }
        let native = before.map(|before| (before, native::Place::default()));
        self.current = Some(Current::new(report, native));
    }

    /// What began above and printed much else before its report, as ab does with `-v` or when each handshake fails, has
    /// its report here. The tool that it is of.
    fn go_on_with_begun(&mut self) -> Option<Tool> {
        let reports = &self.text.reports;
        let of_ab = |begun: &Begun| {
            begun.tool.is_ab_like() && reports.last().is_none_or(|last| last.line < begun.line)
        };
        let goes_on = self.command.is_none() && self.text.begun.last().is_some_and(of_ab);
        let begun = self.text.begun.pop_if(|_| goes_on)?;
        self.command = begun.command;
        self.above.no_words();
        Some(begun.tool)
    }
}
