//! JSON bodies from words: `--body-json name=ann`, and gurl's `-J name:ann`. A pure function: files are read by whoever
//! calls it.
//!
//! | word | gurl | member |
//! |---|---|---|
//! | `k=text` | `k:text` | a string, whatever it looks like: `passwd=123456` is `"123456"` |
//! | `k:=value` | `k:=value` | JSON, taken over as it is written: a number, `true`, `null`, `{}`, `[1,2]` |
//! | `k=@file`, `k:=@file` | `k:@file` | the content of a file, as a string or as JSON; `\@` is an @ |
//! | `a.b.c=…` | `a.b.c:…` | nested; `\.` is a point in a name |
//!
//! Members stand in the order of their first word; the last word for a member counts.

use serde::de::IgnoredAny;

/// How words are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `k=text` and `k:=json`, as `--body-json` has it.
    Native,
    /// `k:text` and `k:=json`, as gurl's `-J` has it.
    Gurl,
}

/// Gives the content of a file, or why it cannot.
pub type ReadFile<'a> = &'a mut dyn FnMut(&str) -> Result<Vec<u8>, String>;

/// The object that the words make, without blanks.
///
/// # Errors
/// One sentence about the first word that is wrong.
pub fn body<S: AsRef<str>>(
    words: &[S],
    style: Style,
    read_file: ReadFile<'_>,
) -> Result<String, String> {
    let mut object = Vec::new();
    for word in words {
        let word = word.as_ref();
        let (path, value) = member(word, style, read_file)?;
        insert(&mut object, &path, value).map_err(|why| format!("`{word}`: {why}"))?;
    }
    let mut text = String::new();
    write(&mut text, &object);
    Ok(text)
}

/// A value: JSON as it is to be written, or an object whose members are known.
enum Node {
    Json(String),
    Object(Members),
}

type Members = Vec<(String, Node)>;

/// The names from the outermost to the innermost, and the value.
fn member(
    word: &str,
    style: Style,
    read_file: ReadFile<'_>,
) -> Result<(Vec<String>, Node), String> {
    let expected = match style {
        Style::Native => "expected name=text or name:=JSON",
        Style::Gurl => "expected name:text or name:=JSON",
    };
    let Some((name, typed, value)) = parts(word, style) else {
        return Err(format!("`{word}` is no member: {expected}"));
    };
    let path = names(name);
    if path.iter().any(String::is_empty) {
        return Err(format!("`{word}` has an empty name: {expected}"));
    }
    let content = match value.strip_prefix('@') {
        Some(file) => {
            let bytes = read_file(file)?;
            String::from_utf8(bytes)
                .map_err(|_| format!("file `{file}` is not UTF-8, which JSON has to be"))?
        }
        None => value
            .strip_prefix('\\')
            .filter(|rest| rest.starts_with('@'))
            .unwrap_or(value)
            .to_owned(),
    };
    if !typed {
        return Ok((path, Node::Json(quoted(&content))));
    }
    let content = content.trim();
    match serde_json::from_str::<IgnoredAny>(content) {
        Ok(_) => Ok((path, Node::Json(content.to_owned()))),
        Err(error) => Err(format!(
            "`{word}`: what follows `:=` is not JSON ({error}); a string takes {}",
            match style {
                Style::Native => "`=`",
                Style::Gurl => "`:`",
            }
        )),
    }
}

/// Name, whether the value is JSON, and the value, at the first separator that no backslash precedes.
fn parts(word: &str, style: Style) -> Option<(&str, bool, &str)> {
    let bytes = word.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let (typed, length) = match style {
            _ if rest.starts_with(b"\\") => {
                at += 2;
                continue;
            }
            _ if rest.starts_with(b":=") => (true, 2),
            Style::Native if rest[0] == b'=' => (false, 1),
            Style::Gurl if rest[0] == b':' => (false, 1),
            _ => {
                at += 1;
                continue;
            }
        };
        return Some((&word[..at], typed, &word[at + length..]));
    }
    None
}

/// The names between points; a backslash takes its meaning from a point, a separator or a backslash.
fn names(path: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut letters = path.chars().peekable();
    while let Some(letter) = letters.next() {
        let escapes = letter == '\\' && letters.peek().is_some_and(|next| ".:=\\".contains(*next));
        if letter == '.' {
            names.push(String::new());
            continue;
        }
        let letter = if escapes { letters.next() } else { Some(letter) };
        if let Some(name) = names.last_mut() {
            name.extend(letter);
        }
    }
    names
}

fn insert(object: &mut Members, path: &[String], value: Node) -> Result<(), String> {
    let Some((name, inner)) = path.split_first() else { return Ok(()) };
    let place = match object.iter().position(|(own, _)| own == name) {
        Some(place) => place,
        None => {
            // What it will be follows.
            object.push((name.clone(), Node::Object(Vec::new())));
            object.len() - 1
        }
    };
    let node = &mut object[place].1;
    if inner.is_empty() {
        *node = value;
        return Ok(());
    }
    if matches!(node, Node::Json(json) if is_empty_object(json)) {
        *node = Node::Object(Vec::new());
    }
    match node {
        Node::Object(members) => insert(members, inner, value),
        Node::Json(json) => {
            Err(format!("`{name}` is {json} already and takes no member `{}`", inner[0]))
        }
    }
}

