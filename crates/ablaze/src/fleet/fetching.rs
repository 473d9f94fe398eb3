//! Fetches the Runs of workers that were lost in the middle of their runs, over channels of their own: what a worker measured
//! is not lost because a connection was.

use std::io::{BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ablaze_fleet::Outcome;
use ablaze_fleet::lines::RUN_BYTES_MAX;

use ablaze_report::json;
use ablaze_sys::group::{has_ended, kill_group};

use super::kept;
use super::placed::Placed;
use super::ssh::Pushed;

/// A worker's load ends within 10 s of losing its coordinator, and a connection takes its time: longer is not waited for.
const LONGEST: Duration = Duration::from_secs(30);

/// Fetches what waits for this coordinator, from all hosts at the same time; the numbers of the workers whose Runs came.
pub fn fetch(outcome: &mut Outcome, placed: &Placed, id: &str) -> Vec<usize> {
    let is_wanted = |worker: &ablaze_fleet::coordinator::WorkerOutcome| {
        worker.lost.is_some() && worker.run.is_none() && worker.started_ns.is_some()
    };
    let mut fetched = Vec::new();
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
            let document = thread.join().ok().flatten();
            if let Some(document) = document.filter(|text| json::load(text).is_ok()) {
                worker.run = Some(document);
                fetched.push(index);
            }
        }
    });
    fetched
}

/// What a command prints, if it succeeds in time.
fn printed(mut command: Command, greeting: Option<Arc<Pushed>>) -> Option<String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.process_group(0).spawn().ok()?;
    let (mut stdin, mut stdout) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
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
    let text = reading.join().ok()??;
    succeeded.then_some(text)
}
