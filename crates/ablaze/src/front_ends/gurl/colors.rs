//! Colours of `-c`, as gurl has them: names and values of header fields, and JSON bodies, which are laid out as well.

use serde_json::Value;

const NAME: &str = "\x1b[30;1m";
const VALUE: &str = "\x1b[34;1m";
const END: &str = "\x1b[0m";

/// Writes a header field with a mark before it.
pub fn field(text: &mut Vec<u8>, mark: &str, name: &[u8], value: &[u8]) {
    let value = value.trim_ascii();
    for part in [NAME, mark, " "].map(str::as_bytes) {
        text.extend_from_slice(part);
    }
    text.extend_from_slice(name);
    text.extend_from_slice(format!("{END}: {VALUE}").as_bytes());
    text.extend_from_slice(value);
    text.extend_from_slice(END.as_bytes());
}

/// A JSON object in colours, by two blanks a level, with a line end; `None` for any other body.
pub fn json(body: &[u8]) -> Option<Vec<u8>> {
    let value: Value = serde_json::from_slice(body).ok().filter(Value::is_object)?;
    let mut text = String::new();
    write(&mut text, &value, 1);
    text.push('\n');
    Some(text.into_bytes())
}

fn write(text: &mut String, value: &Value, level: usize) {
    let indent = |text: &mut String, level: usize| {
        text.push('\n');
        text.extend(std::iter::repeat_n("  ", level));
    };
    match value {
        Value::Object(members) if !members.is_empty() => {
            text.push('{');
            for (at, (name, value)) in members.iter().enumerate() {
                text.push_str(if at > 0 { "," } else { "" });
                indent(text, level);
                text.push_str(&format!("\x1b[94m{}{END}: ", Value::from(name.as_str())));
                write(text, value, level + 1);
            }
            indent(text, level - 1);
            text.push('}');
        }
        Value::Array(items) if !items.is_empty() => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at > 0 { "," } else { "" });
                indent(text, level);
                write(text, item, level + 1);
            }
            indent(text, level - 1);
            text.push(']');
        }
        plain => {
            let color = match plain {
                Value::String(_) => "\x1b[32m",
                Value::Number(_) => "\x1b[36m",
                Value::Bool(_) => "\x1b[33m",
                Value::Null => "\x1b[35m",
                _ => return text.push_str(&plain.to_string()),
            };
            text.push_str(&format!("{color}{plain}{END}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_json_object_is_laid_out_and_nothing_else_is_touched() {
        let colored = json(br#"{"a":{"b":[1,"x",[]]},"c":null,"d":true,"e":{}}"#).unwrap();
        let colored = String::from_utf8(colored).unwrap();
        assert!(
            colored.contains("\n  \x1b[94m\"a\"\x1b[0m: {\n    \x1b[94m\"b\"\x1b[0m: [\n"),
            "{colored}"
        );
        let mut plain = colored.clone();
        for code in ["94", "32", "36", "33", "35", "0"] {
            plain = plain.replace(&format!("\x1b[{code}m"), "");
        }
        let expected = "{\n  \"a\": {\n    \"b\": [\n      1,\n      \"x\",\n      []\n    ]\n  },\n  \"c\": null,\n  \"d\": true,\n  \"e\": {}\n}\n";
        assert_eq!(plain, expected);
        for body in [&b"[1]"[..], b"text", b"", b"{"] {
            assert_eq!(json(body), None);
        }
    }
}
