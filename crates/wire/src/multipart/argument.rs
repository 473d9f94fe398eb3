//! What stands behind `-F` and `--form-string`, as curl reads it: `name=value`, `name=@file`, `name=<file`, each with
//! `;type=TYPE` and `;filename=NAME`. What else curl takes there is refused by name.

use super::{UNKNOWN, known_type_of};

/// A field of a form as it was asked for; nothing is read yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Where its content comes from.
    pub source: Source,
    /// `;type=`
    pub content_type: Option<String>,
    /// `;filename=`; without it a file has the last part of its path.
    pub filename: Option<String>,
}

/// Where the content of a field comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// It is this text.
    Text(String),
    /// It is this file, sent as a file: `@`.
    File(String),
    /// It is the text in this file: `<`.
    TextOf(String),
}

impl Field {
    /// The name that the content is sent under, if it is sent as a file.
    pub fn filename(&self) -> Option<&str> {
        match (&self.filename, &self.source) {
            (Some(filename), _) => Some(filename),
            (None, Source::File(path)) => Some(path.rsplit('/').next().unwrap_or(path)),
            (None, _) => None,
        }
    }

    /// The type that the content is sent with: the one asked for, or the one that a name says. Only files have one that
    /// nothing says, and a text from a file is no `text/plain`.
    pub fn sent_type(&self) -> Option<&str> {
        let filename = self.filename();
        let by_filename = filename.and_then(known_type_of);
        let guessed = match &self.source {
            Source::File(path) | Source::TextOf(path) if path != STDIN => {
                let by_name = by_filename.or_else(|| known_type_of(path));
                let usual = by_name.or(filename.map(|_| UNKNOWN));
                usual.filter(|own| *own != "text/plain" || filename.is_some())
            }
            _ => by_filename,
        };
        self.content_type.as_deref().or(guessed)
    }

    /// Whether its content is what comes in on standard input.
    pub fn is_stdin(&self) -> bool {
        matches!(&self.source, Source::File(path) | Source::TextOf(path) if path == STDIN)
    }
}

/// What stands for standard input.
const STDIN: &str = "-";

/// Reads what stands behind `--form-string`: nothing in the value has a meaning.
///
/// # Errors
/// When there is no name.
pub fn form_string(text: &str) -> Result<Field, String> {
    let (name, value) = name_and_value(text)?;
    let source = Source::Text(value.to_owned());
    Ok(Field { name, source, content_type: None, filename: None })
}

/// Reads what stands behind `-F`.
///
/// # Errors
/// What is wrong with it, or not supported.
pub fn form(text: &str) -> Result<Field, String> {
    let (name, value) = name_and_value(text)?;
    if value.starts_with("=(") || value.starts_with("(;") || value == "(" {
        return Err("nested parts `=(;…` are not supported".into());
    }
    let (source, value): (fn(String) -> Source, &str) = match value.as_bytes().first() {
        Some(b'@') => (Source::File, &value[1..]),
        Some(b'<') => (Source::TextOf, &value[1..]),
        _ => (Source::Text, value),
    };
    let (content, mut rest) = word(value);
    let source = source(content);
    if matches!(&source, Source::File(path) | Source::TextOf(path) if path.is_empty()) {
        return Err(format!("`{text}` names no file: expected name=@FILE"));
    }
    if matches!(&source, Source::File(path) if path.contains(',') && !value.starts_with('"')) {
        return Err("several files in one field are not supported: repeat the field, or write a name that has \
                    a comma in quotation marks"
            .into());
    }
    let mut field = Field { name, source, content_type: None, filename: None };
    while let Some(attribute) = rest.strip_prefix(';') {
        let attribute = attribute.trim_start();
        let known = attribute.split_once('=');
        match known {
            Some(("type", value)) => {
                // A type has parameters of its own: `text/plain; charset=utf-8`.
                let (kind, behind) = media_type(value);
                (field.content_type, rest) = (Some(kind), behind);
            }
            Some(("filename", value)) => {
                let (filename, behind) = word(value);
                (field.filename, rest) = (Some(filename), behind);
            }
            _ => {
                let shown = attribute.split(';').next().unwrap_or_default();
                return Err(format!(
                    "`;{shown}` is not supported: ;type= and ;filename= are; use --form-string for a value with a semicolon"
                ));
            }
        }
    }
    if matches!(field.source, Source::TextOf(_)) && field.filename.is_some() {
        return Err("`;filename=` behind `<`, which sends a text: use `@` to send a file".into());
    }
    match rest.is_empty() {
        true => Ok(field),
        false => Err(format!("`{rest}` stands behind a quotation mark")),
    }
}

