//! What files mean, and what is said about those that are none.

use ablaze_journey::parse;
use ablaze_journey::syntax::{
    BodyValue, FilterKind, HurlFile, JsonPiece, Multiline, NthIndex, Number, OptionValue, Part,
    Pattern, Piece, PredicateValue, QueryKind, Source, Template, Test, TimeUnit, VariableValue,
    Version, print,
};

fn read(text: &str) -> HurlFile {
    let file = parse(text, "test.hurl").unwrap_or_else(|error| panic!("{error}"));
    let printed = print(&file);
    let again = parse(&printed, "printed.hurl").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again, file, "read again from\n{printed}");
    file
}

/// A template's text with its placeholders as `<name>`.
fn shown(template: &Template) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Placeholder(inner) => format!("<{:?}>", inner.source),
    };
    template.pieces.iter().map(piece).collect()
}

#[test]
fn a_login_is_read_whole() {
    let file = read(
        r##"# A journey
# name: login
POST http://localhost:8080/login?next=%2F # the form
User-Agent: test \# not a comment
[Form]
user: {{user}}
password: a b  # spaces within stay
[Options]
retry: 3
retry-interval: 500ms
delay: 2s
variable: n=3
variable: s=11aa
repeat: -1
HTTP/1.1 302
Location: /home
[Captures]
token: header "X-Token" regex /tok=(\w+)\/x/ redact
id: jsonpath "$.items[0].id" toInt
[Asserts]
status >= 300
cookie "LSID[Path]" == "/accounts"
duration < 1000
body not contains "error"

GET {{base}}/list
HTTP *
"##,
    );
    assert_eq!(file.entries.len(), 2);
    let login = &file.entries[0];
    assert_eq!(login.name.as_deref(), Some("login"));
    let request = &login.request;
    assert_eq!((request.method.as_str(), request.at.line), ("POST", 3));
    assert_eq!(shown(&request.url), "http://localhost:8080/login?next=%2F");
    assert_eq!(shown(&request.headers[0].value), "test # not a comment");
    assert_eq!(shown(&request.form[0].value), "<Variable(\"user\")>");
    assert_eq!(shown(&request.form[1].value), "a b");
    let options: Vec<_> = request.options.iter().map(|o| (o.name, &o.value)).collect();
    assert_eq!(options[0], ("retry", &OptionValue::Count(Some(3))));
    let interval = OptionValue::Duration(500, Some(TimeUnit::Milliseconds));
    assert_eq!(options[1], ("retry-interval", &interval));
    let three = OptionValue::Variable("n".into(), VariableValue::Number(Number::Integer(3)));
    assert_eq!(options[3].1, &three);
    let OptionValue::Variable(name, VariableValue::Text(text)) = options[4].1 else { panic!() };
    assert_eq!((name.as_str(), shown(text).as_str()), ("s", "11aa"));
    assert_eq!(options[5].1, &OptionValue::Count(None));

    let response = login.response.as_ref().unwrap();
    assert_eq!((response.version, response.status), (Version::Http11, Some(302)));
    let token = &response.captures[0];
    assert!(token.redacted);
    let pattern = Pattern::Literal(r"tok=(\w+)/x".into());
    assert_eq!(token.filters[0].kind, FilterKind::Regex(pattern));
    assert_eq!(response.asserts.len(), 4);
    assert!(response.asserts[3].predicate.not);
    assert_eq!(response.asserts[3].predicate.at.line, 24);
    let list = &file.entries[1];
    assert_eq!((list.name.as_deref(), list.request.at.line), (None, 26));
    let list = list.response.as_ref().unwrap();
    assert_eq!((list.version, list.status), (Version::Any, None));
}

