//! What checks say of responses, and where texts are none.

use super::{Check, Checkable, LooksAt};
use crate::{Headers, HttpVersion, Reading, ResponseView};

const HEAD: &[u8] =
    b"Content-Type: application/json; charset=utf-8\r\nX-Count: 12\r\nVia: a\r\nVia: b\r\n\
    Set-Cookie: sid=s1; Path=/\r\n\r\n";
const BODY: &[u8] =
    br#"{"id": 7, "name": "ann", "ok": true, "none": null, "list": [1, "two"], "a b": 1.5}"#;

fn judged(text: &str) -> Result<(), String> {
    with(text, HEAD, BODY, BODY.len() as u64)
}

fn with(text: &str, head: &[u8], body: &[u8], body_bytes: u64) -> Result<(), String> {
    let view = ResponseView {
        version: HttpVersion::Http11,
        status: 201,
        headers: Headers::Lines(head),
        body,
        duration_ns: 250_000_000,
        url: "",
    };
    let is_cut = body_bytes > body.len() as u64;
    let check = Check::parse(text, "--assert").unwrap_or_else(|error| panic!("{error}"));
    check.judge(&Checkable { reading: Reading::new(view), body_bytes, is_cut })
}

#[test]
fn checks_that_hold() {
    for text in [
        "status==201",
        "status != 200",
        " status >= 200 ",
        "status not == 404",
        "size==82",
        "size<10KB",
        "size < 1KiB",
        "duration<300ms",
        "duration <= 0.25s",
        "duration>200000us",
        "header content-type starts application/json",
        "header Content-Type contains \"charset=\"",
        "header content-type ends utf-8",
        "header content-type matches /^application\\/.*utf/",
        "header content-type exists",
        "header x-missing not exists",
        "header x-missing not contains a",
        "header x-count==12",
        "header x-count > 9",
        "header x-count<=12.5",
        "header via == b",
        "cookie sid == s1",
        "cookie other not exists",
        "body contains \"ann\"",
        "body contains ann",
        "body starts {",
        "body ends '1.5}'",
        "body matches /\"id\": \\d+/",
        "body not contains error",
        "body not matches error|failed",
        "json $.id == 7",
        "json $.id > 0",
        "json $.id<7.5",
        "json $.id == 7e0",
        "json $.name==ann",
        "json $.name == \"ann\"",
        "json $.name != 'bob'",
        "json $.name starts a",
        "json $.name matches /^a.n$/",
        "json $.ok == true",
        "json $.none == null",
        "json $.none exists",
        "json $.missing not exists",
        "json $.list contains 1",
        "json $.list contains two",
        "json $.list[1] == two",
        "json $['a b'] == 1.5",
        "json \"$['a b']\" > 1",
        "jsonpath $.id == 7",
    ] {
        assert_eq!(judged(text), Ok(()), "{text}");
    }
}

#[test]
fn checks_that_fail_say_what_is_there() {
    for (text, words) in [
        ("status==200", "it is 201"),
        ("status not == 201", "it is 201"),
        ("size > 1KB", "it is 82 bytes"),
        ("duration<=200ms", "it is 250.000 ms"),
        ("header content-type == text/html", "it is string <application/json; charset=utf-8>"),
        ("header x-missing == a", "there is none"),
        ("header x-missing != a", "there is none"),
        ("header x-missing exists", "there is none"),
        ("header via > 3", "it is string <a>"),
        ("cookie other == a", "there is none"),
        ("body contains error", "the body of 82 bytes does not meet it"),
        ("body == {}", "the body of 82 bytes does not meet it"),
        ("json $.id == \"7\"", "it is integer <7>"),
        ("json $.id > 7", "it is integer <7>"),
        ("json $.name > 1", "it is string <ann>"),
        ("json $.missing != 1", "there is nothing"),
        ("json $.missing exists", "there is nothing"),
        ("json $.list contains 2", "it is list of 2"),
    ] {
        assert_eq!(judged(text).unwrap_err(), words, "{text}");
    }
}

