//! What a load asks of a journey before it begins: what it cannot do, and which variables must be given.

use crate::checks::Assert;
use crate::compile::CompileError;
use crate::journey::{Journey, Step};
use crate::predicate::{Expected, Test};
use crate::query::Query;
use crate::value::{Number, Value};
use crate::variables::Variables;

impl Journey {
    /// What is asked for in the file and not done under load, by line.
    pub fn not_under_load(&self) -> Vec<CompileError> {
        let mut errors = Vec::new();
        for step in &self.steps {
            let mut refuse = |what: &str| {
                errors
                    .push(CompileError { line: step.line, what: format!("{}: {what}", step.name) });
            };
            let options = &step.options;
            if options.repeat == Some(None) {
                refuse("repeat without an end is not supported (fix: give a number)");
            }
            if step.files().any(|name| name.is_none()) {
                refuse("variables in the name of a file are not supported");
            }
            if step.has_header(b"Transfer-Encoding") {
                refuse(
                    "the header Transfer-Encoding is not supported: bodies are sent with their length",
                );
            }
        }
        if !self.steps.iter().any(Step::is_done) {
            let line = self.steps.first().map_or(1, |step| step.line);
            errors.push(CompileError { line, what: "there is no request to send".to_owned() });
        }
        errors
    }
}

impl Step {
    /// Whether it is not left out: by `skip`, or `repeat: 0`.
    pub fn is_done(&self) -> bool {
        self.options.skip != Some(true) && self.options.repeat != Some(Some(0))
    }

    /// Whether its captures and asserts look at more than version and status.
    pub fn needs_response(&self) -> bool {
        let of_expected = |expected: &crate::checks::Expected| {
            !expected.headers.is_empty() || expected.body.is_some()
        };
        !self.captures.is_empty()
            || !self.asserts.is_empty()
            || self.expected.as_ref().is_some_and(of_expected)
    }

    /// Whether the file says what version or status the response has.
    pub fn expects_first_line(&self) -> bool {
        let expected = self.expected.as_ref();
        expected.is_some_and(|expected| expected.version.is_some() || expected.status.is_some())
    }

    /// Whether the file permits any status, as `HTTP *` does, and asks for none in an assert.
    pub fn permits_any_status(&self) -> bool {
        let is_any = self.expected.as_ref().is_some_and(|expected| expected.status.is_none());
        is_any && self.expected_statuses().next().is_none()
    }

    /// Statuses that the file says the response has: behind `HTTP`, and by asserts of equality.
    pub fn expected_statuses(&self) -> impl Iterator<Item = u16> {
        let first = self.expected.as_ref().and_then(|expected| expected.status);
        let asserted = self.asserts.iter().filter_map(Assert::equal_status);
        first.into_iter().chain(asserted).filter_map(|status| u16::try_from(status).ok())
    }
}

impl Assert {
    fn equal_status(&self) -> Option<u64> {
        let is_plain = self.filters.is_empty() && !self.predicate.not;
        match (&self.query, &self.predicate.test) {
            (
                Query::Status,
                Test::Equal(Expected::Constant(Value::Number(Number::Integer(status)))),
            ) if is_plain => u64::try_from(*status).ok(),
            _ => None,
        }
    }
}

impl Value {
    /// What a value on a command line is, as Hurl reads it: null, true, false, numbers, and text, which may stand in
    /// quotation marks.
    pub fn given(text: &str) -> Self {
        let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        match (text, quoted) {
            (_, Some(inner)) => Self::from(inner),
            ("null", _) => Self::Null,
            ("true", _) => Self::Boolean(true),
            ("false", _) => Self::Boolean(false),
            _ => Self::number(text).unwrap_or_else(|| Self::from(text)),
        }
    }

    fn number(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_number = digits.starts_with(|first: char| first.is_ascii_digit())
            && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if !is_number {
            return None;
        }
        match text.parse::<i64>() {
            Ok(number) => Some(Self::Number(Number::Integer(number))),
            Err(_) if !text.contains('.') => {
                Some(Self::Number(Number::BigInteger(text.to_owned())))
            }
            Err(_) => text.parse().ok().map(|number| Self::Number(Number::Float(number))),
        }
    }
}

impl Variables {
    /// Sets a variable to a number, without memory of its own.
    pub fn set_integer(&mut self, slot: usize, value: i64) {
        self.set(slot, Some(Value::from(value)));
    }
}
