//! Captures and asserts of a tree as lines of a Hurl file; the rest is written by [`print`](super::print).

use super::checks::{
    Assert, Capture, CookieAttribute, Filter, FilterKind, Kind, NthIndex, Pattern, PredicateValue,
    Query, QueryKind, Test,
};
use super::print::{bytes, cookie_name, file_name, key, multiline, number, placeholder, quoted};

pub(super) fn capture(capture: &Capture) -> String {
    let redacted = if capture.redacted { " redact" } else { "" };
    let query = query(&capture.query);
    format!("{}: {query}{}{redacted}", key(&capture.name), filters(&capture.filters))
}

pub(crate) fn assert(assert: &Assert) -> String {
    let not = if assert.predicate.not { "not " } else { "" };
    let query = query(&assert.query);
    format!("{query}{} {not}{}", filters(&assert.filters), test(&assert.predicate.test))
}

fn query(query: &Query) -> String {
    let word = match &query.kind {
        QueryKind::Status => "status",
        QueryKind::Version => "version",
        QueryKind::Url => "url",
        QueryKind::Header(name) => return format!("header {}", quoted(name)),
        QueryKind::Cookie { name, attribute } => {
            let attribute = attribute.map(|attribute| format!("[{}]", cookie_attribute(attribute)));
            let name = cookie_name(name);
            return format!("cookie \"{name}{}\"", attribute.unwrap_or_default());
        }
        QueryKind::Body => "body",
        QueryKind::Xpath(path) => return format!("xpath {}", quoted(path)),
        QueryKind::Jsonpath(path) => return format!("jsonpath {}", quoted(path)),
        QueryKind::Regex(inner) => return format!("regex {}", pattern(inner)),
        QueryKind::Variable(name) => return format!("variable {}", quoted(name)),
        QueryKind::Duration => "duration",
        QueryKind::Bytes => "bytes",
        QueryKind::RawBytes => "rawbytes",
        QueryKind::Sha256 => "sha256",
        QueryKind::Md5 => "md5",
        QueryKind::Certificate(name) => return format!("certificate \"{name}\""),
        QueryKind::Ip => "ip",
        QueryKind::Redirects => "redirects",
    };
    word.to_owned()
}

fn cookie_attribute(attribute: CookieAttribute) -> &'static str {
    let found = CookieAttribute::ALL.iter().find(|(own, _)| *own == attribute);
    found.map_or("", |(_, name)| name)
}

/// A slash that ends nothing is `\/`, and so is one that already follows a backslash.
fn regex(pattern: &str) -> String {
    format!("/{}/", pattern.replace('/', "\\/"))
}

fn pattern(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Text(text) => quoted(text),
        Pattern::Literal(text) => regex(text),
    }
}

/// With a space before each.
pub(super) fn filters(filters: &[Filter]) -> String {
    filters.iter().map(|filter| format!(" {}", one_filter(filter))).collect()
}

fn one_filter(filter: &Filter) -> String {
    let word = match &filter.kind {
        FilterKind::Base64Decode => "base64Decode",
        FilterKind::Base64Encode => "base64Encode",
        FilterKind::Base64UrlSafeDecode => "base64UrlSafeDecode",
        FilterKind::Base64UrlSafeEncode => "base64UrlSafeEncode",
        FilterKind::CharsetDecode(name) => return format!("charsetDecode {}", quoted(name)),
        FilterKind::Count => "count",
        FilterKind::DaysAfterNow => "daysAfterNow",
        FilterKind::DaysBeforeNow => "daysBeforeNow",
        FilterKind::First => "first",
        FilterKind::DateFormat(format) => return format!("dateFormat {}", quoted(format)),
        FilterKind::HtmlEscape => "htmlEscape",
        FilterKind::HtmlUnescape => "htmlUnescape",
        FilterKind::Jsonpath(path) => return format!("jsonpath {}", quoted(path)),
        FilterKind::Last => "last",
        FilterKind::Location => "location",
        FilterKind::Nth(NthIndex::Literal(index)) => return format!("nth {index}"),
        FilterKind::Nth(NthIndex::Placeholder(index)) => {
            return format!("nth {}", placeholder(index));
        }
        FilterKind::Regex(inner) => return format!("regex {}", pattern(inner)),
        FilterKind::Replace(old, new) => {
            return format!("replace {} {}", quoted(old), quoted(new));
        }
        FilterKind::ReplaceRegex(old, new) => {
            return format!("replaceRegex {} {}", pattern(old), quoted(new));
        }
        FilterKind::Split(separator) => return format!("split {}", quoted(separator)),
        FilterKind::ToDate(format) => return format!("toDate {}", quoted(format)),
        FilterKind::ToFloat => "toFloat",
        FilterKind::ToHex => "toHex",
        FilterKind::ToInt => "toInt",
        FilterKind::ToString => "toString",
        FilterKind::UrlDecode => "urlDecode",
        FilterKind::UrlEncode => "urlEncode",
        FilterKind::UrlQueryParam(name) => return format!("urlQueryParam {}", quoted(name)),
        FilterKind::Utf8Decode => "utf8Decode",
        FilterKind::Utf8Encode => "utf8Encode",
        FilterKind::Xpath(path) => return format!("xpath {}", quoted(path)),
    };
    word.to_owned()
}

fn test(test: &Test) -> String {
    let (word, value) = match test {
        Test::Equal(value) => ("==", value),
        Test::NotEqual(value) => ("!=", value),
        Test::Greater(value) => (">", value),
        Test::GreaterOrEqual(value) => (">=", value),
        Test::Less(value) => ("<", value),
        Test::LessOrEqual(value) => ("<=", value),
        Test::StartsWith(value) => ("startsWith", value),
        Test::EndsWith(value) => ("endsWith", value),
        Test::Contains(value) => ("contains", value),
        Test::Includes(value) => ("includes", value),
        Test::Matches(value) => ("matches", value),
        Test::Exists => return "exists".to_owned(),
        Test::Is(kind) => {
            let found = Kind::ALL.iter().find(|(own, _)| own == kind);
            return found.map_or("", |(_, name)| name).to_owned();
        }
    };
    format!("{word} {}", predicate_value(value))
}

fn predicate_value(value: &PredicateValue) -> String {
    match value {
        PredicateValue::Null => "null".to_owned(),
        PredicateValue::Boolean(value) => value.to_string(),
        PredicateValue::Number(value) => number(value),
        PredicateValue::File(name) => format!("file,{};", file_name(name)),
        PredicateValue::Bytes(value) => bytes(value),
        PredicateValue::Placeholder(value) => placeholder(value),
        PredicateValue::Text(value) => quoted(value),
        PredicateValue::Multiline(value) => multiline(value),
        PredicateValue::Regex(value) => regex(value),
    }
}
