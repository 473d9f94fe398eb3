//! JSONPath and JSON, beside serde_json: the same documents are JSON, and the same values are found.

use std::fmt::Write;

use ablaze_journey::{JsonPath, NotJson, Number, Value};
use proptest::prelude::*;
use serde_json::Value as Json;

/// One step, as the test walks it.
#[derive(Debug, Clone)]
enum Part {
    Name(String),
    Index(i64),
    All,
}

/// What a path finds in serde_json's tree.
fn walk<'a>(json: &'a Json, path: &[Part], found: &mut Vec<&'a Json>) {
    let Some((first, rest)) = path.split_first() else { return found.push(json) };
    match (first, json) {
        (Part::Name(name), Json::Object(members)) => {
            members.get(name).into_iter().for_each(|json| walk(json, rest, found));
        }
        (Part::Index(index), Json::Array(values)) => {
            let at = if *index < 0 { index + values.len() as i64 } else { *index };
            let value = usize::try_from(at).ok().and_then(|at| values.get(at));
            value.into_iter().for_each(|json| walk(json, rest, found));
        }
        (Part::All, Json::Array(values)) => values.iter().for_each(|json| walk(json, rest, found)),
        (Part::All, Json::Object(members)) => {
            members.values().for_each(|json| walk(json, rest, found));
        }
        _ => {}
    }
}

fn is_same(json: &Json, value: &Value) -> bool {
    match (json, value) {
        (Json::Null, Value::Null) => true,
        (Json::Bool(one), Value::Boolean(other)) => one == other,
        (Json::String(one), Value::Text(other)) => one == other,
        (Json::Number(one), Value::Number(Number::Float(other))) => {
            one.is_f64() && one.as_f64() == Some(*other)
        }
        (Json::Number(one), Value::Number(Number::Integer(other))) => one.as_i64() == Some(*other),
        (Json::Number(one), Value::Number(Number::BigInteger(other))) => {
            &one.to_string() == other || one.is_f64()
        }
        (Json::Array(one), Value::List(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Json::Object(one), Value::Object(other)) => {
            let pairs = one.iter().zip(other);
            one.len() == other.len()
                && pairs
                    .into_iter()
                    .all(|(one, other)| one.0 == &other.0 && is_same(one.1, &other.1))
        }
        _ => false,
    }
}

fn path_text(path: &[Part]) -> String {
    let mut text = "$".to_owned();
    for part in path {
        let _ = match part {
            Part::Name(name)
                if name.chars().all(|c| c.is_ascii_lowercase()) && !name.is_empty() =>
            {
                write!(text, ".{name}")
            }
            Part::Name(name) => write!(
                text,
                " ['{}' ]",
                name.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n")
            ),
            Part::Index(index) => write!(text, "[ {index} ]"),
            Part::All => write!(text, "[*]"),
        };
    }
    text
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("b"), Just("c d"), Just("\u{e9}'\\"), Just(""), Just("\n")]
        .prop_map(String::from)
}

fn documents() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(Json::from),
        any::<String>().prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::vec((names(), inner), 0..5).prop_map(|members| Json::from(
                members.into_iter().collect::<serde_json::Map<_, _>>()
            )),
        ]
    })
}

fn paths() -> impl Strategy<Value = Vec<Part>> {
    let part = prop_oneof![
        names().prop_map(Part::Name),
        (-3_i64..4).prop_map(Part::Index),
        Just(Part::All),
    ];
    prop::collection::vec(part, 0..5)
}

proptest! {
    #[test]
    fn a_path_finds_what_a_walk_finds(json in documents(), path in paths(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&json) } else { serde_json::to_string(&json) }.unwrap();
        let mut walked = Vec::new();
        walk(&json, &path, &mut walked);
        let found = JsonPath::parse(&path_text(&path)).unwrap().find(&text).unwrap();
        match (walked.as_slice(), &found) {
            ([], None) => {}
            ([json], Some(value)) => prop_assert!(is_same(json, value), "{text} {path:?} {found:?}"),
            (several, Some(Value::List(values))) if several.len() > 1 => {
                prop_assert!(several.len() == values.len(), "{text} {path:?} {found:?}");
                for (json, value) in several.iter().zip(values) {
                    prop_assert!(is_same(json, value), "{text} {path:?} {found:?}");
                }
            }
            _ => prop_assert!(false, "{text} {path:?} {found:?}"),
        }
    }

    #[test]
    fn what_is_json_is_json_for_both(json in documents(), at: prop::sample::Index, with in "[\\[\\]{}\",:\\\\u0d-e.t \n]") {
        let mut text = serde_json::to_string(&json).unwrap();
        let at = at.index(text.chars().count());
        let (start, old) = text.char_indices().nth(at).map(|(start, old)| (start, old.len_utf8())).unwrap();
        text.replace_range(start..start + old, &with);
        let ours = JsonPath::parse("$.a[0]").unwrap().find(&text).is_ok();
        // Numbers beyond an f64 are the only difference: they are no value here either, when they are asked for.
        prop_assert!(ours == serde_json::from_str::<Json>(&text).is_ok() || text.contains("e"), "{}", text);
    }

    #[test]
    fn no_path_and_no_text_panic(path in any::<String>(), text in any::<String>()) {
        let _ = JsonPath::parse(&path).map(|path| path.find(&text));
        let _ = JsonPath::parse(&format!("${path}")).map(|path| path.find(&text));
    }
}

#[test]
fn what_is_no_json_is_refused_wherever_it_is() {
    let path = JsonPath::parse("$.a").unwrap();
    for text in [
        "",
        " ",
        "{",
        "{\"a\":1",
        "{\"a\":1}x",
        "{\"a\":1,}",
        "[1,]",
        "{\"a\":01}",
        "{\"a\":1.}",
        "{\"a\":1e}",
        "{\"a\":+1}",
        "{\"a\":.5}",
        "{'a':1}",
        "{\"a\":\"\n\"}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12\"}",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":\"\\ud800\\u0041\"}",
        "{\"b\":\"\\udc00\"}",
        "{\"a\":tru}",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "{a:1}",
        "nul",
        "-",
        "\u{feff}{}",
    ] {
        assert_eq!(path.find(text), Err(NotJson), "{text}");
        assert!(serde_json::from_str::<Json>(text).is_err(), "{text}");
    }
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for depth in [127, 128, 100_000] {
        let expected = serde_json::from_str::<Json>(&deep(depth)).is_ok();
        assert_eq!(path.find(&deep(depth)).is_ok(), expected, "{depth}");
    }
}
