//! Command lines that cannot be read: the one line that says so.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::CommandError;
use crate::suggest::negative;

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
