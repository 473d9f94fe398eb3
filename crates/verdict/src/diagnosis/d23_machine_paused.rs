//! D23: a thread that only slept woke up late: the machine was paused, the process was stopped, or
//! others had the processors.

use ablaze_model::Run;
use ablaze_model::monitor::Heartbeat;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::{D23, D58};
use crate::finding::{Finding, Severity};
use crate::live::figures::{machine, monitor};
use crate::live::quota;
use crate::words::{amount, counted, percent, time};

/// A smaller share of the run is a note.
const LITTLE: f64 = 0.01;
/// A smaller share of a processor's time that a hypervisor took is not worth a word.
const STOLEN: f64 = 0.02;
/// One from which the figures are doubtful.
const MUCH_STOLEN: f64 = 0.1;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D23,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[D58],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), ..Forms::NONE },
};

fn on_run(run: &Run) -> Option<Finding> {
    let monitor = monitor(run)?;
    let quiet = Heartbeat::default();
    let heartbeat = monitor.heartbeat.as_ref().unwrap_or(&quiet);
    let paused = heartbeat.gaps_ns as f64 / run.elapsed_ns.max(1) as f64;
    let stolen = machine(run).map_or(0.0, |machine| machine.stolen / machine.processors);
    let suspended_ns = monitor.kernel.suspended_ns.unwrap_or(0);
    if heartbeat.gaps == 0 && stolen < STOLEN && suspended_ns == 0 {
        return None;
    }
    let mut evidence = Vec::new();
    if let Some(longest) = heartbeat.longest.iter().max_by_key(|gap| gap.length_ns) {
        let total = time(heartbeat.gaps_ns as f64 / 1e6);
        let late = match heartbeat.gaps {
            1 => format!("once, by {total}"),
            many => format!(
                "{}, by {total} in total, at most {}",
                counted(many, "time"),
                time(longest.length_ns as f64 / 1e6)
            ),
        };
        evidence.push(format!(
            "A thread that only sleeps woke up late {late}: {} of the run.",
            percent(paused)
        ));
    }
    if stolen >= STOLEN {
        evidence
            .push(format!("The hypervisor gave {} of the CPU time to others.", percent(stolen)));
    }
    if suspended_ns > 0 {
        evidence.push(format!(
            "The machine was suspended for {} s.",
            amount(suspended_ns as f64 / 1e9)
        ));
    }
    let grave = paused >= LITTLE || stolen >= MUCH_STOLEN || suspended_ns > 0;
    // This thread is in the same control group as the client.
    let by_quota = quota::explains(quota::of_client(run), heartbeat.gaps_ns as f64) && paused > 0.0;
    let (cause, fix) = match suspended_ns {
        1.. => SUSPENDED,
        0 if by_quota => QUOTA,
        // What makes it grave; and a thread that was late without waiting for a task of this machine waited for the CPU itself.
        0 if stolen >= STOLEN && paused < LITTLE => STOLEN_BY_OTHERS,
        0 if stolen >= STOLEN && !waited(heartbeat) && others_ran(run, heartbeat) => {
            STOLEN_BY_OTHERS
        }
        0 if stolen >= STOLEN && !waited(heartbeat) => STOLEN_OR_STOPPED,
        0 if waited(heartbeat) => OTHER_TASKS,
        0 if others_ran(run, heartbeat) => THIS_THREAD,
        0 => NOTHING_RAN,
    };
    let severity = if grave { Severity::Suspect } else { Severity::Note };
    let finding = Finding::new(D23, severity, evidence.join(" "), cause, fix);
    let only = by_quota && suspended_ns == 0 && stolen < STOLEN;
    Some(if only { finding } else { finding.not_explained_by(D58) })
}

fn seen(run: &Run) -> Option<String> {
    let beats = monitor(run)?.heartbeat.as_ref().filter(|heartbeat| heartbeat.beats > 0)?.beats;
    let stolen = machine(run).map_or(String::new(), |machine| {
        let share = machine.stolen / machine.processors;
        format!("; a hypervisor took {} of the CPU time", percent(share))
    });
    Some(format!(
        "A thread that only sleeps woke up {}, never 20 ms late or more{stolen}.",
        counted(beats, "time")
    ))
}

/// No thread woke up late, and yet a part of the CPU time was missing.
const STOLEN_BY_OTHERS: (&str, &str) = (
    "This is a virtual machine whose CPUs others use too: with all of its CPU time client and server could have \
     done more.",
    "Measure when the host is quiet, or on a machine whose CPUs are not shared.",
);

/// Threads stood still meanwhile, for whatever reason.
const STOLEN_OR_STOPPED: (&str, &str) = (
    "This is a virtual machine whose CPUs others use too. Whether it was they for whom this thread was late does not show: nothing \
     on this machine ran meanwhile, or only this process was stopped (SIGSTOP, a debugger, a frozen container).",
    "Measure again when the host is quiet, or on a machine whose CPUs are not shared.",
);

