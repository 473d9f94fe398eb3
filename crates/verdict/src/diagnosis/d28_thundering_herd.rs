//! D28: several threads wake up for one new connection, and all but one in vain.

use ablaze_model::Run;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D28;
use crate::finding::{Finding, Severity};
use crate::live::figures::target;
use crate::words::{amount, grouped};

/// Connections that serve more requests than this make their opening cheap.
const REQUESTS_PER_CONNECTION: f64 = 2.0;
/// Fewer connections than these say nothing.
const FEWEST: u64 = 1000;
/// This share of those that the kernel wakes did wake up: a busy thread need not be woken.
const WOKE: f64 = 0.5;
/// One thread that serves a connection alone may wait this often: to accept it and to read from it.
const ALONE: f64 = 2.0;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D28,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), ..Forms::NONE },
};

fn on_run(run: &Run) -> Option<Finding> {
    let (woken, waits) = figures(run)?;
    if woken < 2 || waits < (WOKE * woken as f64).max(ALONE) {
        return None;
    }
    Some(Finding::new(
        D28,
        Severity::Note,
        format!(
            "{woken} epoll descriptors wait for the same listener without EPOLLEXCLUSIVE, and the server's \
             threads went to sleep {} times per connection, over {} connections.",
            amount(waits),
            grouped(run.record.connections_opened)
        ),
        "If each is an epoll instance of its own, and not one that processes inherited from their parent, a new connection wakes all \
         that are asleep then; one of them gets it, and the others woke up in vain. How many were asleep does not show: a thread that waits for a lock, a disk or a backend goes to sleep as well.",
        "Wait for the listener with EPOLLEXCLUSIVE, or give each thread a listener of its own \
         (SO_REUSEPORT); with `ablaze serve`: --accept exclusive or reuseport.",
    ))
}

fn seen(run: &Run) -> Option<String> {
    let (woken, waits) = figures(run)?;
    Some(format!(
        "{} for the listener; the server's threads went to sleep {} times per connection.",
        if woken == 1 {
            "1 epoll descriptor waits".to_owned()
        } else {
            format!("{woken} epoll descriptors wait")
        },
        amount(waits)
    ))
}

/// How many are woken together for a connection, and how often the server's threads went to sleep
/// per connection; `None` where connections are kept.
fn figures(run: &Run) -> Option<(u64, f64)> {
    let target = target(run)?;
    let opened = run.record.connections_opened;
    let few_requests = run.record.responses as f64 <= REQUESTS_PER_CONNECTION * opened as f64;
    if opened < FEWEST || !few_requests {
        return None;
    }
    let woken = target.woken_per_connection?;
    let sleeps = target.processes.iter().filter_map(|process| process.switches);
    let sleeps = sleeps.map(|switches| switches.voluntary).reduce(|sum, one| sum + one)?;
    Some((woken, sleeps as f64 / opened as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;
    use ablaze_model::monitor::Switches;

    fn with(woken: Option<u64>, sleeps_per_connection: f64) -> Run {
        let mut run = sample::run();
        run.record.connections_opened = 20_000;
        let target = &mut sample::monitor(&mut run).target;
        target.woken_per_connection = woken;
        target.processes[0].switches =
            Some(Switches { voluntary: (sleeps_per_connection * 20_000.0) as u64, involuntary: 0 });
        run
    }

    #[test]
    fn a_herd_is_woken_and_goes_back_to_sleep() {
        let finding = on_run(&with(Some(4), 3.8)).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        assert!(finding.evidence.contains("3.80 times per connection, over 20,000"));
        // A handler that blocks sleeps as often.
        assert!(finding.cause.contains("does not show"), "{finding:?}");
        // Processes that inherited one instance have as many descriptors of it.
        assert!(finding.cause.contains("inherited from their parent"), "{finding:?}");
        assert_eq!(on_run(&with(Some(4), 0.3)), None, "they never slept");
        assert_eq!(on_run(&with(Some(2), 1.5)), None, "once to accept, once to read");
        assert_eq!(on_run(&with(Some(1), 6.0)), None, "it waits for something else");
        assert_eq!(on_run(&with(None, 6.0)), None);
    }

    #[test]
    fn kept_connections_wake_nobody() {
        let mut run = with(Some(4), 4.0);
        assert!(seen(&run).unwrap().starts_with("4 epoll descriptors"));
        run.record.responses = 200_000;
        assert_eq!((on_run(&run), seen(&run)), (None, None));
    }
}
