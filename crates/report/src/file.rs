//! Puts a report where it belongs: whole or not at all. Whether that will be possible is asked
//! before the run, so that no result is lost to a typing error.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use ablaze_model::printable;

use crate::fifo::{Fifo, GivenUp, is_fifo};
use crate::system_error::reason;

/// Why a report cannot be written. The text names the file and the fix.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct FileError {
    /// The file that was asked for.
    pub path: PathBuf,
    problem: String,
}

impl FileError {
    pub(crate) fn new(path: &Path, problem: impl Into<String>) -> Self {
        Self { path: path.to_path_buf(), problem: problem.into() }
    }

    /// What is wrong with it and what to do, without its path.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// What to do when the operating system does not let this path be written.
    pub fn from_io(path: &Path, error: &io::Error) -> Self {
        if path.as_os_str().is_empty() {
            return Self::new(path, "empty file name");
        }
        let fix = match error.kind() {
            io::ErrorKind::PermissionDenied => "permission denied: choose another location",
            io::ErrorKind::ReadOnlyFilesystem => {
                "the file system is read-only: choose another \
                location"
            }
            io::ErrorKind::StorageFull => {
                "no space left on the disk: free some or choose another \
                location"
            }
            io::ErrorKind::FileTooLarge => "exceeds the file size limit: raise `ulimit -f`",
            io::ErrorKind::NotFound if folder_of(path).is_dir() => {
                "cannot create files in this folder: choose another location"
            }
            io::ErrorKind::NotFound => "the folder does not exist: create it first",
            io::ErrorKind::IsADirectory => "is a folder: name a file in it",
            io::ErrorKind::NotADirectory => {
                "part of the path is not a folder: choose another \
                location"
            }
            _ => return Self::new(path, format!("{}: choose another location", reason(error))),
        };
        Self::new(path, fix)
    }
}

/// How a path is written to.
#[derive(Debug)]
enum Way {
    /// This process's own standard output or error: opening it anew would start at its beginning.
    Standard(u8),
    /// A device, FIFO or socket: its reader takes what comes.
    Straight,
    /// A file: a new one takes its place. The path has no symbolic link in its last part.
    Replace(PathBuf),
}

/// Finds out whether [`write_atomically`] can work, without changing what is there or leaving
/// anything behind.
///
/// # Errors
/// When it cannot; the text names the path and the fix.
pub fn check_writable(path: &Path) -> Result<(), FileError> {
    match way(path)? {
        Way::Standard(_) => Ok(()),
        Way::Straight => check_straight(path),
        Way::Replace(target) => match create_beside(&target) {
            Ok((file, name)) => {
                drop(file);
                fs::remove_file(name).map_err(|error| FileError::from_io(path, &error))
            }
            Err(error) => (!is_full(&error) && writable_in_place(&target))
                .then_some(())
                .ok_or_else(|| FileError::from_io(path, &error)),
        },
    }
}

/// Whether writing there is final: this process's standard streams, devices, FIFOs and sockets, whose reader
/// may be slow or never come. Files are not, and can be written first.
pub fn is_stream(path: &Path) -> bool {
    matches!(way(path), Ok(Way::Standard(_) | Way::Straight))
}

/// Writes a file so that whoever looks sees the old content or the new, never a part: a temporary
/// file in the same folder takes its place, with its permissions. Symbolic links are followed.
/// Devices, FIFOs and sockets get the bytes straight; so does a file in a folder that takes no
/// new files.
///
/// # Errors
/// When it cannot be written; the text names the path and the fix. What was there is then
/// still there.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let written = match way(path)? {
        Way::Standard(1) => write_all(io::stdout().lock(), bytes),
        Way::Standard(_) => write_all(io::stderr().lock(), bytes),
        Way::Straight => {
            OpenOptions::new().write(true).open(path).and_then(|file| write_all(file, bytes))
        }
        Way::Replace(target) => replace(&target, bytes),
    };
    written.map_err(|error| FileError::from_io(path, &error))
}

/// [`write_atomically`] for a report, in which text of others may stand: nothing in it commands a terminal.
///
/// # Errors
/// As there.
pub fn write_report(path: &Path, text: &str) -> Result<(), FileError> {
    write_report_unless(path, text, &|| false)
}

/// The same, to a FIFO only until it is given up.
///
/// # Errors
/// As there.
pub fn write_report_unless(
    path: &Path,
    text: &str,
    given_up: GivenUp<'_>,
) -> Result<(), FileError> {
    let text = printable::report(text);
    if !is_fifo(path) {
        return write_atomically(path, text.as_bytes());
    }
    let written = Fifo::open(path, given_up).and_then(|fifo| write_all(fifo, text.as_bytes()));
    written.map_err(|error| FileError::from_io(path, &error))
}

fn write_all(mut to: impl Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes)?;
    to.flush()
}

fn way(path: &Path) -> Result<Way, FileError> {
    match path.to_str() {
        Some("/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => return Ok(Way::Standard(1)),
        Some("/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2") => return Ok(Way::Standard(2)),
        Some("") => return Err(FileError::new(path, "empty file name")),
        _ => {}
    }
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(FileError::new(path, "is a folder: name a file in it")),
        Ok(found) if !found.is_file() => Ok(Way::Straight),
        Ok(_) => fs::canonicalize(path)
            .map(Way::Replace)
            .map_err(|error| FileError::from_io(path, &error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if path.file_name().is_none() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
                return Err(FileError::new(path, "is a folder: name a file in it"));
            }
            follow_links(path).map(Way::Replace).map_err(|error| FileError::from_io(path, &error))
        }
        Err(error) => Err(FileError::from_io(path, &error)),
    }
}

/// Where a link to a file that does not exist yet points to; any other path is itself.
///
/// # Errors
/// When links lead in a circle.
pub fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_path_buf();
    for _ in 0..40 {
        let Ok(next) = fs::read_link(&target) else {
            return Ok(target);
        };
        target = folder_of(&target).join(next);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "too many levels of symbolic links"))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A FIFO is not opened: its reader would take the closing for the end.
fn check_straight(path: &Path) -> Result<(), FileError> {
    use std::os::unix::fs::FileTypeExt;
    let kind = fs::metadata(path).map_err(|error| FileError::from_io(path, &error))?.file_type();
    if kind.is_socket() {
        return Err(FileError::new(path, "is a socket and cannot be written to: name a file"));
    }
    if kind.is_char_device() {
        OpenOptions::new()
            .write(true)
            .open(path)
            .map_err(|error| FileError::from_io(path, &error))?;
    }
    Ok(())
}

/// Without free space, the existing file would be lost and nothing written in its place.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

fn writable_in_place(target: &Path) -> bool {
    OpenOptions::new().write(true).open(target).is_ok()
}

/// A new file in the folder of `target`, under a name nobody else uses.
fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = folder_of(target).join(format!(".ablaze-{}-{number}.part", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => return Ok((file, name)),
        }
    }
}

fn replace(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let (file, name) = match create_beside(target) {
        Ok(created) => created,
        Err(error) if !is_full(&error) && writable_in_place(target) => {
            return fs::write(target, bytes);
        }
        Err(error) => return Err(error),
    };
    let replaced = write_all(&file, bytes)
        .and_then(|()| match fs::metadata(target) {
            Ok(old) => file.set_permissions(old.permissions()),
            Err(_) => Ok(()),
        })
        .and_then(|()| fs::rename(&name, target));
    if replaced.is_err() {
        // The first error is the one to tell; a leftover is all that this one could add.
        let _ = fs::remove_file(&name);
    }
    replaced
}
