//! The text of a check: `QUERY [not] PREDICATE`. A value is the rest of the line, so that it needs no quotation marks.

use regex::bytes::Regex;

use super::{Asked, Check, Sign, Test};
use crate::jsonpath::JsonPath;
use crate::syntax::ParseError;
use crate::syntax::reader::{Parsed, Reader};
use crate::value::{Number, Value};

const QUERIES: &str = "status, size, duration, body, json PATH, header NAME or cookie NAME";
const OF_NUMBERS: &str = "==, !=, <, <=, > or >=";
const OF_BODIES: &str = "==, !=, contains, starts, ends or matches";
const OF_VALUES: &str = "==, !=, <, <=, >, >=, contains, starts, ends, matches or exists";

const SIGNS: [(&str, Sign); 6] = [
    ("==", Sign::Equal),
    ("!=", Sign::NotEqual),
    ("<=", Sign::LessOrEqual),
    (">=", Sign::GreaterOrEqual),
    ("<", Sign::Less),
    (">", Sign::Greater),
];

const TIMES: [(&str, f64); 9] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("μs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("min", 60e9),
    ("m", 60e9),
    ("h", 3600e9),
];

const SIZES: [(&str, f64); 8] = [
    ("", 1.0),
    ("B", 1.0),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1024.0 * 1024.0),
    ("GiB", 1024.0 * 1024.0 * 1024.0),
];

pub(super) fn check(text: &str, option: &str) -> Result<Check, ParseError> {
    let mut reader = Reader::new(text);
    let read = whole(&mut reader);
    let (asked, not, test) = read.map_err(|failure| ParseError::new(failure, text, option))?;
    Ok(Check { text: text.trim().to_owned(), asked, not, test })
}

fn whole(reader: &mut Reader<'_>) -> Parsed<(Asked, bool, Test)> {
    blanks(reader);
    let asked = query(reader)?;
    blanks(reader);
    let start = reader.offset();
    let not = word(reader) == "not" && blanks(reader);
    if !not {
        reader.seek(start);
    }
    let test = match asked {
        Asked::Status | Asked::Size | Asked::Duration => number_test(reader, &asked)?,
        Asked::Body | Asked::Header(_) | Asked::Cookie(_) | Asked::Json(_) => {
            value_test(reader, &asked)?
        }
    };
    blanks(reader);
    if reader.is_end() { Ok((asked, not, test)) } else { reader.fail("the end of the check") }
}

/// Passes over blanks of any kind; whether there were any.
fn blanks(reader: &mut Reader<'_>) -> bool {
    !reader.take_while(char::is_whitespace).is_empty()
}

fn word<'a>(reader: &mut Reader<'a>) -> &'a str {
    reader.take_while(|c| c.is_ascii_alphanumeric())
}

fn query(reader: &mut Reader<'_>) -> Parsed<Asked> {
    let start = reader.offset();
    Ok(match word(reader) {
        "status" => Asked::Status,
        "size" => Asked::Size,
        "duration" => Asked::Duration,
        "body" => Asked::Body,
        "header" => Asked::Header(name(reader, "the name of a header field")?),
        "cookie" => Asked::Cookie(name(reader, "the name of a cookie")?),
        "json" | "jsonpath" => Asked::Json(path(reader)?),
        _ => {
            reader.seek(start);
            return reader.fail(format!("what to look at: {QUERIES}"));
        }
    })
}

/// A name up to the next blank or sign, or in quotation marks.
fn name(reader: &mut Reader<'_>, what: &str) -> Parsed<String> {
    blanks(reader);
    if matches!(reader.peek(), Some('"' | '\'')) {
        return quoted(reader);
    }
    let name = reader.take_while(|c| !c.is_whitespace() && !matches!(c, '=' | '<' | '>' | '!'));
    if name.is_empty() { reader.fail(what) } else { Ok(name.to_owned()) }
}

/// A path up to the next blank or sign that is not in brackets, or in quotation marks.
fn path(reader: &mut Reader<'_>) -> Parsed<JsonPath> {
    blanks(reader);
    let start = reader.offset();
    let text = match reader.peek() {
        Some('"' | '\'') => quoted(reader)?,
        _ => {
            let (mut is_inside, mut quote) = (false, None);
            let path = reader.take_while(|c| {
                match (quote, c) {
                    (Some(open), c) if open == c => quote = None,
                    (Some(_), _) => {}
                    (None, '"' | '\'') if is_inside => quote = Some(c),
                    (None, '[') => is_inside = true,
                    (None, ']') => is_inside = false,
                    _ => {}
                }
                is_inside || !(c.is_whitespace() || matches!(c, '=' | '<' | '>' | '!'))
            });
            path.to_owned()
        }
    };
    JsonPath::parse(&text).or_else(|why| {
        reader.seek(start);
        reader.fail(format!("a path such as $.items[0].id ({why})"))
    })
}

fn sign(reader: &mut Reader<'_>) -> Option<Sign> {
    SIGNS.iter().find(|(sign, _)| reader.eat(sign)).map(|(_, sign)| *sign)
}

