//! The table of commands: what `main`, the help and the response to an unknown word go by. A new front
//! end is a folder of its own in `front_ends`, declared there, and one line here.

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
    /// Carries out the words behind the name.
    pub run: fn(&[OsString]) -> ExitCode,
}

/// What a command is for: the help has them together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Loads something.
    Measure,
    /// Is something to load.
    Serve,
    /// Several runs, or runs of before.
    Compare,
    /// What numbers mean, and what stands in their way.
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
    command(Measure, "ab", "load a URL as ApacheBench does (also when ablaze is called by the name ab)", ab::main),
    command(Measure, "gurl", "load a URL as `gurl -bench` does", gurl::main),
    command(Measure, "find", "find the highest rate at which a target does what is asked of it", find::main),
    command(Serve, "serve", "answer HTTP on 127.0.0.1:8080, for something to load", serve::main),
    command(Serve, "demo", "start a server, load it, show the report; then compare two servers", |words| demo::main(words, carried_out)),
    command(Compare, "compare", "targets against each other over interleaved runs, with intervals", compare::main),
    command(Compare, "sweep", "load several targets over a range of loads, interleaved", sweep::main),
    command(Compare, "run", "carry out the experiment that a file describes", run::main),
    command(Compare, "report", "show saved results again, and convert saved runs", report::main),
    command(Compare, "replay", "carry out five published measurements again, as they were and fairly", replay::main),
    command(Understand, "explain", "say what the numbers in a report of ab, gurl or ablaze do and do not mean", explain::main),
    command(Understand, "doctor", "check this machine before a run, and say how to fix what is in the way", doctor::main),
];

/// The command of this name.
pub fn named(name: &str) -> Option<&'static Command> {
    ALL.iter().find(|command| command.name == name)
}

/// Carries out a command by its name.
pub fn carried_out(name: &str, words: &[OsString]) -> ExitCode {
    match named(name) {
        Some(command) => (command.run)(words),
        None => help::unknown_command(name).report(),
    }
}
