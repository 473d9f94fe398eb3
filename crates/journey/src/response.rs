//! A response as captures and asserts see it, and its body as text.

use std::borrow::Cow;
use std::cell::OnceCell;

/// The version of HTTP that a response came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum HttpVersion {
    Http10,
    Http11,
    Http2,
    Http3,
}

impl HttpVersion {
    /// Of a response whose head begins so.
    pub fn of_head(head: &[u8]) -> Self {
        match head {
            [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'0', ..] => Self::Http10,
            [b'H', b'T', b'T', b'P', b'/', b'2', ..] => Self::Http2,
            [b'H', b'T', b'T', b'P', b'/', b'3', ..] => Self::Http3,
            _ => Self::Http11,
        }
    }

    /// As the query `version` has it: `1.1`, `2`.
    pub fn number(self) -> &'static str {
        match self {
            Self::Http10 => "1.0",
            Self::Http11 => "1.1",
            Self::Http2 => "2",
            Self::Http3 => "3",
        }
    }
}

/// The header fields of a response, in the form in which a protocol has them.
#[derive(Debug, Clone, Copy)]
pub enum Headers<'a> {
    /// Lines `name: value`, each ended by a line feed with or without a carriage return before it: what follows the
    /// first line of a response of HTTP/1. What has no colon is passed over.
    Lines(&'a [u8]),
    /// Names and values.
    Pairs(&'a [(&'a [u8], &'a [u8])]),
}

impl<'a> Headers<'a> {
    /// The values of the fields of a name, in order, without the spaces around them.
    pub fn values(self, name: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let (lines, pairs): (&[u8], &[_]) = match self {
            Self::Lines(lines) => (lines, &[]),
            Self::Pairs(pairs) => (&[], pairs),
        };
        let of_line = |line: &'a [u8]| {
            let colon = memchr::memchr(b':', line)?;
            Some((&line[..colon], &line[colon + 1..]))
        };
        let of_lines = lines.split(|byte| *byte == b'\n').filter_map(of_line);
        let all = of_lines.chain(pairs.iter().copied());
        all.filter(move |(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim_ascii())
    }
}

/// A response.
#[derive(Debug, Clone, Copy)]
pub struct ResponseView<'a> {
    /// Its version.
    pub version: HttpVersion,
    /// Its status.
    pub status: u16,
    /// Its header fields.
    pub headers: Headers<'a>,
    /// Its body, with content encodings undone.
    pub body: &'a [u8],
    /// From the request's first byte to the body's last, in ns.
    pub duration_ns: u64,
    /// The URL that was asked for, after redirects.
    pub url: &'a str,
}

/// A response, and its body as text once somebody asked for that.
#[derive(Debug)]
pub struct Reading<'a> {
    /// The response.
    pub view: ResponseView<'a>,
    /// Why its body cannot be looked at, if it cannot.
    no_body: Option<String>,
    text: OnceCell<Result<Cow<'a, str>, String>>,
}

impl<'a> Reading<'a> {
    /// Before anybody asked.
    pub fn new(view: ResponseView<'a>) -> Self {
        Self { view, no_body: None, text: OnceCell::new() }
    }

    /// One whose body cannot be looked at, and why: it is too large, or not in the coding that it names. What asks for it
    /// fails with that reason, and nothing else does.
    pub fn without_body(view: ResponseView<'a>, why: String) -> Self {
        Self { view, no_body: Some(why), text: OnceCell::new() }
    }

    /// The body.
    ///
    /// # Errors
    /// In words: why it cannot be looked at.
    pub fn body(&self) -> Result<&'a [u8], String> {
        self.no_body.clone().map_or(Ok(self.view.body), Err)
    }

    /// The body as text, by the charset of its `Content-Type`; UTF-8 if there is none.
    ///
    /// # Errors
    /// In words: why it cannot be looked at, a charset that is not known here, or bytes that are not in it.
    pub fn text(&self) -> Result<&str, String> {
        let text = self.text.get_or_init(|| {
            let value = self.view.headers.values(b"content-type").next().unwrap_or_default();
            decode(self.body()?, charset(value).unwrap_or(b"utf-8"))
        });
        text.as_deref().map_err(Clone::clone)
    }
}

/// The charset of a `Content-Type`.
fn charset(content_type: &[u8]) -> Option<&[u8]> {
    content_type.split(|byte| *byte == b';').skip(1).find_map(|parameter| {
        let equals = memchr::memchr(b'=', parameter)?;
        let name = parameter[..equals].trim_ascii();
        let value = parameter[equals + 1..].trim_ascii();
        let value = value.strip_prefix(b"\"").and_then(|v| v.strip_suffix(b"\"")).unwrap_or(value);
        name.eq_ignore_ascii_case(b"charset").then_some(value)
    })
}

/// Bytes as text of a charset: UTF-8, or one of those that the web reads as windows-1252.
pub(crate) fn decode<'a>(bytes: &'a [u8], charset: &[u8]) -> Result<Cow<'a, str>, String> {
    let is =
        |names: &[&str]| names.iter().any(|name| charset.eq_ignore_ascii_case(name.as_bytes()));
    if is(&["utf-8", "utf8", "unicode-1-1-utf-8"]) {
        let text = std::str::from_utf8(bytes);
        return text.map(Cow::Borrowed).map_err(|_| "the bytes are no UTF-8".to_owned());
    }
    let name = String::from_utf8_lossy(charset);
    if is(&[
        "iso-8859-1",
        "iso8859-1",
        "latin1",
        "l1",
        "us-ascii",
        "ascii",
        "windows-1252",
        "cp1252",
    ]) {
        return Ok(Cow::Owned(bytes.iter().map(|byte| windows_1252(*byte)).collect()));
    }
    Err(format!("the charset {} is not supported", ablaze_wire::printable::printable(&name)))
}

pub(crate) fn windows_1252(byte: u8) -> char {
    const FROM_80: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž',
        '\u{8f}', '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}',
        'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => FROM_80[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_head() {
        for (head, number) in [
            ("HTTP/1.0 200 OK", "1.0"),
            ("HTTP/1.1 200", "1.1"),
            ("HTTP/2 200", "2"),
            ("HTTP/3 200", "3"),
        ] {
            assert_eq!(HttpVersion::of_head(head.as_bytes()).number(), number);
        }
    }
}
