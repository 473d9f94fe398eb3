//! The processes that reach the workers, and the lines to and from them. Each has a process group of its own, so that Ctrl-C
//! reaches only the coordinator, which tells the workers; a thread that reads, one that writes, and one that keeps the end of
//! what it says on standard error, where ssh and its like say why they failed.

use std::io::{BufReader, BufWriter, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ablaze_fleet::lines::{self, RUN_BYTES_MAX};
use ablaze_fleet::message::{FromWorker, of_line, write_line};
use ablaze_fleet::{Event, ToWorker};
use ablaze_model::printable::printable;
use ablaze_sys::clock::monotonic_ns;
use ablaze_sys::group::{end_group, has_ended, kill_group};

use super::ask::last_line;
use super::leftovers;
use super::placed::Placed;
use super::ssh::Pushed;
use crate::CommandError;

/// Of what a process says on standard error, so many bytes are kept.
const SAID_BYTES: usize = 2048;

/// Process groups of the workers that are not known to have ended.
static GROUPS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Ends every process that reaches a worker, at once, and takes away what was made for them: for a coordinator that ends in the middle of a run.
pub fn end_all() {
    for group in GROUPS.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        kill_group(group);
    }
    leftovers::take_all_away();
}

/// The channels to all workers.
pub struct Channels {
    workers: Vec<Worker>,
    events: Receiver<(Event, u64)>,
}

struct Worker {
    child: Child,
    /// What is to be said; `None` when its input is closed.
    messages: Option<Sender<ToWorker>>,
}

impl Channels {
    /// Starts a worker on each host.
    ///
    /// # Errors
    /// When one cannot be started: the others are ended then.
    pub fn open(placed: &Placed) -> Result<Self, CommandError> {
        let (tell, events) = channel();
        let mut channels = Self { workers: Vec::new(), events };
        let greeting = placed.greeting()?;
        for (index, host) in placed.hosts.iter().enumerate() {
            let command = placed.command(index, &["worker"])?;
            channels.workers.push(Worker::start(command, (index, host), greeting.clone(), &tell)?);
        }
        Ok(channels)
    }

    /// What happened next, and when, by the monotonic clock, ns; `None` when nothing did for so long.
    pub fn next(&self, longest: Duration) -> Option<(Event, u64)> {
        match self.events.recv_timeout(longest) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(longest);
                None
            }
        }
    }

    /// Tells a worker something.
    pub fn say(&self, worker: usize, message: ToWorker) {
        let worker = self.workers.get(worker);
        if let Some(messages) = worker.and_then(|worker| worker.messages.as_ref()) {
            // A writer that is gone has met a closed pipe, of which the reader tells.
            let _ = messages.send(message);
        }
    }

    /// Whether every worker of the last run is still there, to be given the next load.
    pub fn are_whole(&self) -> bool {
        let is_closed = |(event, _): (Event, u64)| matches!(event, Event::Closed(..));
        !self.events.try_iter().any(is_closed)
            && self.workers.iter().all(|worker| worker.messages.is_some())
    }

    /// Closes the way to a worker.
    pub fn cut(&mut self, worker: usize) {
        if let Some(worker) = self.workers.get_mut(worker) {
            worker.messages = None;
        }
    }
}

impl Channels {
    /// Waits until all processes have ended, so many times 50 ms at most.
    fn wait_for_ends(&self, times: u32) {
        for _ in 0..times {
            if self.workers.iter().all(|worker| has_ended(worker.child.id())) {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Channels {
    /// Gives the processes a moment to end by themselves, and ends those that do not.
    fn drop(&mut self) {
        self.workers.iter_mut().for_each(|worker| worker.messages = None);
        self.wait_for_ends(60);
        // One that keeps a Run for somebody takes it away at a signal, and could not at the last one.
        let there = self.workers.iter().map(|worker| worker.child.id());
        there.filter(|child| !has_ended(*child)).for_each(end_group);
        self.wait_for_ends(20);
        for worker in &mut self.workers {
            // The group may have others in it than the process that was started.
            kill_group(worker.child.id());
            let _ = worker.child.wait();
            let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
            groups.retain(|group| *group != worker.child.id());
        }
    }
}

impl Worker {
    fn start(
        mut command: Command,
        (index, host): (usize, &str),
        greeting: Option<Arc<Pushed>>,
        tell: &Sender<(Event, u64)>,
    ) -> Result<Self, CommandError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.get_program().to_string_lossy().into_owned();
        let refused = |error: std::io::Error| {
            CommandError::machine(format!("--fleet cannot start `{program}` for {host}: {error}"))
        };
        let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
        let mut child = command.process_group(0).spawn().map_err(refused)?;
        groups.push(child.id());
        drop(groups);
        let (messages, to_say) = channel();
        let said = Arc::new(Mutex::new(Vec::new()));
        let keeping = child.stderr.take().map(|stderr| {
            let said = Arc::clone(&said);
            std::thread::spawn(move || keep(stderr, &said))
        });
        if let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) {
            let tell = tell.clone();
            std::thread::spawn(move || {
                let mut stdout = BufReader::with_capacity(64 * 1024, stdout);
                let greeted = greeting.map_or(Ok(()), |own| own.greet(&mut stdout, &mut stdin));
                let why = match greeted {
                    Ok(()) => {
                        std::thread::spawn(move || write(stdin, &to_say));
                        read(stdout, index, &tell)
                    }
                    Err(why) => {
                        drop(stdin);
                        why
                    }
                };
                // What it said on standard error ends when it does; whoever holds that open is not waited for.
                for _ in 0..60 {
                    if keeping.as_ref().is_none_or(|keeping| keeping.is_finished()) {
                        break;
                    }
                    std::thread::sleep(Duration::from_millis(10));
                }
                let said = said.lock().unwrap_or_else(PoisonError::into_inner);
                let said = last_line(&String::from_utf8_lossy(&said));
                let why = match said {
                    Some(said) => format!("{why}: {said}"),
                    None => why,
                };
                let _ = tell.send((Event::Closed(index, why), monotonic_ns()));
            });
        }
        Ok(Self { child, messages: Some(messages) })
    }
}

/// Writes what is to be said, a line each. No line is in memory as a whole: files are in that of an assignment, for hundreds of
/// workers at the same time.
fn write(stdin: ChildStdin, messages: &Receiver<ToWorker>) {
    let mut stdin = BufWriter::with_capacity(64 * 1024, stdin);
    for message in messages {
        if write_line(&message, &mut stdin).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

/// Passes on what a worker says, until it ends; why it did.
fn read(mut stdout: BufReader<ChildStdout>, index: usize, tell: &Sender<(Event, u64)>) -> String {
    loop {
        let line = match lines::next(&mut stdout, RUN_BYTES_MAX) {
            Ok(Some(line)) => line,
            Ok(None) => return "its channel was closed".to_owned(),
            Err(error) => return format!("its channel failed ({error})"),
        };
        let now_ns = monotonic_ns();
        match of_line::<FromWorker>(&line) {
            Ok(message) => drop(tell.send((Event::Said(index, message), now_ns))),
            Err(unreadable) => {
                let began = printable(&unreadable.beginning).into_owned();
                return format!("it said something that is not a line of a worker's: `{began}`");
            }
        }
    }
}

/// Keeps the end of what it says.
fn keep(mut stderr: ChildStderr, said: &Mutex<Vec<u8>>) {
    let mut bytes = [0; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut bytes) {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        said.extend_from_slice(&bytes[..read]);
        let surplus = said.len().saturating_sub(SAID_BYTES);
        said.drain(..surplus);
    }
}
