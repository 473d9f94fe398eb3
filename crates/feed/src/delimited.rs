//! CSV and TSV: one pass over the text, one row at a time.

use crate::{FeedError, shown};

/// Reads rows. Empty lines are none.
pub(crate) struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    line: usize,
    delimiter: u8,
    quotes: bool,
}

/// One row: its fields one behind the other, and where each ends.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub bytes: Vec<u8>,
    pub ends: Vec<usize>,
    /// The line on which it begins, from 1.
    pub line: usize,
}

impl Row {
    /// The fields of the row.
    pub fn fields(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[start..*end])
    }
}

impl<'t> Reader<'t> {
    /// Of RFC 4180, with LF or CRLF.
    pub fn csv(text: &'t [u8]) -> Self {
        Self { text, at: 0, line: 1, delimiter: b',', quotes: true }
    }

    /// Fields between tabs; a quote is a character like any other.
    pub fn tsv(text: &'t [u8]) -> Self {
        Self { text, at: 0, line: 1, delimiter: b'\t', quotes: false }
    }

    /// The names of the columns: the first row, without white space around them.
    pub fn names(&mut self) -> Result<Vec<String>, FeedError> {
        let mut row = Row::default();
        if !self.next(&mut row)? {
            return Err(FeedError::Empty);
        }
        let line = row.line;
        let wrong = |what: String| FeedError::Line { line, what };
        let mut names: Vec<String> = Vec::new();
        for (index, field) in row.fields().enumerate() {
            let name = String::from_utf8_lossy(field.trim_ascii()).into_owned();
            if name.is_empty() {
                return Err(wrong(format!("column {} has no name", index + 1)));
            }
            if names.contains(&name) {
                return Err(wrong(format!("the name `{}` comes twice", shown(field))));
            }
            names.push(name);
        }
        Ok(names)
    }

    /// Reads the next row; whether there was one.
    pub fn next(&mut self, row: &mut Row) -> Result<bool, FeedError> {
        row.bytes.clear();
        row.ends.clear();
        while self.skip_empty_line() {}
        if self.at >= self.text.len() {
            return Ok(false);
        }
        row.line = self.line;
        loop {
            let more = match self.text.get(self.at) {
                Some(b'"') if self.quotes => self.quoted(row)?,
                _ => self.plain(row)?,
            };
            row.ends.push(row.bytes.len());
            if !more {
                return Ok(true);
            }
        }
    }

    fn skip_empty_line(&mut self) -> bool {
        let skipped = match &self.text[self.at.min(self.text.len())..] {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            [b'\r'] => 1,
            _ => return false,
        };
        self.at += skipped;
        self.line += 1;
        true
    }

    /// A field without quotes. Whether another follows on the row.
    fn plain(&mut self, row: &mut Row) -> Result<bool, FeedError> {
        let rest = &self.text[self.at..];
        let end = memchr::memchr2(self.delimiter, b'\n', rest);
        let field = &rest[..end.unwrap_or(rest.len())];
        let ends_row = end.is_none_or(|end| rest[end] == b'\n');
        let text = if ends_row { field.strip_suffix(b"\r").unwrap_or(field) } else { field };
        if self.quotes && memchr::memchr(b'"', text).is_some() {
            let what = "a quote in a field that does not begin with one: quote the whole field, and double the quotes in it";
            return Err(FeedError::Line { line: self.line, what: what.to_owned() });
        }
        row.bytes.extend_from_slice(text);
        self.at += field.len() + usize::from(end.is_some());
        self.line += usize::from(end.is_some() && ends_row);
        Ok(!ends_row)
    }

    /// A field in quotes, in which two of them are one. Whether another follows on the row.
    fn quoted(&mut self, row: &mut Row) -> Result<bool, FeedError> {
        let begun = self.line;
        let wrong = |line, what: &str| Err(FeedError::Line { line, what: what.to_owned() });
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let Some(quote) = memchr::memchr(b'"', rest) else {
                return wrong(begun, "a field begins with a quote and none ends it");
            };
            row.bytes.extend_from_slice(&rest[..quote]);
            self.line += memchr::memchr_iter(b'\n', &rest[..quote]).count();
            self.at += quote + 1;
            let behind = &self.text[self.at..];
            match behind {
                [b'"', ..] => {
                    row.bytes.push(b'"');
                    self.at += 1;
                }
                [byte, ..] if *byte == self.delimiter => {
                    self.at += 1;
                    return Ok(true);
                }
                [] | [b'\r'] => {
                    self.at = self.text.len();
                    return Ok(false);
                }
                [b'\n', ..] | [b'\r', b'\n', ..] => {
                    self.at += 1 + usize::from(behind[0] == b'\r');
                    self.line += 1;
                    return Ok(false);
                }
                _ => {
                    let what =
                        "text behind a field in quotes: expected a comma or the end of the line";
                    return wrong(self.line, what);
                }
            }
        }
    }
}
