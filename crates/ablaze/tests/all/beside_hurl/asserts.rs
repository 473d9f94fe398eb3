//! Captures and asserts, made from a seed: a query, filters that mostly take what stands before them, a predicate.

use super::replies::Reply;
use super::seeded::Seeded;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Bytes,
    List,
    Other,
}

use Kind::{Bytes, List, Other, Text};

const FILTERS: &[(Kind, &str, Kind)] = &[
    (Text, "split \" \"", List),
    (Text, "split \"\"", List),
    (Text, "replace \"a\" \"b\"", Text),
    (Text, "replace \" \" \"{{word}}\"", Text),
    (Text, "replaceRegex /[0-9]+/ \"<$0>\"", Text),
    (Text, "replaceRegex \"(a)(.)\" \"$2$1\"", Text),
    (Text, "regex /([0-9]+)/", Text),
    (Text, "regex \"(\\\\w+)$\"", Text),
    (Text, "regex /nothing here (x)/", Text),
    (Text, "toInt", Other),
    (Text, "toFloat", Other),
    (Text, "urlEncode", Text),
    (Text, "urlDecode", Text),
    (Text, "htmlEscape", Text),
    (Text, "htmlUnescape", Text),
    (Text, "base64Decode", Bytes),
    (Text, "base64UrlSafeDecode", Bytes),
    (Text, "utf8Encode", Bytes),
    (Text, "urlQueryParam \"b\"", Text),
    (Text, "jsonpath \"$.in[0]\"", Other),
    (Text, "jsonpath \"$\"", Other),
    (Text, "toString", Text),
    (Bytes, "base64Encode", Text),
    (Bytes, "base64UrlSafeEncode", Text),
    (Bytes, "toHex", Text),
    (Bytes, "utf8Decode", Text),
    (Bytes, "charsetDecode \"utf-8\"", Text),
    (Bytes, "charsetDecode \"latin1\"", Text),
    (Bytes, "charsetDecode \"no-such\"", Text),
    (Bytes, "count", Other),
    (List, "count", Other),
    (List, "first", Other),
    (List, "last", Other),
    (List, "nth 1", Other),
    (List, "nth -2", Other),
    (List, "nth 50", Other),
    (Other, "toInt", Other),
    (Other, "toFloat", Other),
    (Other, "toString", Text),
    (Other, "count", Other),
];

const VALUES: &[&str] = &[
    "7",
    "3.14",
    "2",
    "2.0",
    "1000",
    "0",
    "-5",
    "\"a b\"",
    "\"\"",
    "true",
    "false",
    "null",
    "{{number}}",
    "\"{{text}}\"",
    "\"Hello\"",
    "hex,00ff;",
    "base64,SGVsbG8=;",
    "`a b`",
    "\"x\"",
    "42",
    "\"42\"",
    "{{word}}",
    "\"{{number}}\"",
    "5",
    "200",
    "\"GET\"",
    "123456789012345678901",
    "hex,48656c6c6f;",
    "3",
    "404",
    "1.5",
    "\"ann\"",
    "6",
    "\"\\u{e9}\"",
];

const STRINGS: &[&str] = &[
    "\"a\"",
    "\"\"",
    "\"Hello\"",
    "\"{{word}}\"",
    "\" \"",
    "\"x\"",
    "hex,00;",
    "\"\\n\"",
    "`<p`",
    "hex,616263;",
];

const PATTERNS: &[&str] = &[
    "/a/",
    "/^a b$/",
    "\"^[a-z]+$\"",
    "/\\d+/",
    "/(?i)HELLO/",
    "/^$/",
    "/a|b/",
    "/\\//",
    "\"\\\\.\"",
];

const TESTS: &[&str] = &[
    "exists",
    "isEmpty",
    "isString",
    "isInteger",
    "isFloat",
    "isNumber",
    "isBoolean",
    "isCollection",
    "isDate",
    "isIsoDate",
    "isList",
    "isObject",
    "isIpv4",
    "isIpv6",
    "isUuid",
];

pub struct Asserts<'a> {
    pub seeded: &'a mut Seeded,
    /// What should come; nothing if it is the request, as JSON.
    pub reply: Option<&'static Reply>,
    /// Whether there is no body.
    pub is_head: bool,
}

