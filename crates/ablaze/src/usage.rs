//! The words behind a command, read by clap: help is printed, and what cannot be read gets the one line that says so.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command, Parser};

use crate::suggest::negative;
use crate::{CommandError, terminal};

/// The command line behind `ablaze NAME`; else the exit status, when help was asked for and printed, or an error told.
pub fn parsed<T: Parser>(name: &str, arguments: &[OsString]) -> Result<T, ExitCode> {
    let matches = matched(T::command(), name, arguments)?;
    T::from_arg_matches(&matches).map_err(|error| refusal(&error, name).report())
}

/// As [`parsed`], for a command that is put together from several groups of options.
pub fn matched(
    command: Command,
    name: &str,
    arguments: &[OsString],
) -> Result<ArgMatches, ExitCode> {
    let program = OsString::from(format!("ablaze {name}"));
    let words = std::iter::once(&program).chain(arguments);
    command.try_get_matches_from(words).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp => terminal::print(&error.render().to_string()),
        _ => refusal(&error, name).report(),
    })
}

/// The one line for a command line that clap could not read.
pub fn refusal(error: &clap::Error, command: &str) -> CommandError {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    // clap quotes with ', this program with `.
    let first = quoted(first);
    let option = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) => option.as_str(),
        _ => "",
    };
    let hint = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(name)) if negative(option, &[name.as_str()]).is_some() => {
            format!(": it is the default; {name} turns it off")
        }
        Some(ContextValue::String(name)) => format!(" (did you mean {name}?)"),
        _ => expected(error),
    };
    CommandError::usage(format!("{first}{hint}; see `ablaze {command} --help`"))
}

/// The values that are permitted, where one that is not was given.
fn expected(error: &clap::Error) -> String {
    match (error.kind(), error.get(ContextKind::ValidValue)) {
        (ErrorKind::InvalidValue, Some(ContextValue::Strings(values))) if !values.is_empty() => {
            format!(": expected {}", values.join(" or "))
        }
        _ => String::new(),
    }
}

/// A line of clap's with this program's quotes: each pair of ' that opens a word and closes one.
pub fn quoted(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut before = ' ';
    let mut letters = line.chars().peekable();
    let mut open = false;
    while let Some(letter) = letters.next() {
        let opens = !open && matches!(before, ' ' | '(');
        let closes =
            open && letters.peek().is_none_or(|next| matches!(next, ' ' | ':' | ';' | ')'));
        before = letter;
        text.push(match letter {
            '\'' if opens || closes => {
                open = opens;
                '`'
            }
            letter => letter,
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn what_was_typed_is_quoted_as_everywhere() {
        assert_eq!(
            quoted("invalid value 'x' for '--repeat <N>': expected 'one'"),
            "invalid value `x` for `--repeat <N>`: expected `one`"
        );
        assert_eq!(
            quoted("unexpected argument '--foo' found"),
            "unexpected argument `--foo` found"
        );
        assert_eq!(quoted("the server's name"), "the server's name");
    }
}
