//! `POST /upload`: what came, in numbers. Reads `multipart/form-data` as RFC 7578 and RFC 2046, 5.1 have it.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::handler::Request;

/// Parts that are described.
const PARTS_MAX: usize = 1000;

/// A part of a form.
#[derive(Debug, PartialEq, Eq)]
struct Part<'a> {
    head: &'a [u8],
    body: &'a [u8],
}

/// Size and SHA-256 of every part, with what its head says.
///
/// # Errors
/// What is wrong with the body.
pub fn described(request: &Request<'_>) -> Result<Value, &'static str> {
    let content_type = request.field("Content-Type").unwrap_or_default();
    let body = request.body;
    let multipart = b"multipart/";
    if !content_type.get(..multipart.len()).is_some_and(|kind| kind.eq_ignore_ascii_case(multipart))
    {
        return Ok(json!({ "bytes": body.len(), "sha256": sha256(body) }));
    }
    let boundary = parameter(content_type, "boundary").filter(|boundary| !boundary.is_empty());
    let boundary = boundary.ok_or("Content-Type has no boundary")?;
    let parts = parts(body, &boundary)?;
    let rows: Vec<Value> = parts.iter().map(Part::described).collect();
    Ok(json!({ "bytes": body.len(), "parts": rows }))
}

impl Part<'_> {
    fn described(&self) -> Value {
        let disposition = field(self.head, "Content-Disposition").unwrap_or_default();
        let text = |bytes: Option<Vec<u8>>| {
            bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        json!({
            "name": text(parameter(disposition, "name")),
            "filename": text(parameter(disposition, "filename")),
            "content_type": text(field(self.head, "Content-Type").map(<[u8]>::to_vec)),
            "bytes": self.body.len(),
            "sha256": sha256(self.body),
        })
    }
}

/// The parts between the boundaries.
fn parts<'a>(body: &'a [u8], boundary: &[u8]) -> Result<Vec<Part<'a>>, &'static str> {
    const NO_END: &str = "the body ends before its last boundary";
    let delimiter = [b"\r\n--", boundary].concat();
    // The first may stand at the beginning, without a line end before it.
    let mut rest = match body.strip_prefix(&delimiter[2..]) {
        Some(rest) => rest,
        None => split_at(body, &delimiter).ok_or("the body has no boundary")?.1,
    };
    let mut parts = Vec::new();
    while !rest.starts_with(b"--") {
        if parts.len() == PARTS_MAX {
            return Err("the body has more than 1,000 parts");
        }
        let (padding, part) = split_at(rest, b"\r\n").ok_or(NO_END)?;
        if !padding.iter().all(|byte| matches!(byte, b' ' | b'\t')) {
            return Err("something stands behind a boundary");
        }
        // A part without fields begins with the empty line.
        let (head, behind) = match part.strip_prefix(b"\r\n") {
            Some(behind) => (&b""[..], behind),
            None => split_at(part, b"\r\n\r\n").ok_or("a part has no end of its head")?,
        };
        // The line end before a boundary belongs to it, also that of the empty line of a part without a body.
        let (body, next) = match behind.strip_prefix(&delimiter[2..]) {
            Some(next) => (&b""[..], next),
            None => split_at(behind, &delimiter).ok_or(NO_END)?,
        };
        parts.push(Part { head, body });
        rest = next;
    }
    Ok(parts)
}

fn split_at<'a>(bytes: &'a [u8], at: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let found = memchr::memmem::find(bytes, at)?;
    Some((&bytes[..found], &bytes[found + at.len()..]))
}

fn field<'a>(head: &'a [u8], name: &str) -> Option<&'a [u8]> {
    head.split(|byte| *byte == b'\n').find_map(|line| {
        let (own, value) = line.split_at_checked(name.len())?;
        let value = value.strip_prefix(b":")?;
        own.eq_ignore_ascii_case(name.as_bytes()).then(|| value.trim_ascii())
    })
}

/// A parameter of a field's value, without its quotation marks; `%22`, which browsers write for one, is left as it is.
fn parameter(value: &[u8], name: &str) -> Option<Vec<u8>> {
    let mut rest = value;
    while let Some(at) = next_parameter(rest) {
        rest = rest[at..].trim_ascii_start();
        let (own, given) = split_at(rest, b"=")?;
        let (text, behind) = unquoted(given);
        if own.trim_ascii().eq_ignore_ascii_case(name.as_bytes()) {
            return Some(text);
        }
        rest = behind;
    }
    None
}

/// Where the next parameter begins: behind the next semicolon.
fn next_parameter(value: &[u8]) -> Option<usize> {
    value.iter().position(|byte| *byte == b';').map(|at| at + 1)
}

fn unquoted(value: &[u8]) -> (Vec<u8>, &[u8]) {
    let Some(quoted) = value.strip_prefix(b"\"") else {
        let end = value.iter().position(|byte| *byte == b';').unwrap_or(value.len());
        return (value[..end].trim_ascii_end().to_vec(), &value[end..]);
    };
    let mut text = Vec::new();
    let mut at = 0;
    while let Some(byte) = quoted.get(at).filter(|byte| **byte != b'"') {
        // A backslash before anything else stands for itself: paths of Windows have them.
        let escaped = match quoted.get(at + 1) {
            Some(next @ (b'"' | b'\\')) if *byte == b'\\' => Some(*next),
            _ => None,
        };
        text.push(escaped.unwrap_or(*byte));
        at += if escaped.is_some() { 2 } else { 1 };
    }
    (text, quoted.get(at + 1..).unwrap_or_default())
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_what_stands_between_boundaries() {
        let body = b"preamble\r\n--b \r\nA: 1\r\n\r\none\r\n--b\r\n\r\n\r\n--b\r\nA: 2\r\n\r\n\
                     \r\n--b--\r\nepilogue";
        let part = |head: &'static [u8], body: &'static [u8]| Part { head, body };
        assert_eq!(
            parts(body, b"b").unwrap(),
            [part(b"A: 1", b"one"), part(b"", b""), part(b"A: 2", b"")]
        );
        assert_eq!(parts(b"--b--\r\n", b"b").unwrap(), []);
        // RFC 2046, 5.1.1: no part has a line that begins with the boundary.
        assert!(parts(b"--b\r\n\r\none\r\n--bc\r\n--b--", b"b").is_err());
    }

    #[test]
    fn what_is_cut_short_is_refused_wherever_it_is() {
        let body = b"--b\r\nA: 1\r\n\r\none\r\n--b\r\nA: 2\r\n\r\ntwo\r\n--b--";
        for end in 0..body.len() {
            assert!(parts(&body[..end], b"b").is_err(), "{end}");
        }
        assert_eq!(parts(body, b"b").unwrap().len(), 2);
    }

    #[test]
    fn parameters_are_read_in_and_out_of_quotation_marks() {
        let value = br#"form-data; name="a;b\"c"; filename=x.txt ; n="C:\dir\\f""#;
        let known: [(&str, Option<&[u8]>); 4] = [
            ("name", Some(b"a;b\"c")),
            ("FILENAME", Some(b"x.txt")),
            ("n", Some(br"C:\dir\f")),
            ("b", None),
        ];
        for (name, expected) in known {
            assert_eq!(parameter(value, name).as_deref(), expected, "{name}");
        }
    }
}
