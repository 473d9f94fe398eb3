//! Filters: what is done to a value before it is kept or compared.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use regex::Regex;

use crate::html;
use crate::jsonpath::JsonPath;
use crate::percent;
use crate::query::group;
use crate::response::decode;
use crate::text::Text;
use crate::value::{Number, Value, shown};
use crate::variables::{Moment, Scope};

/// A filter, compiled.
#[derive(Debug, Clone)]
pub(crate) enum Filter {
    Base64Decode,
    Base64Encode,
    Base64UrlSafeDecode,
    Base64UrlSafeEncode,
    CharsetDecode(Text),
    Count,
    DaysAfterNow,
    DaysBeforeNow,
    First,
    HtmlEscape,
    HtmlUnescape,
    Jsonpath(JsonPath),
    Last,
    Nth(i64),
    Regex(Regex),
    Replace(Text, Text),
    ReplaceRegex(Regex, Text),
    Split(Text),
    ToFloat,
    ToHex,
    ToInt,
    ToString,
    UrlDecode,
    UrlEncode,
    UrlQueryParam(Text),
    Utf8Decode,
    Utf8Encode,
}

/// Does them in order.
///
/// # Errors
/// In words: a value that a filter cannot take, or none where one needs one.
pub(crate) fn apply(
    filters: &[Filter],
    value: Option<Value>,
    scope: &mut Scope<'_, impl Moment>,
) -> Result<Option<Value>, String> {
    filters.iter().try_fold(value, |value, filter| match value {
        Some(value) => filter.apply(value, scope),
        None => Err("there is nothing to filter".to_owned()),
    })
}

