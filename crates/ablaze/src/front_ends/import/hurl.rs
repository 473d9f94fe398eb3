//! Requests as text in Hurl's format (<https://hurl.dev/docs/grammar.html>), escaped so that every value is read back as
//! it was: no placeholder, comment or line end comes into being.

use std::fmt::Write as _;

/// A request, and the status that it got.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entry {
    /// The method: capital letters.
    pub method: String,
    /// The URL, with its query.
    pub url: String,
    /// Headers in their order.
    pub headers: Vec<(String, String)>,
    /// `[Options]`
    pub options: Vec<(&'static str, String)>,
    /// `[BasicAuth]`: name and password.
    pub user: Option<(String, String)>,
    /// `[Cookies]`
    pub cookies: Vec<(String, String)>,
    /// What is sent.
    pub body: Body,
    /// The status of the response.
    pub status: Option<u16>,
}

/// What a request sends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Body {
    /// Nothing.
    #[default]
    Nothing,
    /// Text, sent as it is.
    Text(String),
    /// Bytes that are not text.
    Bytes(Vec<u8>),
    /// The content of a file.
    File(String),
    /// Fields of a form, not yet encoded.
    Form(Vec<(String, String)>),
    /// Parts of a `multipart/form-data` body.
    Multipart(Vec<Part>),
}

/// A part of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Name and value.
    Value(String, String),
    /// Name, file and its content type.
    File(String, String, Option<String>),
}

/// The file.
pub fn text(entries: &[Entry]) -> String {
    entries.iter().map(Entry::text).collect::<Vec<_>>().join("\n")
}

impl Entry {
    fn text(&self) -> String {
        let Self { method, url: address, headers, options, user, cookies, body, status } = self;
        let mut text = format!("{method} {}\n", url(address));
        lines(&mut text, "", headers);
        lines(&mut text, "[Options]\n", options);
        lines(&mut text, "[BasicAuth]\n", user.as_slice());
        lines(&mut text, "[Cookies]\n", cookies);
        match body {
            Body::Nothing => {}
            Body::Text(content) if is_plain_json(content) => text += &format!("{content}\n"),
            Body::Text(content) => text += &format!("`{}`\n", escaped(content, &['`'])),
            Body::Bytes(bytes) => {
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                text += &format!("hex,{hex};\n");
            }
            Body::File(path) => text += &format!("file,{};\n", file_name(path)),
            Body::Form(fields) => lines(&mut text, "[Form]\n", fields),
            Body::Multipart(parts) => {
                text.push_str("[Multipart]\n");
                parts.iter().for_each(|part| text += &format!("{}\n", part.text()));
            }
        }
        if let Some(status) = status {
            text += &format!("HTTP {status}\n");
        }
        text
    }
}

impl Part {
    fn text(&self) -> String {
        match self {
            Self::Value(name, content) => {
                // It would be read as the name of a file.
                let content = match content.strip_prefix("file,") {
                    Some(rest) => format!("\\u{{66}}ile,{}", value(rest)),
                    None => value(content),
                };
                let blank = if content.is_empty() { "" } else { " " };
                format!("{}:{blank}{content}", key(name))
            }
            Self::File(name, path, kind) => {
                let kind =
                    kind.as_ref().map(|kind| format!(" {}", value(kind))).unwrap_or_default();
                format!("{}: file,{};{kind}", key(name), file_name(path))
            }
        }
    }
}

fn lines<K: AsRef<str>>(text: &mut String, heading: &str, pairs: &[(K, String)]) {
    if !pairs.is_empty() {
        text.push_str(heading);
    }
    for (name, content) in pairs {
        let content = value(content);
        let blank = if content.is_empty() { "" } else { " " };
        // A String takes everything.
        let _ = writeln!(text, "{}:{blank}{content}", key(name.as_ref()));
    }
}

