//! Whether the server was stopped, as by SIGSTOP or by who traces it.

use ablaze_model::Run;
use ablaze_model::monitor::Process;

use super::figures::{elapsed_s, target};
use crate::words::{counted, grouped};

/// A process of the server that was stopped for a part of the time, as was seen in /proc.
pub(crate) struct StoppedServer {
    /// As a sentence.
    pub said: String,
    /// For how long, as far as the readings tell.
    for_s: f64,
    /// For how long each process was that worked in this run, at least.
    all_for_s: f64,
}

impl StoppedServer {
    /// What has stood still for so much of a wait is why.
    const OF_A_WAIT: f64 = 0.5;

    /// Whether it was for long enough to be why requests to it waited for so long.
    pub fn lasted(&self, waited_s: f64) -> bool {
        self.for_s >= waited_s * Self::OF_A_WAIT
    }

    /// Whether all of the server was.
    pub fn all_lasted(&self, waited_s: f64) -> bool {
        self.all_for_s >= waited_s * Self::OF_A_WAIT
    }
}

/// `None` where none was.
pub(crate) fn server_stopped(run: &Run) -> Option<StoppedServer> {
    let processes = || target(run).into_iter().flat_map(|target| &target.processes);
    let stopped = processes().filter(|process| process.stopped_readings > 0);
    let process = stopped.max_by_key(|process| process.stopped_readings)?;
    let for_s = |process: &Process| match process.stopped_readings {
        all if all >= process.readings => elapsed_s(run),
        some => process.watched_ns as f64 / 1e9 * some as f64 / process.readings as f64,
    };
    // As of threads: one that did less is not who serves.
    let least_ns = processes().map(Process::cpu_ns).max().unwrap_or(0) / 100;
    let at_work = processes().filter(|process| process.cpu_ns() >= least_ns);
    Some(StoppedServer {
        said: format!(
            "The server's process ({}, pid {}) was stopped (state T or t in /proc) in {} of the {} of it.",
            ablaze_model::printable::printable(&process.name),
            process.pid,
            grouped(process.stopped_readings),
            counted(process.readings, "reading")
        ),
        for_s: for_s(process),
        all_for_s: at_work.map(for_s).fold(f64::INFINITY, f64::min),
    })
}
