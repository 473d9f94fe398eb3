//! The words behind a command, read by clap: help is printed, and what cannot be read gets the one line that says so.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command, Parser};

use crate::suggest::{nearest, negative};
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
    command.clone().try_get_matches_from(words).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp => terminal::print(&error.render().to_string()),
        _ => value_apart(&error, &command, arguments)
            .unwrap_or_else(|| refusal(&error, name))
            .report(),
    })
}

/// The line for an option with an optional value whose value was given as a word of its own, `--web 127.0.0.1:8080`, if the
/// command line can be read with the two joined. The word alone is taken for a URL, or is one too many.
pub fn value_apart(
    error: &clap::Error,
    command: &Command,
    arguments: &[OsString],
) -> Option<CommandError> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let with_equals = |word: &str| {
        let long = word.strip_prefix("--")?;
        let argument = command.get_arguments().find(|own| own.get_long() == Some(long))?;
        argument.is_require_equals_set().then_some(())
    };
    arguments.windows(2).enumerate().find_map(|(at, pair)| {
        let (option, value) = (pair[0].to_str()?, pair[1].to_str()?);
        with_equals(option)?;
        let mut joined = vec![OsString::from("ablaze")];
        joined.extend_from_slice(&arguments[..at]);
        joined.push(format!("{option}={value}").into());
        joined.extend_from_slice(&arguments[at + 2..]);
        command.clone().try_get_matches_from(joined).ok()?;
        Some(CommandError::usage(format!(
            "{option} takes a value behind `=` only: use {option}={value}"
        )))
    })
}

/// The one line for a command line that clap could not read.
pub fn refusal(error: &clap::Error, command: &str) -> CommandError {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    // clap quotes with ', this program with `.
    let first = quoted(first);
    // What is missing stands in the lines below, one in each.
    let missing = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::MissingRequiredArgument, Some(ContextValue::Strings(all))) => {
            format!(" {}", all.join(", "))
        }
        _ => String::new(),
    };
    let option = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) => option.as_str(),
        _ => "",
    };
    let hint = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(name)) if negative(option, &[name.as_str()]).is_some() => {
            format!(": it is the default; {name} turns it off")
        }
        Some(ContextValue::String(name)) if is_near(option, name) => {
            format!(" (did you mean {name}?)")
        }
        _ => expected(error),
    };
    CommandError::usage(format!("{first}{missing}{hint}; see `ablaze {command} --help`"))
}

/// Whether a slip of the finger, or the rest of the word, lies between the two. clap finds similar what has a few letters in
/// common: --variables-file for --fail-if.
fn is_near(option: &str, name: &str) -> bool {
    let option = option.split('=').next().unwrap_or(option);
    option.len() > 3 && (nearest(option, &[name]).is_some() || name.starts_with(option))
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
    use clap::{Arg, Command};

    use super::{is_near, quoted, refusal, value_apart};

    #[test]
    fn what_is_missing_is_named() {
        let own = Command::new("own")
            .arg(Arg::new("fleet").long("fleet").value_name("WHERE"))
            .arg(Arg::new("lost").long("lost").requires("fleet"));
        let error = own.try_get_matches_from(["own", "--lost", "fail"]).unwrap_err();
        let line = refusal(&error, "load").line;
        assert!(line.contains("not provided: --fleet <WHERE>; see"), "{line}");
    }

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

    #[test]
    fn only_what_was_probably_meant_is_suggested() {
        assert!(is_near("--repaet", "--repeat"));
        assert!(is_near("--timout=3", "--timeout"));
        assert!(is_near("--fold", "--folder"));
        assert!(!is_near("--fail-if", "--variables-file"));
        assert!(!is_near("-Q", "-q"));
    }

    #[test]
    fn a_value_apart_from_its_option_is_told_where_it_belongs() {
        use clap::{Arg, Command};

        let web = Arg::new("web").long("web").num_args(0..=1).require_equals(true);
        let port = |text: &str| text.rsplit(':').next().unwrap_or("").parse::<u16>();
        let web = web.value_parser(move |text: &str| port(text).map(|_| text.to_owned()));
        let command = Command::new("x").arg(web).arg(Arg::new("url"));
        let said = |words: &str| {
            let arguments: Vec<_> = words.split(' ').map(Into::into).collect();
            let words = std::iter::once("x".into()).chain(arguments.iter().cloned());
            let words: Vec<std::ffi::OsString> = words.collect();
            let error = command.clone().try_get_matches_from(words).unwrap_err();
            value_apart(&error, &command, &arguments).map(|error| error.line)
        };
        for words in ["--web 127.0.0.1:8080 http://h/", "http://h/ --web 127.0.0.1:8080"] {
            let line = said(words).unwrap();
            assert!(line.ends_with("use --web=127.0.0.1:8080"), "{line}");
        }
        // No value of it.
        assert_eq!(said("--web http://h/ http://i/"), None);
        assert_eq!(said("http://h/ http://i/"), None);
    }
}