fn is_empty_object(json: &str) -> bool {
    json.strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
        .is_some_and(|inside| inside.trim().is_empty())
}

fn write(text: &mut String, object: &Members) {
    text.push('{');
    for (at, (name, node)) in object.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        text.push_str(&quoted(name));
        text.push(':');
        match node {
            Node::Json(json) => text.push_str(json),
            Node::Object(members) => write(text, members),
        }
    }
    text.push('}');
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(style: Style, words: &[&str]) -> Result<String, String> {
        body(words, style, &mut |name| match name {
            "text" => Ok(b"a \"b\"\n".to_vec()),
            "json" => Ok(b" [1, 2]\n".to_vec()),
            "bytes" => Ok(vec![0xff]),
            _ => Err(format!("no file {name}")),
        })
    }

    #[test]
    fn text_stays_text_and_json_stays_as_it_is_written() {
        let cases: [(&[&str], &[&str], &str); 7] = [
            (&["passwd=123456"], &["passwd:123456"], r#"{"passwd":"123456"}"#),
            (
                &[
                    "n:=1",
                    "f:=1.0",
                    "big:=12345678901234567890",
                    "t:=true",
                    "z:=null",
                    "o:={}",
                    "l:=[1,\"x\"]",
                ],
                &[
                    "n:=1",
                    "f:=1.0",
                    "big:=12345678901234567890",
                    "t:=true",
                    "z:=null",
                    "o:={}",
                    "l:=[1,\"x\"]",
                ],
                r#"{"n":1,"f":1.0,"big":12345678901234567890,"t":true,"z":null,"o":{},"l":[1,"x"]}"#,
            ),
            (&["url=http://h:80/?a=b"], &["url:http://h:80/?a=b"], r#"{"url":"http://h:80/?a=b"}"#),
            (
                &["a.b.c:=1", "x=y", "a.d=", "a.b.e=2"],
                &["a.b.c:=1", "x:y", "a.d:", "a.b.e:2"],
                r#"{"a":{"b":{"c":1,"e":"2"},"d":""},"x":"y"}"#,
            ),
            (
                &["t=true", "o={}", "l=[1]"],
                &["t:true", "o:{}", "l:[1]"],
                r#"{"t":"true","o":"{}","l":"[1]"}"#,
            ),
            (
                &["s=@text", "j:=@json", "m=\\@text", "u=a@b"],
                &["s:@text", "j:=@json", "m:\\@text", "u:a@b"],
                "{\"s\":\"a \\\"b\\\"\\n\",\"j\":[1, 2],\"m\":\"@text\",\"u\":\"a@b\"}",
            ),
            (&["a\\.b=1", "c:d=2"], &["a\\.b:1", "c\\:d:2"], r#"{"a.b":"1","c:d":"2"}"#),
        ];
        for (native, gurl, expected) in cases {
            assert_eq!(of(Style::Native, native).as_deref(), Ok(expected));
            assert_eq!(of(Style::Gurl, gurl).as_deref(), Ok(expected));
        }
        assert_eq!(of(Style::Native, &[]).as_deref(), Ok("{}"));
    }

    #[test]
    fn the_last_word_for_a_member_counts_and_an_empty_object_takes_members() {
        assert_eq!(
            of(Style::Native, &["a=1", "b=2", "a=3"]).as_deref(),
            Ok(r#"{"a":"3","b":"2"}"#)
        );
        assert_eq!(of(Style::Native, &["a:={ }", "a.b=1"]).as_deref(), Ok(r#"{"a":{"b":"1"}}"#));
        assert_eq!(of(Style::Native, &["a.b=1", "a=2"]).as_deref(), Ok(r#"{"a":"2"}"#));
    }

    #[test]
    fn what_makes_no_member_is_named() {
        for (style, word, needle) in [
            (Style::Native, "a", "expected name=text"),
            (Style::Native, "a:b", "expected name=text"),
            (Style::Gurl, "a=b", "expected name:text"),
            (Style::Native, "=b", "empty name"),
            (Style::Native, "a..b=1", "empty name"),
            (Style::Native, "a:=x", "not JSON"),
            (Style::Native, "a:=", "not JSON"),
            (Style::Native, "a:=1 2", "not JSON"),
            (Style::Gurl, "a:=@text", "not JSON"),
            (Style::Native, "a=@bytes", "not UTF-8"),
            (Style::Native, "a=@none", "no file none"),
        ] {
            let error = of(style, &[word]).unwrap_err();
            assert!(error.contains(needle), "{word}: {error}");
        }
        let error = of(Style::Native, &["a=1", "a.b=2"]).unwrap_err();
        assert!(error.contains(r#"`a` is "1" already"#), "{error}");
    }

    #[test]
    fn whatever_the_words_the_body_is_json() {
        let text = "\u{1}\"\\\n\u{2028}é";
        let body = of(Style::Native, &[&format!("k{text}={text}")]).unwrap();
        let parsed: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(parsed.as_object().unwrap().values().next().unwrap(), text);
    }
}
