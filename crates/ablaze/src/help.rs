//! `ablaze --help`, `ablaze --version`, and the error for an unknown command: all from the table of
//! commands.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::commands::{self, Group};
use crate::suggest::nearest;
use crate::{CommandError, terminal, version};

/// What this program is.
pub const ABOUT: &str =
    "an HTTP load tester that keeps ab's habits and gives every number a verdict";

/// What to type first.
pub const EXAMPLES: &str =
    "  ablaze :8080/                                   load http://127.0.0.1:8080/ for 10 s
  ablaze -c 100 -n 1M -o run.json host/path       a million requests, saved as JSON
  ablaze -d 30s -b '{\"id\":\"{seq}\"}' host/api      30 s of POSTs, each with its own number
  ablaze ab -kc 100 -n 100000 http://host/        ab's options and ab's report
  ablaze demo                                     a server, load, the report, a comparison
";

/// How the help ends.
pub const END: &str = "
`ablaze COMMAND --help` or `ablaze man COMMAND`: its options; `ablaze completions SHELL`: for Tab.
Of `ablaze load --fleet`: `ablaze worker --help`, `ablaze fleet --help`.
Exit status: 0 measured; 1 failed; 2 usage; 3 --fail-if met; 4 INVALID (--strict); 130 interrupted.
";

/// `ablaze help [COMMAND]`, and `ablaze` alone.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let word =
        arguments.first().and_then(|word| word.to_str()).filter(|word| !word.starts_with('-'));
    match word {
        Some("help") | None => terminal::print(&text()),
        Some(word) => commands::carried_out(word, &[OsString::from("--help")]),
    }
}

/// `ablaze --version`.
pub fn version() -> ExitCode {
    terminal::print(&version::text())
}

/// What is said to a first word that is neither a command nor a URL.
pub fn unknown_command(word: &str) -> CommandError {
    // A number alone is hardly a host: URLs take it for an address, 0.0.31.144.
    let as_url = match word.parse::<u16>() {
        Ok(port) => format!("if it is a port on this machine, use :{port}"),
        Err(_) => format!("if it is a host, use http://{word}/"),
    };
    let known: Vec<&str> =
        commands::ALL.iter().map(|command| command.name).chain(["help"]).collect();
    match nearest(word, &known) {
        Some(command) => CommandError::usage(format!(
            "unknown command `{word}`; did you mean `ablaze {command}`? ({as_url})"
        )),
        None => CommandError::usage(format!(
            "unknown command `{word}`; see `ablaze --help` \
            ({as_url})"
        )),
    }
}

/// The whole help: a line for each command, the group before its first.
fn text() -> String {
    let mut text = format!("ablaze: {ABOUT}\n\n{EXAMPLES}\n");
    for group in Group::LISTED {
        if group == Group::Serve {
            text += &borrowed();
        }
        let mut heading = group.name();
        for command in commands::ALL.iter().filter(|command| command.group == group) {
            text += &format!("{heading:<12}{:<9}{}\n", command.name, command.help);
            heading = "";
        }
    }
    text + END
}

/// The line of the commands that take another tool's options.
fn borrowed() -> String {
    let borrowed = commands::ALL.iter().filter(|command| command.group == Group::Borrowed);
    let names: Vec<&str> = borrowed.map(|command| command.name).collect();
    let about = "load a URL with that tool's options and report";
    format!("{:<12}{}: {about}\n", Group::Borrowed.name(), names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::Command;

    #[test]
    fn the_help_fits_a_screen_and_names_every_command_once() {
        let text = text();
        // A terminal of 24 lines scrolls by some; what is looked for first stands first.
        let lines = text.lines().count();
        assert!(lines <= 30, "{lines} lines are too long for a screen: shorten what is there");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let listed = |command: &&Command| Group::LISTED.contains(&command.group);
        let line = text.lines().find(|line| line.starts_with("as others")).unwrap();
        for command in commands::ALL.iter().filter(|command| command.group == Group::Borrowed) {
            assert_eq!(line.matches(command.name).count(), 1, "{line}");
        }
        for command in commands::ALL.iter().filter(|command| command.group == Group::Own) {
            assert_eq!(text.matches(&format!("`ablaze {} ", command.name)).count(), 1, "{text}");
        }
        for command in commands::ALL.iter().filter(listed) {
            let line = format!("{:<9}{}", command.name, command.help);
            assert_eq!(text.matches(&line).count(), 1, "{line}");
        }
        assert!(text.contains("\nmeasure     load     load a URL; the default"), "{text}");
        assert!(text.contains("\n            ab       load a URL as ApacheBench"), "{text}");
    }

    #[test]
    fn an_unknown_command_is_told_the_nearest_of_the_table() {
        assert!(unknown_command("swep").line.contains("did you mean `ablaze sweep`?"));
        assert!(unknown_command("kubernetes").line.contains("see `ablaze --help`"));
    }
}
