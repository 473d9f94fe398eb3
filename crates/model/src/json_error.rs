//! What is wrong with a JSON document, without the names that its parts have in this program.

/// The message of serde_json: `expected struct ConnectionsSpec` is of no use to whoever reads a file.
pub fn in_words(error: &serde_json::Error) -> String {
    const KINDS: [(&str, &str); 7] = [
        ("internally tagged enum ", "an object"),
        ("adjacently tagged enum ", "an object"),
        ("untagged enum ", "another value"),
        ("tuple struct ", "an array"),
        ("unit struct ", "null"),
        ("struct ", "an object"),
        ("enum ", "a string or an object"),
    ];
    let text = error.to_string();
    let Some((before, expected)) = text.split_once("expected ") else { return text };
    let Some((kind, plain)) = KINDS.iter().find(|(kind, _)| expected.starts_with(kind)) else {
        return text;
    };
    let name = &expected[kind.len()..];
    let behind = name.find([' ', ',']).map_or("", |end| &name[end..]);
    format!("{before}expected {plain}{behind}")
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code)]
    struct SecretName {
        inner: Inner,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code)]
    struct Inner {
        number: u32,
    }

    #[test]
    fn no_name_of_a_type_is_told() {
        let said = |text: &str| in_words(&serde_json::from_str::<SecretName>(text).unwrap_err());
        assert_eq!(
            said("{\"inner\": 500}"),
            "invalid type: integer `500`, expected an object at line 1 column 13"
        );
        assert_eq!(said("{}"), "missing field `inner` at line 1 column 2");
        assert!(!said("[]").contains("SecretName"), "{}", said("[]"));
    }
}
