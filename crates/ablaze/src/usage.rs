//! Command lines that cannot be read: the one line that says so.

use clap::error::{ContextKind, ContextValue};

use crate::CommandError;

/// The one line for a command line that clap could not read.
pub fn refusal(error: &clap::Error, command: &str) -> CommandError {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    let meant = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(name)) => format!(" (did you mean {name}?)"),
        _ => String::new(),
    };
    CommandError::usage(format!("{first}{meant}; see `ablaze {command} --help`"))
}
