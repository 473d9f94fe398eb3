//! Captures and asserts on given responses: lines that begin with `+` hold, those with `-` do not. The same lines are
//! given to Hurl itself in [`oracle`](super::oracle).

use super::support::{Response, failures, journey};

/// A response, captures, and asserts with their outcome.
pub struct Case {
    pub response: Response,
    pub captures: &'static str,
    pub asserts: &'static str,
}

pub const CASES: &[Case] = &[JSON, TEXT, HEADERS, BYTES, LATIN, BROKEN];

const JSON: Case = Case {
    response: Response {
        status: 200,
        fields: "Content-Type: application/json; charset=utf-8\r\n",
        body: br#" {"id": 7, "pi": 3.14, "big": 123456789012345678901234567890, "neg": -5, "exp": 1e3, "t": true,
            "n": null, "s": "a b", "e": "", "list": [1, 2.0, "x", null, {"k": "v"}], "one": [9], "none": [], "obj": {"b": 2, "a": 1},
            "u\u0041": "\u00e9\ud83d\ude00", "date": "2021-01-13T22:23:01.123Z", "ip": "127.0.0.1", "ip6": "::1",
            "uuid": "67e55044-10b1-426f-9247-bb680e5fe0c8", "json": "{\"in\": [5]}", "dup": 1, "dup": 2,
            "html": "&lt;a&gt; &copy; &#x26;", "url": "http://h/p?a=1&b=x%20y+z", "b64": "SGVsbG8=", "f": "1.5", "i": "42",
            "users": [{"n": "x", "a": [1]}, {"n": "y"}, {"a": [2, 3]}]} "#,
    },
    captures: r#"
id: jsonpath "$.id"
token: jsonpath "$.s" split " " nth 1
list: jsonpath "$.list"
"#,
    asserts: r#"
