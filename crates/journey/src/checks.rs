//! What a step does with a response: what it expects of the first line, captures, asserts. What becomes of failures is
//! the caller's.

use std::fmt;

use crate::filter::{Filter, apply};
use crate::journey::Step;
use crate::predicate::Predicate;
use crate::query::Query;
use crate::response::{HttpVersion, Reading};
use crate::text::Text;
use crate::value::{Value, shown};
use crate::variables::{Moment, Scope, Variables};

/// Most bytes that a capture may hold.
pub const CAPTURE_BYTES_MAX: usize = 1 << 20;

/// What the line with `HTTP` and what follows it expect.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    pub line: u32,
    pub version: Option<HttpVersion>,
    pub status: Option<u64>,
    /// Names, values, lines.
    pub headers: Vec<(Text, Text, u32)>,
    pub body: Option<(ExpectedBody, u32)>,
}

#[derive(Debug, Clone)]
pub(crate) enum ExpectedBody {
    Text(Text),
    Bytes(Vec<u8>),
}

#[derive(Debug, Clone)]
pub(crate) struct Capture {
    pub line: u32,
    pub slot: usize,
    pub query: Query,
    pub filters: Vec<Filter>,
    pub is_redacted: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Assert {
    pub line: u32,
    /// As in the file.
    pub text: String,
    pub query: Query,
    pub filters: Vec<Filter>,
    pub predicate: Predicate,
}

/// A capture or an assert that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Its line in the file.
    pub line: u32,
    /// What is wrong, in words. It may show part of the response.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for Failure {}

/// How the asserts of a response went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checked {
    /// How many held.
    pub passed: u64,
    /// How many did not.
    pub failed: u64,
}

impl Checked {
    fn count(&mut self, line: u32, result: Result<(), String>, failed: &mut impl FnMut(Failure)) {
        match result {
            Ok(()) => self.passed += 1,
            Err(message) => {
                self.failed += 1;
                failed(Failure { line, message });
            }
        }
    }
}

impl Step {
    /// First of all: the version and the status, if the file gives them. If they are not as expected, Hurl neither
    /// captures nor asserts anything else.
    ///
    /// # Errors
    /// What came instead.
    pub fn expect(&self, reading: &Reading<'_>) -> Result<(), Failure> {
        let Some(expected) = &self.expected else { return Ok(()) };
        let line = expected.line;
        let (version, status) = (reading.view.version, reading.view.status);
        if expected.version.is_some_and(|expected| expected != version) {
            let message = format!("the version is {}", version.number());
            return Err(Failure { line, message });
        }
        match expected.status {
            Some(expected) if expected != u64::from(status) => {
                let message = format!("the status is {status}, not {expected}");
                Err(Failure { line, message })
            }
            _ => Ok(()),
        }
    }

    /// Then: captures, in order; each sees those before it.
    ///
    /// # Errors
    /// The first that finds nothing, or what it cannot keep.
    pub fn capture(
        &self,
        reading: &Reading<'_>,
        variables: &mut Variables,
        moment: &mut impl Moment,
    ) -> Result<(), Failure> {
        for capture in &self.captures {
            let mut scope = Scope { variables, names: &self.names, moment };
            let found = capture.evaluate(reading, &mut scope);
            let value = found.map_err(|why| {
                let message = format!("the capture of {}: {why}", self.names.name(capture.slot));
                Failure { line: capture.line, message }
            })?;
            variables.set(capture.slot, Some(value));
        }
        Ok(())
    }

    /// Last: expected header fields, the expected body, and asserts, all of them. `failed` gets each that does not hold.
    pub fn check(
        &self,
        reading: &Reading<'_>,
        variables: &Variables,
        moment: &mut impl Moment,
        mut failed: impl FnMut(Failure),
    ) -> Checked {
        let mut scope = Scope { variables, names: &self.names, moment };
        let mut checked = Checked::default();
        if let Some(expected) = &self.expected {
            for (name, value, line) in &expected.headers {
                checked.count(*line, header(name, value, reading, &mut scope), &mut failed);
            }
            if let Some((body, line)) = &expected.body {
                checked.count(*line, body.check(reading, &mut scope), &mut failed);
            }
        }
        for assert in &self.asserts {
            let result = assert.check(reading, &mut scope);
            let result = result.map_err(|why| format!("{}: {why}", assert.text));
            checked.count(assert.line, result, &mut failed);
        }
        checked
    }
}

impl Capture {
    fn evaluate(
        &self,
        reading: &Reading<'_>,
        scope: &mut Scope<'_, impl Moment>,
    ) -> Result<Value, String> {
        let found = self.query.evaluate(reading, scope)?;
        let Some(found) = found else { return Err("the query finds nothing".to_owned()) };
        let Some(value) = apply(&self.filters, Some(found), scope)? else {
            return Err("the filters leave nothing".to_owned());
        };
        if size(&value) > CAPTURE_BYTES_MAX {
            return Err(format!("its value is larger than {CAPTURE_BYTES_MAX} bytes"));
        }
        if self.is_redacted && !matches!(value, Value::Text(_)) {
            return Err(format!("only strings can be redacted, not {}", value.kind()));
        }
        Ok(value)
    }
}

/// Bytes that a value takes, about.
fn size(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(values) => values.iter().map(|value| size(value) + 32).sum(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| name.len() + size(value) + 56).sum()
        }
        _ => 0,
    }
}

impl Assert {
    fn check(
        &self,
        reading: &Reading<'_>,
        scope: &mut Scope<'_, impl Moment>,
    ) -> Result<(), String> {
        let found = self.query.evaluate(reading, scope)?;
        let value = apply(&self.filters, found, scope)?;
        self.predicate.check(value.as_ref(), scope)
    }
}

impl ExpectedBody {
    fn check(
        &self,
        reading: &Reading<'_>,
        scope: &mut Scope<'_, impl Moment>,
    ) -> Result<(), String> {
        let is_met = match self {
            Self::Text(expected) => reading.text()? == expected.get(scope)?,
            Self::Bytes(expected) => reading.body()? == expected.as_slice(),
        };
        if is_met { Ok(()) } else { Err("the body is another than expected".to_owned()) }
    }
}

fn header(
    name: &Text,
    expected: &Text,
    reading: &Reading<'_>,
    scope: &mut Scope<'_, impl Moment>,
) -> Result<(), String> {
    let (name, expected) = (name.get(scope)?, expected.get(scope)?);
    let mut values = reading.view.headers.values(name.as_bytes()).peekable();
    let Some(first) = values.peek() else { return Err(format!("there is no header {name}")) };
    let first = Value::Text(String::from_utf8_lossy(first).into_owned());
    match values.any(|value| value == expected.as_bytes()) {
        true => Ok(()),
        false => Err(format!("the header {name} is {}", shown(&first))),
    }
}
