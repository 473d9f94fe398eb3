//! A command line that goes on below: the last character of a line says so, to a shell of Unix (`\\`), to that of
//! Windows (`^`) or to PowerShell (a backtick).

use super::{Command, find};
use crate::printed::line::cleaned;

/// So many lines one command is written on at most.
const LINES_MOST: usize = 40;

/// The command that begins in the first of these lines and goes on below, and how many lines it takes.
pub fn continued(lines: &[&str], number: usize) -> Option<(Command, usize)> {
    let mut text = up_to_mark(lines.first()?)?;
    let mut commands = Vec::new();
    for line in lines.iter().skip(1).take(LINES_MOST) {
        let more = up_to_mark(line);
        text.push(' ');
        text.push_str(more.as_deref().unwrap_or(&cleaned(line)));
        commands.push(find(&text, number));
        if more.is_none() {
            break;
        }
    }
    let command = commands.last().cloned().flatten()?;
    // Below a mark that stands there by mistake is the output: what is no part of the command stays where it is.
    let same = |of: &Option<Command>| of.as_ref().is_some_and(|of| of.text == command.text);
    let alone = find(&up_to_mark(lines.first()?)?, number);
    let taken = std::iter::once(&alone).chain(&commands).position(same)?;
    let goes_on = |line: &&&str| line.trim_start().starts_with(['|', '&', ';', '-', '<', '>', '2']);
    let behind = lines.get(taken + 1..commands.len() + 1).unwrap_or_default();
    Some((command, taken + 1 + behind.iter().take_while(goes_on).count()))
}

/// The line without the mark behind it, if there is one.
fn up_to_mark(line: &str) -> Option<String> {
    let line = cleaned(line);
    let before = line.strip_suffix(['\\', '^', '`'])?;
    // A word may end with one: `http://h/^`.
    let apart = line.ends_with('\\') || before.ends_with(char::is_whitespace);
    apart.then(|| before.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<(String, usize)> {
        let lines: Vec<&str> = text.lines().collect();
        continued(&lines, 1).map(|(command, lines)| (command.text, lines))
    }

    #[test]
    fn a_command_on_several_lines_is_one() {
        let all = "ab -n 50000 -c 10 http://h/other".to_owned();
        for (text, lines) in [
            ("$ ab -n 50000 \\\n   -c 10 \\\n   http://h/other\nThis is ApacheBench", 3),
            ("> ab -n 50000 ^\r\n> -c 10 http://h/other\r\n", 2),
            ("PS C:\\> ab -n 50000 `\n  -c 10 http://h/other", 2),
            ("$ ab -n 50000 -c 10 \\\n http://h/other \\\n | tee out\nThis", 3),
            // The mark is one too many.
            ("$ ab -n 50000 -c 10 http://h/other \\\nThis is ApacheBench", 1),
        ] {
            assert_eq!(of(text), Some((all.clone(), lines)), "{text}");
        }
        assert_eq!(of("$ ab -n 50000 -c 10 http://h/other\n-c 20"), None);
        assert_eq!(of("a line \\\nand another\n"), None);
        assert_eq!(of("$ ab -n 50000 \\"), None);
        let vegeta = "$ echo \"GET http://h/\" | vegeta attack \\\n  -rate=300 -duration=15s \\\n  | vegeta report\nRequests";
        assert_eq!(of(vegeta), Some(("vegeta attack -rate=300 -duration=15s".to_owned(), 3)));
    }
}
