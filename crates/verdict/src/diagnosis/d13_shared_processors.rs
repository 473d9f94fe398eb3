//! D13: client and server, or others, had no processor left between them.

use ablaze_model::Run;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D13;
use crate::finding::{Finding, Severity};
use crate::limit::{self, Limit};
use crate::live::figures::{Room, client, elapsed_s, machine, server};
use crate::live::others;
use crate::words::{amount, percent, time};

const OTHERS_ALONE: &str = "Other processes ran while these threads waited: something unrelated to the run, or what the \
                            server itself starts or calls (a backend, a database, the server behind a proxy). Which of \
                            them does not show.";
const BOTH: &str = "Other processes ran on this machine, unrelated to the run or called by the server (a backend, a database). \
                    Client and server had more threads at work than there are CPUs for them, and these wait for each \
                    other, too: how much of the waiting was for others does not show.";

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D13,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), ..Forms::NONE },
};

fn on_run(run: &Run) -> Option<Finding> {
    let machine = machine(run)?;
    if let Some(room) = others::disturbed(run) {
        let evidence = format!(
            "Other processes used {} of {} CPUs, and a thread of the client or server{} spent {} of \
             the time waiting for one{}.",
            amount(machine.others),
            amount(machine.processors),
            match room.processors < machine.processors {
                true => format!(", which may use {} of these,", amount(room.processors)),
                false => String::new(),
            },
            percent(room.waited),
            together(run, &room)
        );
        return Some(Finding::new(
            D13,
            Severity::Suspect,
            evidence,
            cause(run, &room),
            "See with `top` whose processes these are, stop what does not belong to the server, and measure again.",
        ));
    }
    let limited = limit::of(run);
    (limited.by == Limit::SharedCpu).then(|| {
        Finding::new(
            D13,
            Severity::Note,
            format!("The CPUs were fully used: {}.", limited.evidence),
            "Client and server run on the same CPUs, which had hardly any time left: what one of them uses the other does not \
             have. With more CPUs the server may do more. How long they waited for each other does not show.",
            "Use two machines, or a machine with more CPUs, to measure the server's capacity.",
        )
    })
}

/// What all threads waited, where that is more than the one did.
fn together(run: &Run, room: &Room) -> String {
    if room.waited_together <= room.waited * 1.05 {
        return String::new();
    }
    let waited_ms = room.waited_together * elapsed_s(run) * 1e3;
    format!("; all threads of that side together waited {}", time(waited_ms))
}

/// More of them may have worked than there are processors.
fn cause(run: &Run, room: &Room) -> String {
    let cause = if others::wait_for_each_other(room) { BOTH } else { OTHERS_ALONE };
    match run.plan.target.others.is_empty() {
        true => cause.to_owned(),
        false => format!(
            "{cause} Of the servers that requests went to all but the first count as others here."
        ),
    }
}

fn seen(run: &Run) -> Option<String> {
    let machine = machine(run)?;
    Some(format!(
        "Of {} CPUs, {} were busy, {} with other processes; threads of the client and server \
         waited for one for at most {} of the time.",
        amount(machine.processors),
        amount(machine.busy),
        amount(machine.others),
        percent(waited(run))
    ))
}

