//! The options of a tool as a table: its parser, the help and the completions of shells read it.

use clap::{Arg, ArgAction, CommandFactory};

use super::{Grammar, Tool};
use crate::native::CommandLine;

/// An option.
#[derive(Debug)]
pub struct Known {
    /// Its letter, where it has one beside its name.
    pub letter: Option<char>,
    /// Its name; of one letter in tools that read Go's flags.
    pub name: &'static str,
    /// What stands for its value in the help; empty where it has none.
    pub value: &'static str,
    /// What it does, or why it does nothing here.
    pub about: &'static str,
}

/// An option with a letter beside its name.
pub const fn letter(
    letter: char,
    name: &'static str,
    value: &'static str,
    about: &'static str,
) -> Known {
    Known::new(Some(letter), name, value, about)
}

/// An option without one.
pub const fn long(name: &'static str, value: &'static str, about: &'static str) -> Known {
    Known::new(None, name, value, about)
}

impl Known {
    /// A line of the table.
    pub const fn new(
        letter: Option<char>,
        name: &'static str,
        value: &'static str,
        about: &'static str,
    ) -> Self {
        Self { letter, name, value, about }
    }

    /// Whether it has a letter alone.
    fn is_letter(&self) -> bool {
        self.name.chars().count() == 1
    }

    /// Whether it is a switch.
    pub fn is_switch(&self) -> bool {
        self.value.is_empty()
    }
}

/// The text of `--help`: what the tool is for, its options, and what the other ones are.
pub fn help(tool: &Tool, begins: &str) -> String {
    let line = |known: &Known| {
        let names = match (tool.grammar, known.letter) {
            (Grammar::GoFlags, _) => format!("-{}", known.name),
            (Grammar::Getopt, Some(letter)) if known.is_letter() => format!("-{letter}"),
            (Grammar::Getopt, None) => format!("    --{}", known.name),
            (Grammar::Getopt, Some(letter)) => format!("-{letter}, --{}", known.name),
        };
        let names = format!("{names} {}", known.value);
        // A name that is too long has its line for itself.
        match names.trim_end() {
            names if names.len() < 30 => format!("  {names:<30}{}\n", known.about),
            names => format!("  {names}\n  {:<30}{}\n", "", known.about),
        }
    };
    let lines: String = tool.known.iter().map(line).collect();
    format!(
        "{begins}\n{lines}\
         The other long options of `ablaze load` work, too: --json, --output FILE, --fail-if, --strict,\n\
         --explain, --io, --cpus, --cacert.\nWhat differs from {}: docs/{}.md\n",
        tool.name, tool.name
    )
}

/// A native option beside another tool's: by its long name alone, without a default, which the tool's own options decide. `None`
/// where it has no effect there.
pub fn beside_others(argument: &Arg) -> Option<Arg> {
    const REFUSED: [&str; 2] = ["fleet", "lost"];
    if argument.get_long().is_none_or(|name| REFUSED.contains(&name)) {
        return None;
    }
    let plain = argument.clone().short(None).visible_short_alias(None);
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let default = help.find(" [default:").zip(help.rfind(']'));
    Some(match default {
        Some((from, to)) => plain.help(format!("{}{}", &help[..from], &help[to + 1..])),
        None => plain,
    })
}

/// Its options as shells complete them, and native ones behind them.
pub fn command(tool: &Tool) -> clap::Command {
    let native = CommandLine::command();
    let native: Vec<&Arg> = native.get_arguments().filter(|own| own.get_long().is_some()).collect();
    let same = |known: &Known| native.iter().find(|own| own.get_long() == Some(known.name));
    let own = tool.known.iter().map(|known| {
        // Native options refer to each other: one of the same name stays what it is.
        let argument = match same(known) {
            Some(argument) => (*argument).clone().short(None).visible_short_alias(None),
            None if known.is_letter() => Arg::new(known.name),
            None => Arg::new(known.name).long(known.name),
        };
        let action = if known.is_switch() { ArgAction::SetTrue } else { ArgAction::Append };
        let mut argument = argument.action(action).help(known.about);
        if !known.is_switch() {
            argument = argument.value_name(known.value);
        }
        match known.letter.or(known.name.chars().next().filter(|_| known.is_letter())) {
            Some(letter) => argument.short(letter),
            None => argument,
        }
    });
    let is_own = |name: &str| tool.known.iter().any(|known| known.name == name);
    let others = native.iter().filter(|argument| !argument.get_long().is_some_and(is_own));
    let others = others.filter_map(|argument| beside_others(argument));
    clap::Command::new(tool.name)
        .disable_version_flag(true)
        .disable_help_flag(true)
        .args(own)
        .args(others)
        .arg(Arg::new("url").value_name("URL").help("URL to load"))
}
