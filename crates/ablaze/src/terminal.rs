//! Text on the terminal: printed whole, wrapped to its width; whether it may have colours.

use std::process::ExitCode;

use crate::outlets;

/// Lines of running text are at most so wide.
const WIDTH: usize = 100;

/// Writes text to stdout; [`outlets`] knows whether it got there.
pub fn print(text: &str) -> ExitCode {
    outlets::print(text);
    ExitCode::SUCCESS
}

/// Text wrapped to the width; what stands before it is a hanging indent.
pub fn paragraph(start: &str, text: &str) -> String {
    let indent = " ".repeat(start.chars().count());
    let mut wrapped = String::new();
    let mut line = start.to_owned();
    let mut empty = true;
    for word in text.split(' ') {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            wrapped.push_str(line.trim_end());
            wrapped.push('\n');
            line = indent.clone();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    wrapped.push_str(line.trim_end());
    wrapped.push('\n');
    wrapped
}

/// Whether terminals may be sent colours (no-color.org: not if NO_COLOR is set and not empty).
pub fn colour_wanted() -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    !dumb && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::paragraph;

    #[test]
    fn words_stay_whole_and_lines_inside_the_width() {
        let text = "word ".repeat(60);
        let wrapped = paragraph("  do  ", text.trim_end());
        assert!(wrapped.lines().count() > 2);
        assert!(wrapped.lines().all(|line| line.chars().count() <= 100));
        assert!(wrapped.lines().skip(1).all(|line| line.starts_with("      word")));
        assert_eq!(wrapped.split_whitespace().filter(|word| *word == "word").count(), 60);
    }
}
