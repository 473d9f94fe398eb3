//! Queries and filters.

use super::checks::{CookieAttribute, Filter, FilterKind, NthIndex, Pattern, Query, QueryKind};
use super::number::integer;
use super::reader::{Parsed, Reader};
use super::text::{placeholder, quoted, unquoted};

const QUERIES: &str = "status, version, header, cookie, body, bytes, jsonpath, regex, xpath, duration, url, variable, \
                       sha256, md5, rawbytes, certificate, ip or redirects";

/// What may follow a query and its filters in `[Captures]`.
pub(super) const AFTER_CAPTURE: &str = "a filter, `redact` or the end of the line";

/// What a certificate can be asked for.
const CERTIFICATE: [&str; 7] = [
    "Subject",
    "Issuer",
    "Start-Date",
    "Expire-Date",
    "Serial-Number",
    "Subject-Alt-Name",
    "Value",
];

fn word<'a>(reader: &mut Reader<'a>) -> &'a str {
    reader.take_while(|c| c.is_ascii_alphanumeric())
}

/// Says that a query was expected here.
pub(super) fn expected<T>(reader: &Reader<'_>) -> Parsed<T> {
    reader.fail(format!("a query: {QUERIES}"))
}

/// A query, if one follows; nothing is read otherwise.
pub(super) fn query(reader: &mut Reader<'_>) -> Parsed<Option<Query>> {
    let start = reader.offset();
    let at = reader.at();
    let kind = match word(reader) {
        "status" => QueryKind::Status,
        "version" => QueryKind::Version,
        "url" => QueryKind::Url,
        "header" => QueryKind::Header(text(reader)?),
        "cookie" => cookie(reader)?,
        "body" => QueryKind::Body,
        "xpath" => QueryKind::Xpath(text(reader)?),
        "jsonpath" => QueryKind::Jsonpath(text(reader)?),
        "regex" => QueryKind::Regex(spaced_pattern(reader)?),
        "variable" => QueryKind::Variable(text(reader)?),
        "duration" => QueryKind::Duration,
        "bytes" => QueryKind::Bytes,
        "rawbytes" => QueryKind::RawBytes,
        "sha256" => QueryKind::Sha256,
        "md5" => QueryKind::Md5,
        "certificate" => certificate(reader)?,
        "ip" => QueryKind::Ip,
        "redirects" => QueryKind::Redirects,
        _ => {
            reader.seek(start);
            return Ok(None);
        }
    };
    Ok(Some(Query { at, kind }))
}

/// Spaces and a string in quotation marks.
fn text(reader: &mut Reader<'_>) -> Parsed<super::tree::Template> {
    reader.expect_spaces()?;
    quoted(reader)
}

fn spaced_pattern(reader: &mut Reader<'_>) -> Parsed<Pattern> {
    reader.expect_spaces()?;
    match reader.peek() {
        Some('/') => Ok(Pattern::Literal(regex(reader)?)),
        Some('"') => Ok(Pattern::Text(quoted(reader)?)),
        _ => reader.fail("a regular expression: \"…\" or /…/"),
    }
}

/// `/…/`: `\/` stands for a slash, and everything else for itself.
pub(super) fn regex(reader: &mut Reader<'_>) -> Parsed<String> {
    reader.expect("/")?;
    let mut pattern = String::new();
    loop {
        if reader.eat("\\/") {
            pattern.push('/');
            continue;
        }
        match reader.next() {
            Some('/') => return Ok(pattern),
            Some(character) => pattern.push(character),
            None => return reader.fail("`/` at the end of the regular expression"),
        }
    }
}

/// `"name[Attribute]"`. No escapes: the string ends with the next quotation mark.
fn cookie(reader: &mut Reader<'_>) -> Parsed<QueryKind> {
    reader.expect_spaces()?;
    reader.expect("\"")?;
    let rest = reader.rest();
    let length = rest.find(['"', '\n']).unwrap_or(rest.len());
    let inner = &rest[..length];
    let name_bytes = inner.find('[').unwrap_or(length);
    let mut name_reader = Reader::new(&inner[..name_bytes]);
    let mut name = unquoted(&mut name_reader).map_err(|mut failure| {
        failure.offset += reader.offset();
        failure
    })?;
    name.at = reader.at();
    name_reader.spaces();
    if !name_reader.is_end() {
        reader.seek(reader.offset() + name_reader.offset());
        return reader.fail("the name of a cookie");
    }
    reader.seek(reader.offset() + name_bytes);
    let attribute = if reader.eat("[") { Some(cookie_attribute(reader)?) } else { None };
    reader.expect("\"")?;
    Ok(QueryKind::Cookie { name, attribute })
}

