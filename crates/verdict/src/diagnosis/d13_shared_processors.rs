//! D13: client and server, or others, had no processor left between them.

use ablaze_model::Run;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D13;
use crate::finding::{Finding, Severity};
use crate::limit::{self, Limit};
use crate::live::figures::{client, machine, server};
use crate::live::quota;
use crate::words::{amount, percent};

/// Other processes took this share of the machine: its figures are not those of client and server.
const OTHERS: f64 = 0.2;
/// A thread of ours waited for a processor for this share of the time.
const WAITED: f64 = 0.1;

/// Whoever waited for this share of the time was starved, however little of the machine others took: they
/// had the very processor that it may use.
const STARVED: f64 = 0.5;
/// Below this share of the machine it was not others.
const ANYBODY: f64 = 0.05;

const OTHERS_ALONE: &str =
    "Something else ran on this machine and took CPU time away from the run.";
const BOTH: &str = "Something else ran on this machine. Client and server had more threads at work than there are CPUs, \
                    and these wait for each other, too: how much of the waiting was for others does not show.";

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D13,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), ..Forms::NONE },
};

fn on_run(run: &Run) -> Option<Finding> {
    let machine = machine(run)?;
    let waited = waited(run);
    let share = machine.others / machine.processors;
    let disturbed = share >= OTHERS && waited >= WAITED || share >= ANYBODY && waited >= STARVED;
    // Whom a quota stops waits for a CPU, too, by the scheduler's account.
    let waited_ns = waited * run.elapsed_ns as f64;
    let by_quota = [quota::of_client(run), quota::of_server(run)]
        .into_iter()
        .any(|throttled| quota::explains(throttled, waited_ns));
    let disturbed = disturbed && !by_quota;
    if disturbed {
        let evidence = format!(
            "Other processes used {} of {} CPUs, and a thread of the client or server spent {} of \
             the time waiting for one.",
            amount(machine.others),
            amount(machine.processors),
            percent(waited)
        );
        return Some(Finding::new(
            D13,
            Severity::Suspect,
            evidence,
            if are_enough_themselves(run, machine.processors) { BOTH } else { OTHERS_ALONE },
            "Use `top` to see what else is running, stop it, and measure again.",
        ));
    }
    let limited = limit::of(run);
    (limited.by == Limit::SharedCpu).then(|| {
        Finding::new(
            D13,
            Severity::Note,
            format!("The CPUs were fully used: {}.", limited.evidence),
            "Client and server run on the same CPUs and wait for each other: with more of them \
             the server would do more.",
            "Use two machines, or a machine with more CPUs, to measure the server's capacity.",
        )
    })
}

/// Whether the threads of client and server had to wait for each other: more of them worked than there are processors.
fn are_enough_themselves(run: &Run, processors: f64) -> bool {
    let sides = [server(run), client(run)].into_iter().flatten();
    sides.map(|busy| busy.threads).sum::<usize>() as f64 > processors
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
    sides.map(|busy| busy.wanting - busy.busiest).fold(0.0, f64::max)
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
        // Others beside us whom we did not have to wait for.
        sample::threads(&mut run)[0].waited_ns = 0;
        assert_eq!(on_run(&run), None);
    }
}
