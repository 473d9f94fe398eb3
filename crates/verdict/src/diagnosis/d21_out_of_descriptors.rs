//! D21: the client, or the server, could open no more descriptors.

use ablaze_model::monitor::Process;
use ablaze_model::{FailureKind, Run};

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D21;
use crate::finding::{Finding, Severity};
use crate::live::UnderWay;
use crate::live::figures::{monitor, target};
use crate::printed::{Abort, Reason};
use crate::rules::aborted::evidence;
use crate::words::{grouped, percent};

/// From this share of the requests on the number is that of the shortage.
const MOST: f64 = 0.5;
/// A server at its limit may close one or two again to get rid of what it cannot serve.
const SPARE: u64 = 2;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D21,
    shown_by: ShownBy::Text,
    severities: &[Severity::Suspect, Severity::Invalid],
    explained_by: &[],
    forms: Forms {
        run: Some(OnRun { check: on_run, seen }),
        while_it_runs: Some(while_it_runs),
        abort: Some(on_abort),
        ..Forms::NONE
    },
};

fn on_run(run: &Run) -> Option<Finding> {
    of_the_client(run).or_else(|| of_the_server(run))
}

fn of_the_client(run: &Run) -> Option<Finding> {
    let failed = run.record.failures_of(FailureKind::LocalDescriptors);
    if failed == 0 {
        return None;
    }
    let share = failed as f64 / run.record.finished() as f64;
    let limit = monitor(run).and_then(|monitor| monitor.environment.descriptors.soft);
    let more = limit.map_or(String::new(), |limit| {
        format!(" The limit was {} when the run started.", grouped(limit))
    });
    let severity = if share >= MOST { Severity::Invalid } else { Severity::Suspect };
    Some(Finding::new(
        D21,
        severity,
        format!(
            "{} connections failed because no descriptor was left: {} of all requests.{more}",
            grouped(failed),
            percent(share)
        ),
        "Each connection needs a file descriptor, and the limit on them is too low.",
        "Raise the limit in the shell before the run (`ulimit -n`), or use fewer connections.",
    ))
}

/// One of the client's is enough for the finding.
fn while_it_runs(run: &UnderWay<'_>) -> Option<String> {
    let so_far = run.so_far;
    let failed = so_far.failures[FailureKind::LocalDescriptors as usize];
    (failed > 0)
        .then(|| format!("{} connections failed because no descriptor was left", grouped(failed)))
}

fn of_the_server(run: &Run) -> Option<Finding> {
    let (process, open, limit) = fullest(run)?;
    (open + SPARE >= limit).then(|| {
        Finding::new(
            D21,
            Severity::Suspect,
            format!(
                "The server, {}, process {}, had {} descriptors open, and its limit is {}.",
                process.name,
                process.pid,
                grouped(open),
                grouped(limit)
            ),
            "The server cannot accept another connection: the others wait in its queue until one \
             closes.",
            "Raise the limit where the server is started (`ulimit -n`, LimitNOFILE= of systemd, \
             worker_rlimit_nofile of nginx), or lower -c.",
        )
    })
}

fn seen(run: &Run) -> Option<String> {
    let limit = monitor(run).and_then(|monitor| monitor.environment.descriptors.soft);
    let limit = limit.map_or(String::new(), |limit| {
        format!("; the limit was {} when the run started", grouped(limit))
    });
    let server = fullest(run).map_or(String::new(), |(process, open, limit)| {
        format!(
            "; {} had at most {} open, and its limit is {}",
            process.name,
            grouped(open),
            grouped(limit)
        )
    });
    Some(format!("No connection failed because descriptors ran out{limit}{server}."))
}

/// The process of the server with the fewest descriptors left, how many it had open at most, and
/// its limit.
fn fullest(run: &Run) -> Option<(&Process, u64, u64)> {
    let processes = target(run)?.processes.iter();
    let known = processes.filter_map(|process| {
        let limit = process.serving.as_ref()?.descriptor_limit?;
        Some((process, process.descriptors?.max, limit))
    });
    known.min_by_key(|(_, open, limit)| limit.saturating_sub(*open))
}

/// A run of ab that ended with this, and without a report.
fn on_abort(abort: &Abort) -> Option<Finding> {
    if abort.reason != Reason::NoDescriptor {
        return None;
    }
    let fix = match abort.command.as_ref().map(|command| command.concurrency.1) {
        Some(asked) => format!(
            "Run `ulimit -n {}` in the same shell first, or use fewer connections.",
            asked + 64
        ),
        None => "Raise the limit with `ulimit -n` in the same shell first, or use fewer \
                 connections."
            .to_owned(),
    };
    Some(Finding::new(
        D21,
        Severity::Invalid,
        evidence(abort),
        "Each connection takes a file descriptor, and this process may not open more.",
        fix,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;
    use ablaze_model::monitor::Range;

    #[test]
    fn one_is_a_doubt_and_half_is_another_experiment() {
        let mut run = sample::run();
        assert_eq!(on_run(&run), None);
        let with = |run: &mut Run, number| {
            run.record.failures[FailureKind::LocalDescriptors as usize] = number;
            on_run(run).map(|finding| finding.severity)
        };
        assert_eq!(with(&mut run, 1), Some(Severity::Suspect));
        assert_eq!(with(&mut run, 20_000), Some(Severity::Invalid));
        assert!(on_run(&run).unwrap().evidence.contains("The limit was 1,024"));
    }

    #[test]
    fn the_server_may_have_none_left() {
        let mut run = sample::run();
        assert!(seen(&run).unwrap().ends_with("the limit was 1,024 when the run started."));
        let with = |run: &mut Run, max| {
            sample::monitor(run).target.processes[0].descriptors =
                Some(Range { min: 9, max, last: 9 });
            on_run(run)
        };
        assert_eq!(with(&mut run, 1000), None);
        assert!(
            seen(&run)
                .unwrap()
                .ends_with("; nginx had at most 1,000 open, and its limit is 1,024.")
        );
        let finding = with(&mut run, 1023).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.contains("had 1,023 descriptors open, and its limit is 1,024"));
        sample::serving(&mut run).descriptor_limit = None;
        assert_eq!(on_run(&run), None);
    }
}
