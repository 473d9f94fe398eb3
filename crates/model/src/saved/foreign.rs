//! Strings of others in data that is to be shown: a process may call itself anything, and a saved run may come from
//! anybody.

use ablaze_wire::printable::{is_hostile, printable};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Bytes that were received, a character each: they are kept as they came, and whoever shows them spells them.
const BYTES: [&[&str]; 2] = [&["first_response", "head"], &["failed", "first_malformed"]];

/// The same data with every string fit to be shown in one line. What has no saved form stays as it is.
pub fn shown<T: Serialize + DeserializeOwned>(data: T) -> T {
    // By way of text, as what is saved and read: the code that makes values of types, and types of values, is as large again.
    let Ok(text) = serde_json::to_string_pretty(&data) else { return data };
    let Ok(mut value) = serde_json::from_str(&text) else { return data };
    if !make_printable(&mut value) {
        return data;
    }
    serde_json::from_str(&value.to_string()).unwrap_or(data)
}

/// Spells every string of a saved run, names included, but for the bytes received; whether that changed any.
pub(super) fn make_printable(document: &mut Value) -> bool {
    walk(document, &mut Vec::new())
}

fn walk(value: &mut Value, path: &mut Vec<String>) -> bool {
    match value {
        Value::String(text) => {
            let changes = text.contains(is_hostile) && !BYTES.contains(&&*path_of(path));
            if changes {
                *text = printable(text).into_owned();
            }
            changes
        }
        Value::Array(values) => {
            values.iter_mut().fold(false, |changed, value| walk(value, path) | changed)
        }
        Value::Object(members) => {
            let mut changed = false;
            for (name, member) in members.iter_mut() {
                path.push(name.clone());
                changed |= walk(member, path);
                path.pop();
            }
            if members.keys().any(|name| name.contains(is_hostile)) {
                let spelled =
                    |(name, value): (String, Value)| (printable(&name).into_owned(), value);
                *members = std::mem::take(members).into_iter().map(spelled).collect::<Map<_, _>>();
                changed = true;
            }
            changed
        }
        _ => false,
    }
}

fn path_of(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn strings_and_names_are_spelled_and_received_bytes_are_kept() {
        let head = "HTTP/1.1 200 OK\r\nServer: \u{9b}2J\r\n\r\n";
        let mut document = json!({
            "first_response": {"head": head, "of": "a\nb"},
            "list": [1, {"head": "\u{1b}c"}],
            "\u{202e}": "x",
        });
        assert!(make_printable(&mut document));
        let expected = json!({
            "first_response": {"head": head, "of": "a\\nb"},
            "list": [1, {"head": "\\u{1b}c"}],
            "\\u{202e}": "x",
        });
        assert_eq!(document, expected);
        assert!(!make_printable(&mut document));
    }

    #[test]
    fn data_comes_back_as_it_was_but_for_that() {
        assert_eq!(
            shown(vec!["plain".to_owned(), "\u{1b}[2J".to_owned()]),
            ["plain", "\\u{1b}[2J"]
        );
        // Read by one multiplication, each would be its neighbour.
        let numbers = [26_872.848_822_480_246, 99_087.017_418_388_19, 130_318.594_544_552_59];
        let data = (numbers, "\u{1b}".to_owned());
        assert_eq!(shown(data).0, numbers);
    }
}
