//! Files in Hurl's format, made from a seed: requests of every kind, and captures and asserts of which many do not hold.

use std::fmt::Write;

use super::asserts::Asserts;
use super::replies::REPLIES;
use super::seeded::Seeded;

/// What both programs are given with `--variable`.
pub const VARIABLES: &[(&str, &str)] = &[
    ("word", "some"),
    ("number", "42"),
    ("real", "1.5"),
    ("truth", "true"),
    ("text", "a b&c=\u{e9}"),
];

/// The files beside it, by name.
pub const FILES: &[(&str, &[u8])] =
    &[("note.txt", b"a note\r\nof two lines"), ("data.bin", b"\x00\xff\x01--B\r\n")];

const METHODS: &[&str] =
    &["GET", "GET", "GET", "POST", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "PURGE"];

/// Values behind a colon, as they are written in a file.
const VALUES: &[&str] = &[
    "a",
    "b c",
    "x/y?z",
    "\u{e9}\u{1f600}",
    "50%",
    "a=b&c+d",
    "{{word}}",
    "{{number}}",
    "{{real}}",
    "{{truth}}",
    "\"quoted\"",
    "back\\\\slash",
    "\\u{e9}",
    "\\#hash",
    "; semi",
    "a, b",
    "<x>",
    "{{text}}",
    "pre{{word}}post",
    "{{word}}{{number}}",
    "100%25",
    "~-._!*'()",
    "[1]",
    "a\\tb",
    "{{ word }}",
    "é # a comment",
];

/// Values of header fields: no bytes that libcurl and HTTP take apart.
const FIELD_VALUES: &[&str] = &[
    "a",
    "b c",
    "x/y?z",
    "50%",
    "a=b&c+d",
    "{{word}}",
    "{{number}}",
    "{{real}}",
    "{{truth}}",
    "\"quoted\"",
    "back\\\\slash",
    "\\#hash",
    "a; b",
    "a, b",
    "<x>",
    "pre{{word}}post",
    "{{word}}{{number}}",
    "{{ word }}",
    "x # a comment",
    "a\\tb",
    "é",
];

const PATHS: &[&str] = &[
    "",
    "/",
    "/a",
    "/a/b.html",
    "/a%20b",
    "/{{word}}",
    "/{{number}}/x",
    "/\u{e9}",
    "/a//b/",
    "/a/../b",
    "/./a",
    "/a+b;c=d",
    "/~x/(y)!",
    "/x?a=1",
    "/x?a=1&b={{word}}",
    "/x?q=%26&r",
    "/x?{{word}}={{number}}",
    "/x#part",
    "/x?a=b#part",
    "/x?",
];

const BODIES: &[&str] = &[
    "{\"a\": {{number}}, \"b\": \"{{text}}\", \"c\": [1, 2.50, null, {{truth}}], \"d\": \"q\\\"\\u00e9\"}\n",
    "[1, -2.5e3, {\"x\": {{real}}}, []]\n",
    "{}\n",
    "{\n  \"word\": \"{{word}}\",\n  \"nested\": {\"deep\": [ \"{{number}}\" ]}\n}\n",
    "<?xml version=\"1.0\"?>\n<a b=\"c\">text {{number}}<d/></a>\n",
    "<p>é &amp;</p>\n",
    "`one line {{word}} \\` \\n {{number}}`\n",
    "``\n",
    "```\nline {{word}}\n  second\n```\n",
    "```json\n{\"a\": \"{{word}}\", \"b\": {{number}}}\n```\n",
    "```xml\n<a>{{word}}</a>\n```\n",
    "```raw\n{{word}} \\n\n```\n",
    "```graphql\nquery Of($id: Int) {\n  item(id: $id) { name }\n}\n\nvariables {\"id\": {{number}}, \"w\": \"{{word}}\"}\n```\n",
    "```graphql\n{ all { \"quoted\" } }\n```\n",
    "base64,SGVsbG8gd8O2cmxkAA==;\n",
    "hex,00ff10;\n",
    "file,note.txt;\n",
    "file,data.bin;\n",
];

/// A file, and whether its failures end it.
pub struct Generated {
    pub text: String,
    pub continues: bool,
}

/// The file that belongs to a seed, for a server at this URL.
pub fn generated(seed: u64, site: &str) -> Generated {
    let mut writer = Writer {
        seeded: Seeded::new(seed),
        text: String::new(),
        site,
        steps: 0,
        using: None,
        captured: Vec::new(),
    };
    let continues = writer.seeded.chance(50);
    for _ in 0..=writer.seeded.below(4) {
        writer.entry();
    }
    Generated { text: writer.text, continues }
}

