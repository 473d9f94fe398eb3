//! Hurl's values: what captures hold, what asserts look at. How they are compared and written.

use std::cmp::Ordering;
use std::io::Write;

use crate::date;
pub use crate::syntax::Number;

/// A value.
#[derive(Debug, Clone)]
pub enum Value {
    /// JSON's `null`.
    Null,
    /// True or false.
    Boolean(bool),
    /// A number.
    Number(Number),
    /// Text.
    Text(String),
    /// Bytes that need not be text.
    Bytes(Vec<u8>),
    /// A time: µs since 1970, UTC.
    Date(i64),
    /// Values in order.
    List(Vec<Value>),
    /// A JSON object, sorted by its names.
    Object(Vec<(String, Value)>),
    /// What is there and says no more, such as a cookie's `Secure`.
    Unit,
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Number(Number::Integer(value))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

/// As the predicate `==` has it: values of different kinds are different, but for numbers, which are compared as
/// such.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) | (Self::Unit, Self::Unit) => true,
            (Self::Boolean(one), Self::Boolean(other)) => one == other,
            (Self::Number(one), Self::Number(other)) => compare_numbers(one, other).is_eq(),
            (Self::Text(one), Self::Text(other)) => one == other,
            (Self::Bytes(one), Self::Bytes(other)) => one == other,
            (Self::Date(one), Self::Date(other)) => one == other,
            (Self::List(one), Self::List(other)) => one == other,
            (Self::Object(one), Self::Object(other)) => one == other,
            _ => false,
        }
    }
}

impl Value {
    /// What kind of value it is, as messages name it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "boolean",
            Self::Number(Number::Float(_)) => "float",
            Self::Number(_) => "integer",
            Self::Text(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Date(_) => "date",
            Self::List(_) => "list",
            Self::Object(_) => "object",
            Self::Unit => "something",
        }
    }

    /// Which of two is larger; `None` for kinds that have no order.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => Some(compare_numbers(one, other)),
            (Self::Text(one), Self::Text(other)) => Some(one.cmp(other)),
            (Self::Date(one), Self::Date(other)) => Some(one.cmp(other)),
            _ => None,
        }
    }

    /// Writes the value behind `out`, as a template does. `false`, and nothing written, for those that are no text:
    /// bytes, lists, objects.
    pub fn write(&self, out: &mut Vec<u8>) -> bool {
        // Writing into a vector does not fail.
        let _ = match self {
            Self::Null => out.write_all(b"null"),
            Self::Boolean(value) => write!(out, "{value}"),
            Self::Number(number) => write_number(number, out),
            Self::Text(text) => out.write_all(text.as_bytes()),
            Self::Date(unix_us) => date::write_iso(*unix_us, out),
            _ => return false,
        };
        true
    }

    /// The value as a template writes it; see [`Value::write`].
    pub fn text(&self) -> Option<String> {
        let mut out = Vec::new();
        let is_text = self.write(&mut out);
        String::from_utf8(out).ok().filter(|_| is_text)
    }
}

fn write_number(number: &Number, out: &mut Vec<u8>) -> std::io::Result<()> {
    match number {
        Number::Integer(value) => write!(out, "{value}"),
        Number::BigInteger(digits) => out.write_all(digits.as_bytes()),
        Number::Float(value) if value.fract() == 0.0 => write!(out, "{value:.1}"),
        Number::Float(value) => write!(out, "{value}"),
    }
}

/// By their values: 1 and 1.0 are equal.
fn compare_numbers(one: &Number, other: &Number) -> Ordering {
    use Number::{BigInteger, Float, Integer};
    let floats = |one: f64, other: f64| one.partial_cmp(&other).unwrap_or(Ordering::Equal);
    match (one, other) {
        (Integer(one), Integer(other)) => one.cmp(other),
        (Float(one), Float(other)) => floats(*one, *other),
        (Integer(one), Float(other)) => floats(*one as f64, *other),
        (Float(one), Integer(other)) => floats(*one, *other as f64),
        (BigInteger(one), BigInteger(other)) => compare_digits(one, other),
        // Larger than all integers of 64 bits, or smaller.
        (BigInteger(digits), Integer(_)) => sign(digits),
        (Integer(_), BigInteger(digits)) => sign(digits).reverse(),
        (BigInteger(digits), Float(other)) => floats(as_float(digits), *other),
        (Float(one), BigInteger(digits)) => floats(*one, as_float(digits)),
    }
}

fn sign(digits: &str) -> Ordering {
    if digits.starts_with('-') { Ordering::Less } else { Ordering::Greater }
}

fn as_float(digits: &str) -> f64 {
    digits.parse().unwrap_or(f64::NAN)
}

/// Without leading zeros, the longer number is the larger one.
fn compare_digits(one: &str, other: &str) -> Ordering {
    let by_size = |one: &str, other: &str| one.len().cmp(&other.len()).then(one.cmp(other));
    match (one.strip_prefix('-'), other.strip_prefix('-')) {
        (None, None) => by_size(one, other),
        (Some(one), Some(other)) => by_size(other, one),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
    }
}

/// The value as messages show it: its kind, and the beginning of what it is.
pub(crate) fn shown(value: &Value) -> String {
    const SHOWN: usize = 80;
    let text = match value {
        Value::Unit | Value::Null => return value.kind().to_owned(),
        Value::Bytes(bytes) => return format!("{} bytes", bytes.len()),
        Value::List(values) => return format!("list of {}", values.len()),
        Value::Object(members) => return format!("object of {}", members.len()),
        other => other.text().unwrap_or_default(),
    };
    let mut start: String = text.chars().take(SHOWN).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    format!("{} <{}>", value.kind(), ablaze_wire::printable::printable(&start))
}
