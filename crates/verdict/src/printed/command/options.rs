//! What single options of a command line in a text say, as typed; and whose command it is.

use super::{Command, native};
use crate::printed::Report;
use crate::printed::line::count;

/// `100`, or a range as documents write it: `[1-10000]`.
pub(super) fn range(value: &str) -> Option<(u64, u64)> {
    if let Some(inner) = value.strip_prefix('[') {
        let (low, high) = inner.strip_suffix(']')?.split_once(['-', ','])?;
        return Some((count(low)?, count(high)?));
    }
    native::count(value).or_else(|| count(value)).map(|one| (one, one))
}

impl Command {
    /// Whether ablaze was to carry it out, in the form of whatever tool.
    pub fn is_of_ablaze(&self) -> bool {
        let first = self.words().next().unwrap_or_default();
        first.rsplit('/').next() == Some("ablaze")
    }

    /// Its words, split at each space.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.text.split_whitespace().map(|word| word.trim_matches(['\'', '"']))
    }

    /// The last value of an option that takes one, by its letter or its name: `-T 1s`, `-T1s`, `--timeout 1s`,
    /// `--timeout=1s`.
    pub fn value_of(&self, letter: char, name: &str) -> Option<&str> {
        let words: Vec<&str> = self.words().collect();
        let value = |at: usize| {
            let word = words[at];
            let long = word.strip_prefix("--").and_then(|rest| rest.strip_prefix(name));
            let short = word.strip_prefix('-').and_then(|rest| rest.strip_prefix(letter));
            match (long, short) {
                (Some(""), _) | (None, Some("")) => words.get(at + 1).copied(),
                (Some(rest), _) => rest.strip_prefix('='),
                (None, joined) => joined,
            }
        };
        (0..words.len()).rev().find_map(value)
    }
}

impl Report {
    /// Whether ablaze printed it in the form of another tool, as the command above it says or a verdict beside it shows.
    pub fn is_of_ablaze(&self) -> bool {
        self.said.is_some() || self.command.as_ref().is_some_and(Command::is_of_ablaze)
    }
}

#[cfg(test)]
mod tests {
    use crate::printed::read;

    #[test]
    fn values_are_read_as_they_were_typed() {
        for (options, value) in [
            ("-T 500ms", Some("500ms")),
            ("-T2", Some("2")),
            ("--timeout 1s -c 5", Some("1s")),
            ("--timeout=3s", Some("3s")),
            ("-T 1s --timeout 2s", Some("2s")),
            ("-t 2", None),
        ] {
            let text = format!("$ wrk {options} -d 1s http://h/");
            let command = read(&text).commands.remove(0);
            assert_eq!(command.value_of('T', "timeout"), value, "{text}");
            assert!(!command.is_of_ablaze());
        }
        let text = "$ ./target/ablaze wrk -d 1s http://h/";
        assert!(read(text).commands[0].is_of_ablaze());
    }
}
