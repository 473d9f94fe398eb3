//! Stages between quoted `|`, each a thread, joined by bounded channels: a source that makes records of lines (`-I`), stages
//! that send a request for each ([`super::stage`]), a sink that writes them (`-O`). A single stage is a pipeline, too.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use ablaze_report::system_error::reason;
use serde_json::Value;

use super::options::Options;
use super::request::Record;
use super::stage::{Stage, text_of};
use crate::error::NOTHING_MEASURED;
use crate::{CommandError, outlets};

/// Records that wait between two stages.
const WAITING_MAX: usize = 1000;

/// The words of each stage.
pub fn stages(words: &[OsString]) -> Vec<&[OsString]> {
    words.split(|word| word == "|").collect()
}

/// Runs the stages until their input is at its end.
///
/// # Errors
/// When they do not fit each other, or one cannot begin.
pub fn run(stages: &[Options]) -> Result<ExitCode, CommandError> {
    check(stages)?;
    let whole = std::thread::scope(|scope| {
        let mut from = None;
        let mut running = Vec::new();
        for (at, options) in stages.iter().enumerate() {
            let (to, next) = match at + 1 < stages.len() {
                true => {
                    let (to, next) = sync_channel(WAITING_MAX);
                    (Some(to), Some(next))
                }
                false => (None, None),
            };
            let own = std::mem::replace(&mut from, next);
            running.push(scope.spawn(move || one(options, own, to)));
        }
        let ended = running.into_iter().map(|stage| {
            stage.join().unwrap_or_else(|_| {
                Err(CommandError::machine(
                    "a stage was lost to a bug in ablaze: see the panic above",
                ))
            })
        });
        ended.collect::<Vec<_>>()
    });
    let whole: Result<Vec<bool>, CommandError> = whole.into_iter().collect();
    Ok(match whole?.into_iter().all(|whole| whole) {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(NOTHING_MEASURED),
    })
}

fn one(
    options: &Options,
    from: Option<Receiver<Record>>,
    to: Option<SyncSender<Record>>,
) -> Result<bool, CommandError> {
    match (from, to) {
        (None, Some(to)) if options.stream.input => source(options, &to).map(|()| true),
        (Some(from), None) if options.stream.output => sink(options, &from),
        (from, to) => Stage::new(options, from, to).run(),
    }
}

/// Whether each stage has what it reads and is read.
fn check(stages: &[Options]) -> Result<(), CommandError> {
    let several = stages.len() > 1;
    for (at, options) in stages.iter().enumerate() {
        let (is_first, is_last) = (at == 0, at + 1 == stages.len());
        let stream = &options.stream;
        let what = match () {
            () if several && options.bench => {
                "-bench loads one URL: use `ablaze load --feed FILE` for the rows of a file"
            }
            () if several && options.serve.is_some() => "-echo is no stage of a pipeline",
            () if stream.input && stream.output => {
                "-I and -O are two stages: write \"|\" between them"
            }
            () if stream.input && !is_first => "-I reads lines, not records: it is the first stage",
            () if stream.input && is_last => {
                "-I makes records for a stage behind it: add \"|\" -r URL, or \"|\" -O"
            }
            () if stream.output && (is_first || !is_last) => {
                "-O writes the records of the stages before it: it is the last stage"
            }
            () if stream.read && is_first => {
                "-r reads the records of a stage before it: begin with -I -R FILE \"|\""
            }
            () if !is_first && !stream.read && !stream.output => {
                "it reads nothing of the stage before it: add -r"
            }
            () if !is_last && !stream.input && !stream.write => {
                "it writes nothing for the stage behind it: add -w"
            }
            () if stream.write && is_last => {
                "-w writes records for a stage behind it: add \"|\" -O"
            }
            () => continue,
        };
        let stage = if several { format!("stage {}: ", at + 1) } else { String::new() };
        return Err(CommandError::usage(format!("{stage}{what}")));
    }
    Ok(())
}

/// A record of each line.
fn source(options: &Options, to: &SyncSender<Record>) -> Result<(), CommandError> {
    let stream = &options.stream;
    let name = stream.input_file.as_deref().filter(|name| *name != "-");
    let cannot = |error: &io::Error| {
        let name = name.map_or("standard input".to_owned(), |name| format!("`{name}` for -R"));
        CommandError::usage(format!("cannot read {name}: {}", reason(error)))
    };
    let mut lines: Box<dyn BufRead> = match name {
        None => Box::new(io::stdin().lock()),
        Some(name) => Box::new(BufReader::new(File::open(name).map_err(|error| cannot(&error))?)),
    };
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line).map_err(|error| cannot(&error))? == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        // Nobody reads on.
        if to.send(record(text, &stream.separator, &stream.names)).is_err() {
            return Ok(());
        }
    }
}

/// The fields of a line under their names: `rf.col.N`, or what `-skey` calls them.
fn record(line: &str, separator: &str, names: &str) -> Record {
    let named = |column: &str| {
        let mut pairs = names.split(',').filter_map(|pair| pair.split_once('='));
        pairs.rfind(|(_, own)| *own == column).map(|(name, _)| name.to_owned())
    };
    let fields: Box<dyn Iterator<Item = &str>> = match separator.is_empty() {
        true => Box::new(line.split("").filter(|letter| !letter.is_empty())),
        false => Box::new(line.split(separator)),
    };
    let field = |(at, value): (usize, &str)| {
        let column = format!("rf.col.{at}");
        (named(&column).unwrap_or(column), Value::from(value))
    };
    fields.enumerate().map(field).collect()
}

/// Writes records as JSON, one on each line. Whether all were taken.
fn sink(options: &Options, from: &Receiver<Record>) -> Result<bool, CommandError> {
    let stream = &options.stream;
    let cannot = |path: &str, error: &io::Error| {
        CommandError::machine(format!("cannot write `{path}` for -W: {}", reason(error)))
    };
    let path = stream.output_file.as_deref().unwrap_or("stdout");
    let mut file = match path {
        "stdout" | "" | "stderr" => None,
        path => Some(File::create(path).map_err(|error| cannot(path, &error))?),
    };
    let keys: Vec<&str> = stream.keys.split(',').filter(|key| !key.is_empty()).collect();
    for mut record in from {
        if !keys.is_empty() {
            // As in gurl, a key that is not there is null.
            let value =
                |key: &&str| ((*key).to_owned(), record.remove(*key).unwrap_or(Value::Null));
            record = keys.iter().map(value).collect();
        }
        let line = text_of(&record) + "\n";
        match (&mut file, path) {
            (Some(file), path) => {
                file.write_all(line.as_bytes()).map_err(|error| cannot(path, &error))?;
            }
            // With stderr closed there is no one left to tell.
            (None, "stderr") => drop(io::stderr().write_all(line.as_bytes())),
            // A reader that went away has what it wanted.
            (None, _) if !outlets::print_raw(line.as_bytes()) => return Ok(true),
            (None, _) => {}
        }
    }
    Ok(true)
}

#[cfg(test)]
#[path = "pipeline_tests.rs"]
mod tests;
