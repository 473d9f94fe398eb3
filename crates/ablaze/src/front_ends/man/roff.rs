//! Text in roff, as the macros of man(7) take it: what has a meaning there is escaped, words between backquotes are bold,
//! and lines that are laid out in columns stay as they are.

use super::page::Markup;

/// Lines of the source are broken behind this many characters.
const WIDTH: usize = 78;

/// A page that is being written.
pub struct Roff(String);

impl Markup for Roff {
    fn titled(name: &str) -> Self {
        // No date: two builds of one version give one page.
        let version = concat!("ablaze ", env!("CARGO_PKG_VERSION"));
        Self(format!(
            ".TH {} 1 \"\" \"{version}\" \"ablaze manual\"\n",
            escaped(name).to_uppercase()
        ))
    }

    fn section(&mut self, heading: &str) {
        self.0 += &format!(".SH \"{}\"\n", escaped(heading).to_uppercase());
    }

    fn subsection(&mut self, heading: &str) {
        self.0 += &format!(".SS \"{}\"\n", escaped(heading));
    }

    fn line(&mut self, roff: &str) {
        self.0 += roff;
        self.0.push('\n');
    }

    fn item(&mut self, term: &str, about: &str) {
        self.0 += &format!(".TP\n{term}\n");
        self.filled(about);
    }

    fn literal<'a>(&mut self, lines: impl Iterator<Item = &'a str>) {
        self.0 += ".nf\n";
        lines.for_each(|line| self.0 += &format!("{}\n", guarded(&escaped(line))));
        self.0 += ".fi\n";
    }

    fn finish(self) -> String {
        self.0
    }

    fn paragraph(&mut self) {
        self.0 += ".PP\n";
    }

    /// In lines of the source that are not too long.
    fn filled(&mut self, words: &str) {
        let mut line = String::new();
        for word in Self::text(words).split(' ').filter(|word| !word.is_empty()) {
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

    fn bold(words: &str) -> String {
        format!("\\fB{}\\fR", escaped(words))
    }

    fn italic(words: &str) -> String {
        format!("\\fI{}\\fR", escaped(words))
    }

    fn escaped(words: &str) -> String {
        escaped(words)
    }

    fn other_page(name: &str) -> String {
        format!("{}(1)", Self::bold(name))
    }
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
        assert_eq!(
            Roff::text("see `ablaze load`, or `not"),
            r"see \(gaablaze load\(ga, or \(ganot"
        );
        assert_eq!(Roff::text("see `ablaze load`."), r"see \fBablaze load\fR.");
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
