//! A process that a target runs as, with everything that it starts: a process group on processors of its own, which
//! ends when the target is dropped, and when this process is killed.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ablaze_model::experiment::file_name;
use ablaze_report::system_error::reason;
use ablaze_sys::keeper::Keeper;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::process::Site;
use super::start_error::StartError;

/// A server that is told to stop has so long for the responses under way.
const TO_STOP: Duration = Duration::from_secs(3);

/// The groups of the processes that run at the moment.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// Ends the targets when this process is killed; `None` where it could not be started.
fn keeper() -> Option<&'static Keeper> {
    static KEEPER: OnceLock<Option<Keeper>> = OnceLock::new();
    KEEPER.get_or_init(|| Keeper::start().ok()).as_ref()
}

/// Kills every target that was started here, with everything that it started: for a process that is
/// about to end at once. None is started any more; whoever would do so waits for that end.
pub fn kill_all() {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    for group in running.iter() {
        let _ = kill_process_group(*group, Signal::KILL);
    }
    // Never unlocked: whoever starts the next one would leave it behind.
    std::mem::forget(running);
}

/// A child with everything it starts, in a process group of its own.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) child: Child,
    pub(super) what: String,
    log: PathBuf,
}

impl Process {
    pub(super) fn start(name: &str, mut command: Command, site: &Site) -> Result<Self, StartError> {
        let not_started = |why: String| StartError::NotStarted { what: name.to_owned(), why };
        let log = site.folder.join(format!("{}.log", file_name(name)));
        let failed =
            |error: std::io::Error| not_started(format!("{}: {}", log.display(), reason(&error)));
        std::fs::create_dir_all(&site.folder).map_err(failed)?;
        let file = File::create(&log).map_err(failed)?;
        command.stderr(file).stdin(Stdio::piped()).process_group(0);
        // Held while it starts, so that it is either not started or killed with the others.
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(keeper) = keeper() {
            keeper.watch(&mut command);
        }
        let child = spawn_on(&site.cpus, command);
        if let Some(keeper) = keeper() {
            keeper.started(child.is_ok());
        }
        let child = child.map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => not_started("not installed".to_owned()),
            _ => not_started(reason(&error)),
        })?;
        running.push(Pid::from_child(&child));
        drop(running);
        Ok(Self { child, what: name.to_owned(), log })
    }

    pub(super) fn ended(&mut self) -> Option<String> {
        self.child.try_wait().ok().flatten().map(|status| status.to_string())
    }

    /// The last line it printed, with a colon in front.
    pub(super) fn said(&self) -> String {
        let printed = std::fs::read(&self.log).unwrap_or_default();
        let printed = String::from_utf8_lossy(&printed);
        let last = printed.lines().rev().find(|line| !line.trim().is_empty());
        last.map_or(String::new(), |line| {
            let line: String = line.trim().chars().take(200).collect();
            format!(": {line}")
        })
    }

    pub(super) fn ended_early(&self, status: String) -> StartError {
        StartError::Ended { what: self.what.clone(), status, said: self.said() }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A built-in server ends with its standard input, any other at the signal.
        drop(self.child.stdin.take());
        let group = Pid::from_child(&self.child);
        let _ = kill_process_group(group, Signal::TERM);
        let timeout = Instant::now() + TO_STOP;
        while Instant::now() < timeout {
            if self.ended().is_some() {
                break;
            }
            thread::sleep(Duration::from_millis(2));
        }
        // Whatever is left of the group; the child's number is still its own if it was not waited for.
        let _ = kill_process_group(group, Signal::KILL);
        let _ = self.child.wait();
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| *other != group);
        if let Some(keeper) = keeper() {
            keeper.ended(self.child.id());
        }
        // What a shell started ends a little later than the shell; its port is free only then.
        while Instant::now() < timeout + TO_STOP && test_kill_process_group(group).is_ok() {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Starts a command on these processors, or on any: a child inherits those of the thread that
/// starts it.
///
/// # Errors
/// When it cannot be started.
pub fn spawn_on(cpus: &[u32], mut command: Command) -> std::io::Result<Child> {
    if cpus.is_empty() {
        return command.spawn();
    }
    thread::scope(|scope| {
        let spawning = scope.spawn(|| {
            ablaze_sys::affinity::keep_thread_on(cpus)?;
            command.spawn()
        });
        spawning.join().unwrap_or_else(|_| Err(std::io::Error::other("the starting thread failed")))
    })
}