/// The largest share of the time for which a thread of ours waited for a processor.
pub(super) fn waited(run: &Run) -> f64 {
    let sides = [server(run), client(run)].into_iter().flatten();
    sides.map(|busy| busy.waited).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn sharing_is_a_note_and_others_are_a_doubt() {
        assert_eq!(on_run(&sample::run()), None);
        assert_eq!(on_run(&sample::with_shares(0.93, 0.90)).unwrap().severity, Severity::Note);
        let mut run = sample::with_shares(0.5, 0.4);
        sample::threads(&mut run)[0].waited_ns = 4_800_000_000;
        sample::processors(&mut run).user_ns += 9_000_000_000;
        sample::processors(&mut run).idle_ns -= 9_000_000_000;
        let finding = on_run(&run).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.contains("spent 48 % of"), "{}", finding.evidence);
        assert_eq!(finding.cause, OTHERS_ALONE);
        // Threads that wait for a lock in turns, as those of an interpreter, wait for each other's CPU as well.
        let mut crowd = run.clone();
        let threads = sample::threads(&mut crowd);
        let more = vec![threads[0].clone(); 9];
        threads.extend(more);
        assert_eq!(on_run(&crowd).unwrap().cause, BOTH);
        // Threads that next to never ran were in nobody's way.
        for thread in sample::threads(&mut crowd) {
            thread.cpu_ns = 5_000_000;
        }
        let process = &mut sample::monitor(&mut crowd).target.processes[0];
        (process.user_ns, process.system_ns) = (50_000_000, 0);
        for worker in &mut crowd.workers {
            (worker.busy_ns, worker.user_ns, worker.system_ns) = (5_000_000, 5_000_000, 0);
        }
        assert_eq!(on_run(&crowd).unwrap().cause, OTHERS_ALONE);
        // It may be the server's own backend: what to do is no order to stop it.
        assert!(finding.cause.contains("a backend"), "{}", finding.cause);
        assert!(finding.fix.contains("does not belong to the server"), "{}", finding.fix);
        // Others beside us whom we did not have to wait for.
        sample::threads(&mut run)[0].waited_ns = 0;
        assert_eq!(on_run(&run), None);
    }

    /// As of a server with a thread for each connection: one of them worked most, and another waited.
    #[test]
    fn the_wait_is_that_of_the_thread_that_waited_longest() {
        let mut run = sample::with_shares(0.5, 0.4);
        sample::processors(&mut run).user_ns += 9_000_000_000;
        sample::processors(&mut run).idle_ns -= 9_000_000_000;
        let threads = sample::threads(&mut run);
        threads[0].waited_ns = 0;
        let mut other = threads[0].clone();
        (other.cpu_ns, other.waited_ns) = (1_000_000_000, 3_000_000_000);
        threads.extend([other.clone(), other]);
        let finding = on_run(&run).unwrap();
        assert!(finding.evidence.contains("spent 30 % of the time waiting for one; all threads"));
        assert!(finding.evidence.contains("together waited 6.00 s."), "{}", finding.evidence);
    }

    /// Eight CPUs, of which both sides may use one; others use two.
    fn pinned(server: f64, client: f64) -> Run {
        let mut run = sample::with_shares(server, client);
        sample::threads(&mut run)[0].waited_ns = 4_500_000_000;
        let monitor = sample::monitor(&mut run);
        monitor.environment.cpus_online = Some(8);
        monitor.target.processes[0].cpus_allowed = vec![0];
        monitor.client.as_mut().unwrap().cpus_allowed = vec![0];
        let ours_ns = ((server + client) * 1e10) as u64;
        sample::processors(&mut run).user_ns = ours_ns + 20_000_000_000;
        sample::processors(&mut run).idle_ns = 60_000_000_000 - ours_ns;
        run
    }

    #[test]
    fn a_side_waits_for_others_only_on_the_cpus_it_may_use() {
        let mut run = pinned(0.2, 0.2);
        sample::monitor(&mut run).target.processes[0].cpus_allowed = vec![1];
        sample::threads(&mut run)[0].waited_ns = 0;
        assert_eq!(on_run(&run), None);
        // Two threads of the server fill its CPU, and wait for each other.
        let threads = sample::threads(&mut run);
        threads[0].cpu_ns = 4_800_000_000;
        threads[0].waited_ns = 5_000_000_000;
        let other = threads[0].clone();
        threads.push(other);
        let process = &mut sample::monitor(&mut run).target.processes[0];
        (process.user_ns, process.system_ns) = (9_600_000_000, 0);
        assert_eq!(on_run(&run), None);
        // A half of it was left to others.
        let process = &mut sample::monitor(&mut run).target.processes[0];
        process.user_ns = 5_000_000_000;
        assert_eq!(on_run(&run).unwrap().severity, Severity::Suspect);
    }

    #[test]
    fn who_runs_on_other_cpus_is_not_waited_for() {
        // All of the one CPU was client and server: they waited for each other.
        let full = on_run(&pinned(0.5, 0.49)).unwrap();
        assert_eq!(full.severity, Severity::Note);
        // Their use was seen, and no wait.
        assert!(!full.cause.contains("and wait for each other"), "{full:?}");
        assert!(full.evidence.contains("that the two may use (0)"), "{full:?}");
        // A part of it may have been others, and two threads share it.
        let shared = on_run(&pinned(0.35, 0.3)).unwrap();
        assert_eq!((shared.severity, shared.cause.as_ref()), (Severity::Suspect, BOTH));
        assert!(
            shared
                .evidence
                .contains("a thread of the client or server, which may use 1.00 of these,"),
            "{shared:?}"
        );
    }
}
