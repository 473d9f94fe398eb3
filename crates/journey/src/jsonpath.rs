//! The part of JSONPath (RFC 9535) that finds its way without searching: names, indices and `*`. Other forms are
//! refused by their name.

use crate::json::{NotJson, Segment, find};
use crate::value::Value;

/// A path into a JSON document, compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPath(Vec<Segment>);

impl JsonPath {
    /// Reads a path such as `$.items[0]['a b'].*`.
    ///
    /// # Errors
    /// What is not supported, or no path at all.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some(mut rest) = text.strip_prefix('$') else {
            return Err(format!("`{text}` is no JSONPath: it does not begin with `$`"));
        };
        let mut segments = Vec::new();
        while !rest.trim_start().is_empty() {
            let (segment, after) = segment(rest.trim_start())
                .map_err(|why| format!("{why} in the JSONPath `{text}`"))?;
            segments.push(segment);
            rest = after;
        }
        // RFC 9535 allows space before segments only.
        if rest.is_empty() {
            Ok(Self(segments))
        } else {
            Err(format!("space at the end of the JSONPath `{text}`"))
        }
    }

    /// What the path leads to: nothing, one value, or the list of several.
    ///
    /// # Errors
    /// The whole text must be JSON, also where the path does not lead.
    pub fn find(&self, text: &str) -> Result<Option<Value>, NotJson> {
        let mut found = Vec::new();
        find(text, &self.0, &mut found)?;
        Ok(if found.len() > 1 { Some(Value::List(found)) } else { found.pop() })
    }
}

fn segment(text: &str) -> Result<(Segment, &str), String> {
    if text.starts_with("..") {
        return Err("`..` is not supported".to_owned());
    }
    if let Some(rest) = text.strip_prefix(".*") {
        return Ok((Segment::All, rest));
    }
    if let Some(name) = text.strip_prefix('.') {
        let is_first = |c: char| c.is_alphabetic() || c == '_' || c >= '\u{80}';
        let end = name.find(|c: char| !is_first(c) && !c.is_ascii_digit()).unwrap_or(name.len());
        if end == 0 || !name.starts_with(is_first) {
            return Err("no name after `.`".to_owned());
        }
        return Ok((Segment::Name(name[..end].to_owned()), &name[end..]));
    }
    let Some(inner) = text.strip_prefix('[') else {
        return Err(format!(
            "`{}` where `.` or `[` was expected",
            text.chars().take(1).collect::<String>()
        ));
    };
    let (segment, rest) = bracketed(inner.trim_start())?;
    let rest = rest.trim_start();
    match rest.chars().next() {
        Some(']') => Ok((segment, &rest[1..])),
        Some(',') => Err("several selectors in brackets are not supported".to_owned()),
        Some(':') => Err("slices are not supported".to_owned()),
        _ => Err("no `]`".to_owned()),
    }
}

fn bracketed(text: &str) -> Result<(Segment, &str), String> {
    match text.chars().next() {
        Some('*') => Ok((Segment::All, &text[1..])),
        Some(quote @ ('"' | '\'')) => name(&text[1..], quote),
        Some('?') => Err("filters are not supported".to_owned()),
        Some(':') => Err("slices are not supported".to_owned()),
        Some('-' | '0'..='9') => {
            let is_digit = |c: char| c.is_ascii_digit() || c == '-';
            let end = text.find(|c| !is_digit(c)).unwrap_or(text.len());
            let digits = &text[..end];
            let plain = digits.trim_start_matches('-');
            let is_right = plain == "0" || !plain.starts_with('0');
            match digits.parse() {
                Ok(index) if is_right && digits != "-0" => {
                    Ok((Segment::Index(index), &text[end..]))
                }
                _ => Err(format!("`{digits}` is no index")),
            }
        }
        _ => Err("no name, index or `*` in brackets".to_owned()),
    }
}

/// A name in quotation marks of either kind.
fn name(text: &str, quote: char) -> Result<(Segment, &str), String> {
    let mut name = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            _ if character == quote => return Ok((Segment::Name(name), &text[at + 1..])),
            '\\' => match characters.next().map(|(_, escaped)| escaped) {
                Some(escaped @ ('"' | '\'' | '\\' | '/')) => name.push(escaped),
                Some('b') => name.push('\u{8}'),
                Some('f') => name.push('\u{c}'),
                Some('n') => name.push('\n'),
                Some('r') => name.push('\r'),
                Some('t') => name.push('\t'),
                _ => return Err("an escape that is not supported".to_owned()),
            },
            _ => name.push(character),
        }
    }
    Err(format!("no {quote} at the end of the name"))
}
