//! A tree as a Hurl file. What [`parse`](super::parse) makes of the result is the same tree, as long as it came from
//! a parser, or keeps to what a file can say (lines between backticks, for instance, hold no three backticks).

use std::fmt::Write;

use super::print_checks::{assert, capture, filters};
use super::tree::{
    Body, BodyValue, EntryOption, HurlFile, Json, JsonPiece, KeyValue, Multiline, Number,
    OptionValue, Part, Piece, Placeholder, Request, Response, Source, Template, TimeUnit,
    VariableValue, Version,
};

/// The file that says what `file` holds.
pub fn print(file: &HurlFile) -> String {
    let mut out = String::new();
    for (index, entry) in file.entries.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        if let Some(name) = &entry.name {
            line(&mut out, &format!("# name: {name}"));
        }
        request(&mut out, &entry.request);
        if let Some(expected) = &entry.response {
            response(&mut out, expected);
        }
    }
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn request(out: &mut String, request: &Request) {
    line(out, &format!("{} {}", request.method, unquoted(&request.url)));
    key_values(out, &request.headers);
    section(out, "[Query]", &request.query, key_value);
    section(out, "[Form]", &request.form, key_value);
    section(out, "[Multipart]", &request.multipart, part);
    section(out, "[Cookies]", &request.cookies, key_value);
    section(out, "[BasicAuth]", request.basic_auth.as_slice(), key_value);
    section(out, "[Options]", &request.options, option);
    body(out, request.body.as_ref());
}

fn response(out: &mut String, response: &Response) {
    let version = match response.version {
        Version::Any => "HTTP",
        Version::Http10 => "HTTP/1.0",
        Version::Http11 => "HTTP/1.1",
        Version::Http2 => "HTTP/2",
        Version::Http3 => "HTTP/3",
    };
    let status = response.status.map_or_else(|| "*".to_owned(), |status| status.to_string());
    line(out, &format!("{version} {status}"));
    key_values(out, &response.headers);
    section(out, "[Captures]", &response.captures, capture);
    section(out, "[Asserts]", &response.asserts, assert);
    body(out, response.body.as_ref());
}

fn section<T>(out: &mut String, name: &str, items: &[T], text: impl Fn(&T) -> String) {
    if !items.is_empty() {
        line(out, name);
    }
    for item in items {
        line(out, &text(item));
    }
}

fn key_values(out: &mut String, items: &[KeyValue]) {
    for item in items {
        line(out, &key_value(item));
    }
}

fn key_value(item: &KeyValue) -> String {
    format!("{}: {}", key(&item.key), unquoted(&item.value))
}

/// The pieces of a template. `escape` says whether a character cannot stand for itself; the last arguments are where it
/// stands: whether it is the first, whether it is the last. `short` has the characters that a backslash before them
/// escapes here, beside those of every string.
fn template(template: &Template, short: &str, escape: impl Fn(char, bool, bool) -> bool) -> String {
    let mut out = String::new();
    for (index, piece) in template.pieces.iter().enumerate() {
        let text = match piece {
            Piece::Placeholder(inner) => {
                out.push_str(&placeholder(inner));
                continue;
            }
            Piece::Text(text) => text,
        };
        let is_last_piece = index + 1 == template.pieces.len();
        let mut characters = text.chars().peekable();
        let mut is_first = index == 0;
        while let Some(character) = characters.next() {
            let next = characters.peek();
            let is_last = next.is_none() && is_last_piece;
            // A brace before a brace would begin a placeholder.
            let is_brace = character == '{' && matches!(next, None | Some('{')) && !is_last;
            if is_brace || character == '\\' || escape(character, is_first, is_last) {
                escaped(character, short, &mut out);
            } else {
                out.push(character);
            }
            is_first = false;
        }
    }
    out
}

fn escaped(character: char, short: &str, out: &mut String) {
    out.push('\\');
    match character {
        '\\' => out.push('\\'),
        '\n' => out.push('n'),
        '\r' => out.push('r'),
        '\t' => out.push('t'),
        _ if short.contains(character) => out.push(character),
        _ => {
            let _ = write!(out, "u{{{:x}}}", u32::from(character));
        }
    }
}

fn is_control(character: char) -> bool {
    character < ' '
}

fn unquoted(value: &Template) -> String {
    template(value, "#\"", |c, first, last| {
        is_control(c) || c == '#' || ((first || last) && matches!(c, ' ' | '"'))
    })
}

pub(super) fn key(value: &Template) -> String {
    template(value, "#:", |c, first, _| {
        let own = c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '[' | ']' | '@' | '$');
        !own || (first && c == '[')
    })
}

