//! The table of commands: `main`, the help and the suggestion for an unknown word all read it. A new front end is a
//! folder of its own in `front_ends`, declared there, and one line here.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::front_ends::{
    ab, compare, demo, doctor, explain, find, gurl, load, replay, report, run, serve, sweep,
};
use crate::help;

/// A command of this program.
pub struct Command {
    /// The first word of a command line that asks for it.
    pub name: &'static str,
    /// What it is for.
    pub group: Group,
    /// What it does, in a line of the help.
    pub help: &'static str,
    /// Runs the command with the words after its name.
    pub run: fn(&[OsString]) -> ExitCode,
}

/// What a command is for: the help has them together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Puts load on something.
    Measure,
    /// Provides something to load.
    Serve,
    /// Works with several runs, or with saved ones.
    Compare,
    /// Says what numbers mean and what distorts them.
    Understand,
}

impl Group {
    /// All of them, in the order of the help.
    pub const ALL: [Self; 4] = [Self::Measure, Self::Serve, Self::Compare, Self::Understand];

    /// As the help calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Measure => "measure",
            Self::Serve => "serve",
            Self::Compare => "compare",
            Self::Understand => "understand",
        }
    }
}

/// A line of the table.
const fn command(
    group: Group,
    name: &'static str,
    help: &'static str,
    run: fn(&[OsString]) -> ExitCode,
) -> Command {
    Command { name, group, help, run }
}

use Group::{Compare, Measure, Serve, Understand};

/// Every command there is, in the order of the help.
#[rustfmt::skip]
pub const ALL: &[Command] = &[
    command(Measure, "load", "load a URL; the default: `ablaze URL` is `ablaze load URL`", load::main),
    command(Measure, "ab", "load a URL as ApacheBench does (also when ablaze is invoked as ab)", ab::main),
    command(Measure, "gurl", "load a URL as `gurl -bench` does", gurl::main),
    command(Measure, "find", "find the highest rate at which a target still meets your conditions", find::main),
    command(Serve, "serve", "start an HTTP server to load, on 127.0.0.1:8080", serve::main),
    command(Serve, "demo", "start a server, load it, show the report; then compare two servers", |words| demo::main(words, carried_out)),
    command(Compare, "compare", "compare targets over interleaved runs, with confidence intervals", compare::main),
    command(Compare, "sweep", "load several targets over a range of loads, interleaved", sweep::main),
    command(Compare, "run", "run the experiment that a file describes", run::main),
    command(Compare, "report", "show saved results again, or convert saved runs", report::main),
    command(Compare, "replay", "repeat five published benchmarks, as they were run and fairly", replay::main),
    command(Understand, "explain", "say what the numbers in a report by ab, gurl or ablaze do and do not mean", explain::main),
    command(Understand, "doctor", "check this machine before a run, and say how to fix what it finds", doctor::main),
];

/// The command of this name.
pub fn named(name: &str) -> Option<&'static Command> {
    ALL.iter().find(|command| command.name == name)
}

/// Runs a command by its name.
pub fn carried_out(name: &str, words: &[OsString]) -> ExitCode {
    match named(name) {
        Some(command) => (command.run)(words),
        None => help::unknown_command(name).report(),
    }
}
