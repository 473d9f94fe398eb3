//! Sections: `[Name]`, and lines of the form that belongs to it.

use super::checks::{Assert, Capture};
use super::entry::lines;
use super::option::option;
use super::predicate::predicate;
use super::query::{filters, query};
use super::reader::{Parsed, Reader};
use super::text::{file_name, key_and_colon, key_value, unquoted};
use super::tree::{KeyValue, Part, Request, Response, Template};

const OF_REQUESTS: &str = "[Query], [Form], [Multipart], [Cookies], [BasicAuth] or [Options]";
const OF_RESPONSES: &str = "[Captures] or [Asserts]";

/// Reads the sections of a request into it.
pub(super) fn of_request(reader: &mut Reader<'_>, request: &mut Request) -> Parsed<()> {
    let mut seen = Vec::new();
    while let Some((line, name)) = name(reader, &mut seen, short_name)? {
        match name {
            "Query" => request.query = lines(reader, key_value)?,
            "Form" => request.form = lines(reader, key_value)?,
            "Multipart" => request.multipart = lines(reader, part)?,
            "Cookies" => request.cookies = lines(reader, key_value)?,
            "BasicAuth" => request.basic_auth = only(reader)?,
            "Options" => request.options = lines(reader, option)?,
            "Captures" | "Asserts" => {
                reader.seek(line);
                return reader.fail(format!(
                    "{OF_REQUESTS} before the line with `HTTP`, and [{name}] after it"
                ));
            }
            other => {
                reader.seek(line);
                return reader.fail(format!("{OF_REQUESTS}, not [{other}]"));
            }
        }
    }
    Ok(())
}

/// Reads the sections of a response into it.
pub(super) fn of_response(reader: &mut Reader<'_>, response: &mut Response) -> Parsed<()> {
    let mut seen = Vec::new();
    while let Some((line, name)) = name(reader, &mut seen, |name| name)? {
        match name {
            "Captures" => response.captures = lines(reader, capture)?,
            "Asserts" => response.asserts = lines(reader, assert)?,
            other => {
                reader.seek(line);
                return reader.fail(format!(
                    "{OF_RESPONSES}, not [{other}]: sections of a request stand before `HTTP`"
                ));
            }
        }
    }
    Ok(())
}

fn short_name(name: &str) -> &str {
    match name {
        "QueryStringParams" => "Query",
        "FormParams" => "Form",
        "MultipartFormData" => "Multipart",
        other => other,
    }
}

/// The line `[Name]`, if it is next, and its offset. `None`, with nothing read, if a body or something else is.
fn name<'a>(
    reader: &mut Reader<'a>,
    seen: &mut Vec<&'a str>,
    short: fn(&'a str) -> &'a str,
) -> Parsed<Option<(usize, &'a str)>> {
    let start = reader.offset();
    reader.blank_lines();
    let line = reader.offset();
    let is_digit = |c: char| c.is_ascii_digit();
    let mut found = None;
    if reader.eat("[") {
        let name = reader.take_while(char::is_alphanumeric);
        // Hurl takes `[1]` for a section; it can only be a body.
        let is_json = matches!(name, "true" | "false" | "null") || name.starts_with(is_digit);
        found = (!name.is_empty() && !is_json && reader.eat("]")).then_some(name);
    }
    let Some(name) = found.map(short) else {
        reader.seek(start);
        return Ok(None);
    };
    if seen.contains(&name) {
        reader.seek(line);
        return reader.fail(format!("[{name}] only once"));
    }
    seen.push(name);
    reader.line_end()?;
    Ok(Some((line, name)))
}

fn only(reader: &mut Reader<'_>) -> Parsed<Option<KeyValue>> {
    let start = reader.offset();
    reader.blank_lines();
    let found = key_value(reader)?;
    if found.is_none() {
        reader.seek(start);
    }
    Ok(found)
}

fn part(reader: &mut Reader<'_>) -> Parsed<Option<Part>> {
    let start = reader.offset();
    let Some(name) = key_and_colon(reader) else { return Ok(None) };
    if !reader.eat("file,") {
        reader.seek(start);
        return Ok(key_value(reader)?.map(Part::Field));
    }
    reader.spaces();
    let path = file_name(reader)?;
    reader.spaces();
    reader.expect(";")?;
    reader.spaces();
    let content_type = unquoted(reader)?;
    let content_type = Some(content_type).filter(|given: &Template| !given.pieces.is_empty());
    reader.line_end()?;
    Ok(Some(Part::File { name, path, content_type }))
}

fn capture(reader: &mut Reader<'_>) -> Parsed<Option<Capture>> {
    let Some(name) = key_and_colon(reader) else { return Ok(None) };
    let Some(query) = query(reader)? else { return super::query::expected(reader) };
    let filters = filters(reader)?;
    reader.spaces();
    let redacted = reader.eat("redact");
    if reader.line_end().is_err() {
        return reader.fail(super::query::AFTER_CAPTURE);
    }
    Ok(Some(Capture { name, query, filters, redacted }))
}

fn assert(reader: &mut Reader<'_>) -> Parsed<Option<Assert>> {
    let Some(query) = query(reader)? else {
        // In lower case it can be no request, and of bodies only a few begin with a word.
        let word: String = reader.rest().chars().take_while(char::is_ascii_alphanumeric).collect();
        let is_body =
            matches!(word.as_str(), "true" | "false" | "null" | "hex" | "base64" | "file");
        let is_assert = word.starts_with(|c: char| c.is_ascii_lowercase()) && !is_body;
        return if is_assert { super::query::expected(reader) } else { Ok(None) };
    };
    let filters = filters(reader)?;
    reader.expect_spaces()?;
    let predicate = predicate(reader)?;
    reader.line_end()?;
    Ok(Some(Assert { query, filters, predicate }))
}
