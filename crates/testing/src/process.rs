//! Programs that tests start. Three things hold for each: it begins with the signals as a terminal leaves them,
//! however the tests themselves were started; it is killed after a time that nothing reaches unless it hangs, so
//! that no wait for its end or its output lasts for ever; and it is killed when the test is done with it.
//!
//! [`Bounded`] gives `std::process::Command` these; tests start nothing otherwise (`tests/tidy.rs`).

use std::io::{self, Read};
use std::ops::{Deref, DerefMut};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Longest that a program runs whose test says nothing else.
pub const LONGEST: Duration = Duration::from_secs(300);

/// Longest that [`eventually`] waits.
const EVENTUALLY_MAX: Duration = Duration::from_secs(20);

/// Starting a program as tests do.
pub trait Bounded {
    /// Starts it, to run for [`LONGEST`] at most.
    ///
    /// # Errors
    /// Those of `std::process::Command::spawn`.
    fn start(&mut self) -> io::Result<Running> {
        self.start_for(LONGEST)
    }

    /// Starts it, to be killed after so long.
    ///
    /// # Errors
    /// Those of `std::process::Command::spawn`.
    fn start_for(&mut self, longest: Duration) -> io::Result<Running>;

    /// As `std::process::Command::output`, but that its standard input is empty and all that it writes is kept,
    /// whatever the command said before. Panics if it has to be killed.
    ///
    /// # Errors
    /// Those of `std::process::Command::spawn`.
    fn bounded_output(&mut self) -> io::Result<Output>;

    /// As `std::process::Command::status`: what it writes goes where the test's own output goes. Panics if it
    /// has to be killed.
    ///
    /// # Errors
    /// Those of `std::process::Command::spawn`.
    fn bounded_status(&mut self) -> io::Result<ExitStatus>;

    /// Runs it to its end with its output kept; panics if it does not start or has to be killed.
    fn ran(&mut self) -> Ran;
}

impl Bounded for Command {
    fn start_for(&mut self, longest: Duration) -> io::Result<Running> {
        // SAFETY: between fork and exec the closure only calls sigaction(2), sigemptyset(3) and sigprocmask(2),
        // which are async-signal-safe, on memory of its own.
        unsafe { self.pre_exec(signals_as_a_terminal_leaves_them) };
        Running::new(spawned(self)?, format!("{self:?}"), longest)
    }

    fn bounded_output(&mut self) -> io::Result<Output> {
        self.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.start()?.wait_with_output()
    }

    fn bounded_status(&mut self) -> io::Result<ExitStatus> {
        self.start()?.wait()
    }

    fn ran(&mut self) -> Ran {
        self.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.start().unwrap_or_else(|error| panic!("{self:?}: {error}")).end()
    }
}

/// Spawns it. A program that the test has just written cannot be executed as long as a child that another test
/// forked in between has its file open (ETXTBSY), which is until that child's exec: it is tried again.
fn spawned(command: &mut Command) -> io::Result<Child> {
    let begun = Instant::now();
    loop {
        match command.spawn() {
            Err(error)
                if error.kind() == io::ErrorKind::ExecutableFileBusy
                    && begun.elapsed() < EVENTUALLY_MAX =>
            {
                std::thread::sleep(Duration::from_millis(10));
            }
            result => return result,
        }
    }
}

/// Shells start background jobs with SIGINT and SIGQUIT ignored, nohup(1) ignores SIGHUP, and Rust's runtime
/// SIGPIPE; whoever is started inherits that, and the mask.
fn signals_as_a_terminal_leaves_them() -> io::Result<()> {
    // SAFETY: all-zero bytes are a valid sigset_t, which sigemptyset(3) then fills in; the old mask is not asked
    // for. SIG_DFL is a valid action for each of these signals.
    unsafe {
        for signal in
            [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP, libc::SIGPIPE, libc::SIGXFSZ]
        {
            if libc::signal(signal, libc::SIG_DFL) == libc::SIG_ERR {
                return Err(io::Error::last_os_error());
            }
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        match libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut()) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// A program that runs: a `std::process::Child` that is killed when it is dropped, or when its time is over.
#[derive(Debug)]
pub struct Running {
    child: Child,
    /// Refers to this process and never to a later one of the same number.
    process: Arc<OwnedFd>,
    begun: Instant,
    longest: Duration,
    overdue: Arc<AtomicBool>,
    command: String,
}

impl Running {
    fn new(mut child: Child, command: String, longest: Duration) -> io::Result<Self> {
        let pid = Pid::from_child(&child);
        let process = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(process) => Arc::new(process),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(error.into());
            }
        };
        let overdue = Arc::new(AtomicBool::new(false));
        let (watched, told) = (Arc::clone(&process), Arc::clone(&overdue));
        // Ends with the process, at the latest when its time is over.
        std::thread::spawn(move || kill_when_overdue(&watched, longest, &told));
        Ok(Self { child, process, begun: Instant::now(), longest, overdue, command })
    }

    /// Sends it a signal. Panics if it has been waited for.
    pub fn signal(&self, signal: Signal) {
        let sent = pidfd_send_signal(&*self.process, signal);
        sent.unwrap_or_else(|error| panic!("{signal:?} to {}: {error}", self.command));
    }

    /// Waits for its end, as `std::process::Child::wait`. Panics if it had to be killed.
    ///
    /// # Errors
    /// Those of waitpid(2).
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait()?;
        assert!(
            !self.overdue.load(Ordering::Acquire),
            "{} did not end within {:?}",
            self.command,
            self.longest
        );
        Ok(status)
    }

    /// As `std::process::Child::wait_with_output`. Panics if it had to be killed.
    ///
    /// # Errors
    /// Those of waitpid(2).
    pub fn wait_with_output(mut self) -> io::Result<Output> {
        drop(self.child.stdin.take());
        let stdout = self.child.stdout.take().map(reader);
        let stderr = self.child.stderr.take().map(reader);
        let read = |thread: Option<JoinHandle<Vec<u8>>>| {
            thread.map_or(Vec::new(), |it| it.join().unwrap())
        };
        let status = self.wait()?;
        Ok(Output { status, stdout: read(stdout), stderr: read(stderr) })
    }

    /// Waits for its end and says what it wrote since it was started.
    pub fn end(self) -> Ran {
        let begun = self.begun;
        let output = self.wait_with_output().unwrap();
        Ran {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            status: output.status.code().unwrap_or(-1),
            took: begun.elapsed(),
        }
    }
}

