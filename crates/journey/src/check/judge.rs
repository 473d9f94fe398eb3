//! What a check says of a response. Nothing is allocated but by `json`, and for the words about what failed.

use std::cmp::Ordering;

use memchr::memmem;

use super::{Asked, Check, Sign, Test};
use crate::cookie::SetCookie;
use crate::json;
use crate::response::Reading;
use crate::value::{Number, Value, shown};

/// A response, as far as it is there.
#[derive(Debug)]
pub struct Checkable<'a> {
    /// The response: its body as it was kept, without content codings.
    pub reading: Reading<'a>,
    /// Length of the body, of which less may be kept.
    pub body_bytes: u64,
    /// Whether less is kept than there was.
    pub is_cut: bool,
}

impl Check {
    /// Whether it is true of a response.
    ///
    /// # Errors
    /// In words: what is there instead, or why it cannot be told, which `not` does not change.
    pub fn judge(&self, response: &Checkable<'_>) -> Result<(), String> {
        let view = &response.reading.view;
        match &self.asked {
            Asked::Status => self.number(view.status.into(), |status| status.to_string()),
            Asked::Size => self.number(response.body_bytes, |bytes| format!("{bytes} bytes")),
            Asked::Duration => {
                self.number(view.duration_ns, |ns| format!("{:.3} ms", ns as f64 / 1e6))
            }
            Asked::Header(name) => {
                let mut values = view.headers.values(name.as_bytes());
                // Of a field that comes several times, one that is right is enough.
                let first = values.next();
                self.any_text(first, values)
            }
            Asked::Cookie(name) => {
                let fields = view.headers.values(b"set-cookie");
                let mut values = fields
                    .filter_map(SetCookie::parse)
                    .filter(|cookie| cookie.name == name)
                    .map(|cookie| cookie.value.as_bytes());
                let first = values.next();
                self.any_text(first, values)
            }
            Asked::Body => {
                response.can_be_read()?;
                self.verdict(self.test.of_text(view.body), || {
                    format!("the body of {} bytes does not meet it", view.body.len())
                })
            }
            Asked::Json(path) => {
                response.can_be_read()?;
                let text = response.reading.text()?;
                let found = path.find(text).map_err(|_| json::why_not(text))?;
                match &found {
                    None => self.verdict(false, || "there is nothing".to_owned()),
                    Some(value) => self
                        .verdict(self.test.of_value(value), || format!("it is {}", shown(value))),
                }
            }
        }
    }

    fn verdict(&self, is_met: bool, words: impl FnOnce() -> String) -> Result<(), String> {
        if is_met != self.not { Ok(()) } else { Err(words()) }
    }

    fn number(&self, number: u64, words: impl FnOnce(u64) -> String) -> Result<(), String> {
        let Test::Number(sign, limit) = &self.test else { return Ok(()) };
        self.verdict(sign.holds(number.cmp(limit)), || format!("it is {}", words(number)))
    }

    fn any_text<'a>(
        &self,
        first: Option<&'a [u8]>,
        mut others: impl Iterator<Item = &'a [u8]>,
    ) -> Result<(), String> {
        let Some(first) = first else {
            return self.verdict(false, || "there is none".to_owned());
        };
        let is_met = self.test.of_text(first) || others.any(|value| self.test.of_text(value));
        self.verdict(is_met, || {
            format!("it is {}", shown(&Value::Text(String::from_utf8_lossy(first).into_owned())))
        })
    }
}

impl Checkable<'_> {
    /// Whether the whole body is here.
    fn can_be_read(&self) -> Result<(), String> {
        if self.is_cut {
            return Err(format!(
                "the body has {} bytes, and checks look at {} at most",
                self.body_bytes,
                crate::CAPTURE_BYTES_MAX
            ));
        }
        Ok(())
    }
}

impl Sign {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

impl Test {
    /// Of bytes that need not be UTF-8.
    fn of_text(&self, text: &[u8]) -> bool {
        match self {
            Self::Value(sign, Value::Number(limit)) => {
                let number = std::str::from_utf8(text).ok().map(str::trim).and_then(number);
                number.is_some_and(|number| {
                    let limit = Value::Number(limit.clone());
                    Value::Number(number).compare(&limit).is_some_and(|order| sign.holds(order))
                })
            }
            Self::Value(sign, Value::Text(other)) => sign.holds(text.cmp(other.as_bytes())),
            Self::Contains(Value::Text(part)) => memmem::find(text, part.as_bytes()).is_some(),
            Self::Starts(start) => text.starts_with(start.as_bytes()),
            Self::Ends(end) => text.ends_with(end.as_bytes()),
            Self::Matches(regex) => regex.is_match(text),
            Self::Exists => true,
            Self::Number(..) | Self::Value(..) | Self::Contains(_) => false,
        }
    }

    /// Of a value in JSON. Those of another kind meet no test but `!=`.
    fn of_value(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Value(Sign::Equal, other), value) => value == other,
            (Self::Value(Sign::NotEqual, other), value) => value != other,
            (Self::Value(sign, other), value) => {
                value.compare(other).is_some_and(|order| sign.holds(order))
            }
            (Self::Contains(part), Value::List(values)) => values.contains(part),
            // What looks like a number stands in a text as its digits.
            (Self::Contains(part), Value::Text(text)) => {
                part.text().is_some_and(|part| text.contains(&part))
            }
            (Self::Exists, _) => true,
            (_, Value::Text(text)) => self.of_text(text.as_bytes()),
            _ => false,
        }
    }
}

/// A number in text, if it is nothing else.
fn number(text: &str) -> Option<Number> {
    if let Ok(integer) = text.parse() {
        return Some(Number::Integer(integer));
    }
    let number: f64 = text.parse().ok()?;
    number.is_finite().then_some(Number::Float(number))
}
