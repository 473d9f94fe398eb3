//! What is to be explained: a text with printed reports in it, or a saved run, told apart by what
//! the file holds and not by its name.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use ablaze_report::json::{self, LoadError, SavedRun};
use ablaze_report::page::runs_json;
use ablaze_report::system_error::reason;
use ablaze_verdict::printed::{self, Text};
use ablaze_verdict::rules;

use super::{NOTHING_READ, of_several};
use crate::CommandError;

/// More than this is no report: a day of ab in a log has some megabytes, a saved run has one.
const MOST_BYTES: u64 = 256 << 20;

/// One file, read.
pub struct Source {
    /// Its name in messages: the path in backticks, or `standard input`.
    pub name: String,
    /// Its parsed contents.
    pub content: Content,
}

/// The contents of a file: printed text or a saved run.
pub enum Content {
    /// Printed reports, with what stands around them.
    Text(Text),
    /// A run that ablaze saved.
    Run(Box<SavedRun>),
}

/// Reads a file, or standard input for `-`: one source, or the runs that lie in a page of ablaze.
///
/// # Errors
/// When it cannot be read, is too large, or has nothing in it that could be explained.
pub fn read(file: &Path) -> Result<Vec<Source>, CommandError> {
    let (name, bytes) = if file == Path::new("-") { standard_input()? } else { contents_of(file)? };
    if bytes.len() as u64 > MOST_BYTES {
        return Err(nothing_read(
            &name,
            &format!(
                "it is larger than {} MiB; extract the reports from it (`grep -B 30 -A 30 'Requests per \
                 second'`)",
                MOST_BYTES >> 20
            ),
        ));
    }
    let content = decoded(&bytes);
    let content = content.trim_start_matches('\u{feff}');
    if is_of_lines(content) {
        return Err(nothing_read(
            &name,
            "it has the lines that `-o run.ndjson` writes while a run lasts; pass the run as `-o run.json` saves it",
        ));
    }
    let fault = if content.trim_start().starts_with(['{', '[']) {
        match json::load(content) {
            Ok(run) => return Ok(vec![Source { name, content: Content::Run(Box::new(run)) }]),
            Err(fault) => Some(fault),
        }
    } else {
        None
    };
    let runs = runs_within(&name, content);
    if !runs.is_empty() {
        return Ok(runs);
    }
    // A log may begin with a brace and still contain reports.
    let text = printed::read(content);
    let of_search = || of_several::search(content).filter(|_| text.reports.is_empty());
    let no_report = printed::no_report(content).or_else(of_search);
    // autocannon begins as wrk does.
    let is_another = text.reports.is_empty() && no_report.is_some();
    if !is_another && !rules::judge(&text).is_empty() {
        return Ok(vec![Source { name, content: Content::Text(text) }]);
    }
    if let Some(what) = no_report {
        return Err(nothing_read(&name, what));
    }
    Err(match fault {
        Some(fault) => no_run(&name, &fault),
        None => match of_several::experiment(content) {
            Some(what) => nothing_read(&name, what),
            None => nothing_read(&name, &what_was_looked_for(&bytes, &text)),
        },
    })
}

/// Whether it is a `.ndjson` file of ablaze: whole JSON on its first line, of the type that such files begin with.
fn is_of_lines(content: &str) -> bool {
    let (first, _) = content.split_once('\n').unwrap_or_default();
    serde_json::from_str::<serde_json::Value>(first).is_ok_and(|line| line["type"] == "begin")
}

/// The runs inside of a page that ablaze wrote: they have all that its words have, and more.
fn runs_within(name: &str, page: &str) -> Vec<Source> {
    let runs: Vec<SavedRun> = runs_json(page).filter_map(|json| json::load(json).ok()).collect();
    let several = runs.len() > 1;
    let named = |(index, run): (usize, SavedRun)| {
        let name = if several { format!("{name}, run {}", index + 1) } else { name.to_owned() };
        Source { name, content: Content::Run(Box::new(run)) }
    };
    runs.into_iter().enumerate().map(named).collect()
}

fn standard_input() -> Result<(String, Vec<u8>), CommandError> {
    if io::stdin().is_terminal() {
        return Err(CommandError::usage(
            "no FILE given and standard input is a terminal; see `ablaze explain --help`",
        ));
    }
    let mut bytes = Vec::new();
    match io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes) {
        Ok(_) => Ok(("standard input".to_owned(), bytes)),
        Err(error) => {
            Err(CommandError::usage(format!("cannot read standard input: {}", reason(&error))))
        }
    }
}

