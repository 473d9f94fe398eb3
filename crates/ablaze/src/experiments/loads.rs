//! Loads as words, which are read once, by the parser of `ablaze load`. What of them is an axis is in
//! [`super::vary`].

use ablaze_model::experiment::Load;
use ablaze_model::spec::Secrets;

use crate::{CommandError, native, values};

/// A load before it is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Worded {
    /// What tables call it.
    pub label: String,
    /// Its place on the axis of a curve.
    pub x: Option<f64>,
    /// Options of `ablaze load`.
    pub options: Vec<String>,
}

impl Worded {
    /// The load that its words ask for.
    ///
    /// # Errors
    /// When `ablaze load` would not take them.
    pub fn read(self, secrets: &mut Secrets) -> Result<Load, CommandError> {
        let spec = native::of_words(&self.options, secrets)?;
        Ok(Load { label: self.label, x: self.x, ..Load::of(spec) })
    }
}

/// The one load, named by what matters of it.
pub fn one(options: Vec<String>) -> Worded {
    let value = |option: &str| {
        let at = options.iter().position(|word| word == option)?;
        options.get(at + 1).cloned()
    };
    let mut label = match value("--rate") {
        Some(rate) => format!("{rate} asked"),
        None => format!("c={}", value("--connections").unwrap_or_else(|| "50".to_owned())),
    };
    if options.iter().any(|word| word == "--no-keepalive") {
        label += " close";
    }
    Worded { label, x: None, options: with_length(options) }
}

/// The words with the length that a load of an experiment has unless they say otherwise.
pub fn with_length(mut words: Vec<String>) -> Vec<String> {
    let has_length = |word: &str| ["--duration", "--requests"].contains(&word);
    if !words.iter().any(|word| has_length(word)) {
        words.extend(["--duration".to_owned(), "3s".to_owned()]);
    }
    words
}

/// A value as a place on an axis: counts and rates are.
pub fn number(text: &str) -> Option<f64> {
    values::count(text).ok().map(|count| count as f64).or_else(|| {
        values::rate(text).ok().filter(|rate| rate.is_constant()).map(|rate| rate.from_per_s)
    })
}
