//! Text in roff, as the macros of man(7) take it: what has a meaning there is escaped, words between backquotes are bold,
//! and lines that are laid out in columns stay as they are.

/// Lines of the source are broken behind this many characters.
const WIDTH: usize = 78;

/// A page that is being written.
pub struct Roff(String);

impl Roff {
    /// Begins a page of section 1.
    pub fn titled(name: &str) -> Self {
        // No date: two builds of one version give one page.
        let version = concat!("ablaze ", env!("CARGO_PKG_VERSION"));
        Self(format!(
            ".TH {} 1 \"\" \"{version}\" \"ablaze manual\"\n",
            escaped(name).to_uppercase()
        ))
    }

    /// Begins a section.
    pub fn section(&mut self, heading: &str) {
        self.0 += &format!(".SH \"{}\"\n", escaped(heading).to_uppercase());
    }

    /// Begins a part of a section.
    pub fn subsection(&mut self, heading: &str) {
        self.0 += &format!(".SS \"{}\"\n", escaped(heading));
    }

    /// Lines of roff.
    pub fn line(&mut self, roff: &str) {
        self.0 += roff;
        self.0.push('\n');
    }

    /// A term, in roff, and what it means, in words.
    pub fn item(&mut self, term: &str, about: &str) {
        self.0 += &format!(".TP\n{term}\n");
        self.filled(about);
    }

    /// Lines that stay as they are.
    pub fn literal<'a>(&mut self, lines: impl Iterator<Item = &'a str>) {
        self.0 += ".nf\n";
        lines.for_each(|line| self.0 += &format!("{}\n", guarded(&escaped(line))));
        self.0 += ".fi\n";
    }

    /// A text of a help: running lines become paragraphs, lines that are indented or have columns stay.
    pub fn flow(&mut self, text: &str) {
        let mut lines = text.lines().peekable();
        let mut first = true;
        while let Some(line) = lines.next() {
            if line.trim().is_empty() {
                continue;
            }
            let mut block = vec![line];
            while let Some(next) = lines.next_if(|next| continues(&block, next)) {
                block.push(next);
            }
            // A paragraph right behind a heading is one already.
            if !std::mem::take(&mut first) {
                self.0 += ".PP\n";
            }
            match is_laid_out(line) {
                true => self.literal(block.into_iter()),
                false => self.filled(&block.join(" ")),
            }
        }
    }

    /// The page.
    pub fn finish(&mut self) -> String {
        std::mem::take(&mut self.0)
    }

    /// Words, in lines of the source that are not too long.
    fn filled(&mut self, words: &str) {
        let mut line = String::new();
        for word in text(words).split(' ').filter(|word| !word.is_empty()) {
            if !line.is_empty() && line.len() + 1 + word.len() > WIDTH {
                self.0 += &format!("{}\n", guarded(&line));
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line += word;
        }
        self.0 += &format!("{}\n", guarded(&line));
    }
}

/// In the font of what is typed.
pub fn bold(words: &str) -> String {
    format!("\\fB{}\\fR", escaped(words))
}

/// In the font of what stands for a value.
pub fn italic(words: &str) -> String {
    format!("\\fI{}\\fR", escaped(words))
}

/// Words, those between two backquotes bold.
pub fn text(words: &str) -> String {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts: Vec<&str> = words.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escaped(&words);
    }
    let part = |(index, part): (usize, &&str)| match index % 2 {
        0 => escaped(part),
        _ => bold(part),
    };
    parts.iter().enumerate().map(part).collect()
}

/// Whether a line of a help is laid out in columns or indented, so that its blanks count.
fn is_laid_out(line: &str) -> bool {
    line.starts_with(' ') || line.contains("   ")
}

/// Whether a line belongs to the lines before it: both running text, or both laid out. An indented line behind one that
/// ends in the middle of a sentence is its continuation.
fn continues(block: &[&str], next: &str) -> bool {
    let laid_out = is_laid_out(block[0]);
    let open = block.last().is_some_and(|line| line.ends_with([',', ';']));
    !next.trim().is_empty() && (is_laid_out(next) == laid_out || (!laid_out && open))
}

/// A line of text that is not taken for a request of roff.
fn guarded(line: &str) -> String {
    match line.starts_with(['.', '\'']) {
        true => format!("\\&{line}"),
        false => line.to_owned(),
    }
}

/// Characters of roff's own are written so that they mean themselves. A dash is typed as such in options, and those
/// outside ASCII have names: not every roff reads UTF-8.
fn escaped(words: &str) -> String {
    let mut roff = String::with_capacity(words.len());
    for letter in words.chars() {
        match letter {
            '\\' => roff += "\\e",
            '-' => roff += "\\-",
            '"' => roff += "\\(dq",
            '`' => roff += "\\(ga",
            '\'' => roff += "\\(aq",
            '~' => roff += "\\(ti",
            '^' => roff += "\\(ha",
            letter if letter.is_ascii() => roff.push(letter),
            letter => roff += &format!("\\[u{:04X}]", u32::from(letter)),
        }
    }
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_roff_would_read_is_escaped() {
        assert_eq!(escaped(r"a\b -c 'd' …"), r"a\eb \-c \(aqd\(aq \[u2026]");
        assert_eq!(text("see `ablaze load`, or `not"), r"see \(gaablaze load\(ga, or \(ganot");
        assert_eq!(text("see `ablaze load`."), r"see \fBablaze load\fR.");
    }

    #[test]
    fn running_lines_are_joined_and_columns_stay() {
        let mut page = Roff(String::new());
        page.flow("Two lines,\n  of text.\n  ablaze load   x\n.1 s\n\n.2 s");
        let expected =
            "Two lines, of text.\n.PP\n.nf\n  ablaze load   x\n.fi\n.PP\n\\&.1 s\n.PP\n\\&.2 s\n";
        assert_eq!(page.finish(), expected);
    }
}
