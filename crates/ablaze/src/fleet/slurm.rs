//! Workers on nodes that Slurm gives: one allocation for all loads (`salloc`), released at the end, and in it a step of its
//! own for each worker (`srun`), because one srun copies its input to every task.

use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ablaze_sys::group::{end_group, has_ended, kill_group};

use super::Place;
use crate::CommandError;
use crate::carry_out::{interrupted, listen_for_interrupts};
use crate::error::{INTERRUPTED, note};

/// Allocations that are not released yet, by the numbers of their jobs.
static ALLOCATED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// How often it is looked whether the allocation is there.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Nodes that were allocated. They are released when this is dropped.
pub struct Allocation {
    job: String,
    nodes: Vec<String>,
}

/// Releases every allocation: for a coordinator that ends in the middle of a run.
pub fn release_all() {
    let all = std::mem::take(&mut *ALLOCATED.lock().unwrap_or_else(PoisonError::into_inner));
    all.iter().for_each(|job| release(job));
}

/// So many nodes, as soon as Slurm gives them.
///
/// # Errors
/// When it does not, or Ctrl-C came first.
pub fn allocate(nodes: u32) -> Result<Allocation, CommandError> {
    listen_for_interrupts()?;
    let mut salloc = Command::new("salloc");
    salloc.args(["--no-shell", "--job-name=ablaze", &format!("--nodes={nodes}-{nodes}")]);
    let said = granted(salloc)?;
    let job = job_of(&said)
        .ok_or_else(|| failed(&format!("salloc gave no allocation: {}", last_line(&said))))?;
    ALLOCATED.lock().unwrap_or_else(PoisonError::into_inner).push(job.clone());
    // From here on it is released whatever happens.
    let mut allocation = Allocation { job, nodes: Vec::new() };
    let list = printed("squeue", &["--noheader", "--format=%N", "--jobs", &allocation.job])?;
    allocation.nodes = printed("scontrol", &["show", "hostnames", list.trim()])?
        .lines()
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    if allocation.nodes.len() != nodes as usize {
        return Err(failed(&format!(
            "{nodes} nodes were asked for, and job {} has {}",
            allocation.job,
            allocation.nodes.len()
        )));
    }
    Ok(allocation)
}

impl Allocation {
    /// The nodes, as the place of workers.
    pub fn place(&self) -> Place {
        Place::of_slurm_job(&self.job, self.nodes.clone())
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        ALLOCATED.lock().unwrap_or_else(PoisonError::into_inner).retain(|job| *job != self.job);
        release(&self.job);
    }
}

/// The command that runs `ablaze` with these words on a node of a job: this very file, which clusters share.
///
/// # Errors
/// When this program does not know its own file.
pub fn command(job: &str, node: &str, words: &[&str]) -> Result<Command, CommandError> {
    let program = std::env::current_exe().map_err(|error| {
        CommandError::machine(format!("cannot find the file of this program: {error}"))
    })?;
    let mut command = Command::new("srun");
    command.arg(format!("--jobid={job}")).args(["-N1", "-n1", "--overlap", "--quiet", "-w", node]);
    // Its output as it comes, and no step that is killed with a line on it.
    command.args(["--unbuffered", "--kill-on-bad-exit=0"]).arg(program).args(words);
    Ok(command)
}

/// What salloc says until it ends, which it does when the nodes are given.
fn granted(mut salloc: Command) -> Result<String, CommandError> {
    use std::os::unix::process::CommandExt;
    salloc.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    // Ctrl-C is told to it below.
    let mut child = salloc.process_group(0).spawn().map_err(|error| missing("salloc", &error))?;
    let reading = child.stderr.take().map(|mut stderr| {
        std::thread::spawn(move || {
            let mut said = Vec::new();
            let _ = std::io::Read::read_to_end(&mut stderr, &mut said);
            String::from_utf8_lossy(&said).into_owned()
        })
    });
    let was_interrupted = wait(&mut child);
    let said = reading.and_then(|reading| reading.join().ok()).unwrap_or_default();
    if !was_interrupted {
        return Ok(said);
    }
    // It may have been given in the same moment.
    job_of(&said).iter().for_each(|job| release(job));
    Err(CommandError { status: INTERRUPTED, ..failed("interrupted before Slurm gave the nodes") })
}

/// Waits until it ends, or ends it at Ctrl-C: whether that came.
fn wait(child: &mut Child) -> bool {
    let mut was_interrupted = false;
    while !has_ended(child.id()) {
        if interrupted() && !std::mem::replace(&mut was_interrupted, true) {
            // salloc takes its request back at SIGTERM.
            end_group(child.id());
        }
        std::thread::sleep(LOOK_EVERY);
    }
    kill_group(child.id());
    let _ = child.wait();
    was_interrupted
}

/// The number in `salloc: Granted job allocation 17`.
fn job_of(said: &str) -> Option<String> {
    let number = said.split("Granted job allocation ").nth(1)?.split_whitespace().next()?;
    number.chars().all(|digit| digit.is_ascii_digit()).then(|| number.to_owned())
}

fn last_line(said: &str) -> String {
    let line = said.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    ablaze_model::printable::printable(line).into_owned()
}

fn release(job: &str) {
    let mut scancel = Command::new("scancel");
    let done = scancel.arg(job).stdin(Stdio::null()).output();
    let why = match done {
        Ok(output) if output.status.success() => return,
        Ok(output) => last_line(&String::from_utf8_lossy(&output.stderr)),
        Err(error) => error.to_string(),
    };
    note(&format!("Slurm's job {job} may not be released: {why}; release it with `scancel {job}`"));
}

/// What one of Slurm's commands prints.
fn printed(program: &str, words: &[&str]) -> Result<String, CommandError> {
    let output = Command::new(program).args(words).stdin(Stdio::null()).output();
    let output = output.map_err(|error| missing(program, &error))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let said = last_line(&String::from_utf8_lossy(&output.stderr));
            Err(failed(&format!("{program} failed: {said}")))
        }
    }
}

fn missing(program: &str, error: &std::io::Error) -> CommandError {
    failed(&format!("cannot start {program} ({error}): use it where Slurm's commands are"))
}

fn failed(why: &str) -> CommandError {
    CommandError::machine(format!("--fleet slurm: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_job_is_in_what_salloc_says() {
        let said = "salloc: Pending job allocation 17\nsalloc: Granted job allocation 17\n";
        assert_eq!(job_of(said).as_deref(), Some("17"));
        assert_eq!(job_of("salloc: error: Job submit/allocate failed: Invalid node count\n"), None);
        assert_eq!(job_of("salloc: Granted job allocation x;reboot\n"), None);
    }

    #[test]
    fn each_worker_has_a_step_of_its_own() {
        let command = command("17", "n2", &["worker"]).unwrap();
        let words: Vec<String> =
            command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        let expected = ["--jobid=17", "-N1", "-n1", "--overlap", "--quiet", "-w", "n2"];
        assert_eq!(words[..7], expected);
        assert_eq!(words.last().map(String::as_str), Some("worker"));
    }
}
