//! Command lines of other tools, put into native words: a [`Tool`] has the table of its options, the grammar that its
//! words are read by, and a function that says what they ask for. The front end of a tool carries that out and prints the
//! tool's report ([`run`]); `ablaze say` shows the words.

mod ab;
mod asked;
mod flags;
mod getopt;
mod gurl;
mod h2load;
mod hey;
pub mod known;
mod oha;
pub mod run;
mod vegeta;
mod words;
pub mod wrk;

use ablaze_load::planning::OptionNames;
use ablaze_model::spec::FrontEnd;

pub use asked::Asked;
pub use h2load::{H2LOAD, connection_rate, uris};
pub use hey::HEY;
pub use known::{Known, command, help};
pub use oha::OHA;
pub use vegeta::VEGETA;
pub use words::Words;

use crate::CommandError;

/// Another tool's command line.
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// The word behind it that loads; empty where there is none.
    pub command: &'static str,
    /// How its words are read.
    pub grammar: Grammar,
    /// Its options, in the order of its help.
    pub known: &'static [Known],
    /// What words ask for.
    pub asked: fn(&Words) -> Result<Asked, String>,
    /// Its exit status for words that it cannot read.
    pub unread_status: u8,
    /// Its exit status for words that do not go together.
    pub usage_status: u8,
    /// Whose options findings and messages name.
    pub front_end: FrontEnd,
    /// What messages call its options.
    pub names: OptionNames,
}

/// How a tool reads its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grammar {
    /// Go's package `flag`: one dash or two, and nothing behind the first word that is no option.
    GoFlags,
    /// GNU getopt_long: letters bundled, long names abbreviated, options behind operands.
    Getopt,
}

impl Tool {
    /// Reads the words behind its name.
    ///
    /// # Errors
    /// When it would not read them.
    pub fn words(&self, words: &[String]) -> Result<Words, CommandError> {
        let words = match (self.command, words.split_first()) {
            ("", _) => words,
            (command, Some((first, rest))) if first == command => rest,
            (command, _) => {
                return Err(self.usage(format!("expected `{} {command} …`", self.name)));
            }
        };
        let read = match self.grammar {
            Grammar::GoFlags => flags::parse(self.known, words),
            Grammar::Getopt => getopt::parse(self.known, words),
        };
        let status = self.unread_status;
        let refused =
            |line: String| CommandError { status, ..CommandError::usage(self.with_help(line)) };
        read.map_err(refused)
    }

    /// What they ask for.
    ///
    /// # Errors
    /// When they do not go together.
    pub fn asked(&self, words: &Words) -> Result<Asked, CommandError> {
        (self.asked)(words).map_err(|line| self.usage(line))
    }

    /// A usage error with its exit status.
    pub fn usage(&self, line: impl Into<String>) -> CommandError {
        CommandError { status: self.usage_status, ..CommandError::usage(line) }
    }

    fn with_help(&self, line: String) -> String {
        let space = if self.command.is_empty() { "" } else { " " };
        format!("{line}; see `ablaze {}{space}{} --help`", self.name, self.command)
    }
}

/// The tools whose lines `ablaze say` puts into native words.
pub const SAID: &[&Tool] = &[&ab::AB, &gurl::GURL, &wrk::WRK, &HEY, &H2LOAD, &OHA, &VEGETA];

/// Words of the system as text.
pub fn texts(words: &[std::ffi::OsString]) -> Vec<String> {
    words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Those that carry lines out by this module's [`run`].
    const TOOLS: &[&Tool] = &[&HEY, &H2LOAD, &OHA, &VEGETA];

    #[test]
    fn the_page_of_each_tool_has_all_its_options() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        for tool in TOOLS {
            let page = std::fs::read_to_string(docs.join(format!("{}.md", tool.name))).unwrap();
            for known in tool.known {
                let is_letter = known.name.len() == 1;
                let dash = if tool.grammar == Grammar::GoFlags || is_letter { "-" } else { "--" };
                let name = format!("{dash}{}", known.name);
                let is_there = page
                    .split(&name)
                    .skip(1)
                    .any(|behind| !behind.starts_with(|c: char| c.is_alphanumeric() || c == '-'));
                assert!(is_there, "docs/{}.md does not have {name}", tool.name);
            }
        }
    }

    #[test]
    fn the_help_of_each_tool_is_in_columns() {
        for tool in TOOLS {
            let help = help(tool, "");
            assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
            command(tool).debug_assert();
        }
    }
}
