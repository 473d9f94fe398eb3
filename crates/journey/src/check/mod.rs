//! Checks: what a response must be, as a line such as `status == 200` or `json $.id > 0`. `parse` reads one, `judge` asks a
//! response. They have no variables: each looks at one response alone.

mod judge;
mod parse;
#[cfg(test)]
mod tests;

use regex::bytes::Regex;

use crate::jsonpath::JsonPath;
use crate::syntax::ParseError;
use crate::value::Value;

pub use judge::Checkable;

/// A check, compiled.
#[derive(Debug, Clone)]
pub struct Check {
    text: String,
    asked: Asked,
    not: bool,
    test: Test,
}

/// When a check can be judged at the earliest, and what has to be kept for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LooksAt {
    /// The head: as soon as that is complete.
    Head,
    /// How long the response took, or how many bytes its body has: when it is complete, of which nothing is kept.
    End,
    /// The body, which has to be kept.
    Body,
}

/// What a response is asked for.
#[derive(Debug, Clone)]
enum Asked {
    Status,
    /// The body's length, bytes.
    Size,
    /// ns.
    Duration,
    Header(String),
    Cookie(String),
    Body,
    Json(JsonPath),
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// What must be true of it.
#[derive(Debug, Clone)]
enum Test {
    /// Of a status, a size or a time.
    Number(Sign, u64),
    /// Of text, or a value in JSON; numbers in text are compared as such where the order is asked.
    Value(Sign, Value),
    Contains(Value),
    Starts(String),
    Ends(String),
    Matches(Regex),
    Exists,
}

impl Check {
    /// Reads a check. `option` is what it was given by, for messages.
    ///
    /// # Errors
    /// At the first place that is none, with what was expected there.
    pub fn parse(text: &str, option: &str) -> Result<Self, ParseError> {
        parse::check(text, option)
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What has to be there to judge it.
    pub fn looks_at(&self) -> LooksAt {
        match self.asked {
            Asked::Status | Asked::Header(_) | Asked::Cookie(_) => LooksAt::Head,
            Asked::Size | Asked::Duration => LooksAt::End,
            Asked::Body | Asked::Json(_) => LooksAt::Body,
        }
    }
}