fn cookie_attribute(reader: &mut Reader<'_>) -> Parsed<CookieAttribute> {
    reader.spaces();
    let start = reader.offset();
    let word = reader.take_while(|c| c.is_alphabetic() || c == '-').to_lowercase();
    let found = CookieAttribute::ALL.iter().find(|(_, name)| name.to_lowercase() == word);
    let Some((attribute, _)) = found else {
        reader.seek(start);
        return reader.fail(
            "an attribute: Value, Expires, Max-Age, Domain, Path, Secure, HttpOnly or SameSite",
        );
    };
    reader.spaces();
    reader.expect("]")?;
    Ok(*attribute)
}

impl CookieAttribute {
    /// All of them, with their names.
    pub(crate) const ALL: [(Self, &'static str); 8] = [
        (Self::Value, "Value"),
        (Self::Expires, "Expires"),
        (Self::MaxAge, "Max-Age"),
        (Self::Domain, "Domain"),
        (Self::Path, "Path"),
        (Self::Secure, "Secure"),
        (Self::HttpOnly, "HttpOnly"),
        (Self::SameSite, "SameSite"),
    ];
}

fn certificate(reader: &mut Reader<'_>) -> Parsed<QueryKind> {
    reader.expect_spaces()?;
    let start = reader.offset();
    reader.expect("\"")?;
    let word = reader.take_while(|c| c.is_alphabetic() || c == '-');
    let Some(name) = CERTIFICATE.iter().find(|name| **name == word) else {
        reader.seek(start);
        return reader.fail(format!("one of {}", CERTIFICATE.join(", ")));
    };
    reader.expect("\"")?;
    Ok(QueryKind::Certificate(name))
}

/// Filters, each after spaces; what follows them, spaces and all, is left.
pub(super) fn filters(reader: &mut Reader<'_>) -> Parsed<Vec<Filter>> {
    let mut found = Vec::new();
    loop {
        let start = reader.offset();
        let spaced = reader.spaces();
        let at = reader.at();
        match if spaced { filter(reader)? } else { None } {
            Some(kind) => found.push(Filter { at, kind }),
            None => {
                reader.seek(start);
                return Ok(found);
            }
        }
    }
}

fn filter(reader: &mut Reader<'_>) -> Parsed<Option<FilterKind>> {
    Ok(Some(match word(reader) {
        "base64Decode" => FilterKind::Base64Decode,
        "base64Encode" => FilterKind::Base64Encode,
        "base64UrlSafeDecode" => FilterKind::Base64UrlSafeDecode,
        "base64UrlSafeEncode" => FilterKind::Base64UrlSafeEncode,
        "charsetDecode" | "decode" => FilterKind::CharsetDecode(text(reader)?),
        "count" => FilterKind::Count,
        "daysAfterNow" => FilterKind::DaysAfterNow,
        "daysBeforeNow" => FilterKind::DaysBeforeNow,
        "first" => FilterKind::First,
        "dateFormat" | "format" => FilterKind::DateFormat(text(reader)?),
        "htmlEscape" => FilterKind::HtmlEscape,
        "htmlUnescape" => FilterKind::HtmlUnescape,
        "jsonpath" => FilterKind::Jsonpath(text(reader)?),
        "last" => FilterKind::Last,
        "location" => FilterKind::Location,
        "nth" => FilterKind::Nth(nth(reader)?),
        "regex" => FilterKind::Regex(spaced_pattern(reader)?),
        "replace" => FilterKind::Replace(text(reader)?, text(reader)?),
        "replaceRegex" => FilterKind::ReplaceRegex(spaced_pattern(reader)?, text(reader)?),
        "split" => FilterKind::Split(text(reader)?),
        "toDate" => FilterKind::ToDate(text(reader)?),
        "toFloat" => FilterKind::ToFloat,
        "toHex" => FilterKind::ToHex,
        "toInt" => FilterKind::ToInt,
        "toString" => FilterKind::ToString,
        "urlDecode" => FilterKind::UrlDecode,
        "urlEncode" => FilterKind::UrlEncode,
        "urlQueryParam" => FilterKind::UrlQueryParam(text(reader)?),
        "utf8Decode" => FilterKind::Utf8Decode,
        "utf8Encode" => FilterKind::Utf8Encode,
        "xpath" => FilterKind::Xpath(text(reader)?),
        _ => return Ok(None),
    }))
}

fn nth(reader: &mut Reader<'_>) -> Parsed<NthIndex> {
    reader.expect_spaces()?;
    if reader.sees("{{") {
        placeholder(reader).map(NthIndex::Placeholder)
    } else {
        integer(reader).map(NthIndex::Literal)
    }
}
