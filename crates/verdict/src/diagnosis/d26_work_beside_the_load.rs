//! D26: the server uses CPU time while it has no requests, or more than those that it has can take. A server that was busy is
//! looked at once more when the load is over and the connections still stand. Not to be seen: a
//! server elsewhere, one that spins for less than most of a core, and one whose responses take longer
//! than it is given to finish them.

use ablaze_model::Run;
use ablaze_model::monitor::AtRest;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D26;
use crate::finding::{Finding, Severity};
use crate::limit::{self, Limit};
use crate::live::at_rest::{busiest, cores, is_busy};
use crate::live::figures::server;
use crate::words::{counted, percent, time};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D26,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), ..Forms::NONE },
};

fn on_run(run: &Run) -> Option<Finding> {
    without_a_load(run).or_else(|| beside_the_load(run))
}

/// More than the requests in flight can have taken: its CPU time is not theirs.
fn beside_the_load(run: &Run) -> Option<Finding> {
    let beside = run.beside_load()?;
    let others = match beside.others_connections {
        0 => String::new(),
        some => format!(
            " Besides those of this run, {} to it from this host stood open.",
            counted(some, "connection")
        ),
    };
    Some(Finding::new(
        D26,
        Severity::Suspect,
        format!(
            "The server used {} of CPU time, and all requests of this run together were in flight for {}: {} cannot have \
             worked on them for as long.{others}",
            time(beside.cpu_ns / 1e6),
            time(beside.in_flight_ns / 1e6),
            counted(u64::from(beside.processors), "CPU")
        ),
        "It worked for something else as well: for other clients, on tasks of its own, or on what responses left behind, such as \
         a queue, a log or a garbage collection. Which of them does not show. Its CPU time per request is not shown, and the times \
         are those of a server that is busy otherwise.",
        "See in the server's log whether others send requests to it, and with `top` whether it is busy without a load; measure again \
         when it is not.",
    ))
}

fn without_a_load(run: &Run) -> Option<Finding> {
    let (process, at_rest) = busiest(run).filter(|(_, at_rest)| is_busy(at_rest))?;
    // Whoever looks at the CPU time alone takes it for the limit.
    let misled = server(run).is_some_and(|server| server.busiest >= limit::SERVER_FULL)
        || limit::of(run).by == Limit::SharedCpu;
    Some(Finding::new(
        D26,
        if misled { Severity::Suspect } else { Severity::Note },
        format!(
            "{} after the load had ended, with its connections still open, {} of {}.",
            ms(at_rest.settled_ns),
            used(&process.name, process.pid, &at_rest),
            ms(at_rest.watched_ns)
        ),
        "Either the server polls for events without waiting, or an event is never cleared, such as an EPOLLOUT that stays armed: \
         its CPU time then says nothing about its load. Or it worked on something else: a task of its own, or what the responses \
         left behind, such as a queue, a log or a garbage collection.",
        "See with `top` whether it is still busy some seconds after a load: what is left behind ends, a loop does not. In a loop \
         `strace -c -f -p` with its process number shows what it calls; make it wait.",
    ))
}

/// Who used how much. A task that goes from one thread to another is on none of them for long.
fn used(name: &str, pid: u32, at_rest: &AtRest) -> String {
    match at_rest.busy_threads {
        0 => format!(
            "the threads of {name}, process {pid}, together ran or were ready to for {}",
            percent(cores(at_rest))
        ),
        1 => format!(
            "1 thread of {name}, process {pid}, ran or was ready to for {}",
            percent(at_rest.busiest_share)
        ),
        many => format!(
            "{} of {name}, process {pid}, ran or were ready to, the busiest for {}",
            counted(many, "thread"),
            percent(at_rest.busiest_share)
        ),
    }
}

fn seen(run: &Run) -> Option<String> {
    let (process, at_rest) = busiest(run)?;
    Some(format!(
        "{} after the load had ended, the busiest thread of {} ran, or was ready to, for {} of the time.",
        ms(at_rest.settled_ns),
        process.name,
        percent(at_rest.busiest_share)
    ))
}

fn ms(ns: u64) -> String {
    time(ns as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    fn rested(run: &mut Run, busiest_share: f64) {
        sample::monitor(run).target.processes[0].at_rest = Some(AtRest {
            settled_ns: 15_000_000,
            watched_ns: 35_000_000,
            busiest_share,
            cores: busiest_share,
            busy_threads: u64::from(busiest_share > 0.5),
        });
    }

    #[test]
    fn a_server_that_does_not_rest_is_told() {
        let mut run = sample::run();
        assert_eq!((on_run(&run), seen(&run)), (None, None));
        rested(&mut run, 0.02);
        assert_eq!(on_run(&run), None);
        assert_eq!(
            seen(&run).unwrap(),
            "15.0 ms after the load had ended, the busiest thread of nginx ran, or was ready to, for 2.0 % of the time."
        );
        rested(&mut run, 0.97);
        let finding = on_run(&run).unwrap();
        assert_eq!(finding.severity, Severity::Suspect, "the server's limit rests on it");
        let said = "1 thread of nginx, process 4711, ran or was ready to for 97 % of 35.0 ms";
        assert!(finding.evidence.contains(said), "{}", finding.evidence);
        let limited = limit::of(&run);
        assert_eq!(limited.by, Limit::Unknown, "it would have been as busy without a request");
        assert!(
            limited.evidence.contains("without a load one for 97 % of the time"),
            "{}",
            limited.evidence
        );
    }

    /// 20,000 responses of 500 µs are in flight for 10 s, of which the server works for 9.6 s.
    #[test]
    fn work_that_its_requests_cannot_have_taken_is_for_something_else() {
        let mut run = sample::run();
        assert_eq!(on_run(&run), None);
        run.record.in_flight_ns = 20_000 * 100_000;
        let found = on_run(&run).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        let said = "used 9.60 s of CPU time, and all requests of this run together were in flight for 2.00 s: 2 CPUs cannot";
        assert!(found.evidence.contains(said), "{found:?}");
        assert!(found.cause.contains("does not show"), "{found:?}");
        // As much again may be done behind a response, unless others were there to work for.
        run.record.in_flight_ns = 20_000 * 225_000;
        assert_eq!(on_run(&run), None);
        let most = run.record.connections_opened.max(100);
        let mut seen = sample::connections();
        (seen.first.connections, seen.last.connections) = (most + 3, most + 4);
        sample::monitor(&mut run).connections = Some(seen);
        let found = on_run(&run).unwrap();
        assert!(
            found.evidence.ends_with("3 connections to it from this host stood open."),
            "{found:?}"
        );
        // A server may go on with what its client gave up.
        run.record.failures[0] = 1;
        assert_eq!(on_run(&run), None);
    }

    #[test]
    fn work_that_was_asked_for_is_no_spinning() {
        let mut run = sample::run();
        rested(&mut run, 0.97);
        run.record.answered.total.record_many(2_000_000, 2_000);
        run.record.unfinished = 100;
        assert_eq!((on_run(&run), seen(&run)), (None, None));
        run.record.unfinished = 0;
        assert!(on_run(&run).is_some(), "all were answered");
    }
}