impl Deref for Running {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.child
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.child
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended already, unless a test failed or had no use for the rest.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn kill_when_overdue(process: &OwnedFd, longest: Duration, overdue: &AtomicBool) {
    let end = Instant::now() + longest;
    loop {
        let left = Timespec::try_from(end.saturating_duration_since(Instant::now())).unwrap();
        // A descriptor of a process becomes readable when that ends.
        match poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&left)) {
            Ok(0) => break,
            Err(rustix::io::Errno::INTR) => {}
            _ => return,
        }
    }
    overdue.store(true, Ordering::Release);
    let _ = pidfd_send_signal(process, Signal::KILL);
}

/// Reads to the end on a thread of its own, so that no pipe fills up.
fn reader(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

/// What a program said and how it ended.
#[derive(Debug)]
pub struct Ran {
    /// Its standard output, with what is not UTF-8 replaced.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// The exit status; -1 when a signal ended it.
    pub status: i32,
    /// From its start to its end.
    pub took: Duration,
}

impl Ran {
    /// The standard output as JSON: the report of `--json`.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// One line for the person, and no panic: what a usage error looks like.
    #[track_caller]
    pub fn assert_one_line(&self, status: i32, expected: &str) {
        assert_eq!(self.status, status, "{self:?}");
        assert!(self.stderr.contains(expected), "{expected}: {self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        assert!(!self.stderr.contains("panicked"), "{self:?}");
    }
}

/// Waits until something holds; whether it came to hold within 20 seconds.
pub fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !holds() {
        if begun.elapsed() > EVENTUALLY_MAX {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_program_that_hangs_is_killed_and_the_test_told() {
        let mut command = Command::new("sleep");
        let mut hangs = command
            .arg("1000")
            .stdout(Stdio::piped())
            .start_for(Duration::from_millis(50))
            .unwrap();
        // Reading from it ends, too.
        let mut text = String::new();
        hangs.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        let waited = catch_unwind(AssertUnwindSafe(|| hangs.wait()));
        let told = *waited.unwrap_err().downcast::<String>().unwrap();
        assert!(told.contains("\"sleep\" \"1000\" did not end within 50ms"), "{told}");
    }

    #[test]
    fn a_program_ends_with_its_owner() {
        let running = Command::new("sleep").arg("1000").start().unwrap();
        let own = format!("/proc/{}", running.id());
        assert!(std::fs::exists(&own).unwrap());
        drop(running);
        assert!(!std::fs::exists(&own).unwrap());
    }

    /// What a background job of a shell inherits. The outer shell ignores, the inner test program's child must
    /// not: `sh` cannot be used to look, since a shell may not trap what was ignored when it started.
    #[test]
    fn signals_that_were_ignored_or_blocked_are_as_usual_again() {
        let status = |command: &mut Command| command.ran().stdout;
        let ignored = |text: &str, mask: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(mask)).unwrap();
            u64::from_str_radix(line.trim(), 16).unwrap()
        };
        let usual = status(Command::new("cat").arg("/proc/self/status"));
        assert_eq!(ignored(&usual, "SigBlk:"), 0, "{usual}");
        let stopping =
            1 << (libc::SIGINT - 1) | 1 << (libc::SIGTERM - 1) | 1 << (libc::SIGPIPE - 1);
        // The runtime of Rust ignores SIGPIPE in this very process.
        let own = std::fs::read_to_string("/proc/self/status").unwrap();
        assert_ne!(ignored(&own, "SigIgn:") & stopping, 0, "{own}");
        assert_eq!(ignored(&usual, "SigIgn:") & stopping, 0, "{usual}");
    }

    #[test]
    fn output_and_status_are_those_of_the_program() {
        let ran = Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]).ran();
        assert_eq!((&*ran.stdout, &*ran.stderr, ran.status), ("out\n", "err\n", 3));
        let killed = Command::new("sh").args(["-c", "kill -9 $$"]).ran();
        assert_eq!(killed.status, -1);
    }
}
