//! A cursor over the text of a file, and the failure every part of the parser reports with it. Parts that may find
//! something else than they look for take the cursor's place before they begin, and put it back.

use std::cell::Cell;

use super::tree::At;

/// What was expected at which byte of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub offset: usize,
    pub expected: String,
}

pub(crate) type Parsed<T> = Result<T, Failure>;

pub(crate) struct Reader<'a> {
    text: &'a str,
    offset: usize,
    /// The last place that was asked for: offset, line, column. Places are asked for mostly in order.
    known: Cell<(usize, u32, u32)>,
}

impl<'a> Reader<'a> {
    /// Before the first character; a byte order mark is passed over.
    pub fn new(text: &'a str) -> Self {
        let offset = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { text, offset, known: Cell::new((offset, 1, 1)) }
    }

    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Back to (or on to) an offset that [`Reader::offset`] gave.
    pub fn seek(&mut self, offset: usize) {
        self.offset = offset;
    }

    pub fn rest(&self) -> &'a str {
        &self.text[self.offset..]
    }

    /// What was read since `start`.
    pub fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.offset]
    }

    pub fn is_end(&self) -> bool {
        self.offset == self.text.len()
    }

    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.offset += next.len_utf8();
        Some(next)
    }

    pub fn sees(&self, literal: &str) -> bool {
        self.rest().starts_with(literal)
    }

    /// Whether `literal` comes next; then it is read.
    pub fn eat(&mut self, literal: &str) -> bool {
        let found = self.sees(literal);
        if found {
            self.offset += literal.len();
        }
        found
    }

    /// Reads `literal`, or fails where the cursor is.
    pub fn expect(&mut self, literal: &str) -> Parsed<()> {
        if self.eat(literal) { Ok(()) } else { self.fail(format!("`{literal}`")) }
    }

    pub fn take_while(&mut self, mut wanted: impl FnMut(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.offset += length;
        &rest[..length]
    }

    /// Reads spaces and tabs; whether there were any.
    pub fn spaces(&mut self) -> bool {
        !self.take_while(|c| c == ' ' || c == '\t').is_empty()
    }

    /// Reads at least one space or tab.
    pub fn expect_spaces(&mut self) -> Parsed<()> {
        if self.spaces() { Ok(()) } else { self.fail("a space") }
    }

    /// Reads spaces, a comment, and the end of the line or of the file. The comment, without its `#`.
    pub fn line_end(&mut self) -> Parsed<Option<&'a str>> {
        self.spaces();
        let mut comment = None;
        if self.eat("#") {
            comment = Some(self.take_while(|c| c != '\n').trim_end_matches('\r'));
        }
        if self.eat("\n") || self.eat("\r\n") || self.is_end() {
            Ok(comment)
        } else {
            self.fail("the end of the line")
        }
    }

    /// Reads lines that are empty or hold only a comment, and the spaces before what follows them. The name that the
    /// last `# name: …` of them gives.
    pub fn blank_lines(&mut self) -> Option<String> {
        let mut name = None;
        loop {
            let start = self.offset;
            match self.line_end() {
                // The end of the file is no line.
                Ok(_) if self.offset == start => return name,
                Ok(comment) => {
                    let named = comment.and_then(|text| text.trim_start().strip_prefix("name:"));
                    if let Some(named) = named.map(str::trim).filter(|named| !named.is_empty()) {
                        name = Some(named.to_owned());
                    }
                }
                Err(_) => {
                    self.seek(start);
                    self.spaces();
                    return name;
                }
            }
        }
    }

    /// Where the cursor is.
    pub fn at(&self) -> At {
        let (from, mut line, mut column) = self.known.get();
        let from = if from <= self.offset {
            from
        } else {
            (line, column) = (1, 1);
            0
        };
        for character in self.text[from..self.offset].chars() {
            match character {
                '\n' => (line, column) = (line + 1, 1),
                '\u{feff}' if line == 1 && column == 1 => {}
                _ => column += 1,
            }
        }
        self.known.set((self.offset, line, column));
        At { line, column }
    }

    pub fn failure(&self, expected: impl Into<String>) -> Failure {
        Failure { offset: self.offset, expected: expected.into() }
    }

    pub fn fail<T>(&self, expected: impl Into<String>) -> Parsed<T> {
        Err(self.failure(expected))
    }
}
