//! Which command a report is the output of, where several stand above it: a page may list them all, and show what they
//! printed below.

use std::collections::HashSet;

use super::command::is_in_passing;
use super::finish::{finish, fits};
use super::labels::Label;
use super::line::cleaned;
use super::naming::{Typed, behind_prompt, typed};
use super::{Command, Report};
use crate::diagnosis::d36_not_from_that_command::is_of_its_command;

/// Commands that have no report yet.
#[derive(Default)]
pub struct Listed {
    /// Those above the last one, or, once a report took one, those behind that.
    others: Vec<Command>,
    /// Where the last one stands.
    last: Place,
}

/// What tells whether a report is the output of the command above it.
#[derive(Default)]
struct Place {
    /// It stands in a sentence that need not tell what was run.
    in_passing: bool,
    /// It was typed behind a prompt.
    is_prompted: bool,
    /// Other words come below it.
    has_words_below: bool,
    /// Something else was typed below it, whose output the report may be.
    has_other_below: bool,
}

impl Listed {
    /// Takes the line in which the next command stands.
    pub fn stands_in(&mut self, raw: &str) {
        let is_prompted = behind_prompt(&cleaned(raw)).is_some();
        let in_passing = is_in_passing(raw);
        self.last = Place { in_passing, is_prompted, ..Place::default() };
    }

    /// What comes below is about something else.
    pub fn is_over(&mut self) {
        self.others.clear();
    }

    /// Takes a line of other text below it.
    pub fn other_line(&mut self, line: &str) {
        self.last.has_words_below = true;
        self.last.has_other_below |= matches!(typed(line), Some(Typed::Other | Typed::Loop { .. }));
    }

    /// Whether the last of the commands is the report's, if it is of any: nothing else may have printed it.
    fn is_clear(&self, commands: usize) -> bool {
        let Place { in_passing, is_prompted, has_words_below, has_other_below } = self.last;
        let is_above = is_prompted && !has_words_below;
        !in_passing && !has_other_below && (commands == 1 || is_above)
    }

    /// Takes the command above the one that comes now; if a report has come in between, that list is over.
    pub fn add(&mut self, before: Option<Command>) {
        if before.is_none() {
            self.others.clear();
        }
        self.others.extend(before);
    }

    /// The command of this report. Where several may be and would print otherwise, none is known to be it. Where none is,
    /// the last one stands above it all the same, where it is clearly meant.
    pub fn of_report(
        &mut self,
        last: Option<Command>,
        report: &Report,
        seen: &HashSet<Label>,
    ) -> Option<Command> {
        let is_of = |command: &Command| {
            let mut report = Report { command: Some(command.clone()), ..report.clone() };
            finish(&mut report, seen);
            is_of_its_command(&report)
        };
        let stands_above = last.is_some();
        let all: Vec<Command> = std::mem::take(&mut self.others).into_iter().chain(last).collect();
        let of_tool = |command: &&Command| fits(command.program, report.tool);
        let alike: Vec<usize> =
            (0..all.len()).filter(|at| of_tool(&&all[*at]) && is_of(&all[*at])).collect();
        let found = match (alike.as_slice(), stands_above) {
            // Behind a list each has its own.
            ([first, ..], false) => *first,
            ([first, others @ ..], true) => {
                let same = others.iter().all(|at| all[*at].text == all[*first].text);
                match same {
                    true => *first,
                    false => *others.last().unwrap_or(first),
                }
            }
            ([], true) => {
                let of_tool: Vec<&Command> = all.iter().filter(of_tool).collect();
                let is_last = |one: &&&Command| all.last().is_some_and(|last| last == **one);
                let last = of_tool.last().filter(is_last).filter(|_| self.is_clear(of_tool.len()));
                return last.map(|last| (*last).clone());
            }
            ([], false) => return None,
        };
        let mut all = all.into_iter().skip(found);
        let command = all.next();
        self.others = all.collect();
        command
    }
}