#[test]
fn bodies_of_every_kind() {
    let body = |text: &str| {
        let file = read(&format!("POST http://h/\n{text}\nHTTP 200\n"));
        assert!(file.entries[0].response.is_some(), "{text}");
        file.entries[0].request.body.clone().unwrap_or_else(|| panic!("{text}")).value
    };
    let BodyValue::Json(json) = body("{ \"a\\n\": [1, {{n}}, \"x{{s}}y\"],\n \"e\": 1E5 }") else {
        panic!()
    };
    let kinds: Vec<_> = json
        .pieces
        .iter()
        .map(|piece| match piece {
            JsonPiece::Text(text) => text.clone(),
            JsonPiece::Value(inner) => format!("value {:?}", inner.source),
            JsonPiece::InString(inner) => format!("string {:?}", inner.source),
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "{ \"a\\n\": [1, ",
            "value Variable(\"n\")",
            ", \"x",
            "string Variable(\"s\")",
            "y\"],\n \"e\": 1e5 }",
        ]
    );
    assert!(matches!(body("[]"), BodyValue::Json(_)));
    assert!(matches!(body("[1]"), BodyValue::Json(_)));
    assert!(matches!(body("[true]"), BodyValue::Json(_)));
    assert!(matches!(body("true"), BodyValue::Json(_)));
    assert!(matches!(body("\"text\""), BodyValue::Json(_)));
    let xml = "<?xml version=\"1.0\"?>\n<!-- <b> -->\n<a x='>'><b/>1 &lt; 2<![CDATA[</a>]]></a>";
    assert_eq!(body(xml), BodyValue::Xml(xml.into()));
    assert_eq!(body("base64, SGVs\n bG8=;"), BodyValue::Bytes(b"Hello".to_vec()));
    assert_eq!(body("hex,00fF;"), BodyValue::Bytes(vec![0, 255]));
    let BodyValue::File(name) = body("file,my\\ data.bin;") else { panic!() };
    assert_eq!(shown(&name), "my data.bin");
    let BodyValue::Oneline(text) = body("`one {{a}} \\` #`") else { panic!() };
    assert_eq!(shown(&text), "one <Variable(\"a\")> ` #");
    let BodyValue::Multiline(Multiline::Text(text)) = body("```\nline \\n {{ a }}\n\n```") else {
        panic!()
    };
    assert_eq!(shown(&text), "line \\n <Variable(\"a\")>\n\n");
    assert!(matches!(body("```json\n{\n```"), BodyValue::Multiline(Multiline::Json(_))));
    assert!(matches!(body("```xml\n<\n```"), BodyValue::Multiline(Multiline::Xml(_))));
    let raw = BodyValue::Multiline(Multiline::Raw("{{a}}\n".into()));
    assert_eq!(body("```raw\n{{a}}\n```"), raw);
    let graphql = "```graphql\nquery A($c: Int) { a(c: $c) }\n\nvariables {\n \"c\": {{c}} }\n```";
    let BodyValue::Multiline(Multiline::GraphQl { query, variables }) = body(graphql) else {
        panic!()
    };
    assert_eq!(shown(&query), "query A($c: Int) { a(c: $c) }\n\n");
    assert_eq!(variables.unwrap().pieces.len(), 3);
}

#[test]
fn escapes_and_placeholders() {
    let value = |text: &str| {
        let file = read(&format!("GET http://h/\nA: {text}\n"));
        file.entries[0].request.headers[0].value.clone()
    };
    assert_eq!(shown(&value(r"\u{1f600}\t\\ \#x")), "\u{1f600}\t\\ #x");
    assert_eq!(shown(&value(r"\u{7b}{a}}")), "{{a}}");
    assert_eq!(shown(&value("{a} }} {")), "{a} }} {");
    assert_eq!(shown(&value(r"a\u{20}  # c")), "a ");
    assert_eq!(shown(&value("a \"b\" 'c'")), "a \"b\" 'c'");
    assert_eq!(shown(&value("")), "");
    let Piece::Placeholder(inner) = &value("{{ newUuid }}").pieces[0] else { panic!() };
    assert_eq!(inner.source, Source::NewUuid);
    let Piece::Placeholder(inner) = &value("{{newDate}}").pieces[0] else { panic!() };
    assert_eq!(inner.source, Source::NewDate);
    let Piece::Placeholder(inner) = &value("{{a urlEncode nth 2}}").pieces[0] else { panic!() };
    let kinds: Vec<_> = inner.filters.iter().map(|filter| filter.kind.clone()).collect();
    assert_eq!(kinds, [FilterKind::UrlEncode, FilterKind::Nth(NthIndex::Literal(2))]);
}