/// A URL with what it may not have there percent-encoded, and without its fragment, which is never sent.
fn url(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let mut text = String::new();
    for letter in url.chars() {
        if letter.is_alphanumeric() || ":/.-?=&_%*,@~+!$'();[]".contains(letter) {
            text.push(letter);
        } else {
            let mut bytes = [0; 4];
            for byte in letter.encode_utf8(&mut bytes).bytes() {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}

fn key(name: &str) -> String {
    let mut text = String::new();
    for (at, letter) in name.chars().enumerate() {
        let plain = letter.is_ascii_alphanumeric() || "_-.@$".contains(letter);
        // At the beginning it would open a section.
        if plain || (matches!(letter, '[' | ']') && at > 0) {
            text.push(letter);
        } else {
            let _ = write!(text, "\\u{{{:x}}}", u32::from(letter));
        }
    }
    text
}

/// The value of a line, whose blanks at both ends are otherwise no part of it.
fn value(content: &str) -> String {
    let trimmed = content.trim_matches(' ');
    let blanks = |count: usize| "\\u{20}".repeat(count);
    let before = content.len() - content.trim_start_matches(' ').len();
    let behind = content.len() - before - trimmed.len();
    format!("{}{}{}", blanks(before), escaped(trimmed, &[]), blanks(behind))
}

/// With escapes for what has a meaning in every string, and for `others`.
fn escaped(content: &str, others: &[char]) -> String {
    let mut text = String::new();
    let mut letters = content.chars().peekable();
    while let Some(letter) = letters.next() {
        let placeholder = letter == '{' && letters.peek() == Some(&'{');
        if matches!(letter, '\\' | '#') {
            text.push('\\');
            text.push(letter);
        } else if letter.is_control() || placeholder || others.contains(&letter) {
            let _ = write!(text, "\\u{{{:x}}}", u32::from(letter));
        } else {
            text.push(letter);
        }
    }
    text
}

fn file_name(path: &str) -> String {
    let mut text = String::new();
    for letter in path.chars() {
        if matches!(letter, ';' | '#' | ' ' | '{' | '}' | ':' | '\\') {
            text.push('\\');
        }
        text.push(letter);
    }
    text
}

/// Whether a text can stand as JSON, so that it is read and sent as it is.
fn is_plain_json(text: &str) -> bool {
    let container = text.starts_with(['{', '[']) && text.ends_with(['}', ']']);
    let plain = !text.contains('\r') && !text.contains("{{");
    container && plain && serde_json::from_str::<serde_json::Value>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_request_has_its_place() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let entry = Entry {
            method: "POST".into(),
            url: "http://h/a b?q={{x}}&é=|#f".into(),
            headers: vec![pair("X-A", " b # c\\"), pair("E", "")],
            options: vec![("insecure", "true".into())],
            user: Some(pair("ann", "p:{{w}}")),
            cookies: vec![pair("c", "1")],
            body: Body::Form(vec![pair("k [1]", "a\nb"), pair("[x", "y")]),
            status: Some(201),
        };
        let expected = "POST http://h/a%20b?q=%7B%7Bx%7D%7D&é=%7C\n\
                        X-A: \\u{20}b \\# c\\\\\nE:\n[Options]\ninsecure: true\n[BasicAuth]\nann: p:\\u{7b}{w}}\n\
                        [Cookies]\nc: 1\n[Form]\nk\\u{20}[1]: a\\u{a}b\n\\u{5b}x: y\nHTTP 201\n";
        assert_eq!(text(&[entry]), expected);
    }

    #[test]
    fn bodies_are_read_back_as_they_are() {
        let of = |body: Body| {
            let entry =
                Entry { method: "PUT".into(), url: "http://h/".into(), body, ..Entry::default() };
            text(&[entry]).strip_prefix("PUT http://h/\n").unwrap().to_owned()
        };
        let json = "{\n  \"a\": [1.0, true]\n}";
        assert_eq!(of(Body::Text(json.into())), format!("{json}\n"));
        assert_eq!(of(Body::Text(r#"["\n#"]"#.into())), "[\"\\n#\"]\n");
        assert_eq!(
            of(Body::Text("{\"a\":\"\\n{{b}}`\"}".into())),
            "`{\"a\":\"\\\\n\\u{7b}{b}}\\u{60}\"}`\n"
        );
        assert_eq!(of(Body::Text("[not json]".into())), "`[not json]`\n");
        assert_eq!(of(Body::Text("{}\n".into())), "`{}\\u{a}`\n");
        assert_eq!(of(Body::Bytes(vec![0, 255])), "hex,00ff;\n");
        assert_eq!(of(Body::File("a b;c".into())), "file,a\\ b\\;c;\n");
        let parts = vec![
            Part::Value("a".into(), "file,x".into()),
            Part::File("f".into(), "x.png".into(), Some("image/png".into())),
            Part::File("g".into(), "y".into(), None),
        ];
        let expected = "[Multipart]\na: \\u{66}ile,x\nf: file,x.png; image/png\ng: file,y;\n";
        assert_eq!(of(Body::Multipart(parts)), expected);
    }
}
