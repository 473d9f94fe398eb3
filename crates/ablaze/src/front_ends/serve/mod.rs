//! `ablaze serve`: a server to load, from words to an exit status. It says where it listens,
//! serves until it is told to stop, and says what it served.
//!
//! What its words mean is known to [`crate::servers`]; [`ready`] tells of the start, [`table`] and
//! [`stats`] of the end.

mod ready;
mod stats;
mod table;

use std::ffi::OsString;
use std::process::ExitCode;

use ablaze_report::number::grouped;
use ablaze_sys::signals::StopSignals;
use ablaze_target::{Counts, Options, Running, Server, StartError};

use crate::error::note;
use crate::servers::{self, ProcessOptions, ServerPlan, tls};
use crate::{CommandError, outlets};

/// Its options.
pub fn command() -> clap::Command {
    servers::command()
}

/// Runs `ablaze serve` with the words behind `serve`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let served = servers::read(arguments)
        .and_then(|asked| asked.map_or(Ok(()), |asked| serve(&servers::resolve(asked)?)));
    served.map_or_else(|error| error.report(), |()| ExitCode::SUCCESS)
}

fn serve(
    ServerPlan { options, process, authority_file, notes, .. }: &ServerPlan,
) -> Result<(), CommandError> {
    let ready_fd = process.ready_fd.map(ready::descriptor).transpose()?;
    stats::check(process.stats.as_deref())?;
    tls::check_authority_file(authority_file.as_deref())?;
    // Before any thread starts: all of them have to leave these signals to this one.
    let signals = StopSignals::block()
        .map_err(|error| CommandError::machine(format!("cannot catch Ctrl-C: {error}")))?;
    let limit = ablaze_sys::limits::raise_descriptor_limit(u64::MAX);
    let server = Server::start(options.clone()).map_err(|error| match error {
        StartError::Options(_) => CommandError::usage(error.to_string()),
        _ => CommandError::machine(error.to_string()),
    })?;
    if let Some(soft) = limit.soft.filter(|soft| *soft < 4096) {
        note(&format!("only {soft} descriptors are allowed; raise the limit with `ulimit -n`"));
    }
    notes.iter().for_each(|text| note(text));
    tls::write_authority(authority_file.as_deref(), options.tls.as_ref())?;
    ready::announce(&server, options, ready_fd);
    ready::stop_when_a_worker_fails(&server)?;
    if process.stop_with_stdin {
        ready::stop_when_stdin_ends()?;
    }
    let stopped = signals.wait();
    finish(server, options, process)?;
    stopped
        .map(|_| ())
        .map_err(|error| CommandError::machine(format!("waiting for a signal failed: {error}")))
}

/// Stops the server and tells what it did, even if a worker had failed.
fn finish(
    server: Running,
    options: &Options,
    process: &ProcessOptions,
) -> Result<(), CommandError> {
    let (registry, address) = (server.registry().clone(), server.address());
    let ended = server.stop().map_err(|error| CommandError::machine(error.to_string()));
    let workers: Vec<(String, Counts)> = registry
        .workers()
        .iter()
        .map(|worker| (worker.name.clone(), worker.counters.read()))
        .collect();
    if let Some(path) = &process.stats {
        outlets::attempt("--stats", || stats::write(path, options, address, &registry));
    }
    if !process.quiet {
        tell(&workers, registry.total());
    }
    ended.map(|_| ())
}

fn tell(workers: &[(String, Counts)], total: Counts) {
    let table = table::table(workers);
    if !table.is_empty() {
        ready::say(&format!("\n{table}\n"));
    }
    ready::say(&format!(
        "served {} requests on {} connections",
        grouped(total.requests),
        grouped(total.connections)
    ));
}