+ status == 200
- status == 201
+ status < 300
+ version == "1.1"
- version == 1.1
+ jsonpath "$.id" == 7
+ jsonpath "$.id" == 7.0
- jsonpath "$.id" == "7"
+ jsonpath "$.id" != "7"
+ jsonpath "$.id" == {{id}}
+ jsonpath "$.id" toString == "{{id}}"
+ variable "token" == "b"
+ variable "list" count == 5
- variable "unset" exists
+ variable "unset" not exists
+ jsonpath "$.pi" == 3.14
+ jsonpath "$.pi" > 3
+ jsonpath "$.pi" isFloat
- jsonpath "$.pi" isInteger
+ jsonpath "$.pi" isNumber
+ jsonpath "$.pi" toInt == 3
+ jsonpath "$.id" toFloat == 7.0
+ jsonpath "$.id" toFloat isFloat
+ jsonpath "$.big" == 123456789012345678901234567890
- jsonpath "$.big" == 123456789012345678901234567891
+ jsonpath "$.big" isInteger
+ jsonpath "$.big" toString == "123456789012345678901234567890"
+ jsonpath "$.neg" < 0
+ jsonpath "$.neg" <= -5
- jsonpath "$.neg" > -5
+ jsonpath "$.exp" == 1000
+ jsonpath "$.exp" isFloat
+ jsonpath "$.t" == true
+ jsonpath "$.t" isBoolean
- jsonpath "$.t" == "true"
- jsonpath "$.t" > 0
- jsonpath "$.t" not > 0
+ jsonpath "$.n" == null
+ jsonpath "$.n" exists
- jsonpath "$.gone" == null
- jsonpath "$.gone" != null
+ jsonpath "$.gone" not == 1
+ jsonpath "$.gone" not exists
- jsonpath "$.gone" count == 0
+ jsonpath "$.s" == "a b"
+ jsonpath "$.s" startsWith "a"
+ jsonpath "$.s" endsWith " b"
+ jsonpath "$.s" contains " "
- jsonpath "$.s" contains "c"
+ jsonpath "$.s" not contains "c"
+ jsonpath "$.s" matches /^a\sb$/
+ jsonpath "$.s" matches "^a\\sb$"
- jsonpath "$.s" matches /^b/
- jsonpath "$.id" matches /7/
+ jsonpath "$.s" isString
- jsonpath "$.s" isEmpty
+ jsonpath "$.e" isEmpty
+ jsonpath "$.none" isEmpty
- jsonpath "$.list" isEmpty
- jsonpath "$.id" isEmpty
- jsonpath "$.id" not isEmpty
+ jsonpath "$.s" > "a"
- jsonpath "$.s" > 1
+ jsonpath "$.list" count == 5
- jsonpath "$.s" count == 3
- jsonpath "$.obj" count == 2
+ jsonpath "$.list" contains 2
+ jsonpath "$.list" contains "x"
+ jsonpath "$.list" contains null
- jsonpath "$.list" contains 3
+ jsonpath "$.list" includes 1
- jsonpath "$.s" includes "a"
+ jsonpath "$.list" isList
+ jsonpath "$.list" isCollection
+ jsonpath "$.obj" isObject
+ jsonpath "$.obj" isCollection
- jsonpath "$.obj" isList
+ jsonpath "$.list[0]" == 1
+ jsonpath "$.list[-1].k" == "v"
+ jsonpath "$['list'][2]" == "x"
+ jsonpath "$[\"list\"][2]" == "x"
- jsonpath "$.list[5]" exists
- jsonpath "$.list[-6]" exists
+ jsonpath "$.list[*]" count == 5
+ jsonpath "$.one[*]" == 9
+ jsonpath "$.none[*]" not exists
+ jsonpath "$.obj.*" nth 0 == 1
+ jsonpath "$.obj[*]" nth 1 == 2
+ jsonpath "$.users[*].n" nth 1 == "y"
+ jsonpath "$.users[*].a[*]" count == 3
+ jsonpath "$.users[-1].a[-1]" == 3
+ jsonpath "$.users" first isObject
- jsonpath "$.users" last jsonpath "$.a" not exists
+ jsonpath "$.uA" == "é😀"
- jsonpath "$.uA" count == 2
+ jsonpath "$.dup" == 2
+ jsonpath "$" isObject
+ jsonpath "$.date" isIsoDate
- jsonpath "$.s" isIsoDate
- jsonpath "$.id" isIsoDate
- jsonpath "$.date" isDate
+ jsonpath "$.ip" isIpv4
- jsonpath "$.ip" isIpv6
+ jsonpath "$.ip6" isIpv6
- jsonpath "$.id" isIpv4
+ jsonpath "$.uuid" isUuid
- jsonpath "$.s" isUuid
+ jsonpath "$.json" jsonpath "$.in[0]" == 5
- jsonpath "$.s" jsonpath "$" exists
+ jsonpath "$.html" htmlUnescape == "<a> © &"
+ jsonpath "$.html" htmlUnescape htmlEscape == "&lt;a&gt; © &amp;"
+ jsonpath "$.url" urlQueryParam "b" == "x y z"
+ jsonpath "$.url" urlQueryParam "c" not exists
- jsonpath "$.s" urlQueryParam "a" exists
+ jsonpath "$.url" urlEncode == "http%3A//h/p%3Fa%3D1%26b%3Dx%2520y%2Bz"
+ jsonpath "$.url" urlEncode urlDecode == "http://h/p?a=1&b=x%20y+z"
+ jsonpath "$.b64" base64Decode == hex,48656c6c6f;
+ jsonpath "$.b64" base64Decode utf8Decode == "Hello"
+ jsonpath "$.b64" base64Decode base64Encode == "SGVsbG8="
+ jsonpath "$.b64" base64Decode base64UrlSafeEncode == "SGVsbG8"
- jsonpath "$.b64" base64UrlSafeDecode exists
- jsonpath "$.s" base64Decode exists
+ jsonpath "$.s" utf8Encode toHex == "612062"
+ jsonpath "$.f" toFloat == 1.5
- jsonpath "$.f" toInt == 1
+ jsonpath "$.i" toInt == 42
- jsonpath "$.s" toInt exists
+ jsonpath "$.t" toString == "true"
+ jsonpath "$.n" toString == "null"
- jsonpath "$.list" toString exists
+ jsonpath "$.s" replace " " "-" == "a-b"
+ jsonpath "$.s" replaceRegex /(\w) (\w)/ "$2 $1" == "b a"
+ jsonpath "$.s" regex /(\w)$/ == "b"
+ jsonpath "$.s" regex /(x)/ not exists
- jsonpath "$.s" regex /b/ exists
+ jsonpath "$.s" split " " count == 2
+ jsonpath "$.s" split " " nth -2 == "a"
- jsonpath "$.s" split " " nth 2 exists
- jsonpath "$.s" split " " nth -3 exists
- jsonpath "$.none" first exists
- jsonpath "$.none" last exists
+ regex /"id": (\d+)/ == "7"
+ regex "\"id\": (\\d+)" toInt == 7
+ duration < 60000
+ body contains "\"pi\": 3.14"
+ bytes startsWith hex,207b;
"#,
};

