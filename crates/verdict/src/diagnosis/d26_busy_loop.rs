//! D26: the server uses CPU time while it has no requests. A server that was busy is
//! looked at once more when the load is over and the connections still stand. Not to be seen: a
//! server elsewhere, one that spins for less than most of a core, and one whose responses take longer
//! than it is given to finish them.

use ablaze_model::Run;
use ablaze_model::monitor::{AtRest, Process};

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D26;
use crate::finding::{Finding, Severity};
use crate::limit::{self, Limit};
use crate::live::figures::{of_a_core, server, target};
use crate::words::{counted, time};

/// A thread at rest that uses this share of a core does not rest.
const BUSY: f64 = 0.5;

/// A server gets this multiple of its slowest responses' time to become idle.
const TIMES: u64 = 10;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D26,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), ..Forms::NONE },
};

fn on_run(run: &Run) -> Option<Finding> {
    let (process, at_rest) =
        without_load(run).filter(|(_, at_rest)| at_rest.busiest_share > BUSY)?;
    // Whoever looks at the CPU time alone takes it for the limit.
    let misled = server(run).is_some_and(|server| server.busiest >= limit::SERVER_FULL)
        || limit::of(run).by == Limit::SharedCpu;
    Some(Finding::new(
        D26,
        if misled { Severity::Suspect } else { Severity::Note },
        format!(
            "{} after the load had ended, with its connections still open, {} of {}, process {}, used \
             {} for {}.",
            ms(at_rest.settled_ns),
            counted(at_rest.busy_threads.max(1), "thread"),
            process.name,
            process.pid,
            of_a_core(at_rest.busiest_share),
            ms(at_rest.watched_ns)
        ),
        "Either the server polls for events without waiting, or an event is never cleared, such as an EPOLLOUT that stays armed: \
         its CPU time then says nothing about its load. Or it worked on something else: a task of its own, or what the responses \
         left behind, such as a queue, a log or a garbage collection.",
        "See with `top` whether it is still busy some seconds after a load: what is left behind ends, a loop does not. In a loop \
         `strace -c -f -p` with its process number shows what it calls; make it wait.",
    ))
}

fn seen(run: &Run) -> Option<String> {
    let (process, at_rest) = without_load(run)?;
    Some(format!(
        "{} after the load had ended, the busiest thread of {} used {}.",
        ms(at_rest.settled_ns),
        process.name,
        of_a_core(at_rest.busiest_share)
    ))
}

/// What the server's busiest thread used of a core without a load, if that does not rest: its CPU time during the run then
/// says nothing about what it could have served.
pub(crate) fn restless(run: &Run) -> Option<f64> {
    let (_, at_rest) = without_load(run)?;
    Some(at_rest.busiest_share).filter(|share| *share > BUSY)
}

/// The process of the server that was busiest without a load, where all had been answered by then.
fn without_load(run: &Run) -> Option<(&Process, AtRest)> {
    let looked = target(run)?.processes.iter();
    looked
        .filter_map(|process| Some((process, process.serving.as_ref()?.at_rest?)))
        .max_by(|a, b| a.1.busiest_share.total_cmp(&b.1.busiest_share))
        .filter(|(_, at_rest)| could_finish(run, *at_rest))
}

/// Whether the last requests were surely answered before the look: there were none left, or those in
/// flight at the end take no longer than the others, and even ten times that would have been enough.
/// Nobody reads long responses to their end any more, and the server tries to get rid of them.
fn could_finish(run: &Run, at_rest: AtRest) -> bool {
    if run.record.unfinished == 0 && run.record.failures_total() == 0 {
        return true;
    }
    let slowest = run.record.answered.total.quantile_ns(0.99);
    slowest.is_some_and(|slowest_ns| slowest_ns.saturating_mul(TIMES) < at_rest.settled_ns)
}

fn ms(ns: u64) -> String {
    time(ns as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    fn rested(run: &mut Run, busiest_share: f64) {
        sample::serving(run).at_rest = Some(AtRest {
            settled_ns: 15_000_000,
            watched_ns: 35_000_000,
            busiest_share,
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
            "15.0 ms after the load had ended, the busiest thread of nginx used 2 % of a core."
        );
        rested(&mut run, 0.97);
        let finding = on_run(&run).unwrap();
        assert_eq!(finding.severity, Severity::Suspect, "the server's limit rests on it");
        let said = "1 thread of nginx, process 4711, used 97 % of a core for 35.0 ms";
        assert!(finding.evidence.contains(said), "{}", finding.evidence);
        let limited = limit::of(&run);
        assert_eq!(limited.by, Limit::Unknown, "it would have been as busy without a request");
        assert!(
            limited.evidence.contains("at 97 % of a core without a load"),
            "{}",
            limited.evidence
        );
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
