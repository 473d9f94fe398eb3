//! JSON bodies from words: `--body-json name=ann`, and gurl's `-J name:ann`. A pure function: files are read by whoever
//! calls it.
//!
//! | word | gurl | member |
//! |---|---|---|
//! | `k=text` | `k:text` | a string, whatever it looks like: `passwd=123456` is `"123456"` |
//! | `k:=value` | `k:=value` | JSON, taken over as it is written: a number, `true`, `null`, `{}`, `[1,2]` |
//! | `k=@file`, `k:=@file` | `k:@file` | the content of a file, as a string or as JSON; `\@` is an @ |
//! | `a.b.c=…` | `a.b.c:…` | nested; `\.` is a point in a name |
//! | `a[b]=…`, `a[]=…`, `a[2]=…` | | nested, as httpie has it: a member, the next element, the element of this number |
//!
//! Members stand in the order of their first word; the last word for a member counts. Elements that no word gives are
//! `null`; where the first name is empty (`[]=x`, `[0].a=x`), the body is an array.

mod path;
mod tree;

use serde::de::IgnoredAny;

use path::Step;
use tree::{Node, quoted};

/// How words are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `k=text` and `k:=json`, as `--body-json` has it.
    Native,
    /// `k:text` and `k:=json`, as gurl's `-J` has it.
    Gurl,
}

/// Before a value: what follows is the value itself, also if it begins like the name of a file.
pub const HERE: char = '\0';

/// Gives the content of a file, or why it cannot.
pub type ReadFile<'a> = &'a mut dyn FnMut(&str) -> Result<Vec<u8>, String>;

/// The object, or array, that the words make, without blanks.
///
/// # Errors
/// One sentence about the first word that is wrong.
pub fn body<S: AsRef<str>>(
    words: &[S],
    style: Style,
    read_file: ReadFile<'_>,
) -> Result<String, String> {
    let mut body = Node::Object(Vec::new());
    for (number, word) in words.iter().enumerate() {
        let word = word.as_ref();
        let (path, value) = member(word, style, read_file)?;
        if number == 0 {
            body = Node::Open;
        }
        tree::insert(&mut body, "the body", &path, value)
            .map_err(|why| format!("`{word}`: {why}"))?;
    }
    Ok(body.to_string())
}

/// The names from the outermost to the innermost, and the value.
fn member(word: &str, style: Style, read_file: ReadFile<'_>) -> Result<(Vec<Step>, Node), String> {
    let expected = match style {
        Style::Native => "expected name=text or name:=JSON",
        Style::Gurl => "expected name:text or name:=JSON",
    };
    let Some((name, typed, value)) = parts(word, style) else {
        return Err(format!("`{word}` is no member: {expected}"));
    };
    let path = match style {
        Style::Native => path::with_brackets(name),
        Style::Gurl => path::names(name),
    };
    let path = path.map_err(|why| format!("`{word}` {why}: {expected}"))?;
    let file = value.strip_prefix('@');
    let content = match file {
        Some(file) => {
            let bytes = read_file(file)?;
            String::from_utf8(bytes)
                .map_err(|_| format!("file `{file}` is not UTF-8, which JSON has to be"))?
        }
        None => value
            .strip_prefix(HERE)
            .or_else(|| value.strip_prefix('\\').filter(|rest| rest.starts_with('@')))
            .unwrap_or(value)
            .to_owned(),
    };
    if !typed {
        return Ok((path, Node::Json(quoted(&content))));
    }
    let content = content.trim();
    match serde_json::from_str::<IgnoredAny>(content) {
        Ok(_) => Ok((path, Node::Json(content.to_owned()))),
        Err(error) => Err(match (file, style) {
            (Some(file), _) => format!("file `{file}` for {name} is not JSON: {error}"),
            (None, Style::Native) => {
                format!("`{word}`: what follows `:=` is not JSON ({error}); a string takes `=`")
            }
            (None, Style::Gurl) => {
                format!("`{word}`: what follows `:=` is not JSON ({error}); a string takes `:`")
            }
        }),
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
    fn brackets_are_members_and_elements() {
        let cases: [(&[&str], &str); 8] = [
            (&["a[b]=1", "a[c][d]:=2", "a.e[f]=3"], r#"{"a":{"b":"1","c":{"d":2},"e":{"f":"3"}}}"#),
            (&["a[]=1", "a[]:=2", "a[][b]=3"], r#"{"a":["1",2,{"b":"3"}]}"#),
            (&["a[1]=x", "a[0].b=y", "a[1]=z"], r#"{"a":[{"b":"y"},"z"]}"#),
            (&["a[2]:=true"], r#"{"a":[null,null,true]}"#),
            (&["[]:=1", "[]:=2"], "[1,2]"),
            (&["[0].id:=1", "[1].id:=2"], r#"[{"id":1},{"id":2}]"#),
            (&["a:=[]", "a[]=1"], r#"{"a":["1"]}"#),
            (&[r"a\[b\]=1", r"a\[\]=2", r"c[\1]=3"], r#"{"a[b]":"1","a[]":"2","c":{"1":"3"}}"#),
        ];
        for (words, expected) in cases {
            assert_eq!(of(Style::Native, words).as_deref(), Ok(expected), "{words:?}");
        }
        // gurl knows none.
        assert_eq!(of(Style::Gurl, &["a[]:1"]).as_deref(), Ok(r#"{"a[]":"1"}"#));
        for (words, needle) in [
            (&["a[b=1"][..], "has a `[` without `]`"),
            (&["a[b]c=1"], "has `c` behind a `]`"),
            (&["a[99999999]=1"], "has an index above 100000"),
            (&["a[]=1", "a.b=2"], "`a` is an array already and takes no member `b`"),
            (&["a.b=1", "a[]=2"], "`a` is an object already and takes no element"),
            (&["a=1", "a[]=2"], r#"`a` is "1" already and takes no element"#),
            (&["a=1", "[]=2"], "the body is an object already and takes no element"),
        ] {
            let error = of(Style::Native, words).unwrap_err();
            assert!(error.contains(needle), "{words:?}: {error}");
        }
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
