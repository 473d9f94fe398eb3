//! Templates: what they write, what they refuse, and that they allocate nothing.

use ablaze_journey::{Encoding, Names, Number, Template, Unrenderable, Value, Variables};
use ablaze_testing::allocations;

use super::support::{Fixed, journey};

fn slot(encoding: Encoding) -> Template {
    let mut template = Template::constant(b"<");
    template.push_slot(0, encoding, 3);
    template.push_bytes(b">");
    template
}

fn render(encoding: Encoding, value: Option<Value>) -> Result<String, Unrenderable> {
    let mut variables = Variables::new(1);
    variables.set(0, value);
    let mut out = b"kept".to_vec();
    let rendered = slot(encoding).render(&variables, &mut Fixed, &mut out);
    let out = String::from_utf8(out).unwrap();
    match rendered {
        Ok(()) => Ok(out.strip_prefix("kept").unwrap().to_owned()),
        Err(error) => {
            assert_eq!((out.as_str(), error.slot, error.line), ("kept", 0, 3));
            Err(error.why)
        }
    }
}

#[test]
fn values_are_written_by_their_place() {
    let plain = |value| render(Encoding::Plain, Some(value)).unwrap();
    assert_eq!(plain(Value::from("a b")), "<a b>");
    assert_eq!(plain(Value::from(-3)), "<-3>");
    assert_eq!(plain(Value::Number(Number::Float(2.0))), "<2.0>");
    assert_eq!(plain(Value::Number(Number::Float(-1.5))), "<-1.5>");
    assert_eq!(plain(Value::Number(Number::Float(1e20))), "<100000000000000000000.0>");
    assert_eq!(
        plain(Value::Number(Number::BigInteger("12345678901234567890123".into()))),
        "<12345678901234567890123>"
    );
    assert_eq!(plain(Value::Boolean(true)), "<true>");
    assert_eq!(plain(Value::Null), "<null>");
    assert_eq!(plain(Value::Date(1_500_000)), "<1970-01-01T00:00:01.500000Z>");
    let percent = |value| render(Encoding::Percent, Some(value)).unwrap();
    assert_eq!(percent(Value::from("a b/ä~")), "<a%20b%2F%C3%A4~>");
    assert_eq!(percent(Value::Date(0)), "<1970-01-01T00%3A00%3A00.000000Z>");
    assert_eq!(percent(Value::from(5)), "<5>");
    let json = |value| render(Encoding::JsonString, Some(value)).unwrap();
    assert_eq!(json(Value::from("\"\\\n\r\t\u{1f}/ä")), "<\\\"\\\\\\n\\r\\t\\u001f/ä>");
    let scalar = |value| render(Encoding::JsonValue, Some(value));
    for text in ["1", "-1.5e3", "true", "null"] {
        assert_eq!(scalar(Value::from(text)), Ok(format!("<{text}>")));
    }
    assert_eq!(scalar(Value::from(1)), Ok("<1>".to_owned()));
    for text in ["", "a", "01", "1 ", "[1]", "\"a\"", "truex"] {
        assert_eq!(scalar(Value::from(text)), Err(Unrenderable::NotJson), "{text}");
    }
}

#[test]
fn what_has_no_text_is_an_error() {
    assert_eq!(render(Encoding::Plain, None), Err(Unrenderable::Undefined));
    assert_eq!(
        render(Encoding::Plain, Some(Value::Bytes(vec![]))),
        Err(Unrenderable::NotText("bytes"))
    );
    assert_eq!(
        render(Encoding::Percent, Some(Value::List(vec![]))),
        Err(Unrenderable::NotText("list"))
    );
    let mut names = Names::default();
    names.add("token");
    let error =
        slot(Encoding::Plain).render(&Variables::new(1), &mut Fixed, &mut Vec::new()).unwrap_err();
    assert_eq!(error.explain(&names), "the variable token is not set");
}

#[test]
fn functions_are_evaluated_each_time() {
    let journey = journey("GET http://h/{{newUuid}}\nA: {{newDate}}\n");
    let mut out = Vec::new();
    journey.steps[0].url.render(&journey.variables(), &mut Fixed, &mut out).unwrap();
    out.push(b' ');
    journey.steps[0].headers[0].1.render(&journey.variables(), &mut Fixed, &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert_eq!(out, "http://h/01234567-89ab-4def-8123-456789abcdef 2026-11-23T08:20:00.000000Z");
}

#[test]
fn rendering_allocates_nothing() {
    let journey = journey(
        "POST http://h/{{a}}?b={{newUuid}}\nX: {{b}}{{newDate}}\n[Query]\nq: {{a}}\n{\"a\": \"{{a}}\", \"b\": {{b}}}\n",
    );
    let mut variables = journey.variables();
    let slots = ["a", "b"].map(|name| journey.names().slot(name).unwrap());
    variables.set_text(slots[0], "a longer text \"in quotation marks\"");
    variables.set(slots[1], Some(Value::Number(Number::Float(1.5))));
    let step = &journey.steps[0];
    let ablaze_journey::StepBody::Template(body) = &step.body else { panic!() };
    let mut out = Vec::with_capacity(4096);
    let before = allocations::of_this_thread();
    for round in 0..100 {
        out.clear();
        variables.set_text(slots[0], if round % 2 == 0 { "short" } else { "\"less short\"" });
        step.write_url(&variables, &mut Fixed, &mut out).unwrap();
        step.headers[0].1.render(&variables, &mut Fixed, &mut out).unwrap();
        body.render(&variables, &mut Fixed, &mut out).unwrap();
    }
    assert_eq!(allocations::of_this_thread(), before);
    assert!(out.ends_with(br#"{"a": "\"less short\"", "b": 1.5}"#));
}

#[test]
fn an_iteration_begins_with_what_was_given() {
    let mut given = Variables::new(3);
    given.set(0, Some(Value::from("user")));
    let mut own = given.clone();
    own.set(1, Some(Value::from("token")));
    own.set_text(2, "x");
    own.reset_to(&given);
    assert_eq!((own.get(0), own.get(1), own.get(2)), (Some(&Value::from("user")), None, None));
    assert_eq!(own.get(17), None);
}
