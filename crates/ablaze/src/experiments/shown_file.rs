//! The text of a file that describes an experiment, as it is kept with the results and shown on their page: without passwords
//! and credentials, as command lines are shown. What is measured again is read from the user's own file.

use std::collections::BTreeSet;
use std::ops::Range;

use ablaze_report::shown_command;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The table of the values that parts put into the file.
const PARTS: &str = "parts";
/// What stands where a file has secrets that cannot be told from the rest of it.
const NOT_SHOWN: &str = "# This file is not shown: it cannot be read.\n";

/// The text without what is secret in it.
pub fn without_secrets(text: &str) -> String {
    let Ok(table) = DeTable::parse(text) else { return NOT_SHOWN.to_owned() };
    let mut strings = Vec::new();
    collect(table.get_ref(), &mut strings);
    let mut replaced: Vec<(Range<usize>, String)> = Vec::new();
    let mut secret_words: BTreeSet<String> = BTreeSet::new();
    for string in &strings {
        let shown = string.shown();
        if shown != string.value {
            secret_words.extend(
                words(&string.value).filter(|word| !shown.contains(&format!("{{{word}}}"))),
            );
            replaced.push((string.span.clone(), quoted(&shown)));
        }
    }
    // A part's word that stands in a password, or is one.
    let of_parts =
        strings.iter().filter(|string| string.in_parts && secret_words.contains(&string.key));
    replaced.extend(of_parts.map(|string| (string.span.clone(), quoted("***"))));
    replaced.sort_by_key(|(span, _)| span.start);
    replaced.dedup_by_key(|(span, _)| span.start);
    let mut shown = text.to_owned();
    for (span, instead) in replaced.into_iter().rev() {
        shown.replace_range(span, &instead);
    }
    // What was typed in a comment.
    shown_command::message_without_secrets(&shown).into_owned()
}

/// A text in the file.
struct Text {
    /// The key that it is the value of, or one of the values of.
    key: String,
    value: String,
    span: Range<usize>,
    in_parts: bool,
}

impl Text {
    /// As it would be shown behind `ablaze load`: keys are its options.
    fn shown(&self) -> String {
        let option = format!("--{}", self.key.replace('_', "-"));
        let line = ["ablaze", "load", &option, &self.value].map(str::to_owned).to_vec();
        shown_command::without_secrets(line).pop().unwrap_or_default()
    }
}

fn collect(table: &DeTable<'_>, into: &mut Vec<Text>) {
    for (key, value) in table {
        let from = into.len();
        of_value(key.get_ref(), value, into);
        if key.get_ref() == PARTS {
            into[from..].iter_mut().for_each(|text| text.in_parts = true);
        }
    }
}

fn of_value(key: &str, value: &Spanned<DeValue<'_>>, into: &mut Vec<Text>) {
    match value.get_ref() {
        DeValue::String(text) => into.push(Text {
            key: key.to_owned(),
            value: text.to_string(),
            span: value.span(),
            in_parts: false,
        }),
        DeValue::Array(values) => values.iter().for_each(|value| of_value(key, value, into)),
        DeValue::Table(table) => collect(table, into),
        _ => {}
    }
}

/// The `{words}` in a text.
fn words(text: &str) -> impl Iterator<Item = String> {
    let behind = text.split('{').skip(1);
    behind.filter_map(|rest| rest.split_once('}')).map(|(word, _)| word.to_owned())
}

/// As a string of TOML.
fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|character| match character {
        '"' | '\\' => format!("\\{character}"),
        character if character.is_control() => format!("\\u{:04X}", u32::from(character)),
        character => character.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_and_credentials_are_not_in_it() {
        let text = r#"# ask http://me:hidden1@h/ first
title = "who knows"
[targets.a]
url = "http://user:hidden2@127.0.0.1:21010/"
[targets.b]
serve = "epoll-et,threads=2"
[load]
user = "bob:hidden3"
proxy = 'http://p:hidden4@10.0.0.1/'
header = ["Accept: text/html", "authorization: Bearer hidden5"]
cookie = """
sid=hidden6"""
connections = [1, 10]
"#;
        let shown = without_secrets(text);
        assert!(!shown.contains("hidden"), "{shown}");
        let kept = [
            "title = \"who knows\"\n",
            "serve = \"epoll-et,threads=2\"\n",
            "\"Accept: text/html\"",
            "connections = [1, 10]\n",
            "127.0.0.1:21010/",
        ];
        kept.iter().for_each(|kept| assert!(shown.contains(kept), "{kept} in {shown}"));
        toml::from_str::<toml::Table>(&shown).unwrap();
    }

    #[test]
    fn a_file_without_secrets_is_as_it_was_typed() {
        let text = "# a file\npath = '/a\"b'\n[load]\nconnections = 1 # one\nheader = ['X: {y}']\n";
        assert_eq!(without_secrets(text), text);
    }

    #[test]
    fn a_word_of_a_part_that_is_secret_is_hidden_there() {
        let text = "[load]\nheader = ['Cookie: id={id}', 'X: {x}']\n[parts.one]\nid = 'hidden'\nx = 'seen'\n";
        let shown = without_secrets(text);
        assert!(!shown.contains("hidden") && shown.contains("'seen'"), "{shown}");
    }
}