/// Not even `not` makes true what cannot be told.
#[test]
fn a_body_that_cannot_be_read_fails_with_the_reason() {
    let said = |text, head: &[u8], body: &[u8], bytes| with(text, head, body, bytes).unwrap_err();
    for text in ["json $.id exists", "json $.id not exists"] {
        assert_eq!(said(text, HEAD, b"<html>", 6), "the body is no JSON");
        assert_eq!(said(text, HEAD, b" \n", 2), "the body is no JSON: it is empty");
        let marked = said(text, HEAD, b"\xef\xbb\xbf{}", 5);
        assert_eq!(marked, "the body is no JSON: it begins with a byte order mark");
        // It is JSON (RFC 8259, 9: a parser may limit the depth), so nothing else may be said.
        let deep = said(text, HEAD, "[".repeat(200).as_bytes(), 200);
        assert!(deep.starts_with("in the body more than 127 arrays and objects lie"), "{deep}");
    }
    let cut = said("body not contains a", HEAD, b"bbb", 2_000_000);
    assert_eq!(cut, "the body has 2000000 bytes, and checks look at 1048576 at most");
    // Bytes that are no text can be looked at all the same.
    assert_eq!(with("body contains ok", b"\r\n", b"\xff\xfeok", 4), Ok(()));
    assert_eq!(with("size == 2000000", HEAD, b"", 2_000_000), Ok(()));
}

#[test]
fn a_text_that_is_no_check_is_refused_at_its_place() {
    for (text, column, expected) in [
        ("", 1, "what to look at: status, size"),
        ("statu == 200", 1, "what to look at: status, size"),
        ("status", 7, "==, !=, <, <=, > or >="),
        ("status = 200", 8, "==, !=, <, <=, > or >="),
        ("status contains 2", 8, "==, !=, <, <=, > or >="),
        ("status == ok", 11, "a status, such as 200"),
        ("status == 20", 11, "a status, such as 200"),
        ("status == 200.5", 11, "a status, such as 200"),
        ("status == 200 or 201", 15, "the end of the check"),
        ("duration < 300", 12, "a time with its unit, such as 300ms"),
        ("duration < ms", 12, "a time with its unit"),
        ("size < 10 KB", 11, "the end of the check"),
        ("size < 10XB", 8, "a number of bytes"),
        ("size < 99999999999GB", 8, "a number of bytes"),
        ("header == a", 8, "the name of a header field"),
        ("header a", 9, "==, !=, <, <=, >, >=, contains"),
        ("header a is b", 10, "==, !=, <, <=, >, >=, contains"),
        ("header a ==", 12, "a value"),
        ("header a == \"b", 15, "\" at the end of the text"),
        ("header a == \"b\" c", 17, "the end of the check"),
        ("header a containsb", 10, "==, !=, <"),
        ("body < 5", 6, "==, !=, contains, starts, ends or matches (size is the length"),
        ("body exists", 6, "==, !=, contains, starts, ends or matches"),
        ("body matches /a", 16, "/ at the end of the regular expression"),
        ("body matches /(/", 14, "a regular expression (unclosed group)"),
        ("json id == 1", 6, "a path such as $.items[0].id"),
        ("json $..id == 1", 6, "a path such as $.items[0].id"),
        ("json $.id > true", 13, "a number or a text"),
    ] {
        let error = Check::parse(text, "--assert").map(|check| check.text().to_owned());
        let error = error.expect_err(text);
        assert_eq!((error.line, error.column), (1, column), "{text}: {error}");
        assert!(error.expected.starts_with(expected), "{text}: {error}");
    }
    let error = Check::parse("status == ok", "--assert").unwrap_err().to_string();
    assert_eq!(
        error,
        "--assert:1:11: expected a status, such as 200\n 1 | status == ok\n   |           ^"
    );
}

#[test]
fn only_checks_of_the_body_need_it() {
    let looks_at = |text| Check::parse(text, "--assert").unwrap().looks_at();
    assert_eq!(looks_at("status==200"), LooksAt::Head);
    assert_eq!(looks_at("header a exists"), LooksAt::Head);
    assert_eq!(looks_at("size>0"), LooksAt::End);
    assert_eq!(looks_at("json $.a exists"), LooksAt::Body);
}

/// Whatever is typed, the parser comes to an end without a panic, and what it takes can be judged.
#[test]
fn any_text_is_a_check_or_none() {
    use proptest::prelude::*;
    let words = prop::sample::select(vec![
        "status",
        "size",
        "json",
        "$.a[0]['b",
        "header",
        "body",
        "not ",
        "==",
        "<",
        ">=",
        " ",
        "\"",
        "'",
        "\\",
        "/",
        "(",
        "matches",
        "contains",
        "exists",
        "200",
        "1.5",
        "KB",
        "ms",
        "é",
        "\u{0}",
        "[",
        "]",
    ]);
    proptest!(|(text in prop::collection::vec(words, 0..8).prop_map(|words| words.concat()))| {
        if let Ok(check) = Check::parse(&text, "--assert") {
            let _ = with(check.text(), HEAD, BODY, BODY.len() as u64);
        }
    });
}
