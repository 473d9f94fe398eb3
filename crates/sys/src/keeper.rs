//! A process that outlives this one by a moment, to end what it leaves behind: a program that is killed (SIGKILL, out of
//! memory) ends nothing of what it started. `PR_SET_PDEATHSIG` does not do that: it follows the thread that
//! started a process, and reaches none of what that process started.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// What it does: it hears of process groups (`+` and the number) and of their end (`-`), keeps a copy before a start
/// that may fail (`(`) and goes back to it (`)`). When nobody can tell it anything more, it kills the groups that are left.
const SCRIPT: &str = "trap '' INT TERM HUP QUIT; cd /; groups=' '; kept=' '; \
    while read -r word; do case $word in \
    '(') kept=$groups ;; ')') groups=$kept ;; \
    +*) groups=\"$groups${word#+} \" ;; \
    -*) case $groups in *\" ${word#-} \"*) groups=\"${groups%% ${word#-} *} ${groups#* ${word#-} }\" ;; esac ;; \
    esac; done; \
    for group in $groups; do kill -s KILL -- \"-$group\"; done";

/// The keeper, which ends when this program does, however that happens.
#[derive(Debug)]
pub struct Keeper {
    line: UnixStream,
}

impl Keeper {
    /// Starts it, in a process group of its own: what a terminal sends to this program's does not reach it.
    ///
    /// # Errors
    /// When there is no shell, or no process.
    pub fn start() -> io::Result<Self> {
        let (line, far_end) = UnixStream::pair()?;
        let mut keeper = Command::new("sh");
        keeper.args(["-c", SCRIPT]).process_group(0).stdin(Stdio::from(OwnedFd::from(far_end)));
        // It ends after this process: there is nobody to wait for it.
        keeper.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        Ok(Self { line })
    }

    /// Has the command, which gets a process group of its own, named to the keeper before its program begins. One
    /// start at a time: [`Self::started`] ends it.
    pub fn watch(&self, command: &mut Command) {
        send(self.line.as_raw_fd(), b"(\n");
        let line = self.line.as_raw_fd();
        let named = move || {
            let mut text = [0; 16];
            send(line, name(std::process::id(), &mut text));
            Ok(())
        };
        // SAFETY: between fork and exec the closure only calls getpid(2) and send(2), which are async-signal-safe, and
        // writes to its own stack. The descriptor is open then: `self` outlives the call that spawns.
        unsafe { command.process_group(0).pre_exec(named) };
    }

    /// Whether what [`Self::watch`] announced has begun.
    pub fn started(&self, has: bool) {
        if !has {
            send(self.line.as_raw_fd(), b")\n");
        }
    }

    /// This process group has been ended: its number may become that of another.
    pub fn ended(&self, group: u32) {
        send(self.line.as_raw_fd(), format!("-{group}\n").as_bytes());
    }
}

/// Best effort: a keeper that was killed keeps nothing from being measured.
fn send(line: RawFd, text: &[u8]) {
    // SAFETY: the pointer and the length are those of a live slice.
    unsafe { libc::send(line, text.as_ptr().cast(), text.len(), libc::MSG_NOSIGNAL) };
}

/// `+4711` and a line end, without an allocation.
fn name(mut number: u32, text: &mut [u8; 16]) -> &[u8] {
    let mut at = text.len() - 1;
    text[at] = b'\n';
    loop {
        at -= 1;
        text[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    at -= 1;
    text[at] = b'+';
    &text[at..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn lives(group: u32) -> bool {
        // SAFETY: kill with signal 0 only looks.
        unsafe { libc::kill(-(group as i32), 0) == 0 }
    }

    fn eventually(holds: impl Fn() -> bool) -> bool {
        let until = Instant::now() + Duration::from_secs(20);
        while !holds() {
            if Instant::now() > until {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        true
    }

    #[test]
    fn names_have_every_digit() {
        assert_eq!(name(4_294_967_295, &mut [0; 16]), b"+4294967295\n");
        assert_eq!(name(1, &mut [0; 16]), b"+1\n");
    }

    #[test]
    fn what_is_left_is_killed_with_all_it_started_and_nothing_else() {
        let keeper = Keeper::start().unwrap();
        let begun = |line: &str, watched: bool| {
            let mut command = Command::new("sh");
            command.args(["-c", line]).process_group(0);
            if watched {
                keeper.watch(&mut command);
            }
            command.spawn().unwrap()
        };
        let mut other = begun("exec sleep 100", false);
        let mut over = begun("exec sleep 100", true);
        let mut left = begun("sleep 100 & exec sleep 100", true);
        let mut missing = Command::new("/no such program");
        keeper.watch(&mut missing);
        assert!(missing.spawn().is_err());
        keeper.started(false);
        keeper.ended(over.id());
        drop(keeper);
        left.wait().unwrap();
        assert!(eventually(|| !lives(left.id())));
        assert!(lives(other.id()) && lives(over.id()));
        for child in [&mut other, &mut over] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
