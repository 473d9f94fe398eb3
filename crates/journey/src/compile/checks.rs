//! What a step captures and checks.

use regex::Regex;

use super::Compiler;
use crate::checks::{Assert, Capture, Expected, ExpectedBody};
use crate::filter::Filter;
use crate::jsonpath::JsonPath;
use crate::predicate::{Expected as Compared, Predicate, Test};
use crate::query::Query;
use crate::response::HttpVersion;
use crate::syntax::{
    self, At, BodyValue, CookieAttribute, FilterKind, NthIndex, Pattern, PredicateValue, QueryKind,
    Response, Source, Version,
};
use crate::text::Text;
use crate::value::Value;

/// Of what is refused, so much is shown.
const SHOWN_CHARS: usize = 200;
const DATES: &str = "dates in a format of their own are not supported";
const XPATH: &str = "XPath is not supported (fix: regex, or jsonpath if the server can send JSON)";

impl Compiler {
    pub(super) fn expected(&mut self, response: &Response) -> Expected {
        let mut headers = Vec::new();
        for field in &response.headers {
            headers.push((self.text(&field.key), self.text(&field.value), field.key.at.line));
        }
        let body = response.body.as_ref().and_then(|body| {
            let line = body.at.line;
            match &body.value {
                BodyValue::Bytes(bytes) => Some((ExpectedBody::Bytes(bytes.clone()), line)),
                _ => match self.body(body) {
                    Some(template) => Some((ExpectedBody::Text(Text(template)), line)),
                    None => {
                        self.refuse(body.at, "a file as the expected body is not supported");
                        None
                    }
                },
            }
        });
        let version = match response.version {
            Version::Any => None,
            Version::Http10 => Some(HttpVersion::Http10),
            Version::Http11 => Some(HttpVersion::Http11),
            Version::Http2 => Some(HttpVersion::Http2),
            Version::Http3 => Some(HttpVersion::Http3),
        };
        Expected { line: response.at.line, version, status: response.status, headers, body }
    }

    pub(super) fn captures(&mut self, captures: &[syntax::Capture]) -> Vec<Capture> {
        let mut compiled = Vec::new();
        for capture in captures {
            let query = self.query(&capture.query);
            let filters = self.filters(&capture.filters);
            let name = self.constant(&capture.name, "the name of a capture");
            if let (Some(query), Some(name)) = (query, name) {
                compiled.push(Capture {
                    line: capture.name.at.line,
                    slot: self.sets(&name),
                    query,
                    filters,
                    is_redacted: capture.redacted,
                });
            }
        }
        compiled
    }

    pub(super) fn asserts(&mut self, asserts: &[syntax::Assert]) -> Vec<Assert> {
        let mut compiled = Vec::new();
        for assert in asserts {
            let query = self.query(&assert.query);
            let filters = self.filters(&assert.filters);
            let test = self.test(&assert.predicate);
            if let (Some(query), Some(test)) = (query, test) {
                compiled.push(Assert {
                    line: assert.query.at.line,
                    text: syntax::print_assert(assert),
                    query,
                    filters,
                    predicate: Predicate { not: assert.predicate.not, test },
                });
            }
        }
        compiled
    }

    fn text(&mut self, template: &syntax::Template) -> Text {
        Text(self.plain(template))
    }