fn name_and_value(text: &str) -> Result<(String, &str), String> {
    let (name, value) =
        text.split_once('=').ok_or_else(|| format!("`{text}` has no `=`: expected name=value"))?;
    match name.is_empty() {
        false => Ok((name.to_owned(), value)),
        true => Err(format!("`{text}` has no name: expected name=value")),
    }
}

/// Up to the next semicolon, without blanks around it; or what stands between quotation marks, in which a backslash
/// precedes a quotation mark or a backslash.
fn word(text: &str) -> (String, &str) {
    let text = text.trim_start();
    let Some(quoted) = text.strip_prefix('"') else {
        let (word, rest) = text.split_at(text.find(';').unwrap_or(text.len()));
        return (word.trim_end().to_owned(), rest);
    };
    let mut word = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (word, quoted[at + 1..].trim_start()),
            '\\' if quoted[at + 1..].starts_with(['"', '\\']) => {
                word.extend(letters.next().map(|(_, escaped)| escaped));
            }
            _ => word.push(letter),
        }
    }
    // Without its end a quotation mark is one like any other letter.
    let (word, rest) = text.split_at(text.find(';').unwrap_or(text.len()));
    (word.trim_end().to_owned(), rest)
}

/// A type with those parameters that are not attributes of the field.
fn media_type(text: &str) -> (String, &str) {
    let mut end = 0;
    for part in text.split_inclusive(';') {
        let own = part.trim_start();
        if end > 0
            && ["type=", "filename=", "headers=", "encoder="]
                .iter()
                .any(|word| own.starts_with(word))
        {
            break;
        }
        end += part.len();
    }
    let kind = text[..end].trim_end_matches(';').trim();
    // The semicolon belongs to what follows.
    let end = if end < text.len() { end - 1 } else { end };
    (kind.to_owned(), &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, source: Source) -> Field {
        Field { name: name.into(), source, content_type: None, filename: None }
    }

    fn text(text: &str) -> Source {
        Source::Text(text.into())
    }

    #[test]
    fn values_files_and_their_attributes() {
        let file = |path: &str| Source::File(path.into());
        let (kind, filename) =
            (|kind: &str| Some(kind.to_owned()), |name: &str| Some(name.to_owned()));
        let known = [
            ("a=b", field("a", text("b"))),
            ("a=", field("a", text(""))),
            ("a=b=c", field("a", text("b=c"))),
            ("a=  b  ", field("a", text("b"))),
            ("a=\" b;c\\\"\\\\ \"", field("a", text(" b;c\"\\ "))),
            ("a=\"b", field("a", text("\"b"))),
            ("a=b;type=text/x", Field { content_type: kind("text/x"), ..field("a", text("b")) }),
            ("a=@x.png", field("a", file("x.png"))),
            ("a=<x.txt", field("a", Source::TextOf("x.txt".into()))),
            (
                "a=@/d/x;type=text/plain; charset=utf-8;filename=\"n;m\"",
                Field {
                    content_type: kind("text/plain; charset=utf-8"),
                    filename: filename("n;m"),
                    ..field("a", file("/d/x"))
                },
            ),
            (
                "a=@x;filename=n;type=t/u",
                Field {
                    content_type: kind("t/u"),
                    filename: filename("n"),
                    ..field("a", file("x"))
                },
            ),
            ("a=@\"x,y\"", field("a", file("x,y"))),
        ];
        for (given, expected) in known {
            assert_eq!(form(given), Ok(expected), "{given}");
        }
        assert_eq!(form("a=@/d/e.txt").unwrap().filename(), Some("e.txt"));
        assert_eq!(form("a=e.txt").unwrap().filename(), None);
    }

    #[test]
    fn a_string_has_no_meaning() {
        for value in ["@x", "<x", "a;type=b", "\"a\"", " a "] {
            assert_eq!(form_string(&format!("n={value}")), Ok(field("n", text(value))));
        }
    }

    #[test]
    fn what_is_not_supported_is_named() {
        for (given, needle) in [
            ("a", "no `=`"),
            ("=b", "no name"),
            ("a=@", "names no file"),
            ("a=@x,y", "several files"),
            ("a=b;headers=\"X: y\"", "`;headers="),
            ("a=b;c", "--form-string"),
            ("a=\"b\"c", "behind a quotation mark"),
            ("a=(;type=multipart/mixed", "nested"),
            ("a=<b;filename=c", "use `@`"),
        ] {
            let error = form(given).unwrap_err();
            assert!(error.contains(needle), "{given}: {error}");
        }
    }
}
