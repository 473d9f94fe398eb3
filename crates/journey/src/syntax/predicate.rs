//! Predicates and what they compare with.

use super::body::{base64, file, hex, multiline};
use super::checks::{Kind, Predicate, PredicateValue, Test};
use super::number::{number, sees_number};
use super::query::regex;
use super::reader::{Parsed, Reader};
use super::text::{backtick, placeholder, quoted};

const PREDICATES: &str = "a predicate: ==, !=, >, >=, <, <=, startsWith, endsWith, contains, matches, exists, isEmpty, \
                          isInteger, isFloat, isNumber, isBoolean, isString, isList, isObject, isCollection, isDate, \
                          isIsoDate, isIpv4, isIpv6 or isUuid";

impl Kind {
    /// All of them, with their names.
    pub(crate) const ALL: [(Self, &'static str); 14] = [
        (Self::Boolean, "isBoolean"),
        (Self::Collection, "isCollection"),
        (Self::Date, "isDate"),
        (Self::Empty, "isEmpty"),
        (Self::Float, "isFloat"),
        (Self::Integer, "isInteger"),
        (Self::Ipv4, "isIpv4"),
        (Self::Ipv6, "isIpv6"),
        (Self::IsoDate, "isIsoDate"),
        (Self::List, "isList"),
        (Self::Number, "isNumber"),
        (Self::Object, "isObject"),
        (Self::String, "isString"),
        (Self::Uuid, "isUuid"),
    ];
}

pub(super) fn predicate(reader: &mut Reader<'_>) -> Parsed<Predicate> {
    let start = reader.offset();
    let not = reader.eat("not") && reader.spaces();
    if !not {
        reader.seek(start);
    }
    let at = reader.at();
    Ok(Predicate { at, not, test: test(reader)? })
}

fn test(reader: &mut Reader<'_>) -> Parsed<Test> {
    type Made = fn(PredicateValue) -> Test;
    const SIGNS: [(&str, Made); 6] = [
        ("==", Test::Equal),
        ("!=", Test::NotEqual),
        (">=", Test::GreaterOrEqual),
        (">", Test::Greater),
        ("<=", Test::LessOrEqual),
        ("<", Test::Less),
    ];
    for (sign, made) in SIGNS {
        if reader.eat(sign) {
            reader.spaces();
            return match sign {
                "==" | "!=" => value(reader).map(made),
                _ => ordered(reader).map(made),
            };
        }
    }
    let start = reader.offset();
    let word = reader.take_while(|c| c.is_ascii_alphanumeric());
    if let Some((kind, _)) = Kind::ALL.iter().find(|(_, name)| *name == word) {
        return Ok(Test::Is(*kind));
    }
    match word {
        "exists" => Ok(Test::Exists),
        "startsWith" => text_or_bytes(reader).map(Test::StartsWith),
        "endsWith" => text_or_bytes(reader).map(Test::EndsWith),
        "contains" => spaced(reader).map(Test::Contains),
        "includes" => spaced(reader).map(Test::Includes),
        "matches" => pattern(reader).map(Test::Matches),
        _ => {
            reader.seek(start);
            reader.fail(PREDICATES)
        }
    }
}

fn spaced(reader: &mut Reader<'_>) -> Parsed<PredicateValue> {
    reader.expect_spaces()?;
    value(reader)
}

/// A value of the kinds that `is_right` takes.
fn only(
    reader: &mut Reader<'_>,
    is_right: fn(&PredicateValue) -> bool,
    expected: &str,
) -> Parsed<PredicateValue> {
    let start = reader.offset();
    let found = value(reader)?;
    if is_right(&found) {
        return Ok(found);
    }
    reader.seek(start);
    reader.fail(expected)
}

fn ordered(reader: &mut Reader<'_>) -> Parsed<PredicateValue> {
    use PredicateValue::{Number, Placeholder, Text};
    let is_right = |found: &_| matches!(found, Number(_) | Text(_) | Placeholder(_));
    only(reader, is_right, "a number, a string or a placeholder")
}

fn text_or_bytes(reader: &mut Reader<'_>) -> Parsed<PredicateValue> {
    reader.expect_spaces()?;
    let is_right = |found: &_| matches!(found, PredicateValue::Text(_) | PredicateValue::Bytes(_));
    only(reader, is_right, "a string, `hex,…;` or `base64,…;`")
}

fn pattern(reader: &mut Reader<'_>) -> Parsed<PredicateValue> {
    reader.expect_spaces()?;
    let is_right = |found: &_| matches!(found, PredicateValue::Text(_) | PredicateValue::Regex(_));
    only(reader, is_right, "a regular expression: \"…\" or /…/")
}

fn value(reader: &mut Reader<'_>) -> Parsed<PredicateValue> {
    if sees_number(reader) {
        return number(reader).map(PredicateValue::Number);
    }
    if reader.sees("```") {
        return multiline(reader).map(PredicateValue::Multiline);
    }
    for (word, value) in [
        ("null", PredicateValue::Null),
        ("true", PredicateValue::Boolean(true)),
        ("false", PredicateValue::Boolean(false)),
    ] {
        if reader.eat(word) {
            return Ok(value);
        }
    }
    match reader.peek() {
        Some('"') => quoted(reader).map(PredicateValue::Text),
        Some('`') => backtick(reader).map(PredicateValue::Text),
        Some('/') => regex(reader).map(PredicateValue::Regex),
        Some('{') => placeholder(reader).map(PredicateValue::Placeholder),
        _ if reader.sees("file,") => file(reader).map(PredicateValue::File),
        _ if reader.sees("hex,") => hex(reader).map(PredicateValue::Bytes),
        _ if reader.sees("base64,") => base64(reader).map(PredicateValue::Bytes),
        _ => reader.fail(
            "a value: a string in quotation marks, a number, true, false, null, /regex/, hex,…; base64,…; file,…; or \
             {{variable}}",
        ),
    }
}
