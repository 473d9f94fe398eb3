//! `ablaze import`: writes a journey, a file in Hurl's format, from what people have: a HAR file that a browser saved,
//! or a `curl` command. What has no place in a journey is named on stderr and left out.
//!
//! [`crate::shell`] splits command lines as sh does, [`curl`] reads curl's options, [`har`] HAR files; [`hurl`] writes; [`encoded`] is about forms.

mod curl;
mod encoded;
mod har;
mod hurl;

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ablaze_load::planning::sources;
use ablaze_model::printable::printable;
use ablaze_report::file;
use clap::{CommandFactory, Parser};

use crate::error::note;
use crate::{CommandError, shell, terminal, usage};

/// The command line of `ablaze import`.
#[derive(Debug, Parser)]
#[command(
    name = "ablaze import",
    bin_name = "ablaze import",
    about = "Write a .hurl file from a HAR file or a curl command.",
    override_usage = "ablaze import [-o FILE] FILE.har|'curl …'",
    after_help = AFTER_HELP,
    disable_version_flag = true,
    max_term_width = 100
)]
struct CommandLine {
    /// A HAR file, a file with curl commands, a curl command as one word, or - for standard input
    #[arg(value_name = "FILE|COMMAND")]
    source: Option<String>,
    /// Write the journey to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const AFTER_HELP: &str = "  ablaze import login.har -o login.hurl           `Save all as HAR` of a browser's network panel
  ablaze import 'curl http://127.0.0.1:8080/ -d a=b'
  ablaze import curl http://127.0.0.1:8080/ -d a=b     unquoted: all words behind curl are curl's

Of curl's options -X -H -d --data-raw --data-binary --data-urlencode -F --form-string -u -b -A -e -L
--compressed -G -I --json and --url are taken over; others are named and left out. Of a HAR file, headers
that a client makes itself are left out, and cookies that the server had set before.
Exit status: 0 written; 1 could not write; 2 usage, or nothing to import.";

/// Requests, and what was left out of them, one line each.
#[derive(Debug, Default, PartialEq)]
struct Imported {
    entries: Vec<hurl::Entry>,
    notes: Vec<String>,
}

/// Its options.
pub fn command() -> clap::Command {
    CommandLine::command()
}

/// Runs `ablaze import` with the words behind `import`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    import(arguments).unwrap_or_else(|error| error.report())
}

fn import(arguments: &[OsString]) -> Result<ExitCode, CommandError> {
    let mut read_file =
        |path: &str| sources::read(Path::new(path), "a body").map_err(|error| error.to_string());
    if arguments.first().is_some_and(|first| first == "curl") {
        let words: Vec<String> =
            arguments[1..].iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let mut imported = Imported::default();
        curl::import(&words, &mut read_file, &mut imported).map_err(CommandError::usage)?;
        return written(&imported, None);
    }
    let line = match usage::parsed::<CommandLine>("import", arguments) {
        Ok(line) => line,
        Err(status) => return Ok(status),
    };
    let Some(source) = &line.source else {
        return Err(CommandError::usage(
            "missing source, for example `ablaze import login.har` or `ablaze import 'curl http://…'`",
        ));
    };
    if let Some(path) = &line.output {
        file::check_writable(path).map_err(|error| CommandError::usage(format!("-o {error}")))?;
    }
    let text = text_of(source)?;
    let imported = of_text(&text, source, &mut read_file).map_err(CommandError::usage)?;
    written(&imported, line.output.as_deref())
}

/// The text that is to be read: the word itself if it is a command.
fn text_of(source: &str) -> Result<String, CommandError> {
    if is_command(source) {
        return Ok(source.to_owned());
    }
    let bytes = if source == "-" {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(|error| CommandError::usage(format!("cannot read standard input: {error}")))?;
        bytes
    } else {
        sources::read(Path::new(source), "import")?
    };
    String::from_utf8(bytes).map_err(|_| {
        CommandError::usage(format!(
            "`{source}` is not UTF-8: expected a HAR file or curl commands"
        ))
    })
}

fn is_command(text: &str) -> bool {
    let text = text.trim_start();
    text.strip_prefix("curl").is_some_and(|rest| rest.starts_with(char::is_whitespace))
}

/// Text of others, on one line and no longer than so many characters.
fn shortened(text: &str, most: usize) -> String {
    let short: String = text.chars().take(most).collect();
    let cut = if short.len() < text.len() { "…" } else { "" };
    format!("{}{cut}", printable(&short))
}

fn of_text(
    text: &str,
    source: &str,
    read_file: &mut curl::ReadFile<'_>,
) -> Result<Imported, String> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('{') {
        return har::import(text).map_err(|why| format!("`{source}`: {why}"));
    }
    let mut imported = Imported::default();
    let commands = shell::commands(text, &mut imported.notes)?;
    for command in &commands {
        match command.split_first() {
            Some((first, words)) if first == "curl" || first.ends_with("/curl") => {
                curl::import(words, read_file, &mut imported)?;
            }
            Some((first, _)) => {
                let short = shortened(first, 40);
                let what = "is no curl command: expected a HAR file, or `curl URL …`";
                return Err(match is_command(source) {
                    true => format!("`{short}` {what}"),
                    false => format!("`{}`: `{short}` {what}", printable(source)),
                });
            }
            None => {}
        }
    }
    match imported.entries.is_empty() {
        false => Ok(imported),
        true => {
            Err(format!("nothing to import in `{source}`: expected a HAR file, or `curl URL …`"))
        }
    }
}

fn written(imported: &Imported, output: Option<&Path>) -> Result<ExitCode, CommandError> {
    imported.notes.iter().for_each(|text| note(text));
    let text = hurl::text(&imported.entries);
    match output {
        None => Ok(terminal::print(&text)),
        Some(path) => match file::write_atomically(path, text.as_bytes()) {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error) => Err(CommandError::machine(format!("cannot write the journey: {error}"))),
        },
    }
}

#[cfg(test)]
mod tests;
