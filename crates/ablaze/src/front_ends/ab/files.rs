//! The files of `-e` and `-g`: whether they can be written is found out before the run, and one that
//! cannot be after it does not keep the other from being written.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use ablaze_model::Run;
use ablaze_report::ab::{csv, gnuplot};
use ablaze_report::fifo::{Fifo, is_fifo};
use ablaze_report::file::{FileError, follow_links};

use super::error::{AbError, system_text};
use super::options::Options;
use crate::carry_out::interrupted;
use crate::outlets;

/// Finds out before the run that the files can be written. Leaves them as they are.
///
/// # Errors
/// When one cannot, as ab words it.
pub fn check(options: &Options) -> Result<(), AbError> {
    for (path, kind) in [(&options.csv, CSV), (&options.gnuplot, GNUPLOT)] {
        if let Some(path) = path {
            can_be_written(path).map_err(|error| cannot("open", kind, path, &error))?;
        }
    }
    Ok(())
}

/// Writes those of the files that were asked for and are `chosen`; ab writes none when no request was
/// complete. What cannot be written is told.
pub fn write(options: &Options, run: &Run, chosen: impl Fn(&Path) -> bool) {
    if run.record.responses == 0 {
        return;
    }
    if let Some(path) = options.csv.as_deref().filter(|path| chosen(path)) {
        write_one(path, CSV, |out| csv::write(run, out));
    }
    if let Some(path) = options.gnuplot.as_deref().filter(|path| chosen(path)) {
        write_one(path, GNUPLOT, |out| gnuplot::write(run, out));
    }
}

/// ab's name for a file, and the option that asks for it.
type Kind = (&'static str, &'static str);
const CSV: Kind = ("CSV", "-e");
const GNUPLOT: Kind = ("gnuplot", "-g");

fn can_be_written(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path) {
        // A pipe or a device is opened once, for the writing.
        Ok(found) if !found.is_file() && !found.is_dir() => Ok(()),
        Ok(_) => OpenOptions::new().write(true).open(path).map(drop),
        Err(_) => {
            // A link to a file that does not exist yet is followed, as the writing will.
            let path = follow_links(path)?;
            OpenOptions::new().write(true).create_new(true).open(&path)?;
            std::fs::remove_file(path)
        }
    }
}

fn write_one(path: &Path, kind: Kind, content: impl Fn(&mut dyn Write) -> io::Result<()>) {
    let write = || {
        let file: Box<dyn Write> = match is_fifo(path) {
            true => Fifo::open(path, &interrupted).map(|fifo| Box::new(fifo) as _),
            false => File::create(path).map(|file| Box::new(file) as _),
        }
        .map_err(|error| cannot("open", kind, path, &error))?;
        let mut out = BufWriter::new(file);
        content(&mut out)
            .and_then(|()| out.flush())
            .map_err(|error| cannot("write", kind, path, &error))
    };
    outlets::attempt(&path.display().to_string(), || {
        if let Err(refused) = write() {
            // In ab's words.
            refused.report();
            outlets::remember_loss();
        }
        Ok(())
    });
}

fn cannot(what: &str, (name, option): Kind, path: &Path, error: &io::Error) -> AbError {
    AbError::line(format!("Cannot {what} {name} output file: {}", system_text(error)))
        .with_fix(format!("{option} {}", FileError::from_io(path, error)))
}