struct Writer<'a> {
    seeded: Seeded,
    text: String,
    site: &'a str,
    /// How many there are, with the present one.
    steps: usize,
    /// Which part of the present step uses a captured variable: one only, because which of several that are not set is
    /// told first is not the same.
    using: Option<&'static str>,
    /// Variables that captures set, and whether they are sure to have no line ends.
    captured: Vec<(String, bool)>,
}

impl Writer<'_> {
    fn line(&mut self, words: &str) {
        let _ = writeln!(self.text, "{words}");
    }

    fn entry(&mut self) {
        (self.steps, self.using) = (self.steps + 1, None);
        let begun = self.text.len();
        if self.seeded.chance(20) {
            self.line("# name: step");
        }
        let method = *self.seeded.of(METHODS);
        let (target, options, reply) = self.target();
        let url = format!("{}{target}", self.site);
        self.line(&format!("{method} {url}"));
        self.fields();
        self.sections(&options);
        // libcurl sends no body with HEAD.
        if method != "HEAD" && (method != "GET" || self.seeded.chance(5)) {
            self.body(begun);
        }
        if self.seeded.chance(90) {
            self.response(reply, method == "HEAD", target.starts_with("/flaky"));
        }
        self.line("");
    }

    /// Where a request goes, the options that it needs, and the number of the reply that should come, if it is a
    /// prepared one.
    fn target(&mut self) -> (String, Vec<String>, Option<usize>) {
        let reply = self.seeded.below(REPLIES.len());
        let name = REPLIES[reply].name;
        match self.seeded.below(10) {
            0..=4 => (format!("/r/{name}"), Vec::new(), Some(reply)),
            5 => self.redirected(reply),
            6 => {
                let (failures, retries) = (self.seeded.below(3), self.seeded.below(4));
                let options = vec![format!("retry: {retries}"), "retry-interval: 1ms".to_owned()];
                (format!("/flaky/{failures}/{}", self.seeded.below(1000)), options, None)
            }
            7 => {
                let value = self.seeded.of(&["1", "x%20y", "a.b", ""]);
                (format!("/set/x?made={value}&other=o"), Vec::new(), None)
            }
            _ => {
                let path = self.seeded.of(PATHS);
                (format!("{}{path}", self.seeded.of(&["", "/e"])), Vec::new(), None)
            }
        }
    }

    fn redirected(&mut self, reply: usize) -> (String, Vec<String>, Option<usize>) {
        let mut target = format!("/r/{}", REPLIES[reply].name);
        for _ in 0..=self.seeded.below(3) {
            target = format!("/to/{}{target}", self.seeded.of(&[301, 302, 303, 307, 308]));
        }
        let mut options = Vec::new();
        if self.seeded.chance(80) {
            options.push("location: true".to_owned());
        }
        if self.seeded.chance(30) {
            options.push(format!("max-redirs: {}", self.seeded.below(4)));
        }
        (target, options, Some(reply))
    }

    fn fields(&mut self) {
        const NAMES: &[&str] = &[
            "X-A",
            "x-b",
            "Accept",
            "X-{{word}}",
            "User-Agent",
            "Content-Type",
            "Accept-Language",
            "X-A",
        ];
        for _ in 0..self.seeded.below(3) {
            let (name, value) = (self.seeded.of(NAMES), self.seeded.of(FIELD_VALUES));
            let captured = self.captured("fields");
            let value = captured.map_or_else(|| (*value).to_owned(), |name| format!("got {name}"));
            self.line(&format!("{name}: {value}"));
        }
    }

    /// The captured variable that comes last, sometimes.
    fn captured(&mut self, part: &'static str) -> Option<String> {
        let (name, is_one_line) = self.captured.last()?;
        let is_unfit = part == "fields" && !is_one_line;
        if !self.seeded.chance(35) || is_unfit || self.using.is_some_and(|using| using != part) {
            return None;
        }
        self.using = Some(part);
        Some(format!("{{{{{name}}}}}"))
    }

    fn pairs(&mut self, section: &'static str, values: &[&str]) {
        const NAMES: &[&str] = &["a", "b", "long-name", "c.d", "{{word}}", "e_f"];
        self.line(section);
        for _ in 0..=self.seeded.below(3) {
            let value = self.captured(section);
            let value = value.unwrap_or_else(|| (*self.seeded.of(values)).to_owned());
            let name = self.seeded.of(NAMES);
            self.line(&format!("{name}: {value}"));
        }
    }

    fn sections(&mut self, options: &[String]) {
        if self.seeded.chance(25) {
            self.pairs("[Query]", VALUES);
        }
        if self.seeded.chance(20) {
            self.pairs("[Cookies]", &["1", "a.b", "{{word}}", "{{number}}", "x-y_z"]);
        }
        if self.seeded.chance(15) {
            let values = ["user: pass", "{{word}}: {{number}}", "a: b c", "é: ü"];
            let auth = format!("[BasicAuth]\n{}", self.seeded.of(&values));
            self.line(&auth);
        }
        self.options(options);
    }

    fn options(&mut self, needed: &[String]) {
        const OTHERS: &[&str] = &[
            "delay: 1ms",
            "compressed: true",
            "header: X-Option: {{word}}",
            "user: opt:{{number}}",
            "variable: word=other",
            "variable: number=7",
            "variable: set=\"a {{word}}\"",
            "repeat: 2",
            "verbose: false",
            "location-trusted: true",
            "compressed: false",
            "skip: false",
            "variable: real=2.50",
        ];
        let mut lines = needed.to_vec();
        // Where nothing is sent at all, Hurl has nothing to say and this program refuses the file.
        if self.steps > 1 && self.seeded.chance(4) {
            lines.push("skip: true".to_owned());
        } else if self.seeded.chance(30) {
            lines.push((*self.seeded.of(OTHERS)).to_owned());
        }
        if !lines.is_empty() {
            self.line("[Options]");
            self.line(&lines.join("\n"));
        }
    }

    /// `begun` is where the step begins.
    fn body(&mut self, begun: usize) {
        match self.seeded.below(4) {
            0 => self.pairs("[Form]", VALUES),
            // With another type than its own, libcurl calls the parts of a form attachments.
            1 if !self.text[begun..].contains("Content-Type: ") => {
                if self.seeded.chance(20) {
                    let request = self.text[begun..].find("http://").unwrap_or(0);
                    let at = begun + request;
                    let at = at + self.text[at..].find('\n').map_or(0, |end| end + 1);
                    self.text.insert_str(at, "Content-Type: multipart/form-data\n");
                }
                self.pairs("[Multipart]", FIELD_VALUES);
                let files = [
                    "file,note.txt;",
                    "file,data.bin;",
                    "file,data.bin; image/png",
                    "file,note.txt; text/x-{{word}}",
                ];
                if self.seeded.chance(60) {
                    let file = format!("upload: {}", self.seeded.of(&files));
                    self.line(&file);
                }
            }
            2 => {
                let body = *self.seeded.of(BODIES);
                self.text.push_str(body);
            }
            _ => {}
        }
    }

    fn response(&mut self, reply: Option<usize>, is_head: bool, is_retried: bool) {
        let status = reply.map_or(200, |reply| REPLIES[reply].status);
        let first = match self.seeded.below(10) {
            0 => "HTTP *".to_owned(),
            1 => "HTTP 299".to_owned(),
            2 => format!("HTTP/1.1 {status}"),
            3 => "HTTP/1.0 *".to_owned(),
            _ => format!("HTTP {status}"),
        };
        self.line(&first);
        if self.seeded.chance(10) {
            let field = [
                "Content-Type: application/json",
                "X-Total: {{number}}",
                "X-Many: two",
                "x-empty:",
            ];
            let field = (*self.seeded.of(&field)).to_owned();
            self.line(&field);
        }
        let mut asserts = Asserts {
            seeded: &mut self.seeded,
            reply: reply.map(|reply| &REPLIES[reply]),
            is_head,
        };
        let mut lines = Vec::new();
        // Hurl does not say which captures failed in the tries of a step but the last.
        if !is_retried && asserts.seeded.chance(50) {
            lines.push("[Captures]".to_owned());
            for _ in 0..=asserts.seeded.below(2) {
                let name = format!("c{}", self.captured.len());
                let line = asserts.capture(&name);
                // libcurl sends line ends in fields as they are, this program refuses them.
                let is_one_line =
                    !["body", "lines", "\"$\"", "regex"].iter().any(|word| line.contains(word));
                self.captured.push((name, is_one_line));
                lines.push(line);
            }
        }
        if asserts.seeded.chance(80) {
            lines.push("[Asserts]".to_owned());
            for _ in 0..=asserts.seeded.below(6) {
                lines.push(asserts.assert());
            }
        }
        if asserts.seeded.chance(5) {
            let bodies = [
                "{\"packed\": true}",
                "{}",
                "`moved`",
                "hex,0001fffe616263;",
                "{\"error\": \"not found\", \"code\": 404}",
            ];
            lines.push((*asserts.seeded.of(&bodies)).to_owned());
        }
        self.line(&lines.join("\n"));
    }
}
