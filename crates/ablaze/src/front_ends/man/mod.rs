//! `ablaze man`: manual pages, made from the table of commands and the options that each of them describes, as the help
//! and the completions are. The table is given to it: front ends do not read it themselves.

mod markdown;
mod page;
mod roff;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::StyledStr;
use clap::{Command, CommandFactory, Parser};

use self::markdown::Markdown;
use self::page::Markup;
use self::roff::Roff;
use crate::suggest::nearest;
use crate::{CommandError, outlets, terminal, usage};

/// The command line of `ablaze man`.
#[derive(Debug, Parser)]
#[command(
    name = "ablaze man",
    bin_name = "ablaze man",
    about = "Print the manual page of a command, or of ablaze itself.",
    override_usage = "ablaze man [--markdown] [COMMAND]\n       ablaze man [--markdown] --folder FOLDER",
    after_help = AFTER_HELP,
    disable_version_flag = true,
    max_term_width = 100
)]
struct CommandLine {
    /// The command; without it, the page of ablaze
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
    /// Write every page into this folder instead: ablaze.1, ablaze-load.1, …
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    folder: Option<PathBuf>,
    /// Write Markdown instead of roff: ablaze.md, ablaze-load.md, …
    #[arg(long)]
    markdown: bool,
}

const AFTER_HELP: &str = "\
To read a page, or to keep all of them where man finds them:
  ablaze man load | man -l -
  ablaze man --folder ~/.local/share/man/man1      then: man ablaze-load
Exit status: 0 printed or written; 1 could not write; 2 usage.";

/// Its options.
pub fn command() -> Command {
    CommandLine::command()
}

/// Runs `ablaze man` with the words behind `man`; `all_options` is everything there are pages of.
pub fn main(arguments: &[OsString], all_options: fn() -> Command) -> ExitCode {
    let line = match usage::parsed::<CommandLine>("man", arguments) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let (pages, ending) = match line.markdown {
        true => (pages::<Markdown>(all_options()), "md"),
        false => (pages::<Roff>(all_options()), "1"),
    };
    if let Some(folder) = line.folder {
        return written(&folder, &pages, ending);
    }
    let name = line.command.map_or("ablaze".to_owned(), |command| format!("ablaze-{command}"));
    match pages.iter().find(|page| page.name == name) {
        Some(page) => terminal::print(&page.text),
        None => unknown(name.trim_start_matches("ablaze-"), &pages).report(),
    }
}

/// A manual page of section 1.
struct Page {
    /// What it is called: `ablaze-load`.
    name: String,
    /// What is in it.
    text: String,
}

/// The page of the program, then one for each command in the table's order.
fn pages<M: Markup>(mut program: Command) -> Vec<Page> {
    program.build();
    let commands = program.get_subcommands().filter(|command| command.get_name() != "help");
    let of_commands = commands.map(|command| {
        let name = format!("ablaze-{}", command.get_name());
        Page { text: page::of_command::<M>(&name, command), name }
    });
    let own = Page { name: "ablaze".to_owned(), text: page::of_program::<M>(&program) };
    std::iter::once(own).chain(of_commands).collect()
}

fn written(folder: &Path, pages: &[Page], ending: &str) -> ExitCode {
    let failed = |path: &Path, error: std::io::Error| {
        CommandError::machine(format!("cannot write {}: {error}", path.display()))
    };
    outlets::attempt(&folder.display().to_string(), || {
        std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        pages.iter().try_for_each(|page| {
            let path = folder.join(format!("{}.{ending}", page.name));
            std::fs::write(&path, &page.text).map_err(|error| failed(&path, error))
        })
    });
    ExitCode::SUCCESS
}

fn unknown(name: &str, pages: &[Page]) -> CommandError {
    let known: Vec<&str> =
        pages.iter().filter_map(|page| page.name.strip_prefix("ablaze-")).collect();
    CommandError::usage(match nearest(name, &known) {
        Some(command) => {
            format!("no manual page of `{name}`; did you mean `ablaze man {command}`?")
        }
        None => format!("no manual page of `{name}`; see `ablaze --help` for the commands"),
    })
}

/// Plain text of what clap holds.
fn plain(text: Option<&StyledStr>) -> String {
    text.map(StyledStr::to_string).unwrap_or_default()
}
