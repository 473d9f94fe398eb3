//! Predicates: what must be true of a value.

use std::cmp::Ordering;
use std::net::IpAddr;

use regex::Regex;

use crate::date;
use crate::syntax::Kind;
use crate::text::Text;
use crate::value::{Number, Value, shown};
use crate::variables::{Moment, Scope};

/// What a value is compared with.
#[derive(Debug, Clone)]
pub(crate) enum Expected {
    Constant(Value),
    Text(Text),
    Variable(usize),
    Now,
}

/// A test, compiled.
#[derive(Debug, Clone)]
pub(crate) enum Test {
    Equal(Expected),
    NotEqual(Expected),
    Greater(Expected),
    GreaterOrEqual(Expected),
    Less(Expected),
    LessOrEqual(Expected),
    StartsWith(Expected),
    EndsWith(Expected),
    Contains(Expected),
    Includes(Expected),
    Matches(Regex),
    Exists,
    Is(Kind),
}

/// A predicate, compiled.
#[derive(Debug, Clone)]
pub(crate) struct Predicate {
    pub not: bool,
    pub test: Test,
}

impl Predicate {
    /// Whether it is true of a value, or of none.
    ///
    /// # Errors
    /// In words: what is there instead, or that a value of this kind cannot be asked, which `not` does not change.
    pub fn check(
        &self,
        value: Option<&Value>,
        scope: &mut Scope<'_, impl Moment>,
    ) -> Result<(), String> {
        let is_met = match value {
            // No value meets no test, not even `!=`.
            None => false,
            Some(value) => self.test.check(value, scope)?.ok_or_else(|| {
                format!("{} is of a kind that this predicate does not take", shown(value))
            })?,
        };
        if is_met != self.not {
            return Ok(());
        }
        Err(value.map_or_else(
            || "there is nothing".to_owned(),
            |value| format!("it is {}", shown(value)),
        ))
    }
}

impl Expected {
    fn with<T>(
        &self,
        scope: &mut Scope<'_, impl Moment>,
        act: impl FnOnce(&Value) -> T,
    ) -> Result<T, String> {
        Ok(match self {
            Self::Constant(value) => act(value),
            Self::Text(text) => act(&Value::Text(text.get(scope)?.into_owned())),
            Self::Now => act(&Value::Date(scope.moment.unix_us())),
            Self::Variable(slot) => match scope.variables.get(*slot) {
                Some(value) => act(value),
                None => return Err(format!("the variable {} is not set", scope.names.name(*slot))),
            },
        })
    }
}

impl Test {
    /// Whether it is met; `None` for values that it cannot be asked of.
    fn check(
        &self,
        value: &Value,
        scope: &mut Scope<'_, impl Moment>,
    ) -> Result<Option<bool>, String> {
        let mut order = |expected: &Expected, is_met: fn(Ordering) -> bool| {
            expected.with(scope, |expected| value.compare(expected).map(is_met))
        };
        match self {
            Self::Equal(expected) => expected.with(scope, |expected| Some(value == expected)),
            Self::NotEqual(expected) => expected.with(scope, |expected| Some(value != expected)),
            Self::Greater(expected) => order(expected, Ordering::is_gt),
            Self::GreaterOrEqual(expected) => order(expected, Ordering::is_ge),
            Self::Less(expected) => order(expected, Ordering::is_lt),
            Self::LessOrEqual(expected) => order(expected, Ordering::is_le),
            Self::StartsWith(expected) => expected
                .with(scope, |expected| both(value, expected, |own, start| own.starts_with(start))),
            Self::EndsWith(expected) => expected
                .with(scope, |expected| both(value, expected, |own, end| own.ends_with(end))),
            Self::Contains(expected) => expected.with(scope, |expected| match value {
                Value::List(values) => Some(values.contains(expected)),
                _ => both(value, expected, |own, part| memchr::memmem::find(own, part).is_some()),
            }),
            Self::Includes(expected) => expected.with(scope, |expected| match value {
                Value::List(values) => Some(values.contains(expected)),
                _ => None,
            }),
            Self::Matches(regex) => Ok(text(value).map(|text| regex.is_match(text))),
            Self::Exists => Ok(Some(true)),
            Self::Is(kind) => Ok(is(*kind, value)),
        }
    }
}

fn text(value: &Value) -> Option<&str> {
    if let Value::Text(text) = value { Some(text) } else { None }
}

/// Asks two strings, or two byte strings.
fn both(one: &Value, other: &Value, is_met: fn(&[u8], &[u8]) -> bool) -> Option<bool> {
    match (one, other) {
        (Value::Text(one), Value::Text(other)) => Some(is_met(one.as_bytes(), other.as_bytes())),
        (Value::Bytes(one), Value::Bytes(other)) => Some(is_met(one, other)),
        _ => None,
    }
}

fn is(kind: Kind, value: &Value) -> Option<bool> {
    let address = || text(value).map(|text| text.parse::<IpAddr>().ok());
    Some(match kind {
        Kind::Boolean => matches!(value, Value::Boolean(_)),
        Kind::Collection => matches!(value, Value::Bytes(_) | Value::List(_) | Value::Object(_)),
        Kind::Date => matches!(value, Value::Date(_)),
        Kind::Empty => match value {
            Value::Text(text) => text.is_empty(),
            Value::Bytes(bytes) => bytes.is_empty(),
            Value::List(values) => values.is_empty(),
            Value::Object(members) => members.is_empty(),
            _ => return None,
        },
        Kind::Float => matches!(value, Value::Number(Number::Float(_))),
        Kind::Integer => {
            matches!(value, Value::Number(Number::Integer(_) | Number::BigInteger(_)))
        }
        Kind::Ipv4 => address()?.is_some_and(|address| address.is_ipv4()),
        Kind::Ipv6 => address()?.is_some_and(|address| address.is_ipv6()),
        Kind::IsoDate => date::is_rfc3339(text(value)?),
        Kind::List => matches!(value, Value::Bytes(_) | Value::List(_)),
        Kind::Number => matches!(value, Value::Number(_)),
        Kind::Object => matches!(value, Value::Object(_)),
        Kind::String => matches!(value, Value::Text(_)),
        Kind::Uuid => is_uuid(text(value)?),
    })
}

/// With hyphens or without, in braces, or as a URN.
fn is_uuid(text: &str) -> bool {
    let braced = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    let named = text.strip_prefix("urn:uuid:");
    let inner = braced.or(named).unwrap_or(text);
    let is_hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_simple = inner.len() == 32 && is_hex(inner) && inner == text;
    let lengths: Vec<usize> = inner.split('-').map(str::len).collect();
    is_simple || lengths == [8, 4, 4, 4, 12] && inner.split('-').all(is_hex)
}
