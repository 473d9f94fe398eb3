//! Habits from other tools: the one-line error for a native command line that cannot be parsed.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::CommandError;
use crate::suggest::{nearest, negative};
use crate::usage::quoted;

/// Options of ab, wrk, hey, h2load and curl, and what they are called here.
const ELSEWHERE: &[(&str, &str)] = &[
    ("-i", "for HEAD requests use -m HEAD"),
    ("-p", "for a body from a file use -b @FILE (with -X PUT for PUT)"),
    ("-T", "for the type of the body use --content-type TYPE, for a timeout --timeout TIME"),
    ("-C", "for a cookie use --cookie 'name=value'"),
    ("-s", "for a timeout use --timeout TIME, for a Lua script `ablaze wrk -s FILE`"),
    ("-g", "for the full distribution use -o FILE.hlog; for ab's file, `ablaze ab -g FILE`"),
    ("-e", "for the distribution as CSV use -o FILE.csv; for ab's file, `ablaze ab -e FILE`"),
    ("-w", "for HTML tables use `ablaze ab -w`"),
    ("-A", "for authorization use -u NAME:PASSWORD"),
    ("-P", "for a proxy with credentials use --proxy http://NAME:PASSWORD@HOST:PORT"),
    ("-x", "for a proxy use --proxy http://HOST:PORT"),
    ("-q", "to turn off progress use --quiet"),
    ("-v", "ablaze has no verbose mode; to save the results use -o FILE"),
    ("-l", "responses of any length are always accepted"),
    ("-B", "for the local address use --local-address ADDR"),
    ("-z", "for the length of the run use -d TIME"),
    ("-D", "for a body from a file use -b @FILE"),
    ("-a", "for authorization use -u NAME:PASSWORD"),
    ("-V", "for the version use `ablaze --version`"),
    ("-f", "for requests from a file use --urls FILE"),
    ("--target-cpus", "only commands that start targets have it: compare, sweep, find, run"),
    ("--data", "for a body use -b"),
    ("--latency", "latencies are always reported"),
    ("--request", "for the method use -m"),
    ("-h2", "for HTTP/2 use --http 2"),
    ("--h2", "for HTTP/2 use --http 2"),
    ("--h3", "for HTTP/3 use --http 3"),
    ("--http3", "for HTTP/3 use --http 3"),
    ("--h1", "HTTP/1.1 is the default; to say it use --http 1.1"),
    ("-disable-keepalive", "for a connection per request use --no-keepalive"),
    ("--disable-keepalive", "for a connection per request use --no-keepalive"),
    ("--user-agent", "for another name use -H 'User-Agent: NAME'"),
];

/// The one line for what clap could not read.
pub fn refusal(error: &clap::Error, command: &clap::Command) -> CommandError {
    let option = context(error, ContextKind::InvalidArg).unwrap_or_default();
    let value = context(error, ContextKind::InvalidValue).unwrap_or_default();
    // clap shows an option as "--name <VALUE>" or "--name[=<VALUE>]"; its name is enough.
    let name = option.split([' ', '[', '=']).next().unwrap_or_default();
    CommandError::usage(match error.kind() {
        ErrorKind::UnknownArgument => unknown(&option, command),
        ErrorKind::ValueValidation => {
            let reason = std::error::Error::source(error).map(ToString::to_string);
            wrong_value(name, &value, &reason.unwrap_or_default())
        }
        ErrorKind::InvalidValue | ErrorKind::NoEquals if value.is_empty() => {
            format!("{name} requires a value: {option}; see `ablaze load --help`")
        }
        ErrorKind::ArgumentConflict => {
            let other = context(error, ContextKind::PriorArg).unwrap_or_default();
            let other = other.split([' ', '[', '=']).next().unwrap_or_default();
            if name == other {
                format!("{name} is given more than once: use only one")
            } else {
                format!("{name} and {other} cannot be used together: use only one")
            }
        }
        _ => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            let line = line.strip_prefix("error: ").unwrap_or(line);
            format!("{}; see `ablaze load --help`", quoted(line))
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
    hint.map(|hint| format!("unknown option {option}: {hint}"))
}

fn unknown(option: &str, command: &clap::Command) -> String {
    if let Some(line) = elsewhere(option) {
        return line;
    }
    if !option.starts_with('-') {
        return format!(
            "unexpected argument `{option}`: only one URL can be given; for more use --urls FILE"
        );
    }
    let known: Vec<String> = command
        .get_arguments()
        .filter_map(|argument| argument.get_long())
        .map(|name| format!("--{name}"))
        .collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    if let Some(negative) = negative(option, &known) {
        return format!("unknown option {option}: it is the default; {negative} turns it off");
    }
    if option[1..].starts_with(|c: char| c.is_ascii_digit()) {
        return format!("`{option}` is negative: values are 0 or more");
    }
    match nearest(option, &known) {
        Some(near) if option.len() > 3 => format!("unknown option {option}; did you mean {near}?"),
        _ => format!("unknown option {option}; see `ablaze load --help`"),
    }
}

fn wrong_value(name: &str, value: &str, reason: &str) -> String {
    let begins_as_body = value.starts_with(['{', '[', '@', '"', '\'']) || value.contains('=');
    let body_not_time = name == "--duration" && begins_as_body;
    if body_not_time {
        return format!("-d is the duration; for a body use -b '{value}'");
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