const TEXT: Case = Case {
    response: Response {
        status: 404,
        fields: "Content-Type: text/plain\r\n",
        body: b"Hello World\n",
    },
    captures: "word: body regex /(\\w+) /\n",
    asserts: r#"
+ status == 404
+ body == "Hello World\n"
+ body == ```
Hello World
```
- body == "Hello World"
+ body startsWith "{{word}} W"
+ body contains "{{word}}"
+ bytes == hex,48656c6c6f20576f726c640a;
+ bytes == base64,SGVsbG8gV29ybGQK;
- bytes == "Hello World\n"
+ bytes count == 12
+ bytes isList
- bytes isString
+ bytes contains hex,6f20;
+ bytes endsWith hex,0a;
- bytes contains "o"
+ sha256 == hex,d2a84f4b8b650937ec8f73cd8be2c74add5a911ba64df27458ed8229da804a26;
- sha256 == hex,00;
+ md5 == hex,e59ff97941044f85df5297e1c302d260;
- jsonpath "$.a" exists
- jsonpath "$.a" not exists
+ header "Content-Type" contains "text"
"#,
};

const HEADERS: Case = Case {
    response: Response {
        status: 302,
        fields: "Location: /home?x=1\r\nVary: Accept\r\nvary:  User-Agent \r\nEmpty:\r\nSet-Cookie: LSID=DQAAAKEaem_vYg; Expires=Wed, 13 Jan 2021 22:23:01 GMT; Secure; HttpOnly; Path=/accounts; SameSite=Lax; Max-Age=60\r\nSet-Cookie: b=2; Domain=example.org\r\nSet-Cookie: empty=\r\n",
        body: b"",
    },
    captures: "lsid: cookie \"LSID\"\n",
    asserts: r#"
+ header "location" == "/home?x=1"
+ header "Location" split "=" nth 1 toInt == 1
- header "gone" exists
+ header "gone" not exists
+ header "vary" count == 2
+ header "Vary" contains "User-Agent"
- header "Vary" == "Accept"
+ header "empty" == ""
+ header "Empty" isEmpty
+ cookie "LSID" == "DQAAAKEaem_vYg"
+ cookie "LSID" == "{{lsid}}"
+ cookie "LSID[Value]" == "DQAAAKEaem_vYg"
+ cookie "LSID[Path]" == "/accounts"
+ cookie "LSID[Secure]" exists
+ cookie "LSID[HttpOnly]" exists
+ cookie "LSID[samesite]" == "Lax"
+ cookie "LSID[Max-Age]" == 60
+ cookie "LSID[Expires]" isDate
+ cookie "LSID[Expires]" daysBeforeNow > 1000
+ cookie "LSID[Expires]" daysAfterNow < 0
+ cookie "LSID[Domain]" not exists
+ cookie "b[Domain]" == "example.org"
+ cookie "b[Secure]" not exists
- cookie "b[Expires]" exists
+ cookie "empty" == ""
- cookie "lsid" exists
+ body == ""
+ body isEmpty
+ bytes count == 0
"#,
};

const BYTES: Case = Case {
    response: Response { status: 200, fields: "", body: &[0xff, 0x00, 0x80] },
    captures: "",
    asserts: r#"
+ bytes count == 3
+ bytes toHex == "ff0080"
+ bytes base64Encode == "/wCA"
- body exists
- body not exists
+ bytes utf8Decode exists
- bytes decode "utf-8" exists
- jsonpath "$" exists
- regex /(a)/ not exists
+ bytes decode "iso-8859-1" startsWith "ÿ"
+ sha256 startsWith hex,;
"#,
};

const LATIN: Case = Case {
    response: Response {
        status: 200,
        fields: "Content-Type: text/html; charset=ISO-8859-1\r\n",
        body: b"caf\xe9 \x80",
    },
    captures: "",
    asserts: r#"
+ body == "café €"
+ bytes charsetDecode "windows-1252" == "café €"
+ regex /caf(.)/ == "é"
"#,
};

const BROKEN: Case = Case {
    response: Response {
        status: 200,
        fields: "Content-Type: application/json\r\n",
        body: b"{\"a\": 1, \"b\": [1,]}",
    },
    captures: "",
    asserts: r#"
- jsonpath "$.a" == 1
- jsonpath "$.a" not exists
+ body contains "a"
"#,
};

/// The file of a case, and for each line of it that is an assert whether it holds.
pub fn file_of(case: &Case, url: &str) -> (String, Vec<(u32, bool)>) {
    let mut text = format!("GET {url}\nHTTP *\n");
    if !case.captures.is_empty() {
        text += &format!("[Captures]\n{}\n", case.captures.trim());
    }
    text += "[Asserts]\n";
    let mut outcomes = Vec::new();
    for line in case.asserts.lines() {
        let outcome = line.strip_prefix("+ ").map(|line| (line, true));
        let outcome = outcome.or_else(|| line.strip_prefix("- ").map(|line| (line, false)));
        if let Some((_, holds)) = outcome {
            outcomes.push((text.matches('\n').count() as u32 + 1, holds));
        }
        text += outcome.map_or(line, |(line, _)| line);
        text.push('\n');
    }
    (text, outcomes)
}

