//! `ablaze worker --hold`: the first process of a pod whose worker is started beside it. It prints what workers tell, which is
//! then in the pod's log, and ends when they have: a Job completes with its run.

use std::io::{self, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ablaze_fleet::lines::{self, RUN_BYTES_MAX};
use ablaze_fleet::message::{FromWorker, to_line};

use crate::CommandError;
use crate::carry_out::{interrupted, listen_for_interrupts};
use crate::error::INTERRUPTED;

/// How often it is looked whether a worker has come or gone.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// So long a first worker is waited for.
const FIRST_WITHIN: Duration = Duration::from_secs(900);
/// So long after the last one another may come: that of the next run, or one that fetches what a lost one left.
const NEXT_WITHIN: Duration = Duration::from_secs(60);
/// The socket at which workers come, in the folder for temporary files.
const SOCKET: &str = "ablaze-hold";

/// What is known of the workers.
#[derive(Debug, Default)]
struct Workers {
    present: usize,
    /// Those that have said good-bye.
    done: usize,
    /// Those that have gone without it.
    lost: usize,
}

/// Waits for workers, prints what they tell, and ends with them, or after `limit_ns`.
///
/// # Errors
/// When none comes, one goes in the middle of its run, or the time is over.
pub fn hold(limit_ns: Option<u64>) -> Result<(), CommandError> {
    listen_for_interrupts()?;
    let path = path();
    let listener = listening(&path).map_err(|error| {
        CommandError::machine(format!("cannot listen at {}: {error}", path.display()))
    })?;
    let ended = until_ended(&listener, limit_ns);
    // Nobody else has this path.
    let _ = std::fs::remove_file(&path);
    ended
}

fn until_ended(listener: &UnixListener, limit_ns: Option<u64>) -> Result<(), CommandError> {
    let workers = Arc::new(Mutex::new(Workers::default()));
    let began = Instant::now();
    let mut busy = began;
    let limit = limit_ns.map_or(Duration::MAX, Duration::from_nanos);
    loop {
        while let Ok((stream, _)) = listener.accept() {
            let workers = Arc::clone(&workers);
            locked(&workers).present += 1;
            std::thread::spawn(move || print(stream, &workers));
        }
        let (present, done, lost) = {
            let workers = locked(&workers);
            (workers.present, workers.done, workers.lost)
        };
        if present > 0 {
            busy = Instant::now();
        }
        let has_come = present + done + lost > 0;
        if interrupted() {
            let error = CommandError::machine("ended by a signal");
            return Err(CommandError { status: INTERRUPTED, ..error });
        }
        if began.elapsed() >= limit {
            return Err(CommandError::machine(format!(
                "ended after {} s (--limit)",
                limit.as_secs()
            )));
        }
        let patience = if has_come { NEXT_WITHIN } else { FIRST_WITHIN };
        if busy.elapsed() >= patience {
            return over(done, lost);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

fn over(done: usize, lost: usize) -> Result<(), CommandError> {
    match (done, lost) {
        (0, 0) => Err(CommandError::machine(format!(
            "no worker was started here within {} s",
            FIRST_WITHIN.as_secs()
        ))),
        (_, 0) => Ok(()),
        _ => Err(CommandError::machine("a worker ended in the middle of its run")),
    }
}

/// Prints the lines of a worker until it ends.
fn print(stream: UnixStream, workers: &Mutex<Workers>) {
    let bye = to_line(&FromWorker::Bye);
    let (mut has_told, mut has_said_bye) = (false, false);
    let mut from = BufReader::new(stream);
    while let Ok(Some(line)) = lines::next(&mut from, RUN_BYTES_MAX) {
        (has_told, has_said_bye) = (true, line == bye);
        // Whoever reads the log may be gone; the run goes on.
        let _ = writeln!(io::stdout().lock(), "{line}");
    }
    let mut workers = locked(workers);
    workers.present -= 1;
    match (has_told, has_said_bye) {
        // It waited for another assignment, and there was none.
        (false, _) => {}
        (true, true) => workers.done += 1,
        (true, false) => workers.lost += 1,
    }
}

/// The way to whoever holds this container; `None` where nobody does.
pub fn log() -> Option<UnixStream> {
    let path = path();
    // Whoever else may write to the folder could have put another one there.
    let is_own = std::fs::metadata(&path).is_ok_and(|file| {
        std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == file.uid())
    });
    is_own.then(|| UnixStream::connect(path).ok()).flatten()
}

fn listening(path: &Path) -> io::Result<UnixListener> {
    // One that somebody listens at stays.
    if UnixStream::connect(path).is_err() {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn path() -> PathBuf {
    std::env::temp_dir().join(SOCKET)
}

fn locked(workers: &Mutex<Workers>) -> std::sync::MutexGuard<'_, Workers> {
    workers.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is known of workers that told these lines each, one after the other.
    fn after(told: &[&[&str]]) -> Workers {
        let workers = Mutex::new(Workers { present: told.len(), ..Workers::default() });
        for lines in told {
            let (mut worker, stream) = UnixStream::pair().unwrap();
            lines.iter().for_each(|line| writeln!(worker, "{line}").unwrap());
            drop(worker);
            print(stream, &workers);
        }
        workers.into_inner().unwrap()
    }

    #[test]
    fn a_worker_that_waits_in_vain_for_another_run_ends_nothing_in_its_middle() {
        let bye = to_line(&FromWorker::Bye);
        // Behind its run it is this program anew, and comes again.
        let Workers { present, done, lost } = after(&[&["{}", &bye], &[]]);
        assert_eq!((present, done, lost), (0, 1, 0));
        assert!(over(done, lost).is_ok());
        let Workers { done, lost, .. } = after(&[&["{}", &bye], &["{}"]]);
        assert!(over(done, lost).unwrap_err().line.contains("in the middle of its run"));
        assert!(over(0, 0).unwrap_err().line.contains("no worker was started"));
    }
}
