//! Strings of a Hurl file, which all may have placeholders: they differ in where they end and in what a backslash
//! means.

use super::query::filters;
use super::reader::{Parsed, Reader};
use super::tree::{KeyValue, Piece, Placeholder, Source, Template};

/// Collects the pieces of a template.
#[derive(Default)]
struct Pieces {
    text: String,
    pieces: Vec<Piece>,
    /// How many spaces as such, not as escapes, `text` ends with.
    spaces: usize,
}

impl Pieces {
    fn push(&mut self, character: char, is_space: bool) {
        self.text.push(character);
        self.spaces = if is_space { self.spaces + 1 } else { 0 };
    }

    fn placeholder(&mut self, placeholder: Placeholder) {
        self.flush();
        self.pieces.push(Piece::Placeholder(placeholder));
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.pieces.push(Piece::Text(std::mem::take(&mut self.text)));
        }
        self.spaces = 0;
    }
}

/// Reads characters and placeholders until `is_end`, which must come, or until the end of the file. A backslash
/// begins an escape if `escaped` says what its character stands for.
fn pieces(
    reader: &mut Reader<'_>,
    is_end: impl Fn(&Reader<'_>, char) -> bool,
    escaped: Option<fn(char) -> Option<char>>,
) -> Parsed<Pieces> {
    let mut found = Pieces::default();
    while let Some(next) = reader.peek() {
        if is_end(reader, next) {
            break;
        }
        if reader.sees("{{") {
            found.placeholder(placeholder(reader)?);
        } else if let (Some(escaped), '\\') = (escaped, next) {
            found.push(escape(reader, escaped)?, false);
        } else {
            found.push(next, next == ' ');
            reader.next();
        }
    }
    Ok(found)
}

/// [`pieces`] as a template.
fn template(
    reader: &mut Reader<'_>,
    is_end: impl Fn(&Reader<'_>, char) -> bool,
    escaped: Option<fn(char) -> Option<char>>,
) -> Parsed<Template> {
    let at = reader.at();
    let mut found = pieces(reader, is_end, escaped)?;
    found.flush();
    Ok(Template { at, pieces: found.pieces })
}

/// What every string's escapes stand for.
fn common_escape(character: char) -> Option<char> {
    Some(match character {
        '\\' => '\\',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        _ => return None,
    })
}

fn value_escape(character: char) -> Option<char> {
    common_escape(character).or(matches!(character, '#' | '"' | '`' | '/').then_some(character))
}

fn key_escape(character: char) -> Option<char> {
    common_escape(character).or(matches!(character, '#' | ':' | '/').then_some(character))
}

fn file_escape(character: char) -> Option<char> {
    let own = matches!(character, '#' | ';' | ' ' | '{' | '}' | ':');
    common_escape(character).or(own.then_some(character))
}

fn escape(reader: &mut Reader<'_>, escaped: fn(char) -> Option<char>) -> Parsed<char> {
    reader.expect("\\")?;
    let start = reader.offset();
    match reader.next() {
        Some('u') => unicode(reader),
        Some(other) if escaped(other).is_some() => Ok(escaped(other).unwrap_or(other)),
        _ => {
            reader.seek(start);
            reader.fail("an escape that is known here, such as \\n, \\\\ or \\u{1f600}")
        }
    }
}

/// `{1f600}`
fn unicode(reader: &mut Reader<'_>) -> Parsed<char> {
    reader.expect("{")?;
    let start = reader.offset();
    let digits = reader.take_while(|c| c.is_ascii_hexdigit());
    let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
    let Some(character) = code else {
        reader.seek(start);
        return reader.fail("the hexadecimal number of a Unicode character");
    };
    reader.expect("}")?;
    Ok(character)
}

/// What no string has unescaped outside of lines of backticks.
fn is_control(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\t' | '\u{8}' | '\u{c}')
}

/// Text up to a comment or the end of the line, without the spaces before that.
pub(super) fn unquoted(reader: &mut Reader<'_>) -> Parsed<Template> {
    let at = reader.at();
    let is_end = |_: &Reader<'_>, next| next == '#' || is_control(next);
    let mut found = pieces(reader, is_end, Some(value_escape))?;
    found.text.truncate(found.text.len() - found.spaces);
    reader.seek(reader.offset() - found.spaces);
    found.flush();
    Ok(Template { at, pieces: found.pieces })
}

/// `"…"`, on one line.
pub(super) fn quoted(reader: &mut Reader<'_>) -> Parsed<Template> {
    delimited(reader, '"', "a string in quotation marks")
}

/// `` `…` ``, on one line.
pub(super) fn backtick(reader: &mut Reader<'_>) -> Parsed<Template> {
    delimited(reader, '`', "a string in backticks")
}

fn delimited(reader: &mut Reader<'_>, mark: char, expected: &str) -> Parsed<Template> {
    let mark_text = mark.to_string();
    if !reader.eat(&mark_text) {
        return reader.fail(expected);
    }
    let is_end = |_: &Reader<'_>, next| next == mark || is_control(next);
    let template = template(reader, is_end, Some(value_escape))?;
    reader.expect(&mark_text)?;
    Ok(template)
}

/// Text up to `end`, lines and all, in which a backslash is a backslash.
pub(super) fn plain(
    reader: &mut Reader<'_>,
    end: impl Fn(&Reader<'_>) -> bool,
) -> Parsed<Template> {
    template(reader, |reader, _| end(reader), None)
}

/// The key of `key: value`.
pub(super) fn key(reader: &mut Reader<'_>) -> Parsed<Template> {
    let is_end = |reader: &Reader<'_>, next: char| {
        let own = next.is_alphanumeric() || matches!(next, '_' | '-' | '.' | '[' | ']' | '@' | '$');
        !own && next != '\\' && !reader.sees("{{")
    };
    let start = reader.offset();
    let template = template(reader, is_end, Some(key_escape))?;
    if template.pieces.is_empty() || reader.since(start).starts_with('[') {
        reader.seek(start);
        return reader.fail("a name");
    }
    Ok(template)
}

/// The name of a file: spaces and some other characters need a backslash.
pub(super) fn file_name(reader: &mut Reader<'_>) -> Parsed<Template> {
    let is_end = |reader: &Reader<'_>, next| match next {
        '#' | ';' | '}' | ' ' | '\n' | '\r' => true,
        '{' => !reader.sees("{{"),
        _ => false,
    };
    let start = reader.offset();
    let template = template(reader, is_end, Some(file_escape))?;
    if template.pieces.is_empty() || reader.since(start).starts_with('[') {
        reader.seek(start);
        return reader.fail("the name of a file");
    }
    Ok(template)
}

/// `{{ name filters }}`
pub(super) fn placeholder(reader: &mut Reader<'_>) -> Parsed<Placeholder> {
    reader.expect("{{")?;
    reader.spaces();
    let at = reader.at();
    let source = match variable_name(reader)? {
        "newUuid" => Source::NewUuid,
        "newDate" => Source::NewDate,
        name => Source::Variable(name.to_owned()),
    };
    let filters = filters(reader)?;
    reader.spaces();
    reader.expect("}}")?;
    Ok(Placeholder { at, source, filters })
}

/// The name of a variable.
pub(super) fn variable_name<'a>(reader: &mut Reader<'a>) -> Parsed<&'a str> {
    let name = reader.take_while(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if name.is_empty() { reader.fail("the name of a variable") } else { Ok(name) }
}

/// A key and its colon; what follows decides what they are of. `None` and nothing read if this is something else.
pub(super) fn key_and_colon(reader: &mut Reader<'_>) -> Option<Template> {
    let start = reader.offset();
    let found = key(reader).ok();
    reader.spaces();
    if found.is_none() || !reader.eat(":") {
        reader.seek(start);
        return None;
    }
    reader.spaces();
    found
}

/// `key: value` and the end of its line, if that is what follows.
pub(super) fn key_value(reader: &mut Reader<'_>) -> Parsed<Option<KeyValue>> {
    let Some(key) = key_and_colon(reader) else { return Ok(None) };
    let value = unquoted(reader)?;
    reader.line_end()?;
    Ok(Some(KeyValue { key, value }))
}
