//! Where the Run of a worker waits that could not hand it over: a file that only its user can read, which goes when it was
//! fetched, or after a time. It comes into being whole. From the start of the run on, a name that the system takes back with the
//! process ([`UnderWay`]) tells whoever asks for it a run that has not ended from a worker that died.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ablaze_fleet::lines::RUN_BYTES_MAX;
use ablaze_report::json;
use ablaze_report::system_error::reason;

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
    under_way: Option<UnderWay>,
}

/// Says that the worker of a Run lives: a name of this host that only one process has at a time. The system takes it back when
/// the process ends, however it ends, so nothing of a worker that was killed is left.
#[derive(Debug)]
struct UnderWay(#[expect(dead_code, reason = "it is there to be dropped")] UnixDatagram);

impl UnderWay {
    /// Takes it for this name; `None` where another process has it.
    fn take(name: &str) -> io::Result<Option<Self>> {
        let address = SocketAddr::from_abstract_name(format!("ablaze-fleet-{name}"))?;
        match UnixDatagram::bind_addr(&address) {
            Ok(socket) => Ok(Some(Self(socket))),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Place {
    /// Takes the place of this name.
    ///
    /// # Errors
    /// When another run has it, or the system refuses.
    pub fn take(name: &str) -> io::Result<Self> {
        let path = path_of(name);
        let under_way = UnderWay::take(name)?;
        if under_way.is_none() || path.exists() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(Self { path, under_way })
    }

    /// Has the Run wait until it was fetched, so long at most, or until a signal ends this process.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(mut self, document: &str, longest: Duration) -> io::Result<()> {
        // Under its name there is all of it or nothing.
        let part = part_of(&self.path);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        let written = options.open(&part).and_then(|mut file| file.write_all(document.as_bytes()));
        if let Err(error) = written.and_then(|()| std::fs::rename(&part, &self.path)) {
            // On a full disk it is what fills it.
            let _ = std::fs::remove_file(&part);
            return Err(error);
        }
        self.under_way = None;
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
/// When there is none, or not all of it.
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
    wait_for_end(name)?;
    let path = path_of(name);
    let document = match read(&path) {
        Ok(document) => document,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(none(name)),
        Err(error) => return Err(refused(&path, &error)),
    };
    let what_is_wrong = match json::load(&document) {
        _ if document.is_empty() => "is empty",
        Ok(_) => {
            let _ = std::fs::remove_file(&path);
            return Ok(document);
        }
        Err(_) => "has not the whole of it, or something else",
    };
    // Somebody may want to see what is there.
    let (path, bytes) = (path.display(), document.len());
    Err(CommandError::machine(format!(
        "the run of {name} cannot be read: `{path}` {what_is_wrong} ({bytes} bytes); it is left there"
    )))
}

/// Why there is no Run under this name, as far as that can be told.
fn none(name: &str) -> CommandError {
    let part = part_of(&path_of(name));
    CommandError::machine(match std::fs::remove_file(part) {
        Ok(()) => format!("the worker of {name} died while it wrote its run down"),
        Err(_) => format!(
            "no run waits as {name} on this host: its worker died before its run ended, or the run was fetched, or its \
             time is over"
        ),
    })
}

fn read(path: &Path) -> io::Result<String> {
    let mut document = String::new();
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(path)?;
    file.take(RUN_BYTES_MAX as u64).read_to_string(&mut document)?;
    Ok(document)
}

/// Whether this is said of a Run that is not there and does not come any more, as [`fetch`] says it.
pub fn is_final(why: &str) -> bool {
    ["no run waits as ", "the worker of ", "the run of "]
        .iter()
        .any(|begins| why.starts_with(begins))
}

/// Waits until the worker of this name has written its Run, or is gone.
fn wait_for_end(name: &str) -> Result<(), CommandError> {
    let until = Instant::now() + RUN_ENDS_WITHIN;
    let is_over = || {
        UnderWay::take(name).map(|free| free.is_some()).map_err(|error| {
            let why = reason(&error);
            CommandError::machine(format!("cannot tell whether the run {name} has ended: {why}"))
        })
    };
    while !is_over()? {
        if Instant::now() >= until {
            return Err(CommandError::machine(format!(
                "the run {name} has not ended within {} s",
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

/// Where the file of this path is written first.
fn part_of(path: &Path) -> PathBuf {
    path.with_extension("json.part")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of other tests are others.
    fn name(number: u32) -> String {
        name_of(&format!("{:x}", std::process::id()), number)
    }

    /// What a worker hands over.
    fn document() -> String {
        json::write(&crate::verdict::assessed(ablaze_model::by_hand::run()))
    }

    #[test]
    fn a_run_waits_until_it_is_fetched() {
        let (place, own) = (Place::take(&name(1)).unwrap(), document());
        let (path, kept) = (place.path.clone(), own.clone());
        assert!(!path.exists(), "a worker that is killed leaves nothing behind");
        assert!(Place::take(&name(1)).is_err(), "one place for a name");
        let keeping = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            place.keep(&kept, Duration::from_secs(60)).unwrap();
        });
        // It is waited for, as it has not ended.
        assert_eq!(fetch(&name(1)).unwrap(), own);
        keeping.join().unwrap();
        assert!(!path.exists() && !part_of(&path).exists());
        let none = fetch(&name(1)).unwrap_err().line;
        assert!(none.contains("no run waits") && is_final(&none), "{none}");
    }

    #[test]
    fn only_its_user_reads_it_and_its_time_is_bounded() {
        use std::os::unix::fs::PermissionsExt;
        let place = Place::take(&name(2)).unwrap();
        let path = place.path.clone();
        let keeping = std::thread::spawn(|| place.keep("the run", Duration::from_millis(500)));
        while !path.exists() {
            assert!(!keeping.is_finished());
        }
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        keeping.join().unwrap().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn a_worker_that_died_is_told_apart() {
        drop(Place::take(&name(3)).unwrap());
        let died = fetch(&name(3)).unwrap_err().line;
        assert!(died.contains("its worker died before its run ended") && is_final(&died), "{died}");
        // What a kill leaves in the middle of writing.
        let part = part_of(&path_of(&name(3)));
        std::fs::write(&part, "{").unwrap();
        let died = fetch(&name(3)).unwrap_err().line;
        assert!(died.contains("died while it wrote its run down") && is_final(&died), "{died}");
        assert!(!part.exists());
        assert!(fetch("../../etc/passwd").unwrap_err().line.contains("is not the name of a run"));
    }

    #[test]
    fn a_file_that_is_not_a_run_is_named_for_what_it_is() {
        let (own, path) = (document(), path_of(&name(4)));
        for (text, says) in [("", "is empty (0 bytes)"), (&own[..own.len() / 2], "not the whole")] {
            std::fs::write(&path, text).unwrap();
            let said = fetch(&name(4)).unwrap_err().line;
            assert!(said.contains(says) && said.contains(&*path.to_string_lossy()), "{said}");
            assert!(is_final(&said) && path.exists());
        }
        std::fs::remove_file(&path).unwrap();
    }
}