const SUSPENDED: (&str, &str) = (
    "The machine slept meanwhile: nothing ran on it, and the clocks of its peers went on.",
    "Keep the machine awake (`systemd-inhibit`), and measure again.",
);

const QUOTA: (&str, &str) = (
    "The CPU quota of the client's control group stopped its threads meanwhile, this one too.",
    "Measure without a CPU limit on the client, or with one that it does not reach.",
);

const OTHER_TASKS: (&str, &str) = (
    "Other tasks occupied the CPUs meanwhile, so the client and the server may have waited for \
     them too.",
    "Use `top` to see what else is running on this machine, stop it, and measure again.",
);

const NOTHING_RAN: (&str, &str) = (
    "Nothing on this machine ran meanwhile, or only this process was stopped (SIGSTOP, a \
     debugger, a frozen container).",
    "Measure again; if it happens again, ask the operator of the virtual machine, or measure on \
     your own hardware.",
);

const THIS_THREAD: (&str, &str) = (
    "The client went on meanwhile, as requests finished in every 100 ms: one CPU stood still, not the whole machine.",
    "Measure again; if it happens again, ask the operator of the virtual machine, or measure on \
     your own hardware.",
);

/// Whether the thread could have run while it was late, by the scheduler's account of it.
fn waited(heartbeat: &Heartbeat) -> bool {
    heartbeat.gaps_waited_ns.unwrap_or(0) * 2 > heartbeat.gaps_ns
}

/// Whether the workers handled responses while this thread was late: it was late for so long that a slice of the Run lies
/// within, and none is empty.
fn others_ran(run: &Run, heartbeat: &Heartbeat) -> bool {
    let slices = &run.record.slices;
    let longest_ns = heartbeat.longest.iter().map(|gap| gap.length_ns).max().unwrap_or(0);
    let mut finished = slices.slices.iter().map(|slice| slice.responses + slice.failures);
    slices.slice_ns > 0 && longest_ns >= 2 * slices.slice_ns && finished.all(|count| count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;
    use ablaze_model::monitor::Gap;

    fn with_gap(length_ms: u64, waited_ms: u64) -> Run {
        let mut run = sample::run();
        let (length_ns, waited_ns) = (length_ms * 1_000_000, Some(waited_ms * 1_000_000));
        sample::monitor(&mut run).heartbeat = Some(Heartbeat {
            beats: 9000,
            gaps: 1,
            gaps_ns: length_ns,
            gaps_waited_ns: waited_ns,
            longest: vec![Gap { at_clock_ns: 5, length_ns, waited_ns }],
        });
        run
    }

    #[test]
    fn a_pause_is_told_from_a_full_machine() {
        assert_eq!(on_run(&sample::run()), None);
        let mut stood_still = with_gap(1000, 3);
        stood_still.record.slices.slices[40..49].fill(Default::default());
        let finding = on_run(&stood_still).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.contains("late once, by 1.00 s: 10 %"), "{finding:?}");
        assert!(finding.cause.starts_with("Nothing on this machine ran"), "{finding:?}");
        assert!(on_run(&with_gap(1000, 990)).unwrap().cause.starts_with("Other tasks"));
        assert_eq!(on_run(&with_gap(50, 0)).unwrap().severity, Severity::Note);
    }

    #[test]
    fn a_client_that_went_on_did_not_stand_still() {
        let cause = on_run(&with_gap(1000, 3)).unwrap().cause;
        assert!(cause.starts_with("The client went on"), "{cause}");
        // No slice lies within so short a time.
        assert!(on_run(&with_gap(150, 0)).unwrap().cause.starts_with("Nothing on this machine"));
        let mut run = with_gap(1000, 3);
        sample::processors(&mut run).steal_ns = 5_000_000_000;
        let cause = on_run(&run).unwrap().cause;
        assert!(cause.contains("virtual machine") && !cause.contains("SIGSTOP"), "{cause}");
        // A process that was stopped finishes nothing meanwhile, nor does one without a CPU.
        run.record.slices.slices[40..49].fill(Default::default());
        let cause = on_run(&run).unwrap().cause;
        assert!(cause.contains("does not show") && cause.contains("SIGSTOP"), "{cause}");
    }

    #[test]
    fn stolen_time_is_no_gap_and_counts_too() {
        let mut run = sample::run();
        let times = sample::processors(&mut run);
        times.steal_ns = 5_000_000_000;
        let finding = on_run(&run).unwrap();
        assert!(finding.evidence.starts_with("The hypervisor gave"), "{finding:?}");
        assert_eq!(finding.severity, Severity::Suspect);
        // Nothing stood still.
        assert!(
            !finding.cause.contains("SIGSTOP") && !finding.cause.contains("meanwhile"),
            "{finding:?}"
        );
        sample::monitor(&mut run).kernel.suspended_ns = Some(3_000_000_000);
        assert!(on_run(&run).unwrap().cause.starts_with("The machine slept"));
    }
}
