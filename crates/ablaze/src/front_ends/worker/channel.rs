//! The two ways of a worker's channel. What it tells goes to standard output by a thread of its own, so that whoever does not
//! read holds up nobody; what it is told comes from standard input and is heard by another (see [`super::listening`]).

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ablaze_fleet::lines::{self, ASSIGNMENT_BYTES_MAX};
use ablaze_fleet::message::{Assignment, FromWorker, ToWorker, VERSION, of_line, to_line};
use ablaze_model::printable::printable;
use ablaze_sys::clock::monotonic_ns;

use super::hold;
use crate::carry_out::interrupted;

/// How often it is looked whether the coordinator is there.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A worker's channel to its coordinator.
pub struct Channel {
    lines: Sender<String>,
    /// What is told goes to a log, too.
    copies: Option<Sender<String>>,
    /// Standard output; `None` once it is closed.
    stdout: Mutex<Option<File>>,
    state: Mutex<State>,
    changed: Condvar,
}

/// What is known of the coordinator.
#[derive(Debug, Clone, Copy, Default)]
pub struct State {
    /// When it was told something last.
    pub told_ns: u64,
    /// When it said something last.
    pub heard_ns: u64,
    /// It is not there any more.
    pub is_closed: bool,
    /// It said when to start.
    pub has_start: bool,
    /// It said that the run is to end.
    pub was_stopped: bool,
    /// It has the Run, or wants none.
    pub is_received: bool,
    /// Lines that are not written yet.
    pending: usize,
    /// Lines that are not in the log yet.
    uncopied: usize,
}

impl Channel {
    /// Over standard input and output; what is told goes to the log of this container as well, if that is asked for and
    /// somebody keeps one.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn standard(has_log: bool) -> io::Result<Arc<Self>> {
        let (lines, to_write) = channel();
        let log = if has_log { hold::log() } else { None };
        let (copies, to_copy) = log.map(|log| (channel(), log)).map_or((None, None), |made| {
            let ((copies, to_copy), log) = made;
            (Some(copies), Some((to_copy, log)))
        });
        let stdout = Mutex::new(Some(ablaze_sys::standard::take_stdout()?));
        let state = Mutex::default();
        let own = Arc::new(Self { lines, copies, stdout, state, changed: Condvar::new() });
        if let Some((to_copy, log)) = to_copy {
            let copier = Arc::clone(&own);
            std::thread::Builder::new()
                .name("logs".to_owned())
                .spawn(move || copier.copy(log, &to_copy))?;
        }
        let writer = Arc::clone(&own);
        std::thread::Builder::new()
            .name("tells".to_owned())
            .spawn(move || writer.write(&to_write))?;
        Ok(own)
    }

    /// The first line; `None` if nobody says anything.
    ///
    /// # Errors
    /// When it is no assignment, or one for another version of this program.
    pub fn assignment(&self) -> Result<Option<Assignment>, String> {
        let line = lines::next(&mut io::stdin().lock(), ASSIGNMENT_BYTES_MAX);
        let line = line.map_err(|error| format!("cannot read an assignment: {error}"))?;
        let Some(line) = line else { return Ok(None) };
        let own = env!("CARGO_PKG_VERSION");
        let assignment = match of_line::<ToWorker>(&line) {
            Ok(ToWorker::Assignment(assignment)) => *assignment,
            Ok(_) => return Err("the first line is not an assignment".to_owned()),
            Err(unreadable) => {
                return Err(format!(
                    "this is ablaze {own}, which cannot read its assignment ({}): use one version everywhere",
                    printable(&unreadable.why)
                ));
            }
        };
        if (assignment.version, assignment.program.as_str()) != (VERSION, own) {
            return Err(format!(
                "this is ablaze {own}, the coordinator is ablaze {}: use one version everywhere",
                printable(&assignment.program)
            ));
        }
        Ok(Some(assignment))
    }

    /// Tells the coordinator, if it is there.
    pub fn tell(&self, message: &FromWorker) {
        let mut line = to_line(message);
        line.push('\n');
        self.change(|state| {
            state.told_ns = monotonic_ns();
            state.pending += usize::from(!state.is_closed);
            state.uncopied += usize::from(self.copies.is_some());
        });
        if let Some(copies) = &self.copies
            && copies.send(line.clone()).is_err()
        {
            self.change(|state| state.uncopied = 0);
        }
        // The writer is gone where nobody is there any more.
        let _ = self.lines.send(line);
    }

    /// What is known now.
    pub fn state(&self) -> State {
        *self.locked()
    }

    /// Notes something about the coordinator.
    pub fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.locked());
        self.changed.notify_all();
    }

    /// Waits until this is so, so long at most; the state then.
    pub fn wait(&self, longest: Duration, until: impl Fn(&State) -> bool) -> State {
        let waited = self.changed.wait_timeout_while(self.locked(), longest, |state| !until(state));
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Waits until all is written, so long at most.
    pub fn flush(&self, longest: Duration) {
        self.wait(longest, |state| state.pending == 0 || state.is_closed);
    }

    /// Waits until all is in the log, so long at most, or until a signal ends this process.
    pub fn flush_log(&self, longest: Duration) {
        let until = Instant::now() + longest;
        let is_there = || self.wait(LOOK_EVERY, |state| state.uncopied == 0).uncopied == 0;
        while !is_there() && !interrupted() && Instant::now() < until {}
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what there is, until nobody is there any more: standard output is closed then, and the other side knows.
    fn write(&self, lines: &Receiver<String>) {
        while !self.state().is_closed {
            let Ok(line) = lines.recv_timeout(LOOK_EVERY) else { continue };
            let written = self.stdout().as_mut().map(|stdout| stdout.write_all(line.as_bytes()));
            self.change(|state| state.pending = state.pending.saturating_sub(1));
            if !matches!(written, Some(Ok(()))) {
                self.change(|state| state.is_closed = true);
            }
        }
        *self.stdout() = None;
    }

    fn stdout(&self) -> MutexGuard<'_, Option<File>> {
        self.stdout.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts standard output back where it was, for the next assignment: nothing is told here any more.
    ///
    /// # Errors
    /// When it is closed already, or the system refuses.
    pub fn give_back(&self) -> io::Result<()> {
        match self.stdout().take() {
            Some(stdout) => ablaze_sys::standard::give_back_stdout(&stdout),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Writes what there is to the log, until nobody keeps it any more.
    fn copy(&self, mut log: UnixStream, lines: &Receiver<String>) {
        for line in lines {
            if log.write_all(line.as_bytes()).is_err() {
                return self.change(|state| state.uncopied = 0);
            }
            self.change(|state| state.uncopied = state.uncopied.saturating_sub(1));
        }
    }
}
