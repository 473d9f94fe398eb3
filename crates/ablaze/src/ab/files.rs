//! The files of `-e` and `-g`: whether they can be written is found out before the run, they are
//! written after the report.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use ablaze_engine::Run;
use ablaze_report::ab::{csv, gnuplot};

use super::options::Options;
use super::refusal::{Refused, system_text};

/// Finds out before the run that the files can be written. Leaves them as they are.
///
/// # Errors
/// When one cannot, as ab words it.
pub fn check(options: &Options) -> Result<(), Refused> {
    for (path, name) in [(&options.csv, CSV), (&options.gnuplot, GNUPLOT)] {
        if let Some(path) = path {
            can_be_written(path).map_err(|error| cannot("open", name, &error))?;
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

const CSV: &str = "CSV";
const GNUPLOT: &str = "gnuplot";

fn can_be_written(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path) {
        // A pipe or a device is opened once, for the writing.
        Ok(found) if !found.is_file() && !found.is_dir() => Ok(()),
        Ok(_) => OpenOptions::new().write(true).open(path).map(drop),
        Err(_) => {
            OpenOptions::new().write(true).create_new(true).open(path)?;
            std::fs::remove_file(path)
        }
    }
}

fn write_one(
    path: &Path,
    name: &str,
    content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Refused> {
    let file = File::create(path).map_err(|error| cannot("open", name, &error))?;
    let mut out = BufWriter::new(file);
    content(&mut out).and_then(|()| out.flush()).map_err(|error| cannot("write", name, &error))
}

fn cannot(what: &str, name: &str, error: &io::Error) -> Refused {
    Refused::line(format!("Cannot {what} {name} output file: {}", system_text(error)))
}