#[test]
fn sections_have_two_names_and_files_are_parts() {
    let long = "GET http://h/\n[QueryStringParams]\na: 1\n[MultipartFormData]\nf: file,a b;\n[FormParams]\nx: y\n";
    let error = parse(long, "long").unwrap_err();
    assert_eq!((error.line, error.column, error.expected.as_str()), (5, 11, "`;`"));
    let file = read(&long.replace("a b;", "a\\ b;text/plain # type"));
    let Part::File { path, content_type, .. } = &file.entries[0].request.multipart[0] else {
        panic!()
    };
    assert_eq!(shown(path), "a b");
    assert_eq!(shown(content_type.as_ref().unwrap()), "text/plain");
    let short = long.replace("a b;", "a\\ b; text/plain").replace("QueryStringParams", "Query");
    let short = short.replace("MultipartFormData", "Multipart").replace("FormParams", "Form");
    assert_eq!(read(&short), file);
}

#[test]
fn every_query_filter_and_predicate_is_read() {
    let queries = [
        "status",
        "version",
        "url",
        "header \"a\"",
        "cookie \"a[Max-Age]\"",
        "cookie \"{{a}}\"",
        r#"cookie "a\u{22}\u{5b}\\\#\t [ path ]""#,
        "body",
        "xpath \"//a\"",
        "jsonpath \"$.a\"",
        "regex \"(a)\"",
        "regex /(a)\\//",
        "variable \"a\"",
        "duration",
        "bytes",
        "rawbytes",
        "sha256",
        "md5",
        "certificate \"Expire-Date\"",
        "ip",
        "redirects",
    ];
    let filters = [
        "base64Decode",
        "base64Encode",
        "base64UrlSafeDecode",
        "base64UrlSafeEncode",
        "charsetDecode \"utf-8\"",
        "decode \"utf-8\"",
        "count",
        "daysAfterNow",
        "daysBeforeNow",
        "first",
        "dateFormat \"%Y\"",
        "format \"%Y\"",
        "htmlEscape",
        "htmlUnescape",
        "jsonpath \"$\"",
        "last",
        "location",
        "nth 0",
        "nth -1",
        "nth {{n}}",
        "regex /(a)/",
        "replace \"a\" \"b\"",
        "replaceRegex /a/ \"b\"",
        "split \",\"",
        "toDate \"%+\"",
        "toFloat",
        "toHex",
        "toInt",
        "toString",
        "urlDecode",
        "urlEncode",
        "urlQueryParam \"a\"",
        "utf8Decode",
        "utf8Encode",
        "xpath \"/\"",
    ];
    let predicates = [
        "== null",
        "==true",
        "!= 1.5",
        "> 99999999999999999999",
        ">= \"a\"",
        "< {{n}}",
        "<= -3",
        "startsWith \"a\"",
        "endsWith hex,00;",
        "contains base64,AA==;",
        "includes 1",
        "matches /a/",
        "matches \"a\"",
        "exists",
        "isEmpty",
        "isInteger",
        "isFloat",
        "isNumber",
        "isBoolean",
        "isString",
        "isList",
        "isObject",
        "isCollection",
        "isDate",
        "isIsoDate",
        "isIpv4",
        "isIpv6",
        "isUuid",
        "== file,a.txt;",
        "== `a`",
        "== ```\na\n```",
    ];
    let mut text = "GET http://h/\nHTTP 200\n[Asserts]\n".to_owned();
    for query in queries {
        text += &format!("{query} exists\n");
    }
    text += &format!("body {} exists\n", filters.join("  "));
    for predicate in predicates {
        text += &format!("body {predicate} # c\nbody\tnot  {predicate}\n");
    }
    let file = read(&text);
    let asserts = &file.entries[0].response.as_ref().unwrap().asserts;
    assert_eq!(asserts.len(), queries.len() + 1 + 2 * predicates.len());
    assert_eq!(asserts[queries.len()].filters.len(), filters.len());
    let of_first = |test: &Test| matches!(test, Test::Equal(PredicateValue::Null));
    assert!(of_first(&asserts[queries.len() + 1].predicate.test));
    assert!(asserts[queries.len() + 2].predicate.not);
    assert!(matches!(asserts[5].query.kind, QueryKind::Cookie { .. }));
}

