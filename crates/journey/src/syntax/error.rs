//! Why a text is no Hurl file, as a compiler says it: the place, what was expected, the line with a caret below.

use std::fmt;

use ablaze_wire::printable::printable;

use super::reader::Failure;

/// How much of a line is shown before the place and after it, in characters.
const SHOWN: usize = 60;

/// A text that is no Hurl file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// The name of the file, as it was given.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// What would have been right, as it follows "expected".
    pub expected: String,
    /// The line without its end.
    pub source_line: String,
}

impl ParseError {
    pub(crate) fn new(failure: Failure, text: &str, file: &str) -> Self {
        let before = &text[..failure.offset];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let end = text[start..].find('\n').map_or(text.len(), |length| start + length);
        let mark = if start == 0 { '\u{feff}' } else { '\0' };
        let count = |part: &str| part.chars().filter(|c| *c != mark).count();
        Self {
            file: file.to_owned(),
            line: u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX),
            column: u32::try_from(count(&text[start..failure.offset]) + 1).unwrap_or(u32::MAX),
            expected: failure.expected,
            source_line: text[start..end].trim_end_matches('\r').replace('\u{feff}', ""),
        }
    }

    /// The part of the line around the place, and how many characters of it are before the place.
    fn shown(&self) -> (String, usize) {
        let column = self.column as usize - 1;
        let skipped = column.saturating_sub(SHOWN);
        let part = |from: usize, to: usize| -> String {
            let part: String = self.source_line.chars().skip(from).take(to - from).collect();
            printable(&part.replace('\t', " ")).into_owned()
        };
        let before = part(skipped, column);
        let width = before.chars().count();
        (before + &part(column, column + SHOWN), width)
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, before) = self.shown();
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        writeln!(
            f,
            "{}:{}:{}: expected {}",
            printable(&self.file),
            self.line,
            self.column,
            printable(&self.expected)
        )?;
        writeln!(f, " {number} | {line}")?;
        write!(f, " {margin} | {}^", " ".repeat(before))
    }
}

impl std::error::Error for ParseError {}
