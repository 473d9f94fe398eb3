//! A row of the screen: pieces of text with a look each, cut to a width, written as a terminal takes it.

use ablaze_model::printable::printable;

/// How a piece of text looks. Nothing is told by the look alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// As the terminal writes by itself.
    Plain,
    /// What matters most.
    Strong,
    /// What may be skipped.
    Faint,
    /// What is being measured: blue.
    Figure,
    /// What deserves a look: orange. Blue and orange are told apart with every common kind of colour blindness (Okabe,
    /// Ito, "Color Universal Design", 2008).
    Attention,
}

/// A row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    pieces: Vec<(Look, String)>,
}

impl Line {
    /// An empty one.
    pub fn empty() -> Self {
        Self::default()
    }

    /// With this text at its end, in which hostile characters are spelled out.
    pub fn with(mut self, look: Look, text: &str) -> Self {
        self.pieces.push((look, printable(text).into_owned()));
        self
    }

    /// With blanks at its end up to this column.
    pub fn up_to_column(self, column: usize) -> Self {
        let missing = column.saturating_sub(self.columns());
        self.with(Look::Plain, &" ".repeat(missing))
    }

    /// With the pieces of another at its end.
    pub fn with_line(mut self, other: Line) -> Self {
        self.pieces.extend(other.pieces);
        self
    }

    /// How many columns it takes.
    pub fn columns(&self) -> usize {
        self.pieces.iter().map(|(_, text)| columns(text)).sum()
    }

    /// What of it fits into so many columns; the last one says that something is missing.
    pub fn fitted(self, most: usize) -> Self {
        if self.columns() <= most {
            return self;
        }
        let mut left = most.saturating_sub(1);
        let mut kept = Self::default();
        for (look, text) in self.pieces {
            let fits = fitting(&text, left);
            left -= columns(&fits);
            let is_whole = fits.len() == text.len();
            kept.pieces.push((look, fits));
            if !is_whole {
                break;
            }
        }
        let look = kept.pieces.last().map_or(Look::Plain, |(look, _)| *look);
        if most > 0 {
            kept.pieces.push((look, "…".to_owned()));
        }
        kept
    }

    /// The text alone.
    pub fn text(&self) -> String {
        self.pieces.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// As a terminal takes it; without colours and weights where they are not wanted.
    pub fn written(&self, colour: bool) -> String {
        if !colour {
            return self.text();
        }
        let piece = |(look, text): &(Look, String)| match look.code() {
            _ if text.is_empty() => String::new(),
            None => text.clone(),
            Some(code) => format!("\x1b[{code}m{text}\x1b[0m"),
        };
        self.pieces.iter().map(piece).collect()
    }
}

impl Look {
    /// Its parameters of SGR (ECMA-48, 8.3.117); 39 and 208 are of xterm's 256 colours, readable on light and dark.
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Strong => Some("1"),
            Self::Faint => Some("2"),
            Self::Figure => Some("38;5;33"),
            Self::Attention => Some("1;38;5;208"),
        }
    }
}

/// The longest beginning that fits into so many columns.
fn fitting(text: &str, most: usize) -> String {
    let mut taken = 0;
    let fits = |character: &char| {
        taken += columns_of(*character);
        taken <= most
    };
    text.chars().take_while(fits).collect()
}

/// Columns that a text takes on a terminal.
pub fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// Columns of a character: two of those that are wide (Unicode, UAX 11), one of all others. Some take none: they are counted,
/// so that a row is never too long.
fn columns_of(character: char) -> usize {
    match character {
        '\u{1100}'..='\u{115f}'
        | '\u{231a}'..='\u{231b}'
        | '\u{23e9}'..='\u{23f3}'
        | '\u{25fd}'..='\u{25fe}'
        | '\u{2614}'..='\u{2615}'
        | '\u{2648}'..='\u{27bf}'
        | '\u{2b1b}'..='\u{2b55}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe10}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{16fe0}'..='\u{1b2ff}'
        | '\u{1f004}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_cut_where_its_columns_end_and_says_so() {
        let line = Line::empty().with(Look::Strong, "日本語").with(Look::Plain, "abc");
        assert_eq!(line.columns(), 9);
        for most in 0..9 {
            let cut = line.clone().fitted(most);
            assert!(cut.columns() <= most, "{most}: {cut:?}");
            assert!(most == 0 || cut.text().ends_with('…'), "{most}: {cut:?}");
        }
        assert_eq!(line.clone().fitted(9), line);
    }

    #[test]
    fn text_of_others_commands_no_terminal() {
        let line = Line::empty().with(Look::Plain, "a\x1b[2Jb\r\u{202e}");
        assert!(!line.text().contains(['\x1b', '\r', '\u{202e}']), "{}", line.text());
        assert!(line.text().contains("\\u{1b}[2Jb"));
    }

    #[test]
    fn without_colour_nothing_but_text_is_written() {
        let line = Line::empty().with(Look::Attention, "3 errors").with(Look::Faint, " now");
        assert_eq!(line.written(false), "3 errors now");
        assert_eq!(line.written(true), "\x1b[1;38;5;208m3 errors\x1b[0m\x1b[2m now\x1b[0m");
    }
}
