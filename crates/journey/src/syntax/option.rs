//! Lines of `[Options]`.

use super::number::{count, duration, natural, number, sees_number};
use super::reader::{Parsed, Reader};
use super::text::{file_name, placeholder, quoted, unquoted, variable_name};
use super::tree::{EntryOption, OptionValue, VariableValue};

/// What an option is set to.
#[derive(Clone, Copy)]
enum Form {
    Boolean,
    Natural,
    Count,
    Duration,
    Text,
    File,
    Variable,
    Verbosity,
}

/// Hurl's options.
const OPTIONS: [(&str, Form); 48] = [
    ("aws-sigv4", Form::Text),
    ("cacert", Form::File),
    ("cert", Form::File),
    ("compressed", Form::Boolean),
    ("connect-timeout", Form::Duration),
    ("connect-to", Form::Text),
    ("delay", Form::Duration),
    ("digest", Form::Boolean),
    ("fail-with-body", Form::Boolean),
    ("header", Form::Text),
    ("http1.0", Form::Boolean),
    ("http1.1", Form::Boolean),
    ("http2", Form::Boolean),
    ("http2-prior-knowledge", Form::Boolean),
    ("http3", Form::Boolean),
    ("insecure", Form::Boolean),
    ("ipv4", Form::Boolean),
    ("ipv6", Form::Boolean),
    ("key", Form::File),
    ("limit-rate", Form::Natural),
    ("location", Form::Boolean),
    ("location-trusted", Form::Boolean),
    ("max-redirs", Form::Count),
    ("max-time", Form::Duration),
    ("negotiate", Form::Boolean),
    ("netrc", Form::Boolean),
    ("netrc-file", Form::File),
    ("netrc-optional", Form::Boolean),
    ("no-header", Form::Text),
    ("no-jsonpath-coercion", Form::Boolean),
    ("ntlm", Form::Boolean),
    ("output", Form::File),
    ("path-as-is", Form::Boolean),
    ("pinnedpubkey", Form::Text),
    ("proxy", Form::Text),
    ("repeat", Form::Count),
    ("resolve", Form::Text),
    ("retry", Form::Count),
    ("retry-interval", Form::Duration),
    ("skip", Form::Boolean),
    ("tls-max", Form::Text),
    ("tls-min", Form::Text),
    ("unix-socket", Form::Text),
    ("user", Form::Text),
    ("variable", Form::Variable),
    ("verbose", Form::Boolean),
    ("verbosity", Form::Verbosity),
    ("very-verbose", Form::Boolean),
];

/// An option and the end of its line; `None`, with nothing read, if none follows.
pub(super) fn option(reader: &mut Reader<'_>) -> Parsed<Option<EntryOption>> {
    let start = reader.offset();
    let at = reader.at();
    let word = reader.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_'));
    reader.spaces();
    if word.is_empty() || !reader.eat(":") {
        reader.seek(start);
        return Ok(None);
    }
    let Some((name, form)) = OPTIONS.iter().find(|(name, _)| *name == word) else {
        reader.seek(start);
        return reader.fail(format!("an option of Hurl, such as location, not `{word}`"));
    };
    reader.spaces();
    let value = value(reader, *form)?;
    reader.line_end()?;
    Ok(Some(EntryOption { at, name, value }))
}

fn value(reader: &mut Reader<'_>, form: Form) -> Parsed<OptionValue> {
    let takes_placeholder =
        matches!(form, Form::Boolean | Form::Natural | Form::Count | Form::Duration);
    if takes_placeholder && reader.sees("{{") {
        return placeholder(reader).map(OptionValue::Placeholder);
    }
    match form {
        Form::Boolean => boolean(reader).map(OptionValue::Boolean),
        Form::Natural => natural(reader).map(OptionValue::Natural),
        Form::Count => count(reader).map(OptionValue::Count),
        Form::Duration => duration(reader).map(|(value, unit)| OptionValue::Duration(value, unit)),
        Form::Text => unquoted(reader).map(OptionValue::Text),
        Form::File => file_name(reader).map(OptionValue::File),
        Form::Variable => variable(reader),
        Form::Verbosity => verbosity(reader),
    }
}

fn boolean(reader: &mut Reader<'_>) -> Parsed<bool> {
    if reader.eat("true") {
        Ok(true)
    } else if reader.eat("false") {
        Ok(false)
    } else {
        reader.fail("true or false")
    }
}

fn verbosity(reader: &mut Reader<'_>) -> Parsed<OptionValue> {
    match reader.sees("brief") || reader.sees("verbose") || reader.sees("debug") {
        true => unquoted(reader).map(OptionValue::Text),
        false => reader.fail("brief, verbose or debug"),
    }
}

fn variable(reader: &mut Reader<'_>) -> Parsed<OptionValue> {
    let start = reader.offset();
    let name = variable_name(reader)?;
    if matches!(name, "newDate" | "newUuid" | "getEnv") {
        reader.seek(start);
        return reader.fail(format!("another name than `{name}`, which is a function"));
    }
    reader.spaces();
    reader.expect("=")?;
    reader.spaces();
    Ok(OptionValue::Variable(name.to_owned(), variable_value(reader)?))
}

/// A literal only if nothing follows it: `11aa` is text.
fn variable_value(reader: &mut Reader<'_>) -> Parsed<VariableValue> {
    if reader.peek() == Some('"') {
        return quoted(reader).map(VariableValue::Text);
    }
    let start = reader.offset();
    let literal = if reader.eat("null") {
        Some(VariableValue::Null)
    } else if sees_number(reader) {
        number(reader).ok().map(VariableValue::Number)
    } else {
        boolean(reader).ok().map(VariableValue::Boolean)
    };
    let is_whole = matches!(reader.peek(), None | Some(' ' | '\t' | '\r' | '\n' | '#'));
    if let Some(literal) = literal.filter(|_| is_whole) {
        return Ok(literal);
    }
    reader.seek(start);
    unquoted(reader).map(VariableValue::Text)
}