    fn query(&mut self, query: &syntax::Query) -> Option<Query> {
        Some(match &query.kind {
            QueryKind::Status => Query::Status,
            QueryKind::Version => Query::Version,
            QueryKind::Url => Query::Url,
            QueryKind::Header(name) => Query::Header(self.text(name)),
            QueryKind::Cookie { name, attribute } => {
                Query::Cookie(self.text(name), attribute.unwrap_or(CookieAttribute::Value))
            }
            QueryKind::Body => Query::Body,
            QueryKind::Bytes => Query::Bytes,
            QueryKind::Jsonpath(path) => Query::Jsonpath(self.path(path)?),
            QueryKind::Regex(pattern) => Query::Regex(self.pattern(pattern, query.at)?),
            QueryKind::Variable(name) => {
                let name = self.constant(name, "the name of a variable")?;
                // A variable that is not set is nothing here, and no error: it is not needed.
                Query::Variable(self.names.add(&name))
            }
            QueryKind::Duration => Query::Duration,
            QueryKind::Sha256 => Query::Sha256,
            QueryKind::Md5 => Query::Md5,
            QueryKind::Xpath(_) => return self.refused(query.at, XPATH),
            QueryKind::RawBytes => {
                return self.refused(query.at, "rawbytes is not supported (fix: bytes)");
            }
            QueryKind::Certificate(_) => {
                return self.refused(query.at, "the query certificate is not supported");
            }
            QueryKind::Ip => return self.refused(query.at, "the query ip is not supported"),
            QueryKind::Redirects => {
                return self.refused(query.at, "the query redirects is not supported (fix: url)");
            }
        })
    }

    fn refused<T>(&mut self, at: At, what: &str) -> Option<T> {
        self.refuse(at, what);
        None
    }

    fn path(&mut self, path: &syntax::Template) -> Option<JsonPath> {
        let text = self.constant(path, "a JSONPath")?;
        JsonPath::parse(&text).map_err(|why| self.refuse(path.at, why)).ok()
    }

    fn pattern(&mut self, pattern: &Pattern, at: At) -> Option<Regex> {
        match pattern {
            Pattern::Literal(text) => self.regex(text, at),
            Pattern::Text(text) => {
                let constant = self.constant(text, "a regular expression")?;
                self.regex(&constant, text.at)
            }
        }
    }

    fn regex(&mut self, text: &str, at: At) -> Option<Regex> {
        let refuse = |error: regex::Error| {
            let error = error.to_string();
            let why = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
            let short: String = text.chars().take(SHOWN_CHARS).collect();
            let cut = if short.len() < text.len() { "…" } else { "" };
            self.refuse(at, format!("`{short}{cut}` is no regular expression: {why}"));
        };
        Regex::new(text).map_err(refuse).ok()
    }

    fn filters(&mut self, filters: &[syntax::Filter]) -> Vec<Filter> {
        filters.iter().filter_map(|filter| self.filter(filter)).collect()
    }

    fn filter(&mut self, filter: &syntax::Filter) -> Option<Filter> {
        let at = filter.at;
        Some(match &filter.kind {
            FilterKind::Base64Decode => Filter::Base64Decode,
            FilterKind::Base64Encode => Filter::Base64Encode,
            FilterKind::Base64UrlSafeDecode => Filter::Base64UrlSafeDecode,
            FilterKind::Base64UrlSafeEncode => Filter::Base64UrlSafeEncode,
            FilterKind::CharsetDecode(charset) => Filter::CharsetDecode(self.text(charset)),
            FilterKind::Count => Filter::Count,
            FilterKind::DaysAfterNow => Filter::DaysAfterNow,
            FilterKind::DaysBeforeNow => Filter::DaysBeforeNow,
            FilterKind::First => Filter::First,
            FilterKind::HtmlEscape => Filter::HtmlEscape,
            FilterKind::HtmlUnescape => Filter::HtmlUnescape,
            FilterKind::Jsonpath(path) => Filter::Jsonpath(self.path(path)?),
            FilterKind::Last => Filter::Last,
            FilterKind::Nth(NthIndex::Literal(index)) => Filter::Nth(*index),
            FilterKind::Regex(pattern) => Filter::Regex(self.pattern(pattern, at)?),
            FilterKind::Replace(old, new) => Filter::Replace(self.text(old), self.text(new)),
            FilterKind::ReplaceRegex(old, new) => {
                Filter::ReplaceRegex(self.pattern(old, at)?, self.text(new))
            }
            FilterKind::Split(separator) => Filter::Split(self.text(separator)),
            FilterKind::ToFloat => Filter::ToFloat,
            FilterKind::ToHex => Filter::ToHex,
            FilterKind::ToInt => Filter::ToInt,
            FilterKind::ToString => Filter::ToString,
            FilterKind::UrlDecode => Filter::UrlDecode,
            FilterKind::UrlEncode => Filter::UrlEncode,
            FilterKind::UrlQueryParam(name) => Filter::UrlQueryParam(self.text(name)),
            FilterKind::Utf8Decode => Filter::Utf8Decode,
            FilterKind::Utf8Encode => Filter::Utf8Encode,
            FilterKind::Nth(NthIndex::Placeholder(_)) => {
                return self.refused(at, "a variable as the index of nth is not supported");
            }
            FilterKind::DateFormat(_) => {
                return self.refused(at, &format!("the filter dateFormat: {DATES}"));
            }
            FilterKind::ToDate(_) => {
                return self.refused(at, &format!("the filter toDate: {DATES}"));
            }
            FilterKind::Location => {
                return self.refused(at, "the filter location is not supported");
            }
            FilterKind::Xpath(_) => return self.refused(at, XPATH),
        })
    }

