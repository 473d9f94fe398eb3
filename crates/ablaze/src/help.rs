//! `ablaze --help` and `ablaze --version`, from the table of front ends.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::front_ends::{self, ABOUT, END, EXAMPLES, Group};
use crate::{terminal, version};

/// `ablaze help [COMMAND]`, and `ablaze` alone.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let word =
        arguments.first().and_then(|word| word.to_str()).filter(|word| !word.starts_with('-'));
    match word {
        Some("help") | None => terminal::print(&text()),
        Some(word) => front_ends::carried_out(word, &[OsString::from("--help")]),
    }
}

/// `ablaze --version`.
pub fn version() -> ExitCode {
    terminal::print(&version::text())
}

/// The whole help: a line for each command, the group before its first.
fn text() -> String {
    let mut text = format!("ablaze: {ABOUT}\n\n{EXAMPLES}\n");
    for group in Group::LISTED {
        if group == Group::Serve {
            text += &borrowed();
        }
        let mut heading = group.name();
        for command in front_ends::ALL.iter().filter(|command| command.group == group) {
            text += &format!("{heading:<12}{:<9}{}\n", command.name, command.help);
            heading = "";
        }
    }
    text + END
}

/// The line of the commands that take another tool's options.
fn borrowed() -> String {
    let borrowed = front_ends::ALL.iter().filter(|command| command.group == Group::Borrowed);
    let names: Vec<&str> = borrowed.map(|command| command.name).collect();
    let about = "load a URL with that tool's options and report";
    format!("{:<12}{}: {about}\n", Group::Borrowed.name(), names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front_ends::Command;

    #[test]
    fn the_help_fits_a_screen_and_names_every_command_once() {
        let text = text();
        // A terminal of 24 lines scrolls by some; what is looked for first stands first.
        let lines = text.lines().count();
        assert!(lines <= 30, "{lines} lines are too long for a screen: shorten what is there");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let listed = |command: &&Command| Group::LISTED.contains(&command.group);
        let line = text.lines().find(|line| line.starts_with("as others")).unwrap();
        for command in front_ends::ALL.iter().filter(|command| command.group == Group::Borrowed) {
            assert_eq!(line.matches(command.name).count(), 1, "{line}");
        }
        for command in front_ends::ALL.iter().filter(|command| command.group == Group::Own) {
            assert_eq!(text.matches(&format!("`ablaze {} ", command.name)).count(), 1, "{text}");
        }
        for command in front_ends::ALL.iter().filter(listed) {
            let line = format!("{:<9}{}", command.name, command.help);
            assert_eq!(text.matches(&line).count(), 1, "{line}");
        }
        assert!(text.contains("\nmeasure     load     load a URL; the default"), "{text}");
        assert!(text.contains("\n            ab       load a URL as ApacheBench"), "{text}");
    }
}
