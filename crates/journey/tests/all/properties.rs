//! Any text may be given: nothing panics, and what is a file is the same file after it was printed.

use ablaze_journey::syntax::print;
use ablaze_journey::{compile, parse};
use proptest::prelude::*;

/// Parts of which files are made; put together at random, some of the results are files.
const PARTS: &[&str] = &[
    "GET http://h/{{a}}\n",
    "POST {{b}}/x?y#z\n",
    "HTTP 200\n",
    "HTTP/1.1 *\n",
    "# name: x\n",
    "\n",
    "  ",
    "A: b\n",
    "{{a}}-b: {{ c }} d # e\n",
    "a\\u{20}b: \\u{7b}{\\t\n",
    "[Query]\n",
    "[Form]\n",
    "[Multipart]\n",
    "[Cookies]\n",
    "[BasicAuth]\n",
    "[Options]\n",
    "[Captures]\n",
    "[Asserts]\n",
    "f: file,a\\ b.txt; text/plain\n",
    "delay: 3s\n",
    "retry: -1\n",
    "variable: a=1.50\n",
    "variable: b=\" x{{a}} \"\n",
    "variable: c= {{d}}y\n",
    "output: {{a}}.txt\n",
    "{\"a\": [1, {{b}}, \"c{{d}}\\n\"]}\n",
    "[1]\n",
    "null\n",
    "<a b='>'>{{c}}</a>\n",
    "`a{{b}}\\``\n",
    "```\n{{a}} b\n```\n",
    "```raw\n{{a\n```\n",
    "```graphql\n{a}\nvariables {\"b\": {{c}} }\n```\n",
    "```json\n{}\n```",
    "base64,AAEC;\n",
    "hex,00ff;\n",
    "file,x.bin;\n",
    "c: jsonpath \"$.a[0]\" toInt\n",
    "d: header \"{{a}}\" regex /a\\/b(.)/ redact\n",
    "e: cookie \"x{{y}}[Path]\"\n",
    "status == 200\n",
    "body not contains \"a\\\"{{b}}\"\n",
    "bytes split \"\\u{1f600}\" nth -2 == {{c}}\n",
    "duration < 1.5 # c\n",
    "sha256 == hex,00;\n",
    "variable \"a\" replaceRegex \"(a)\" \"$1\" matches /b/\n",
    "jsonpath \"$\" count >= -7\n",
    "certificate \"Issuer\" exists\n",
    "body == ```\nx\n```\n",
    "{{",
    "}}",
    "\\",
    "\"",
    "/",
    "=",
];

pub fn texts() -> impl Strategy<Value = String> {
    let parts = prop::collection::vec(prop::sample::select(PARTS), 0..12);
    parts.prop_map(|parts| parts.concat())
}

pub fn files() -> impl Strategy<Value = String> {
    let line = |from: &'static [&'static str]| {
        prop::collection::vec(prop::sample::select(from), 0..4).prop_map(|lines| lines.concat())
    };
    let part = |text: &str| PARTS.iter().position(|part| *part == text).unwrap();
    let options = &PARTS[part("delay: 3s\n")..=part("output: {{a}}.txt\n")];
    let bodies = &PARTS[part("{\"a\": [1, {{b}}, \"c{{d}}\\n\"]}\n")..=part("file,x.bin;\n")];
    let captures =
        &PARTS[part("c: jsonpath \"$.a[0]\" toInt\n")..=part("e: cookie \"x{{y}}[Path]\"\n")];
    let asserts = &PARTS[part("status == 200\n")..=part("body == ```\nx\n```\n")];
    let fields = &PARTS[part("A: b\n")..=part("a\\u{20}b: \\u{7b}{\\t\n")];
    let entry = (
        line(fields),
        line(fields),
        line(options),
        prop::option::of(prop::sample::select(bodies)),
        line(captures),
        line(asserts),
    );
    let entry = entry.prop_map(|(headers, form, options, body, captures, asserts)| {
        let body = body.unwrap_or_default();
        let end = if body.is_empty() || body.ends_with('\n') { "" } else { "\n" };
        format!("# name: n\nPUT http://h/\n{headers}[Form]\n{form}[Options]\n{options}{body}{end}HTTP 200\n{headers}[Captures]\n{captures}[Asserts]\n{asserts}")
    });
    prop::collection::vec(entry, 1..4).prop_map(|entries| entries.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_file_or_an_error_with_its_place(text in prop_oneof![any::<String>(), texts(), files()]) {
        match parse(&text, "any") {
            Ok(file) => {
                let printed = print(&file);
                let again = parse(&printed, "printed");
                prop_assert_eq!(again.as_ref(), Ok(&file), "{}", printed);
                if let Ok(journey) = compile(&file, "any") {
                    prop_assert_eq!(journey.steps.len(), file.entries.len());
                }
            }
            Err(error) => {
                let lines = text.split('\n').count();
                prop_assert!((1..=lines).contains(&(error.line as usize)), "{}", error);
                prop_assert_eq!(error.to_string().lines().count(), 3);
            }
        }
    }

    #[test]
    fn files_of_all_their_parts_are_read(text in files()) {
        prop_assert!(parse(&text, "f").is_ok(), "{}\n{}", parse(&text, "f").unwrap_err(), text);
    }
}
