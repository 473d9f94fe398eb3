//! JSON Lines: an object on each line.

use serde_json::{Map, Value};

use crate::FeedError;

/// The keys of the first object.
pub(crate) fn names(text: &[u8]) -> Result<Vec<String>, FeedError> {
    match rows(text).next() {
        None => Err(FeedError::Empty),
        Some(row) => Ok(row?.1.into_iter().map(|(key, _)| key).collect()),
    }
}

/// The objects, each with its line. Empty lines are none.
pub(crate) fn rows(
    text: &[u8],
) -> impl Iterator<Item = Result<(usize, Map<String, Value>), FeedError>> + '_ {
    let lines = text.split(|byte| *byte == b'\n').enumerate();
    lines.filter(|(_, line)| !line.trim_ascii().is_empty()).map(|(index, line)| {
        let wrong = |what| FeedError::Line { line: index + 1, what };
        match serde_json::from_slice(line) {
            Ok(Value::Object(object)) => Ok((index + 1, object)),
            Ok(_) => Err(wrong("expected a JSON object, such as {\"user\": \"ann\"}".to_owned())),
            Err(error) => Err(wrong(format!(
                "expected a JSON object: {} at column {}",
                reason(&error),
                error.column()
            ))),
        }
    })
}

/// What a value is in a request: the text of a string, and the JSON of everything else.
pub(crate) fn text(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::String(text) => out.extend_from_slice(text.as_bytes()),
        other => out.extend_from_slice(other.to_string().as_bytes()),
    }
}

/// The error without its place, which is said apart.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(reason, _)| reason.to_owned())
}
