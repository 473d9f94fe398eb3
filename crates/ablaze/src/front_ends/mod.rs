//! The front ends: each turns the words behind its command into what is asked for and, in the end, into
//! an exit status. They stand on planning, the native options, built-in servers and experiments, and
//! none of them on another one: what two of them share lies below.
//!
//! To add one: a folder or file here, and its line in the table below, which `main`, the help, the suggestion for an unknown
//! word, the completions of shells and the manual pages read.

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use clap::{Arg, ArgAction};

use crate::CommandError;
use crate::suggest::nearest;

use Group::{Borrowed, Compare, Measure, Own, Serve, Understand};

/// Declares a module for each front end, and the table. What runs it, where that is more than its `main` with the words
/// after its name, stands behind its line of the help.
macro_rules! front_ends {
    ($($group:ident $module:ident $help:literal $(, $run:expr)?;)*) => {
        $(pub mod $module;)*

        /// Every command there is, in the order of the help.
        pub const ALL: &[Command] = &[$(Command {
            name: stringify!($module),
            group: $group,
            help: $help,
            run: front_ends!(@run $module $(, $run)?),
            options: $module::command,
        },)*];
    };
    (@run $module:ident) => { $module::main };
    (@run $module:ident, $run:expr) => { $run };
}

front_ends! {
    Measure load "load a URL; the default: `ablaze URL` is `ablaze load URL`";
    Measure ab "load a URL as ApacheBench does (also when ablaze is invoked as ab)";
    Measure gurl "request a URL as gurl does, or load it as `gurl -bench` does";
    Measure wrk "load a URL as wrk does";
    Borrowed hey "load a URL as hey does";
    Borrowed h2load "load a URL as h2load does";
    Borrowed oha "load a URL as oha does";
    Borrowed vegeta "attack servers and report as vegeta does";
    Measure find "find the highest rate at which a target still meets your conditions";
    Measure import "write a journey (.hurl) from a HAR file or a curl command";
    Serve serve "start an HTTP server to load, on 127.0.0.1:8080";
    Serve demo "start a server, load it, show the report; then compare two servers", |words| demo::main(words, carried_out);
    Compare compare "compare targets over interleaved runs, with confidence intervals";
    Compare sweep "load several targets over a range of loads, interleaved";
    Compare run "run the experiment that a file describes";
    Compare report "show saved results again, or convert saved runs";
    Compare replay "repeat five published benchmarks, as they were run and fairly";
    Understand explain "say what a report of ab, wrk, hey, ablaze and others does and does not show";
    Understand say "print the command line for one of another tool: ablaze say 'wrk -c9 URL'";
    Understand doctor "check this machine before a run, and say how to fix what it finds";
    Own worker "carry out a share of a load for `ablaze load --fleet`, which starts it";
    Own fleet "print the run of a worker that lost its coordinator, or the Job of a fleet";
    Own man "print a manual page, or write all of them into a folder", |words| man::main(words, all_options);
    Own completions "print a script that makes bash, zsh or fish complete command lines", |words| completions::main(words, all_options);
}

/// What this program is.
pub const ABOUT: &str =
    "an HTTP load tester that takes ab's command line and gives every number a verdict";

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
For fleets see also `ablaze worker --help` and `ablaze fleet --help`.
Exit status: 0 measured; 1 failed; 2 usage; 3 --fail-if, --slo; 4 INVALID (--strict); 130 Ctrl-C.
";

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
    /// Its options and arguments, for completions and manual pages: a front end that parses its words by hand describes
    /// them here.
    pub options: fn() -> clap::Command,
}

/// What a command is for: the help has them together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Puts load on something.
    Measure,
    /// Does that with another tool's options and its report: one line of the help names them all.
    Borrowed,
    /// Provides something to load.
    Serve,
    /// Works with several runs, or with saved ones.
    Compare,
    /// Says what numbers mean and what distorts them.
    Understand,
    /// Belongs to this program rather than to its work: the last lines of the help name it.
    Own,
}

impl Group {
    /// Those that the help lists, in its order.
    pub const LISTED: [Self; 4] = [Self::Measure, Self::Serve, Self::Compare, Self::Understand];

    /// As the help calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Measure => "measure",
            Self::Borrowed => "as others",
            Self::Serve => "serve",
            Self::Compare => "compare",
            Self::Understand => "understand",
            Self::Own => "own",
        }
    }
}

/// The command of this name.
pub fn named(name: &str) -> Option<&'static Command> {
    ALL.iter().find(|command| command.name == name)
}

/// The command that this program was called as, where a link to it has the name of another tool.
pub fn called_as(program: &OsStr) -> Option<&'static Command> {
    let name = Path::new(program).file_name()?.to_str()?;
    let is_borrowed = |command: &&Command| {
        command.group == Group::Borrowed || matches!(command.name, "ab" | "wrk")
    };
    named(name).filter(is_borrowed)
}

/// Runs a command by its name.
pub fn carried_out(name: &str, words: &[OsString]) -> ExitCode {
    match named(name) {
        Some(command) => (command.run)(words),
        None => unknown_command(name).report(),
    }
}

/// What is said to a first word that is neither a command nor a URL.
fn unknown_command(word: &str) -> CommandError {
    // A number alone is hardly a host: URLs take it for an address, 0.0.31.144.
    let as_url = match word.parse::<u16>() {
        Ok(port) => format!("if it is a port on this machine, use :{port}"),
        Err(_) => format!("if it is a host, use http://{word}/"),
    };
    let known: Vec<&str> = ALL.iter().map(|command| command.name).chain(["help"]).collect();
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

/// Everything that a command line of this program can have, with the texts of the help. One that begins with an option
/// is `ablaze load`'s; its URL is left out, because zsh would take the name of a command for it.
fn all_options() -> clap::Command {
    let load = load::command();
    let options = load.get_arguments().filter(|argument| !argument.is_positional()).cloned();
    clap::Command::new("ablaze")
        .about(ABOUT)
        .before_help(format!("For example:\n{EXAMPLES}"))
        .after_help(END)
        .override_usage("ablaze [COMMAND] [OPTIONS] [ARGUMENTS]\nablaze [OPTIONS] URL")
        .version(env!("CARGO_PKG_VERSION"))
        .args(options)
        .subcommands(ALL.iter().map(described))
}

/// A command with its line of the help; what it says about itself at more length stands before it.
fn described(command: &Command) -> clap::Command {
    let options = (command.options)();
    let options = match options.is_disable_help_flag_set() {
        true => options,
        // clap's own would tell -h and --help apart as soon as one option has a longer text.
        false => options.disable_help_flag(true).arg(
            Arg::new("help").short('h').long("help").action(ArgAction::Help).help("Print help"),
        ),
    };
    let at_length = options.get_about().cloned().unwrap_or_default();
    options
        .name(command.name)
        .bin_name(format!("ablaze {}", command.name))
        .about(command.help)
        .before_help(at_length)
}
