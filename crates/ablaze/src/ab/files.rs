//! The files of `-e` and `-g`: whether they can be written is found out before the run, they are
//! written after the report.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use ablaze_model::Run;
use ablaze_report::ab::{csv, gnuplot};
use ablaze_report::file::{FileError, follow_links};

use super::options::Options;
use super::refusal::{Refused, system_text};

/// Finds out before the run that the files can be written. Leaves them as they are.
///
/// # Errors
/// When one cannot, as ab words it.
pub fn check(options: &Options) -> Result<(), Refused> {
    for (path, kind) in [(&options.csv, CSV), (&options.gnuplot, GNUPLOT)] {
        if let Some(path) = path {
            can_be_written(path).map_err(|error| cannot("open", kind, path, &error))?;
        }
    }
    Ok(())
}

/// Writes the files that were asked for; ab writes none when no request was complete.
///
/// # Errors
/// When one cannot be written.
pub fn write(options: &Options, run: &Run) -> Result<(), Refused> {
    if run.record.answers == 0 {
        return Ok(());
    }
    if let Some(path) = &options.csv {
        write_one(path, CSV, &mut |out| csv::write(run, out))?;
    }
    if let Some(path) = &options.gnuplot {
        write_one(path, GNUPLOT, &mut |out| gnuplot::write(run, out))?;
    }
    Ok(())
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

fn write_one(
    path: &Path,
    kind: Kind,
    content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Refused> {
    let file = File::create(path).map_err(|error| cannot("open", kind, path, &error))?;
    let mut out = BufWriter::new(file);
    content(&mut out)
        .and_then(|()| out.flush())
        .map_err(|error| cannot("write", kind, path, &error))
}

fn cannot(what: &str, (name, option): Kind, path: &Path, error: &io::Error) -> Refused {
    Refused::line(format!("Cannot {what} {name} output file: {}", system_text(error)))
        .with_remedy(format!("{option} {}", FileError::from_io(path, error)))
}