#[test]
fn errors_say_the_place_and_what_was_expected() {
    for (text, line, column, expected) in [
        ("FOO", 1, 4, "a space"),
        ("get http://h/", 1, 1, "a request, such as `GET http://localhost/`"),
        ("GET \nHTTP 200", 1, 5, "a URL"),
        ("GET http://h/\n\nfoo\n", 3, 1, "a header (`name: value`)"),
        ("GET http://h/\nHTTP 2x0\n", 2, 7, "the end of the line"),
        ("GET http://h/\nHTTP/1.2 200\n", 2, 6, "a version: 1.0, 1.1, 2 or 3"),
        ("GET http://h/\nHTTP ok\n", 2, 6, "a status, such as 200, or `*`"),
        ("GET http://h/\n[Asserts]\nstatus == 1\n", 2, 1, "[Query], [Form]"),
        ("GET http://h/\n[Cats]\n", 2, 1, "[Query], [Form]"),
        ("GET http://h/\n[Form]\na: b\n[FormParams]\n", 4, 1, "[Form] only once"),
        ("GET http://h/\n[Options]\nmax_redirs: 3\n", 3, 1, "an option of Hurl"),
        ("GET http://h/\n[Options]\nlocation: yes\n", 3, 11, "true or false"),
        ("GET http://h/\n[Options]\ndelay: 3d\n", 3, 9, "a unit of time"),
        ("GET http://h/\nHTTP 200\n[Asserts]\nstatuss == 200\n", 4, 1, "a query: status"),
        ("GET http://h/\nHTTP 200\n[Asserts]\nstatus eq 200\n", 4, 8, "a predicate: =="),
        ("GET http://h/\nHTTP 200\n[Asserts]\nstatus == ok\n", 4, 11, "a value: a string"),
        ("GET http://h/\nHTTP 200\n[Asserts]\nstatus > true\n", 4, 10, "a number, a string"),
        (
            "GET http://h/\nHTTP 200\n[Captures]\na: jsonpath $.a\n",
            4,
            13,
            "a string in quotation marks",
        ),
        ("GET http://h/\nHTTP 200\n[Captures]\na: body cnt\n", 4, 9, "a filter, `redact`"),
        ("GET http://h/\n{\"a\": }\n", 2, 7, "a JSON value"),
        ("GET http://h/\n{\"a\": 1\n", 3, 1, "`,` or `}`"),
        ("GET http://h/\n[1, 2,]\n", 2, 7, "a JSON value"),
        ("GET http://h/\nhex,0;\n", 2, 6, "another hexadecimal digit"),
        ("GET http://h/\nbase64,A;\n", 2, 8, "bytes in base64"),
        ("GET http://h/\nA: {{}}\n", 2, 6, "the name of a variable"),
        ("GET http://h/\nA: {{a\n", 2, 7, "`}}`"),
        ("GET http://h/\nA: \\q\n", 2, 5, "an escape that is known here"),
        ("GET http://h/\n<a><b></a>\n", 2, 7, "`</b>`"),
        ("GET http://h/\n```js\n```\n", 2, 4, "json, xml, graphql, raw"),
    ] {
        let error = parse(text, "f.hurl").unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{text}\n{error}");
        assert!(error.expected.starts_with(expected), "{text}\n{error}");
    }
}

#[test]
fn an_error_shows_its_line_with_a_caret() {
    let error =
        parse("GET http://h/\nHTTP 200\n[Asserts]\nstatus\teq 200\r\n", "dir/a.hurl").unwrap_err();
    let shown = error.to_string();
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].starts_with("dir/a.hurl:4:8: expected a predicate: "), "{shown}");
    assert_eq!(lines[1], " 4 | status eq 200");
    assert_eq!(lines[2], "   |        ^");
    let long = format!("GET http://h/\nA: {}\\q{}\n", "x".repeat(5000), "\u{1b}[31m");
    let error = parse(&long, "a").unwrap_err();
    assert_eq!(error.column, 5005);
    assert!(error.to_string().len() < 400, "{error}");
    assert!(!error.to_string().contains('\u{1b}'));
}

#[test]
fn line_ends_and_a_byte_order_mark_are_no_content() {
    let unix = "GET http://h/ # c\n# d\nA: b\n\n[Query]\na: b c \nHTTP 200\n\n[Asserts]\nbody == \"x\"\n\n`end`";
    let file = read(unix);
    assert_eq!(read(&unix.replace('\n', "\r\n")), file);
    assert_eq!(read(&format!("\u{feff}{unix}")), file);
    assert_eq!(shown(&file.entries[0].request.query[0].value), "b c");
    assert_eq!(read("").entries.len(), 0);
    assert_eq!(read("# nothing\n\n  \t").entries.len(), 0);
    let error = parse("\u{feff}GET", "bom").unwrap_err();
    assert_eq!(error.column, 4);
}
