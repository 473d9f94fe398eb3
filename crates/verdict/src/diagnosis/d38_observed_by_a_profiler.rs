//! D38: a tracer watches the server, or the client. Its name says how often it stops them: strace at each of the system calls that
//! it traces, a debugger only at what it was told to; of others that is not known. perf(1) is not to be seen from here, and not
//! looked for.

use ablaze_model::Run;
use ablaze_model::monitor::Process;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D38;
use crate::finding::{Finding, Severity};
use crate::live::figures::monitor;

/// They stop a process at each system call, unless they were told to trace only some.
const OF_CALLS: [&str; 2] = ["strace", "ltrace"];
/// Debuggers: they stop a process at what they were told to, and else let it run.
const DEBUGGERS: [&str; 5] = ["gdb", "gdbserver", "lldb", "lldb-server", "dlv"];

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D38,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), ..Forms::NONE },
};

fn on_run(run: &Run) -> Option<Finding> {
    let monitor = monitor(run)?;
    let servers = monitor.target.processes.iter().map(|process| ("server", process));
    let client = monitor.client.iter().map(|process| ("client", process));
    let (side, process, tracer) = servers
        .chain(client)
        .find_map(|(side, process)| Some((side, process, process.traced_by.as_deref()?)))?;
    let is_one = |names: &[&str]| names.iter().any(|name| tracer.starts_with(&format!("{name},")));
    let debugger = is_one(&DEBUGGERS);
    Some(Finding::new(
        D38,
        if debugger { Severity::Note } else { Severity::Suspect },
        format!("The {side}, {}, process {}, was traced by {tracer}.", process.name, process.pid),
        if debugger {
            "A debugger stops a process at each signal, each new thread, and each breakpoint."
        } else if is_one(&OF_CALLS) {
            "Such a tool stops a process at each call that it traces, which costs more than most of the calls themselves. Unless \
             it was told otherwise, it traces all of them."
        } else {
            "A tracer that stops a process at each system call, as strace does, costs more than most of the calls themselves; one \
             that stops it at signals and breakpoints costs hardly anything. Which of them this one is was not observed."
        },
        "Take the rate from a run without it; to learn what the server does, trace a separate run.",
    ))
}

fn seen(run: &Run) -> Option<String> {
    let monitor = monitor(run)?;
    let of = |process: &Process| format!("{}, process {}", process.name, process.pid);
    let processes = monitor.target.processes.iter().chain(&monitor.client).map(of);
    let processes: Vec<String> = processes.collect();
    (!processes.is_empty()).then(|| {
        format!("No tracer was seen on {}. perf is not checked for.", processes.join("; "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn a_tracer_of_either_side_is_named() {
        let mut run = sample::run();
        assert_eq!(on_run(&run), None);
        assert!(
            seen(&run).unwrap().starts_with("No tracer was seen on nginx, process 4711; ablaze")
        );
        let traced = |process: &mut Process, by: &str| process.traced_by = Some(by.to_owned());
        traced(sample::monitor(&mut run).client.as_mut().unwrap(), "strace, process 5");
        let finding = on_run(&run).unwrap();
        assert!(finding.evidence.starts_with("The client, ablaze"), "{}", finding.evidence);
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.cause.contains("at each call that it traces"), "{}", finding.cause);
        for debugger in ["gdb", "gdbserver", "dlv"] {
            let by = format!("{debugger}, process 6");
            traced(&mut sample::monitor(&mut run).target.processes[0], &by);
            let finding = on_run(&run).unwrap();
            assert!(finding.evidence.starts_with("The server, nginx"), "{}", finding.evidence);
            assert!(finding.cause.starts_with("A debugger"), "{debugger}: {}", finding.cause);
            assert_eq!(finding.severity, Severity::Note);
        }
        // A supervisor, a sandbox: some stop at each call, and others do not.
        traced(&mut sample::monitor(&mut run).target.processes[0], "supervise, process 6");
        let finding = on_run(&run).unwrap();
        assert!(finding.cause.contains("was not observed"), "{}", finding.cause);
        assert_eq!(finding.severity, Severity::Suspect);
    }
}
