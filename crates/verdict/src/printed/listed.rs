//! Which command a report is the output of, where several stand above it: a page may list them all, and show what they
//! printed below.

use std::collections::HashSet;

use super::finish::{finish, fits};
use super::labels::Label;
use super::{Command, Report};
use crate::diagnosis::d36_not_from_that_command::is_of_its_command;

/// Commands that have no report yet.
#[derive(Default)]
pub struct Listed {
    /// Those above the last one, or, once a report took one, those behind that.
    others: Vec<Command>,
    /// The last one stands in a sentence that need not tell what was run.
    pub in_passing: bool,
}

impl Listed {
    /// Takes the command above the one that comes now; if a report has come in between, that list is over.
    pub fn add(&mut self, before: Option<Command>) {
        if before.is_none() {
            self.others.clear();
        }
        self.others.extend(before);
    }

    /// The command of this report. Where several may be and would print otherwise, none is known to be it. Where none is,
    /// the last one stands above it all the same.
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
                let last = all.last().filter(of_tool).filter(|_| !self.in_passing);
                return last.cloned();
            }
            ([], false) => return None,
        };
        let mut all = all.into_iter().skip(found);
        let command = all.next();
        self.others = all.collect();
        command
    }
}
