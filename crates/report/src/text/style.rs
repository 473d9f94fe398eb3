//! How the report is dressed: how wide, and whether in colour. Colour only where it was asked for.

/// How the report is dressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Mark weight, doubt and errors by colour (ANSI escape sequences).
    pub colour: bool,
    /// Columns of the terminal: lists are broken and the table is narrowed to fit where possible.
    pub width: usize,
    /// Show also what the rules that found nothing went by, and notes with cause and fix.
    pub explain: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self { colour: false, width: 110, explain: false }
    }
}

impl Style {
    /// Figures that matter most.
    pub(super) fn strong(&self, text: &str) -> String {
        self.dressed("1", text)
    }

    /// Remarks that may be skipped.
    pub(super) fn dim(&self, text: &str) -> String {
        self.dressed("2", text)
    }

    /// What may make the figures doubtful.
    pub(super) fn warning(&self, text: &str) -> String {
        self.dressed("33", text)
    }

    /// A line about a failure, in red.
    pub(super) fn error(&self, text: &str) -> String {
        self.dressed("31", text)
    }

    fn dressed(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }
}
