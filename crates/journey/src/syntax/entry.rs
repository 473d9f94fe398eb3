//! Files, entries, and the lines that requests and responses begin with.

use super::body;
use super::reader::{Parsed, Reader};
use super::section;
use super::text::{key_value, unquoted};
use super::tree::{Entry, HurlFile, KeyValue, Request, Response, Version};

pub(super) fn file(reader: &mut Reader<'_>) -> Parsed<HurlFile> {
    let mut entries = Vec::new();
    let mut name = reader.blank_lines();
    while !reader.is_end() {
        let request = request(reader, entries.is_empty())?;
        let mut next_name = reader.blank_lines();
        let mut expected = None;
        if reader.sees("HTTP") {
            expected = Some(response(reader)?);
            next_name = reader.blank_lines();
        }
        entries.push(Entry { name, request, response: expected });
        name = next_name;
    }
    Ok(HurlFile { entries })
}

fn request(reader: &mut Reader<'_>, is_first: bool) -> Parsed<Request> {
    let at = reader.at();
    let start = reader.offset();
    let method = reader.take_while(|c| c.is_ascii_alphabetic());
    if method.is_empty() || !method.bytes().all(|b| b.is_ascii_uppercase()) {
        reader.seek(start);
        return reader.fail(match is_first {
            true => "a request, such as `GET http://localhost/`",
            false => {
                "a header (`name: value`), a section (`[Asserts]`), a body, `HTTP` and a status, or the next request"
            }
        });
    }
    reader.expect_spaces()?;
    let url = unquoted(reader)?;
    if url.pieces.is_empty() {
        return reader.fail("a URL");
    }
    reader.line_end()?;
    let headers = headers(reader)?;
    let mut request = Request {
        at,
        method: method.to_owned(),
        url,
        headers,
        query: Vec::new(),
        form: Vec::new(),
        multipart: Vec::new(),
        cookies: Vec::new(),
        basic_auth: None,
        options: Vec::new(),
        body: None,
    };
    section::of_request(reader, &mut request)?;
    request.body = body::body(reader)?;
    Ok(request)
}

fn response(reader: &mut Reader<'_>) -> Parsed<Response> {
    let at = reader.at();
    let version = version(reader)?;
    reader.expect_spaces()?;
    let status = status(reader)?;
    reader.line_end()?;
    let headers = headers(reader)?;
    let (captures, asserts) = (Vec::new(), Vec::new());
    let mut response = Response { at, version, status, headers, captures, asserts, body: None };
    section::of_response(reader, &mut response)?;
    response.body = body::body(reader)?;
    Ok(response)
}

fn version(reader: &mut Reader<'_>) -> Parsed<Version> {
    reader.expect("HTTP")?;
    if !reader.eat("/") {
        return Ok(Version::Any);
    }
    let start = reader.offset();
    match reader.take_while(|c| c.is_ascii_digit() || c == '.') {
        "1.0" => Ok(Version::Http10),
        "1.1" => Ok(Version::Http11),
        "2" => Ok(Version::Http2),
        "3" => Ok(Version::Http3),
        _ => {
            reader.seek(start);
            reader.fail("a version: 1.0, 1.1, 2 or 3")
        }
    }
}

fn status(reader: &mut Reader<'_>) -> Parsed<Option<u64>> {
    if reader.eat("*") {
        return Ok(None);
    }
    let start = reader.offset();
    match reader.take_while(|c| c.is_ascii_digit()).parse() {
        Ok(status) => Ok(Some(status)),
        Err(_) => {
            reader.seek(start);
            reader.fail("a status, such as 200, or `*`")
        }
    }
}

fn headers(reader: &mut Reader<'_>) -> Parsed<Vec<KeyValue>> {
    lines(reader, key_value)
}

/// Reads lines as long as `line` finds one. What follows them, blank lines and all, is left.
pub(super) fn lines<T>(
    reader: &mut Reader<'_>,
    mut line: impl FnMut(&mut Reader<'_>) -> Parsed<Option<T>>,
) -> Parsed<Vec<T>> {
    let mut found = Vec::new();
    loop {
        let start = reader.offset();
        reader.blank_lines();
        match line(reader)? {
            Some(item) => found.push(item),
            None => {
                reader.seek(start);
                return Ok(found);
            }
        }
    }
}
