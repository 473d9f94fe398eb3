//! Templates, compiled: bytes and slots in order. Rendering copies them behind what the caller has, and allocates
//! nothing once that is large enough (but for a date in a query).

use std::fmt;

use crate::date;
use crate::json;
use crate::percent;
use crate::value::Value;
use crate::variables::{Moment, Names, Variables};

/// How a value is written where its template puts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// As it is.
    Plain,
    /// For queries and forms: everything but letters, digits and `-._~` as `%41`.
    Percent,
    /// In a string of JSON, with escapes.
    JsonString,
    /// A JSON value of its own: it must be a number, true, false or null.
    JsonValue,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Bytes(Box<[u8]>),
    Slot { slot: usize, encoding: Encoding, line: u32 },
    Uuid,
    Date(Encoding),
}

/// A template, compiled.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    parts: Vec<Part>,
}

/// A template that has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenderError {
    /// The variable.
    pub slot: usize,
    /// The line of the file on which it stands.
    pub line: u32,
    /// What is wrong with it.
    pub why: Unrenderable,
}

/// Why a variable cannot be put in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unrenderable {
    /// It is not set.
    Undefined,
    /// It holds something that is no text, of this kind.
    NotText(&'static str),
    /// It is a JSON value of its own, and neither a number nor true, false or null.
    NotJson,
}

impl RenderError {
    /// The error in words.
    pub fn explain(&self, names: &Names) -> String {
        let name = names.name(self.slot);
        match self.why {
            Unrenderable::Undefined => format!("the variable {name} is not set"),
            Unrenderable::NotText(kind) => format!("the variable {name} is no text but {kind}"),
            Unrenderable::NotJson => format!(
                "the variable {name} stands for a JSON value, and is no number, true, false or null (fix: \"{{{{{name}}}}}\" for a string)"
            ),
        }
    }
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.why {
            Unrenderable::Undefined => "is not set".to_owned(),
            Unrenderable::NotText(kind) => format!("is no text but {kind}"),
            Unrenderable::NotJson => "is no JSON value".to_owned(),
        };
        write!(f, "line {}: variable {} {what}", self.line, self.slot)
    }
}

impl std::error::Error for RenderError {}

impl Template {
    /// Of constant bytes.
    pub fn constant(bytes: &[u8]) -> Self {
        let mut template = Self::default();
        template.push_bytes(bytes);
        template
    }

    /// Adds bytes.
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if let Some(Part::Bytes(last)) = self.parts.last_mut() {
            *last = [last, bytes].concat().into();
        } else {
            self.parts.push(Part::Bytes(bytes.into()));
        }
    }

    /// Adds a variable; `line` is for messages.
    pub fn push_slot(&mut self, slot: usize, encoding: Encoding, line: u32) {
        self.parts.push(Part::Slot { slot, encoding, line });
    }

    pub(crate) fn push_uuid(&mut self) {
        self.parts.push(Part::Uuid);
    }

    pub(crate) fn push_date(&mut self, encoding: Encoding) {
        self.parts.push(Part::Date(encoding));
    }

    /// Adds another template.
    pub fn push(&mut self, other: &Self) {
        for part in &other.parts {
            match part {
                Part::Bytes(bytes) => self.push_bytes(bytes),
                other => self.parts.push(other.clone()),
            }
        }
    }

    /// Whether it begins with these bytes, whatever its variables are.
    pub fn begins_with(&self, start: &[u8]) -> bool {
        matches!(self.parts.first(), Some(Part::Bytes(bytes)) if bytes.starts_with(start))
    }

    /// Whether it is the empty text.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Its bytes, if no part of it can change.
    pub fn as_constant(&self) -> Option<&[u8]> {
        match self.parts.as_slice() {
            [] => Some(&[]),
            [Part::Bytes(bytes)] => Some(bytes),
            _ => None,
        }
    }

    /// The variables in it, each with its line.
    pub fn slots(&self) -> impl Iterator<Item = (usize, u32)> {
        self.parts.iter().filter_map(|part| match part {
            Part::Slot { slot, line, .. } => Some((*slot, *line)),
            _ => None,
        })
    }

    /// How many bytes of it are constant.
    pub fn constant_bytes(&self) -> usize {
        let length = |part: &Part| if let Part::Bytes(bytes) = part { bytes.len() } else { 0 };
        self.parts.iter().map(length).sum()
    }

    /// Writes it behind `out`. After an error `out` holds what it held before.
    ///
    /// # Errors
    /// A variable that is not set, or is no text.
    pub fn render(
        &self,
        variables: &Variables,
        moment: &mut impl Moment,
        out: &mut Vec<u8>,
    ) -> Result<(), RenderError> {
        let before = out.len();
        for part in &self.parts {
            match part {
                Part::Bytes(bytes) => out.extend_from_slice(bytes),
                Part::Uuid => write_uuid(moment.random(), out),
                Part::Date(encoding) => {
                    // Dates are text: it is written.
                    let _ = write_value(&Value::Date(moment.unix_us()), *encoding, out);
                }
                Part::Slot { slot, encoding, line } => {
                    let written = match variables.get(*slot) {
                        Some(value) => write_value(value, *encoding, out),
                        None => Err(Unrenderable::Undefined),
                    };
                    if let Err(why) = written {
                        out.truncate(before);
                        return Err(RenderError { slot: *slot, line: *line, why });
                    }
                }
            }
        }
        Ok(())
    }
}

fn write_value(value: &Value, encoding: Encoding, out: &mut Vec<u8>) -> Result<(), Unrenderable> {
    let start = out.len();
    match (value, encoding) {
        (Value::Text(text), Encoding::Percent) => percent::encode(text.as_bytes(), out),
        (Value::Text(text), Encoding::JsonString) => escape_json(text, out),
        // Of what is no text, only dates have a character that must be encoded.
        (Value::Date(unix_us), Encoding::Percent) => {
            let mut text = Vec::new();
            // Writing into a vector does not fail.
            let _ = date::write_iso(*unix_us, &mut text);
            percent::encode(&text, out);
        }
        _ if !value.write(out) => return Err(Unrenderable::NotText(value.kind())),
        (_, Encoding::JsonValue) if !json::is_scalar(&out[start..]) => {
            return Err(Unrenderable::NotJson);
        }
        _ => {}
    }
    Ok(())
}

/// With the escapes that Hurl writes, and those that JSON demands besides.
pub(crate) fn escape_json(text: &str, out: &mut Vec<u8>) {
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            0..b' ' => {
                out.extend(b"\\u00");
                out.extend([byte >> 4, byte & 15].map(hex_digit));
            }
            _ => out.push(byte),
        }
    }
}

fn hex_digit(half: u8) -> u8 {
    percent::DIGITS[usize::from(half)].to_ascii_lowercase()
}

/// A UUID of version 4 (RFC 9562, 5.4).
fn write_uuid(random: u128, out: &mut Vec<u8>) {
    let bits = random & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    for (index, byte) in bits.to_be_bytes().into_iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        for half in [byte >> 4, byte & 15] {
            out.push(hex_digit(half));
        }
    }
}