pub(super) fn quoted(value: &Template) -> String {
    format!("\"{}\"", template(value, "\"", |c, _, _| is_control(c) || c == '"'))
}

/// The name in `cookie "name[Attribute]"`, where only `\u{22}` writes a quotation mark.
pub(super) fn cookie_name(value: &Template) -> String {
    template(value, "", |c, first, last| {
        is_control(c) || matches!(c, '"' | '[' | '#') || ((first || last) && c == ' ')
    })
}

pub(super) fn file_name(value: &Template) -> String {
    template(value, "#; {}", |c, first, _| {
        is_control(c) || matches!(c, '#' | ';' | '{' | '}' | ' ') || (first && c == '[')
    })
}

/// Where nothing can be escaped.
fn plain(value: &Template) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Placeholder(inner) => placeholder(inner),
    };
    value.pieces.iter().map(piece).collect()
}

pub(super) fn placeholder(value: &Placeholder) -> String {
    let name = match &value.source {
        Source::Variable(name) => name,
        Source::NewUuid => "newUuid",
        Source::NewDate => "newDate",
    };
    format!("{{{{{name}{}}}}}", filters(&value.filters))
}

fn part(part: &Part) -> String {
    match part {
        Part::Field(item) => key_value(item),
        Part::File { name, path, content_type } => {
            let content_type = content_type.as_ref().map(|given| format!(" {}", unquoted(given)));
            format!("{}: file,{};{}", key(name), file_name(path), content_type.unwrap_or_default())
        }
    }
}

fn option(option: &EntryOption) -> String {
    let value = match &option.value {
        OptionValue::Boolean(value) => value.to_string(),
        OptionValue::Natural(value) | OptionValue::Count(Some(value)) => value.to_string(),
        OptionValue::Count(None) => "-1".to_owned(),
        OptionValue::Duration(value, unit) => format!(
            "{value}{}",
            match unit {
                None => "",
                Some(TimeUnit::Milliseconds) => "ms",
                Some(TimeUnit::Seconds) => "s",
                Some(TimeUnit::Minutes) => "m",
                Some(TimeUnit::Hours) => "h",
            }
        ),
        OptionValue::Text(value) => unquoted(value),
        OptionValue::File(value) => file_name(value),
        OptionValue::Variable(name, value) => format!("{name}={}", variable_value(value)),
        OptionValue::Placeholder(value) => placeholder(value),
    };
    format!("{}: {value}", option.name)
}

fn variable_value(value: &VariableValue) -> String {
    match value {
        VariableValue::Null => "null".to_owned(),
        VariableValue::Boolean(value) => value.to_string(),
        VariableValue::Number(value) => number(value),
        VariableValue::Text(value) => quoted(value),
    }
}

pub(super) fn number(value: &Number) -> String {
    match value {
        Number::Integer(value) => value.to_string(),
        Number::BigInteger(digits) => digits.clone(),
        Number::Float(value) if value.fract() == 0.0 => format!("{value:.1}"),
        Number::Float(value) => value.to_string(),
    }
}

fn body(out: &mut String, body: Option<&Body>) {
    let Some(body) = body else { return };
    let text = match &body.value {
        BodyValue::Json(value) => json(value),
        BodyValue::Xml(value) => value.clone(),
        BodyValue::Multiline(value) => multiline(value),
        BodyValue::Oneline(value) => {
            format!("`{}`", template(value, "`", |c, _, _| is_control(c) || c == '`'))
        }
        BodyValue::Bytes(value) => bytes(value),
        BodyValue::File(value) => format!("file,{};", file_name(value)),
    };
    line(out, &text);
}

pub(super) fn bytes(value: &[u8]) -> String {
    let digits: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("hex,{digits};")
}

fn json(json: &Json) -> String {
    let piece = |piece: &JsonPiece| match piece {
        JsonPiece::Text(text) => text.clone(),
        JsonPiece::InString(inner) | JsonPiece::Value(inner) => placeholder(inner),
    };
    json.pieces.iter().map(piece).collect()
}

pub(super) fn multiline(value: &Multiline) -> String {
    match value {
        Multiline::Text(text) => format!("```\n{}```", plain(text)),
        Multiline::Json(text) => format!("```json\n{}```", plain(text)),
        Multiline::Xml(text) => format!("```xml\n{}```", plain(text)),
        Multiline::Raw(text) => format!("```raw\n{text}```"),
        Multiline::GraphQl { query, variables } => {
            let variables = variables.as_ref().map(|given| format!("variables {}\n", json(given)));
            format!("```graphql\n{}{}```", plain(query), variables.unwrap_or_default())
        }
    }
}
