//! The values in a file that describes an experiment, each with what is wrong with it in words.

use ablaze_model::experiment::Tool;
use toml::de::DeValue;

use crate::{suggest, values};

/// A value as it would stand on a command line.
pub(super) fn written(value: &DeValue<'_>) -> Result<String, String> {
    match value {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => {
            Ok(number.as_str().trim_start_matches('+').to_owned())
        }
        DeValue::Float(number) => Ok(number.as_str().trim_start_matches('+').to_owned()),
        DeValue::Boolean(truth) => Ok(truth.to_string()),
        _ => Err("expected a string or a number".to_owned()),
    }
}

/// What loads a target.
pub(super) fn tool(value: &DeValue<'_>) -> Result<Tool, String> {
    match value.as_str() {
        Some("ablaze") => Ok(Tool::Ablaze),
        Some("ab") => Ok(Tool::Ab),
        _ => Err("the client must be \"ablaze\" or \"ab\"".to_owned()),
    }
}

/// Runs of each target under each load.
pub(super) fn repeats(value: &DeValue<'_>) -> Result<u32, String> {
    match values::small_count(&written(value)?)? {
        0 => Err("repeats must be 1 or more".to_owned()),
        repeats => Ok(repeats),
    }
}

/// The time in which targets have to answer, ns.
pub(super) fn ready_within(value: &DeValue<'_>) -> Result<u64, String> {
    match values::duration_ns(&written(value)?)? {
        0 => Err("ready_within must be above zero, such as \"10s\"".to_owned()),
        ns => Ok(ns),
    }
}

/// What is asked for of targets that are started here.
pub(super) fn path(value: &DeValue<'_>) -> Result<String, String> {
    match value.as_str() {
        Some(path) if path.starts_with('/') => Ok(path.to_owned()),
        _ => Err("a path must be a string that starts with /".to_owned()),
    }
}

/// `true` or `false`.
pub(super) fn truth(value: &DeValue<'_>) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| "expected true or false".to_owned())
}

/// The error for an unknown word, with the nearest known one or all of them.
pub(super) fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    match suggest::nearest(word, known) {
        Some(near) => format!("unknown {what} `{word}`; did you mean `{near}`?"),
        None => format!("unknown {what} `{word}`; expected one of {}", known.join(", ")),
    }
}