fn number_test(reader: &mut Reader<'_>, asked: &Asked) -> Parsed<Test> {
    let Some(sign) = sign(reader) else { return reader.fail(OF_NUMBERS) };
    blanks(reader);
    let (units, example): (&[(&str, f64)], _) = match asked {
        Asked::Duration => (&TIMES, "a time with its unit, such as 300ms or 1.5s"),
        Asked::Size => (&SIZES, "a number of bytes, such as 200, 10KB or 1MiB"),
        _ => (&[("", 1.0)], "a status, such as 200"),
    };
    let start = reader.offset();
    let digits = reader.take_while(|c| c.is_ascii_digit() || c == '.');
    let number: Option<f64> = digits.parse().ok();
    let unit = reader.take_while(|c| !c.is_whitespace());
    let factor = units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    let number = number.zip(factor).map(|(number, factor)| number * factor);
    // Beyond 2^53 a double has no units any more.
    let is_right = |number: &f64| number.fract() == 0.0 && *number < 9e15;
    let is_status = |number: &f64| (100.0..1000.0).contains(number);
    let number = number.filter(|number| {
        is_right(number) && (!matches!(asked, Asked::Status) || is_status(number))
    });
    let Some(number) = number else {
        reader.seek(start);
        return reader.fail(example);
    };
    Ok(Test::Number(sign, number as u64))
}

fn value_test(reader: &mut Reader<'_>, asked: &Asked) -> Parsed<Test> {
    let is_body = matches!(asked, Asked::Body);
    let permitted = if is_body { OF_BODIES } else { OF_VALUES };
    let start = reader.offset();
    if let Some(sign) = sign(reader) {
        let is_ordered = !matches!(sign, Sign::Equal | Sign::NotEqual);
        if is_body && is_ordered {
            reader.seek(start);
            return reader.fail(format!("{permitted} (size is the length of the body)"));
        }
        blanks(reader);
        let at = reader.offset();
        let value = match asked {
            Asked::Json(_) => value(reader)?,
            _ if is_ordered => Value::given(&text(reader)?),
            _ => Value::Text(text(reader)?),
        };
        if is_ordered && !matches!(value, Value::Number(_) | Value::Text(_)) {
            reader.seek(at);
            return reader.fail("a number or a text");
        }
        return Ok(Test::Value(sign, value));
    }
    let word = word(reader);
    if word == "exists" && !is_body {
        return Ok(Test::Exists);
    }
    if !matches!(word, "contains" | "starts" | "ends" | "matches") {
        reader.seek(start);
        return reader.fail(permitted);
    }
    if !blanks(reader) && !matches!(reader.peek(), Some('"' | '\'' | '/')) {
        return reader.fail("a space, and what to compare with");
    }
    Ok(match word {
        "contains" if matches!(asked, Asked::Json(_)) => Test::Contains(value(reader)?),
        "contains" => Test::Contains(Value::Text(text(reader)?)),
        "starts" => Test::Starts(text(reader)?),
        "ends" => Test::Ends(text(reader)?),
        _ => Test::Matches(regex(reader)?),
    })
}

/// Text in quotation marks, or the rest of the line.
fn text(reader: &mut Reader<'_>) -> Parsed<String> {
    if matches!(reader.peek(), Some('"' | '\'')) {
        return quoted(reader);
    }
    let rest = reader.take_while(|_| true).trim_end();
    if rest.is_empty() { reader.fail("a value") } else { Ok(rest.to_owned()) }
}

/// A value of JSON: null, true, false, a number, or text with or without quotation marks.
fn value(reader: &mut Reader<'_>) -> Parsed<Value> {
    let is_quoted = matches!(reader.peek(), Some('"' | '\''));
    let text = text(reader)?;
    if is_quoted {
        return Ok(Value::Text(text));
    }
    let has_exponent = text.contains(['e', 'E']) && text.starts_with(|c: char| c.is_ascii_digit());
    match text.parse::<f64>() {
        Ok(number) if has_exponent && number.is_finite() => {
            Ok(Value::Number(Number::Float(number)))
        }
        _ => Ok(Value::given(&text)),
    }
}

/// Text in quotation marks of either kind, with `\` before one of them, before itself, and in `\n`, `\r`, `\t`.
fn quoted(reader: &mut Reader<'_>) -> Parsed<String> {
    let Some(quote) = reader.next() else { return reader.fail("a value") };
    let mut text = String::new();
    loop {
        match reader.next() {
            None => return reader.fail(format!("{quote} at the end of the text")),
            Some(end) if end == quote => return Ok(text),
            Some('\\') => match reader.next() {
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                Some('t') => text.push('\t'),
                Some(own @ ('\\' | '"' | '\'')) => text.push(own),
                _ => return reader.fail("one of \\\\, \\\", \\', \\n, \\r, \\t"),
            },
            Some(own) => text.push(own),
        }
    }
}

/// `/…/`, text in quotation marks, or the rest of the line.
fn regex(reader: &mut Reader<'_>) -> Parsed<Regex> {
    let start = reader.offset();
    let text = match reader.peek() {
        Some('/') => {
            let rest = reader.take_while(|_| true).trim_end();
            let inner = rest.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
            let Some(inner) = inner else {
                return reader.fail("/ at the end of the regular expression");
            };
            inner.to_owned()
        }
        _ => text(reader)?,
    };
    Regex::new(&text).or_else(|error| {
        let error = error.to_string();
        let why = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
        reader.seek(start);
        reader.fail(format!("a regular expression ({why})"))
    })
}
