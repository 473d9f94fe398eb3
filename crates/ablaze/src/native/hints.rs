//! Fingers used to other tools: what is said, in one line, to a native command line that cannot
//! be read.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::CommandError;
use crate::suggest::nearest;

/// Options of ab, wrk, hey, h2load and curl, and what they are called here.
const ELSEWHERE: &[(&str, &str)] = &[
    ("-i", "for HEAD requests write -m HEAD"),
    ("-p", "a body from a file is -b @FILE (-X PUT for another method than POST)"),
    ("-T", "the type of the body is --content-type TYPE, a timeout --timeout TIME"),
    ("-C", "a cookie is -H 'Cookie: name=value'"),
    ("-s", "a timeout is --timeout TIME; a script has no counterpart"),
    ("-g", "every value of the distribution is in -o FILE.hlog; ab's file: `ablaze ab -g FILE`"),
    ("-e", "the distribution as CSV is -o FILE.csv; ab's file: `ablaze ab -e FILE`"),
    ("-w", "HTML tables come from `ablaze ab -w`"),
    ("-A", "authorization is -u NAME:PASSWORD"),
    ("-P", "a proxy and who asks it are --proxy http://NAME:PASSWORD@HOST:PORT"),
    ("-x", "a proxy is --proxy http://HOST:PORT"),
    ("-q", "progress is turned off by --quiet"),
    ("-v", "there is no verbosity; what was measured goes to files by -o"),
    ("-l", "responses of any length are accepted anyway"),
    ("-B", "the local address is --local-address ADDR"),
    ("-z", "the length of a run is -d TIME"),
    ("-D", "a body from a file is -b @FILE"),
    ("-a", "authorization is -u NAME:PASSWORD"),
    ("-L", "redirects are not followed"),
    ("-V", "the version is told by `ablaze --version`"),
    ("-f", "requests from a file are --urls FILE"),
    ("--target-cpus", "CPUs for a target go to what starts it: compare, sweep, find, run"),
    ("--slo", "the highest rate at which something holds is found by `ablaze find URL --slo …`"),
    ("--data", "a body is -b"),
    ("--latency", "latencies are always reported"),
    ("--request", "the method is -m"),
];

/// The one line for what clap could not read.
pub fn refusal(error: &clap::Error, command: &clap::Command) -> CommandError {
    let option = context(error, ContextKind::InvalidArg).unwrap_or_default();
    let value = context(error, ContextKind::InvalidValue).unwrap_or_default();
    // clap shows an option as "--name <VALUE>" or "-n, --name <VALUE>"; its last name is enough.
    let name = option.split(" <").next().unwrap_or_default();
    CommandError::usage(match error.kind() {
        ErrorKind::UnknownArgument => unknown(&option, command),
        ErrorKind::ValueValidation => {
            let reason = std::error::Error::source(error).map(ToString::to_string);
            wrong_value(name, &value, &reason.unwrap_or_default())
        }
        ErrorKind::InvalidValue | ErrorKind::NoEquals if value.is_empty() => {
            format!("{name} needs a value: {option}; see `ablaze load --help`")
        }
        ErrorKind::ArgumentConflict => {
            let other = context(error, ContextKind::PriorArg).unwrap_or_default();
            let other = other.split(" <").next().unwrap_or_default();
            if name == other {
                format!("{name} is given twice: leave one away")
            } else {
                format!("{name} and {other} exclude each other: leave one away")
            }
        }
        ErrorKind::MissingRequiredArgument if !option.is_empty() => {
            format!("an option given here needs {option} as well; see `ablaze load --help`")
        }
        _ => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            let line = line.strip_prefix("error: ").unwrap_or(line);
            format!("{line}; see `ablaze load --help`")
        }
    })
}

/// The hint for the first option of the command line that is one of another tool or a later
/// version; found before reading the rest, because `-p FILE` would leave FILE as a second URL.
pub fn elsewhere_first(arguments: &[OsString]) -> Option<String> {
    arguments.iter().take_while(|word| *word != "--").find_map(|word| {
        let word = word.to_str()?;
        elsewhere(word.split('=').next().unwrap_or(word))
    })
}

/// The hint for a word that is an option elsewhere.
pub fn elsewhere(option: &str) -> Option<String> {
    let hint = ELSEWHERE.iter().find(|(name, _)| *name == option).map(|(_, hint)| hint);
    hint.map(|hint| format!("no option {option} here: {hint}"))
}

fn unknown(option: &str, command: &clap::Command) -> String {
    if let Some(line) = elsewhere(option) {
        return line;
    }
    if !option.starts_with('-') {
        return format!(
            "`{option}` is too much: one URL is loaded at a time, more with --urls FILE"
        );
    }
    let known: Vec<String> = command
        .get_arguments()
        .filter_map(|argument| argument.get_long())
        .map(|name| format!("--{name}"))
        .collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    match nearest(option, &known) {
        Some(near) if option.len() > 3 => format!("no option {option}; did you mean {near}?"),
        _ => format!("no option {option}; see `ablaze load --help`"),
    }
}

fn wrong_value(name: &str, value: &str, reason: &str) -> String {
    let body_not_time = name == "--duration" && value.starts_with(['{', '[', '@', '"', '\'']);
    if body_not_time {
        return format!("-d is the duration; a body is -b '{value}'");
    }
    if reason.contains("not in this version") {
        return format!("{name} {value} {reason}");
    }
    format!("{name} `{value}`: {reason}")
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        _ => None,
    }
}