#[test]
fn every_line_holds_or_fails_as_it_says() {
    let mut wrong = Vec::new();
    for case in CASES {
        let (text, outcomes) = file_of(case, "http://localhost/");
        let (failed, _) = failures(&journey(&text), &case.response);
        for (line, holds) in &outcomes {
            let own = failed.iter().find(|failure| failure.line == *line);
            if own.is_none() != *holds {
                let shown = text.lines().nth(*line as usize - 1).unwrap();
                wrong.push(format!("{shown}: {own:?}"));
            }
        }
        let expected = outcomes.iter().filter(|(_, holds)| !holds).count();
        assert!(failed.len() == expected || !wrong.is_empty(), "{failed:?}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn failures_say_what_is_there_instead() {
    let text = "GET http://h/\nHTTP 200\n[Asserts]\njsonpath \"$.id\" == 8\njsonpath \"$.gone\" == 1\n\
                jsonpath \"$.s\" not contains \"a\"\njsonpath \"$.id\" startsWith \"7\"\njsonpath \"$.s\" nth 0 == 1\n";
    let (failed, _) = failures(&journey(text), &JSON.response);
    let failed: Vec<String> = failed.iter().map(ToString::to_string).collect();
    assert_eq!(
        failed,
        [
            "line 4: jsonpath \"$.id\" == 8: it is integer <7>",
            "line 5: jsonpath \"$.gone\" == 1: there is nothing",
            "line 6: jsonpath \"$.s\" not contains \"a\": it is string <a b>",
            "line 7: jsonpath \"$.id\" startsWith \"7\": integer <7> is of a kind that this predicate does not take",
            "line 8: jsonpath \"$.s\" nth 0 == 1: the filter takes a list, not string <a b>",
        ]
    );
    let long = Response { status: 200, fields: "", body: &[b'\x1b'; 5000] };
    let (failed, _) =
        failures(&journey("GET http://h/\nHTTP 200\n[Asserts]\nbody == \"a\"\n"), &long);
    assert!(failed[0].message.len() < 1000 && !failed[0].message.contains('\x1b'), "{failed:?}");
}

#[test]
fn what_stands_below_http_is_expected() {
    let failed = |text: &str| {
        let (failed, _) = failures(&journey(&format!("GET http://h/\n{text}")), &HEADERS.response);
        failed.iter().map(|failure| (failure.line, failure.message.clone())).collect::<Vec<_>>()
    };
    assert!(failed("HTTP 302\nVary: User-Agent\nVary: Accept\nLocation: /home?x=1\n").is_empty());
    assert!(failed("HTTP/1.1 302\n``\n").is_empty());
    assert_eq!(failed("HTTP 200\nGone: 1\n"), [(2, "the status is 302, not 200".to_owned())]);
    assert_eq!(failed("HTTP/2 302\n"), [(2, "the version is 1.1".to_owned())]);
    assert_eq!(
        failed("HTTP *\nGone: 1\n\n`a`\n"),
        [
            (3, "there is no header Gone".to_owned()),
            (5, "the body is another than expected".to_owned()),
        ]
    );
    assert_eq!(failed("HTTP *\nVary: x\n"), [(3, "the header Vary is string <Accept>".to_owned())]);
}

#[test]
fn a_capture_that_finds_nothing_ends_the_step() {
    let failed = |captures: &str| {
        let text =
            format!("GET http://h/\nHTTP 200\n[Captures]\n{captures}\n[Asserts]\nstatus == 1\n");
        let (failed, variables) = failures(&journey(&text), &JSON.response);
        assert_eq!(failed.len(), 1);
        (failed[0].to_string(), variables)
    };
    let (message, variables) = failed("a: jsonpath \"$.id\"\nb: jsonpath \"$.gone\"\nc: status");
    assert_eq!(message, "line 5: the capture of b: the query finds nothing");
    assert!(variables.get(0).is_some() && variables.get(2).is_none());
    assert_eq!(
        failed("a: jsonpath \"$.s\" regex /(x)/").0,
        "line 4: the capture of a: the filters leave nothing"
    );
    assert_eq!(
        failed("a: jsonpath \"$.id\" redact").0,
        "line 4: the capture of a: only strings can be redacted, not integer"
    );
    assert_eq!(
        failed("a: jsonpath \"$.s\" toInt").0,
        "line 4: the capture of a: string <a b> is no integer"
    );
    let huge = Response { status: 200, fields: "", body: Box::leak(vec![b'a'; 50 << 20].into()) };
    let (failed, _) = failures(&journey("GET http://h/\nHTTP 200\n[Captures]\na: body\n"), &huge);
    assert_eq!(failed[0].message, "the capture of a: its value is larger than 1048576 bytes");
}