impl Filter {
    fn apply(
        &self,
        value: Value,
        scope: &mut Scope<'_, impl Moment>,
    ) -> Result<Option<Value>, String> {
        Ok(Some(match (self, value) {
            (Self::Base64Decode, Value::Text(text)) => bytes(STANDARD.decode(text))?,
            (Self::Base64Encode, Value::Bytes(bytes)) => Value::Text(STANDARD.encode(bytes)),
            (Self::Base64UrlSafeDecode, Value::Text(text)) => bytes(URL_SAFE_NO_PAD.decode(text))?,
            (Self::Base64UrlSafeEncode, Value::Bytes(bytes)) => {
                Value::Text(URL_SAFE_NO_PAD.encode(bytes))
            }
            (Self::CharsetDecode(charset), Value::Bytes(bytes)) => {
                Value::from(&*decode(&bytes, charset.get(scope)?.as_bytes())?)
            }
            // What is no UTF-8 is replaced, as Hurl does; `charsetDecode "utf-8"` refuses it.
            (Self::Utf8Decode, Value::Bytes(bytes)) => {
                Value::Text(String::from_utf8_lossy(&bytes).into_owned())
            }
            (Self::Utf8Encode, Value::Text(text)) => Value::Bytes(text.into_bytes()),
            (Self::Count, Value::List(values)) => count(values.len()),
            (Self::Count, Value::Bytes(bytes)) => count(bytes.len()),
            (Self::DaysAfterNow, Value::Date(date)) => days(date - scope.moment.unix_us()),
            (Self::DaysBeforeNow, Value::Date(date)) => days(scope.moment.unix_us() - date),
            (Self::First, Value::List(values)) => nth(values, 0)?,
            (Self::Last, Value::List(values)) => nth(values, -1)?,
            (Self::Nth(index), Value::List(values)) => nth(values, *index)?,
            (Self::HtmlEscape, Value::Text(text)) => Value::Text(html::escape(&text)),
            (Self::HtmlUnescape, Value::Text(text)) => Value::Text(html::unescape(&text)),
            (Self::Jsonpath(path), Value::Text(text)) => {
                return path.find(&text).map_err(|_| "the value is no JSON".to_owned());
            }
            (Self::Regex(regex), Value::Text(text)) => return Ok(group(regex, &text)),
            (Self::Replace(old, new), Value::Text(text)) => {
                Value::Text(text.replace(&*old.get(scope)?, &new.get(scope)?))
            }
            (Self::ReplaceRegex(regex, new), Value::Text(text)) => {
                Value::Text(regex.replace_all(&text, new.get(scope)?).into_owned())
            }
            (Self::Split(separator), Value::Text(text)) => {
                Value::List(text.split(&*separator.get(scope)?).map(Value::from).collect())
            }
            (Self::ToFloat, value) => Value::Number(Number::Float(float(&value)?)),
            (Self::ToInt, value) => Value::from(integer(&value)?),
            (Self::ToHex, Value::Bytes(bytes)) => {
                Value::Text(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
            }
            (Self::ToString, value) => match value.text() {
                Some(text) => Value::Text(text),
                None => return Err(format!("{} cannot be written as text", shown(&value))),
            },
            (Self::UrlDecode, Value::Text(text)) => {
                let decoded = percent::decode(text.as_bytes());
                Value::Text(String::from_utf8_lossy(&decoded).into_owned())
            }
            (Self::UrlEncode, Value::Text(text)) => Value::Text(url_encode(&text)),
            (Self::UrlQueryParam(name), Value::Text(text)) => {
                return url_query_param(&text, &name.get(scope)?);
            }
            (filter, value) => return Err(filter.refuse(&value)),
        }))
    }

    /// Says what a filter takes, and that this is something else.
    fn refuse(&self, value: &Value) -> String {
        let takes = match self {
            Self::Base64Encode
            | Self::Base64UrlSafeEncode
            | Self::CharsetDecode(_)
            | Self::Utf8Decode
            | Self::ToHex => "bytes",
            Self::Count => "a list or bytes",
            Self::DaysAfterNow | Self::DaysBeforeNow => "a date",
            Self::First | Self::Last | Self::Nth(_) => "a list",
            _ => "a string",
        };
        format!("the filter takes {takes}, not {}", shown(value))
    }
}

fn bytes(decoded: Result<Vec<u8>, base64::DecodeError>) -> Result<Value, String> {
    decoded.map(Value::Bytes).map_err(|_| "the string is no base64".to_owned())
}

fn count(length: usize) -> Value {
    Value::from(i64::try_from(length).unwrap_or(i64::MAX))
}

/// Whole days, rounded to zero.
fn days(us: i64) -> Value {
    Value::from(us / 86_400_000_000)
}

fn nth(mut values: Vec<Value>, index: i64) -> Result<Value, String> {
    let length = values.len() as i64;
    let at = if index < 0 { length.saturating_add(index) } else { index };
    if (0..length).contains(&at) {
        Ok(values.swap_remove(at as usize))
    } else {
        Err(format!("there is no element {index}: the list has {length}"))
    }
}

fn float(value: &Value) -> Result<f64, String> {
    let parsed = match value {
        Value::Number(Number::Float(value)) => Some(*value),
        Value::Number(Number::Integer(value)) => Some(*value as f64),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    };
    parsed.ok_or_else(|| format!("{} is no float", shown(value)))
}

fn integer(value: &Value) -> Result<i64, String> {
    let parsed = match value {
        Value::Number(Number::Integer(value)) => Some(*value),
        // Towards zero, to the nearest that there is.
        Value::Number(Number::Float(value)) => Some(*value as i64),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    };
    parsed.ok_or_else(|| format!("{} is no integer", shown(value)))
}

/// Everything but unreserved characters and slashes.
fn url_encode(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    percent::encode_but(text.as_bytes(), |byte| byte == b'/', &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// The first parameter of that name in the query of a URL.
fn url_query_param(url: &str, name: &str) -> Result<Option<Value>, String> {
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(format!("{} is no URL", shown(&Value::from(url))));
    }
    let url = url.split('#').next().unwrap_or_default();
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let decode = |text: &str| {
        let decoded = percent::decode(text.replace('+', " ").as_bytes());
        String::from_utf8_lossy(&decoded).into_owned()
    };
    let mut parameters = query.split('&').filter(|parameter| !parameter.is_empty());
    Ok(parameters.find_map(|parameter| {
        let (own, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        (decode(own) == name).then(|| Value::Text(decode(value)))
    }))
}