    fn test(&mut self, predicate: &syntax::Predicate) -> Option<Test> {
        let at = predicate.at;
        Some(match &predicate.test {
            syntax::Test::Equal(value) => Test::Equal(self.compared(value, at)?),
            syntax::Test::NotEqual(value) => Test::NotEqual(self.compared(value, at)?),
            syntax::Test::Greater(value) => Test::Greater(self.compared(value, at)?),
            syntax::Test::GreaterOrEqual(value) => Test::GreaterOrEqual(self.compared(value, at)?),
            syntax::Test::Less(value) => Test::Less(self.compared(value, at)?),
            syntax::Test::LessOrEqual(value) => Test::LessOrEqual(self.compared(value, at)?),
            syntax::Test::StartsWith(value) => Test::StartsWith(self.compared(value, at)?),
            syntax::Test::EndsWith(value) => Test::EndsWith(self.compared(value, at)?),
            syntax::Test::Contains(value) => Test::Contains(self.compared(value, at)?),
            syntax::Test::Includes(value) => Test::Includes(self.compared(value, at)?),
            syntax::Test::Matches(PredicateValue::Regex(text)) => {
                Test::Matches(self.regex(text, at)?)
            }
            syntax::Test::Matches(PredicateValue::Text(text)) => {
                let constant = self.constant(text, "a regular expression")?;
                Test::Matches(self.regex(&constant, at)?)
            }
            syntax::Test::Matches(_) => {
                return self.refused(at, "matches wants a regular expression");
            }
            syntax::Test::Exists => Test::Exists,
            syntax::Test::Is(kind) => Test::Is(*kind),
        })
    }

    fn compared(&mut self, value: &PredicateValue, at: At) -> Option<Compared> {
        let text = |template: crate::template::Template| match template.as_constant() {
            Some(text) => {
                Compared::Constant(Value::Text(String::from_utf8_lossy(text).into_owned()))
            }
            None => Compared::Text(Text(template)),
        };
        Some(match value {
            PredicateValue::Null => Compared::Constant(Value::Null),
            PredicateValue::Boolean(value) => Compared::Constant(Value::Boolean(*value)),
            PredicateValue::Number(number) => Compared::Constant(Value::Number(number.clone())),
            PredicateValue::Bytes(bytes) => Compared::Constant(Value::Bytes(bytes.clone())),
            PredicateValue::Text(template) => text(self.plain(template)),
            PredicateValue::Multiline(multiline) => text(self.multiline(multiline)),
            PredicateValue::Placeholder(inner) => {
                if !inner.filters.is_empty() {
                    return self.refused(inner.at, "filters in {{…}} are not supported");
                }
                match &inner.source {
                    Source::Variable(name) => Compared::Variable(self.used(name, inner.at.line)),
                    Source::NewDate => Compared::Now,
                    Source::NewUuid => {
                        return self.refused(inner.at, "nothing equals a new UUID");
                    }
                }
            }
            PredicateValue::Regex(_) => {
                return self
                    .refused(at, "a regular expression here is not supported (fix: matches)");
            }
            PredicateValue::File(_) => {
                return self.refused(at, "a file in an assert is not supported (fix: sha256)");
            }
        })
    }
}
