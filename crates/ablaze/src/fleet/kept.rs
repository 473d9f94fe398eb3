//! Where the Run of a worker waits that could not hand it over: a file that only its user can read, which goes when it was
//! fetched, or after a time. It is there, empty and locked, from the start of the run, so that whoever asks for it can tell a
//! run that has not ended from a worker that died.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ablaze_fleet::lines::RUN_BYTES_MAX;
use ablaze_report::system_error::reason;
use ablaze_sys::lock::try_lock;

use crate::CommandError;
use crate::carry_out::interrupted;

/// How often something is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// A load stops within 10 s of losing its coordinator: so long is waited for its Run.
const RUN_ENDS_WITHIN: Duration = Duration::from_secs(15);

/// The name that the Run of a worker waits under.
pub fn name_of(id: &str, index: u32) -> String {
    format!("{id}-{index}")
}

/// The place of a Run that may have to wait.
#[derive(Debug)]
pub struct Place {
    path: PathBuf,
    file: Option<File>,
}

impl Place {
    /// Takes the place of this name.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn take(name: &str) -> io::Result<Self> {
        let path = path_of(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        let file = options.open(&path)?;
        let place = Self { path, file: Some(file) };
        place.file.as_ref().map_or(Ok(true), try_lock)?;
        Ok(place)
    }

    /// Has the Run wait until it was fetched, so long at most, or until a signal ends this process.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(mut self, document: &str, longest: Duration) -> io::Result<()> {
        if let Some(mut file) = self.file.take() {
            file.write_all(document.as_bytes())?;
            // The lock goes with the descriptor.
        }
        let until = Instant::now() + longest;
        while self.path.exists() && Instant::now() < until && !interrupted() {
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // It was fetched already, or nobody wants it any more.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The Run that waits under this name, which then no longer does. One that has not ended yet is waited for.
///
/// # Errors
/// When there is none, or its worker died.
pub fn fetch(name: &str) -> Result<String, CommandError> {
    let is_part =
        |part: &str, fits: fn(&u8) -> bool| !part.is_empty() && part.bytes().all(|b| fits(&b));
    let parts = name.split_once('-');
    if !parts.is_some_and(|(id, index)| {
        is_part(id, u8::is_ascii_hexdigit) && is_part(index, u8::is_ascii_digit)
    }) {
        return Err(CommandError::usage(format!(
            "`{name}` is not the name of a run: it is ID-NUMBER"
        )));
    }
    let path = path_of(name);
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(libc::O_NOFOLLOW).open(&path);
    let file = file.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => CommandError::machine(format!(
            "no run waits as {name} on this host: it was fetched, its time is over, or its worker died"
        )),
        _ => refused(&path, &error),
    })?;
    wait_for_end(&file, &path)?;
    let mut document = String::new();
    let read = file.take(RUN_BYTES_MAX as u64).read_to_string(&mut document);
    read.map_err(|error| refused(&path, &error))?;
    let _ = std::fs::remove_file(&path);
    match document.is_empty() {
        true => {
            Err(CommandError::machine(format!("the worker of {name} died before its run ended")))
        }
        false => Ok(document),
    }
}

/// Whether this is said of a Run that is not there and does not come any more, as [`fetch`] says it.
pub fn is_final(why: &str) -> bool {
    why.starts_with("no run waits as ") || why.starts_with("the worker of ")
}

/// Waits until nobody writes this file any more.
fn wait_for_end(file: &File, path: &Path) -> Result<(), CommandError> {
    let until = Instant::now() + RUN_ENDS_WITHIN;
    while !try_lock(file).map_err(|error| refused(path, &error))? {
        if Instant::now() >= until {
            return Err(CommandError::machine(format!(
                "the run of `{}` has not ended within {} s",
                path.display(),
                RUN_ENDS_WITHIN.as_secs()
            )));
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

fn refused(path: &Path, error: &io::Error) -> CommandError {
    CommandError::machine(format!("cannot read `{}`: {}", path.display(), reason(error)))
}

fn path_of(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("ablaze-fleet-{name}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of other tests are others.
    fn name(number: u32) -> String {
        name_of(&format!("{:x}", std::process::id()), number)
    }

    #[test]
    fn a_run_waits_until_it_is_fetched() {
        let place = Place::take(&name(1)).unwrap();
        let path = place.path.clone();
        let keeping = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            place.keep("the run", Duration::from_secs(60)).unwrap();
        });
        // It is waited for, as it has not ended.
        assert_eq!(fetch(&name(1)).unwrap(), "the run");
        keeping.join().unwrap();
        assert!(!path.exists());
        let none = fetch(&name(1)).unwrap_err().line;
        assert!(none.contains("no run waits") && is_final(&none), "{none}");
    }

    #[test]
    fn only_its_user_reads_it_and_its_time_is_bounded() {
        use std::os::unix::fs::PermissionsExt;
        let place = Place::take(&name(2)).unwrap();
        let path = place.path.clone();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        place.keep("the run", Duration::from_millis(1)).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn a_worker_that_died_is_told_apart() {
        let place = Place::take(&name(3)).unwrap();
        std::fs::write(&place.path, "").unwrap();
        let path = place.path.clone();
        // What a kill leaves: the file, without its lock.
        drop(std::mem::ManuallyDrop::new(place).file.take());
        let died = fetch(&name(3)).unwrap_err().line;
        assert!(died.contains("died before") && is_final(&died), "{died}");
        assert!(!path.exists());
        assert!(fetch("../../etc/passwd").unwrap_err().line.contains("is not the name of a run"));
    }
}
