//! Pages in Markdown, for docs/commands: the same text as in roff, with links between the pages.

use super::page::Markup;

/// A page that is being written.
pub struct Markdown(String);

impl Markup for Markdown {
    fn titled(name: &str) -> Self {
        Self(format!("# {}\n", name.replacen('-', " ", 1)))
    }

    fn section(&mut self, heading: &str) {
        self.heading("##", heading);
    }

    fn subsection(&mut self, heading: &str) {
        self.heading("###", heading);
    }

    fn line(&mut self, markdown: &str) {
        self.0 += markdown;
        self.0.push('\n');
    }

    fn item(&mut self, term: &str, about: &str) {
        let last = self.0.trim_end().lines().last().unwrap_or_default();
        if !last.starts_with("- ") && !self.0.ends_with("\n\n") {
            self.0.push('\n');
        }
        self.0 += &format!("- {term}: {}\n", Self::text(about));
    }

    fn literal<'a>(&mut self, lines: impl Iterator<Item = &'a str>) {
        self.0 += "```text\n";
        lines.for_each(|line| self.0 += &format!("{line}\n"));
        self.0 += "```\n";
    }

    fn filled(&mut self, words: &str) {
        self.0 += &format!("{}\n", Self::text(words));
    }

    fn paragraph(&mut self) {
        self.0.push('\n');
    }

    fn finish(self) -> String {
        self.0
    }

    fn bold(words: &str) -> String {
        format!("`{words}`")
    }

    fn italic(words: &str) -> String {
        format!("*{}*", escaped(words))
    }

    fn escaped(words: &str) -> String {
        escaped(words)
    }

    fn other_page(name: &str) -> String {
        format!("[{}]({name}.md)", name.replacen('-', " ", 1))
    }
}

impl Markdown {
    /// With one empty line before it and one behind it.
    fn heading(&mut self, depth: &str, heading: &str) {
        self.0.truncate(self.0.trim_end().len());
        self.0 += &format!("\n\n{depth} {}\n\n", escaped(heading));
    }
}

/// Characters of Markdown's own, and of HTML's, are written so that they mean themselves (CommonMark 0.31, 2.4).
fn escaped(words: &str) -> String {
    let mut markdown = String::with_capacity(words.len());
    for letter in words.chars() {
        if "\\`*_<>[]{}|#~&".contains(letter) {
            markdown.push('\\');
        }
        markdown.push(letter);
    }
    markdown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_markdown_would_read_is_escaped() {
        assert_eq!(Markdown::text("a *b* `c*d` <e>"), r"a \*b\* `c*d` \<e\>");
        assert_eq!(Markdown::text("an `open"), r"an \`open");
    }
}