fn contents_of(file: &Path) -> Result<(String, Vec<u8>), CommandError> {
    let name = format!("`{}`", file.display());
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
    match read {
        Ok(_) => Ok((name, bytes)),
        Err(error) => Err(CommandError::usage(format!(
            "cannot read {name}: {}; check the path",
            reason(&error)
        ))),
    }
}

/// Old pages come in any encoding; labels and figures are ASCII in all of them but UTF-16, which is
/// what a PowerShell writes for `ab … > report.txt`.
fn decoded(bytes: &[u8]) -> String {
    let wide = |of: fn([u8; 2]) -> u16, bytes: &[u8]| {
        let units = bytes.chunks_exact(2).map(|pair| of([pair[0], pair[1]]));
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => wide(u16::from_le_bytes, rest),
        [0xfe, 0xff, rest @ ..] => wide(u16::from_be_bytes, rest),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// Why JSON was not read as a run.
fn no_run(name: &str, fault: &LoadError) -> CommandError {
    let line = match fault {
        LoadError::NotARun => format!(
            "{name} is JSON but not a run saved by ablaze: pass the file that `ablaze -o \
             run.json` wrote, or the report as it was printed"
        ),
        LoadError::NotJson { line, column } => format!(
            "{name} starts like a saved run but is truncated or not valid JSON (line {line}, \
             column {column}): copy the whole file, or pass the report as it was printed"
        ),
        LoadError::Newer { .. } => format!("{name} was {fault}"),
        LoadError::Damaged(_) => {
            format!("{name} is {fault}; pass the file as ablaze wrote it, or run it again")
        }
    };
    CommandError { status: NOTHING_READ, ..CommandError::usage(line) }
}

/// For a text in which nothing was recognised.
fn what_was_looked_for(bytes: &[u8], text: &Text) -> String {
    if bytes.iter().take(4096).any(|byte| *byte == 0) {
        return "it is not text; pass the report as it was printed, or a run saved with -o run.json"
            .to_owned();
    }
    if let Some(begun) = text.begun.iter().find(|begun| begun.has_head) {
        return format!(
            "the report of {} (line {}) breaks off before its counts and its rate",
            begun.tool.name(),
            begun.line
        );
    }
    if let [begun, ..] = text.begun.as_slice() {
        return format!(
            "{} began (line {}) and printed no report: it was ended before, or is still running",
            begun.tool.name(),
            begun.line
        );
    }
    if text.images > 0 {
        return format!(
            "figures in its images ({}) cannot be read: type them as a table, a row `c` of \
             concurrencies and a row of rates for each target",
            text.images
        );
    }
    if let [first, .., last] = text.rates.as_slice() {
        return format!(
            "rates alone (lines {} to {}) show nothing: pass the whole reports with the command above them",
            first.line, last.line
        );
    }
    if let [alone, ..] = text.rates.as_slice() {
        return format!(
            "a rate alone (line {}) shows nothing: pass the whole report with the command above it",
            alone.line
        );
    }
    "looked for the labels of ab and gurl (`Complete requests:`, `Requests per second:`), reports \
     of ablaze, wrk, h2load, hey, oha, bombardier, vegeta and siege, and a table of rates over \
     concurrency"
        .to_owned()
}

fn nothing_read(name: &str, why: &str) -> CommandError {
    CommandError {
        status: NOTHING_READ,
        ..CommandError::usage(format!("no report in {name}: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_powershell_writes_is_read() {
        let text = "Complete requests:      1000\r\n备注\r\n";
        let wide = |of: fn(u16) -> [u8; 2]| -> Vec<u8> {
            [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(of).collect()
        };
        assert_eq!(decoded(&wide(u16::to_le_bytes)), text);
        assert_eq!(decoded(&wide(u16::to_be_bytes)), text);
        assert_eq!(decoded(text.as_bytes()), text);
        // Half a character at the end.
        assert_eq!(decoded(&wide(u16::to_le_bytes)[..5]), "C");
        assert!(decoded(&[0xb1, 0xb8, b'1']).ends_with('1'));
    }
}
