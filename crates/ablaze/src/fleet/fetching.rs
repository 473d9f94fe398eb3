//! Fetches the Runs of workers that were lost in the middle of their runs, over channels of their own: what a worker measured
//! is not lost because a connection was.

use std::collections::BTreeMap;
use std::io::{BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ablaze_fleet::Outcome;
use ablaze_fleet::lines::RUN_BYTES_MAX;
use ablaze_model::printable::printable;
use ablaze_report::json;
use ablaze_sys::group::{has_ended, kill_group};

use super::kept;
use super::placed::Placed;
use super::ssh::Pushed;

/// Of what is said on standard error, so many bytes are read.
const SAID_BYTES_MAX: u64 = 64 * 1024;
/// A worker's load ends within 10 s of losing its coordinator, and a connection takes its time: longer is not waited for.
const LONGEST: Duration = Duration::from_secs(30);

/// What came of asking a host for a Run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// It came.
    Fetched,
    /// The host has none, and says why. A foreign string.
    Refused(String),
}

/// What came of asking, by the numbers of the workers: nothing is known of those whose hosts did not answer.
pub type Fetched = BTreeMap<usize, Asked>;

/// Fetches what waits for this coordinator, from all hosts at the same time.
pub fn fetch(outcome: &mut Outcome, placed: &Placed, id: &str) -> Fetched {
    let is_wanted = |worker: &ablaze_fleet::coordinator::WorkerOutcome| {
        worker.lost.is_some() && worker.run.is_none() && worker.started_ns.is_some()
    };
    let mut fetched = Fetched::new();
    let greeting = placed.greeting().ok().flatten();
    std::thread::scope(|scope| {
        let wanted = outcome.workers.iter_mut().enumerate();
        let wanted = wanted.filter(|(_, worker)| is_wanted(worker));
        let threads: Vec<_> = wanted
            .map(|(index, worker)| {
                let name = kept::name_of(id, index as u32);
                let words = ["fleet", "collect", name.as_str()];
                let command = placed.command(index, &words);
                let greeting = greeting.clone();
                (index, worker, scope.spawn(move || printed(command.ok()?, greeting)))
            })
            .collect();
        for (index, worker, thread) in threads {
            match thread.join().ok().flatten() {
                Some(Ok(document)) if json::load(&document).is_ok() => {
                    worker.run = Some(document);
                    fetched.insert(index, Asked::Fetched);
                }
                Some(Err(why)) => drop(fetched.insert(index, Asked::Refused(why))),
                Some(Ok(_)) | None => {}
            }
        }
    });
    fetched
}

/// What `ablaze fleet collect` prints, or why it does not; `None` where it did not get to say so in time.
fn printed(mut command: Command, greeting: Option<Arc<Pushed>>) -> Option<Result<String, String>> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.process_group(0).spawn().ok()?;
    let (mut stdin, mut stdout) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
    let stderr = child.stderr.take()?;
    let saying = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stderr.take(SAID_BYTES_MAX).read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let reading = std::thread::spawn(move || {
        if let Some(own) = greeting {
            own.greet(&mut stdout, &mut stdin).ok()?;
        }
        let mut text = String::new();
        stdout.take(RUN_BYTES_MAX as u64).read_to_string(&mut text).ok()?;
        Some(text)
    });
    let until = Instant::now() + LONGEST;
    while !has_ended(child.id()) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    // Whatever of it is left holds up nobody.
    kill_group(child.id());
    let succeeded = child.wait().is_ok_and(|status| status.success());
    let (text, said) = (reading.join().ok()?, saying.join().unwrap_or_default());
    match succeeded {
        true => text.map(Ok),
        false => refusal(&said).map(Err),
    }
}

/// Why there is no Run, where it is `ablaze fleet collect` that says so, and not what reaches its host; `None` too where the
/// Run may still come.
fn refusal(said: &str) -> Option<String> {
    let line = said.lines().rev().find_map(|line| line.trim().strip_prefix("ablaze: "))?;
    kept::is_final(line).then(|| printable(line).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_host_itself_says_that_there_is_no_run() {
        let gone = "ablaze: no run waits as ab-0 on this host: it was fetched";
        assert!(refusal(&format!("motd\n{gone}\n")).unwrap().starts_with("no run waits"));
        assert!(refusal("ablaze: the worker of ab-0 died before its run ended").is_some());
        assert_eq!(refusal("ablaze: the run ab-0 has not ended within 15 s"), None);
        assert_eq!(refusal("ssh: connect to host b port 22: Connection refused"), None);
        assert_eq!(refusal(""), None);
    }
}
