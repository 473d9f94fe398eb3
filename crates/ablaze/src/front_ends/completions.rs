//! `ablaze completions`: a script for a shell, made from the table of commands and the options that each of them
//! describes. The table is given to it: front ends do not read it themselves.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{CommandFactory, Parser};
use clap_complete::Shell;

use crate::{CommandError, terminal, usage};

/// The command line of `ablaze completions`.
#[derive(Debug, Parser)]
#[command(
    name = "ablaze completions",
    bin_name = "ablaze completions",
    about = "Print a script that makes a shell complete ablaze's commands, options and their values.",
    override_usage = "ablaze completions bash|zsh|fish",
    after_help = AFTER_HELP,
    disable_version_flag = true,
    max_term_width = 100
)]
struct CommandLine {
    /// bash, zsh or fish
    #[arg(value_name = "SHELL", value_parser = shell)]
    shell: Option<Shell>,
}

const AFTER_HELP: &str = "\
Write the script where the shell looks for it; shells started afterwards use it:
  ablaze completions bash > ~/.local/share/bash-completion/completions/ablaze
  ablaze completions zsh > ~/.zfunc/_ablaze      after `fpath+=~/.zfunc` before compinit in .zshrc
  ablaze completions fish > ~/.config/fish/completions/ablaze.fish
Exit status: 0 printed; 1 could not write; 2 usage.";

/// The shells there are scripts for.
const SHELLS: [(&str, Shell); 3] =
    [("bash", Shell::Bash), ("zsh", Shell::Zsh), ("fish", Shell::Fish)];

fn shell(name: &str) -> Result<Shell, String> {
    let found = SHELLS.iter().find(|(own, _)| *own == name);
    found.map(|(_, shell)| *shell).ok_or_else(|| "expected bash, zsh or fish".to_owned())
}

/// Its options.
pub fn command() -> clap::Command {
    let names = PossibleValuesParser::new(SHELLS.map(|(name, _)| name));
    CommandLine::command().mut_arg("shell", |argument| argument.value_parser(names))
}

/// Runs `ablaze completions` with the words behind `completions`; `all_options` is everything to complete.
pub fn main(arguments: &[OsString], all_options: fn() -> clap::Command) -> ExitCode {
    let line = match usage::parsed::<CommandLine>("completions", arguments) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let Some(shell) = line.shell else {
        return CommandError::usage(
            "missing shell, for example `ablaze completions bash`; see `ablaze completions --help`",
        )
        .report();
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut all_options(), "ablaze", &mut script);
    terminal::print(&String::from_utf8_lossy(&script))
}
