//! A file of several experiments: each `[parts.NAME]` gives values to words, and wherever the file
//! says `{word}`, the part's value stands. So servers that are to be compared under several
//! conditions are written once. `[quick]` has what is shorter when someone is in a hurry.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::file::{self, Described, FileError};
use super::file_values::written;

/// The table of what is shorter in a hurry.
pub const QUICK: &str = "quick";
/// The table of the parts.
const PARTS: &str = "parts";
/// Stands for a port in commands that start servers.
const PORT: &str = "port";
/// What a part is about, on its page.
const ABOUT: &str = "about";

/// One experiment of a file.
#[derive(Debug)]
pub struct Part {
    /// Its name; none in a file without parts.
    pub name: Option<String>,
    /// What it is about, in a sentence.
    pub about: Option<String>,
    /// Its text, as if the file described nothing else.
    pub text: String,
    /// What that describes.
    pub described: Described,
}

/// Reads all experiments of a file.
///
/// # Errors
/// What is wrong first.
pub fn read(text: &str, quick: bool) -> Result<Vec<Part>, FileError> {
    let parts = words(text)?;
    if parts.is_empty() {
        let described = file::described(text, quick)?;
        return Ok(vec![Part { name: None, about: None, text: text.to_owned(), described }]);
    }
    let one = |part: Words| {
        let text = part.put_into(&without_parts(text));
        let described = file::described(&text, quick)?;
        Ok(Part { name: Some(part.name), about: part.about, text, described })
    };
    parts.into_iter().map(one).collect()
}

/// Whether a file says what is shorter in a hurry.
pub fn has_quick(text: &str) -> bool {
    DeTable::parse(text).is_ok_and(|table| table.get_ref().contains_key(QUICK))
}

/// A part's words and their values.
struct Words {
    name: String,
    about: Option<String>,
    values: Vec<(String, String)>,
}

impl Words {
    fn put_into(&self, text: &str) -> String {
        let put = |text: String, (word, value): &(String, String)| {
            text.replace(&format!("{{{word}}}"), value)
        };
        self.values.iter().fold(text.to_owned(), put)
    }
}

/// The parts in their order.
fn words(text: &str) -> Result<Vec<Words>, FileError> {
    let error = |at: usize, why: String| FileError { line: line(text, at), why };
    let table = DeTable::parse(text).map_err(|failure| {
        error(failure.span().unwrap_or(0..0).start, file::not_toml(failure.message()))
    })?;
    let Some(parts) = table.get_ref().get(PARTS) else { return Ok(Vec::new()) };
    let rest = without_parts(text);
    let mut all: Vec<Words> = Vec::new();
    for (name, part) in in_order(parts).ok_or_else(|| {
        error(
            parts.span().start,
            "each part must be a table: \
            [parts.NAME]"
                .to_owned(),
        )
    })? {
        let named = format!("part {}", name.get_ref());
        let entries = in_order(part).ok_or_else(|| {
            error(
                part.span().start,
                format!(
                    "{named} must be a table: \
                [parts.NAME]"
                ),
            )
        })?;
        let mut words = Words { name: name.get_ref().to_string(), about: None, values: Vec::new() };
        for (word, value) in entries {
            let at = word.span().start;
            let value = written(value.get_ref())
                .ok()
                .filter(|value| !value.contains(['\n', '"', '\\']))
                .ok_or_else(|| {
                    error(at, format!("{}: expected one string or number", word.get_ref()))
                })?;
            match word.get_ref().as_ref() {
                ABOUT => words.about = Some(value),
                PORT => {
                    return Err(error(
                        at,
                        "{port} is reserved for the port of a \
                    target"
                            .to_owned(),
                    ));
                }
                word if !rest.contains(&format!("{{{word}}}")) => {
                    return Err(error(at, format!("{named}: the file does not use {{{word}}}")));
                }
                word => words.values.push((word.to_owned(), value)),
            }
        }
        let first = all.first().unwrap_or(&words);
        let is_given = |word: &&str| words.values.iter().any(|(other, _)| other == word);
        let of_first = first.values.iter().map(|(word, _)| word.as_str());
        if let Some(missing) = of_first.clone().find(|word| !is_given(word)) {
            let why = format!("{named} lacks `{missing}`, which part {} has", first.name);
            return Err(error(name.span().start, why));
        }
        if let Some((extra, _)) =
            words.values.iter().find(|(word, _)| !of_first.clone().any(|of_first| of_first == word))
        {
            let why = format!("{named} has `{extra}`, which part {} lacks", first.name);
            return Err(error(name.span().start, why));
        }
        all.push(words);
    }
    Ok(all)
}