impl Asserts<'_> {
    pub fn capture(&mut self, name: &str) -> String {
        if self.seeded.chance(4) {
            // Not anything: for an empty secret Hurl writes *** between all letters of its messages.
            return format!("{name}: url redact");
        }
        let (query, kind) = self.query();
        let filters = self.filters(kind);
        format!("{name}: {query}{filters}")
    }

    pub fn assert(&mut self) -> String {
        let (query, kind) = self.query();
        let filters = self.filters(kind);
        let not = if self.seeded.chance(20) { "not " } else { "" };
        format!("{query}{filters} {not}{}", self.predicate())
    }

    fn path(&mut self) -> String {
        const ECHOED: &[&str] = &[
            "$.method",
            "$.target",
            "$.body",
            "$.bytes",
            "$.fields.host",
            "$.fields['x-a']",
            "$.fields.cookie[0]",
            "$.fields['content-type'][0]",
            "$.fields.authorization[0]",
            "$.fields.accept[*]",
            "$.fields['content-length'][0]",
        ];
        let paths = self.reply.map_or(ECHOED, |reply| reply.paths);
        (*self.seeded.of(paths)).to_owned()
    }

    fn query(&mut self) -> (String, Kind) {
        let fields = [
            "Content-Type",
            "content-length",
            "X-Many",
            "X-Total",
            "ETag",
            "Set-Cookie",
            "X-None",
            "Location",
            "X-Empty",
        ];
        let cookies = [
            "session",
            "theme[Value]",
            "theme[Max-Age]",
            "session[HttpOnly]",
            "session[SameSite]",
            "none",
            "deep[Path]",
            "safe[Secure]",
            "quoted",
            "quoted[Expires]",
            "theme[Domain]",
            "made",
        ];
        match self.seeded.below(20) {
            0 => ("status".to_owned(), Other),
            1 => ("version".to_owned(), Text),
            2 => ("url".to_owned(), Text),
            3 | 4 => (format!("header \"{}\"", self.seeded.of(&fields)), Text),
            5 => (format!("cookie \"{}\"", self.seeded.of(&cookies)), Text),
            6 | 7 => ("body".to_owned(), Text),
            8 => ("bytes".to_owned(), Bytes),
            9 => {
                let patterns = [
                    "/token=(\\w+)/",
                    "\"([0-9]+)\"",
                    "/(.)$/",
                    "/no group/",
                    "/<p>(.*)<.p>/",
                    "/((a)b?)/",
                ];
                (format!("regex {}", self.seeded.of(&patterns)), Text)
            }
            10 => ("sha256".to_owned(), Bytes),
            11 => ("md5".to_owned(), Bytes),
            12 => (
                format!(
                    "variable \"{}\"",
                    self.seeded.of(&["word", "number", "c0", "c1", "set", "none"])
                ),
                Other,
            ),
            _ => (format!("jsonpath \"{}\"", self.path()), Other),
        }
    }

    fn filters(&mut self, mut kind: Kind) -> String {
        let mut text = String::new();
        for _ in 0..self.seeded.below(4).saturating_sub(1) {
            let (takes, filter, gives) = *self.seeded.of(FILTERS);
            // What a JSONPath finds may be anything.
            if takes == kind || kind == Other || self.seeded.chance(5) {
                text.push(' ');
                text.push_str(filter);
                kind = gives;
            }
        }
        text
    }

    fn predicate(&mut self) -> String {
        match self.seeded.below(10) {
            0..=3 => {
                let compare = *self.seeded.of(&["==", "==", "!=", ">", ">=", "<", "<="]);
                // Only numbers and strings have an order, and a file that orders others is none.
                let values: &[&str] = match compare {
                    "==" | "!=" => VALUES,
                    _ => &[
                        "7",
                        "3.0",
                        "-5",
                        "0",
                        "100",
                        "\"a\"",
                        "\"x\"",
                        "{{number}}",
                        "\"{{word}}\"",
                    ],
                };
                format!("{compare} {}", self.seeded.of(values))
            }
            4 => format!("startsWith {}", self.seeded.of(STRINGS)),
            5 => format!("endsWith {}", self.seeded.of(STRINGS)),
            6 => match self.is_head {
                true => "isEmpty".to_owned(),
                false => format!("contains {}", self.seeded.of(STRINGS)),
            },
            7 => format!("matches {}", self.seeded.of(PATTERNS)),
            _ => (*self.seeded.of(TESTS)).to_owned(),
        }
    }
}