type Value<'i> = Spanned<DeValue<'i>>;
type Entry<'a, 'i> = (&'a Spanned<toml::de::DeString<'i>>, &'a Value<'i>);

fn in_order<'a, 'i>(value: &'a Value<'i>) -> Option<Vec<Entry<'a, 'i>>> {
    let mut entries: Vec<_> = value.get_ref().as_table()?.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    Some(entries)
}

fn line(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

/// The text with empty lines for its parts, so that every other line keeps its number.
fn without_parts(text: &str) -> String {
    let mut in_parts = false;
    let mut kept = String::with_capacity(text.len());
    for line in text.lines() {
        let start = line.trim_start();
        if start.starts_with('[') {
            let name = start.trim_start_matches('[').trim_start();
            in_parts = name
                .strip_prefix(PARTS)
                .is_some_and(|rest| rest.trim_start().starts_with(['.', ']']));
        }
        if !in_parts {
            kept.push_str(line);
        }
        kept.push('\n');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const MATRIX: &str = "\
title = \"switches\"

[parts.\"kept, 1 thread\"]
threads = 1
close = false

[parts.\"closed, 2 threads\"]
about = \"A connection per request.\"
threads = 2
close = true

[targets.asm]
serve = \"fiber-asm,threads={threads}\"
[targets.mine]
start = \"./server {port} {threads}\"
[load]
no_keepalive = \"{close}\"
connections = [1, 10, 100]
duration = \"3s\"
[quick]
repeats = 1
connections = [1, 100]
duration = \"200ms\"
";

    #[test]
    fn a_part_is_the_file_with_its_values() {
        let parts = read(MATRIX, false).unwrap();
        let names: Vec<_> = parts.iter().filter_map(|part| part.name.as_deref()).collect();
        assert_eq!(names, ["kept, 1 thread", "closed, 2 threads"]);
        assert_eq!(parts[1].about.as_deref(), Some("A connection per request."));
        let [kept, closed] = [&parts[0].described, &parts[1].described];
        assert_eq!(
            (kept.varied.targets[0].threads(8), closed.varied.targets[0].threads(8)),
            (1, 2)
        );
        let words = kept.varied.loads[2].spec.words.0.join(" ");
        assert_eq!(words, "--duration 3s --connections 100");
        let words = closed.varied.loads[2].spec.words.0.join(" ");
        assert_eq!(words, "--no-keepalive --duration 3s --connections 100");
        let started = format!("{:?}", closed.varied.targets[1].source);
        assert!(started.contains("./server {port} 2"), "{started}");
        // The text of a part can be read by itself.
        assert_eq!(file::read(&parts[1].text).unwrap().varied.loads, closed.varied.loads);
    }

    #[test]
    fn in_a_hurry_the_shorter_values_count() {
        let parts = read(MATRIX, true).unwrap();
        let kept = &parts[0].described;
        let labels: Vec<_> = kept.varied.loads.iter().map(|load| load.label.as_str()).collect();
        assert_eq!((labels.as_slice(), kept.repeats), (&["c=1", "c=100"][..], Some(1)));
        assert_eq!(kept.varied.loads[0].spec.words.0.join(" "), "--duration 200ms --connections 1");
        assert_eq!(read(MATRIX, false).unwrap()[0].described.repeats, None);
    }

    #[test]
    fn what_is_wrong_is_named_by_its_line() {
        let rest = "[targets.a]\nserve = \"epoll-et,threads={t}\"\n";
        for (text, at, part) in [
            (format!("[parts.a]\nt = 1\nu = 2\n{rest}"), 3, "does not use {u}"),
            (format!("[parts.a]\nport = 1\n{rest}"), 2, "{port} is reserved for"),
            (format!("[parts.a]\nt = 1\n[parts.b]\n{rest}"), 3, "part b lacks `t`"),
            (format!("[parts.a]\nt = [1, 2]\n{rest}"), 2, "one string or number"),
            (format!("[parts.a]\nt = \"x\"\n{rest}"), 4, "threads"),
            (format!("parts = 3\n{rest}"), 1, "[parts.NAME]"),
            (
                format!("[parts.a]\nt = 1\n{rest}[quick]\nconections = 1\n[load]\n"),
                6,
                "connections",
            ),
        ] {
            let error = read(&text, false).unwrap_err();
            assert_eq!(error.line, at, "{text}{error}");
            assert!(error.why.contains(part), "{part}: {error}");
        }
    }
}
