//! D21: the client, or the server, could open no more descriptors.

mod printed;

use ablaze_model::monitor::Process;
use ablaze_model::{FailureKind, Run};

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D21;
use crate::finding::{Finding, Severity};
use crate::live::UnderWay;
use crate::live::figures::{monitor, target};
use crate::live::options::{Opt, spelled};
use crate::words::{counted, grouped, percent};

/// From this share of the requests on the number is that of the shortage.
const MOST: f64 = 0.5;
/// A server at its limit may close one or two again to get rid of what it cannot serve.
const SPARE: u64 = 2;

/// Why the machine had no open file left, and the beginning of the fix.
const FILES: (&str, &str) = (
    "Each connection is an open file, and all processes of the machine together may have no more of them (fs.file-max).",
    "Raise that limit (`sysctl fs.file-max`), end what has the others open (`lsof`)",
);

/// Errnos of Linux.
const ENOMEM: i32 = 12;
const ENFILE: i32 = 23;
const EMFILE: i32 = 24;
const ENOBUFS: i32 = 105;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D21,
    shown_by: ShownBy::Text,
    severities: &[Severity::Suspect, Severity::Invalid],
    explained_by: &[],
    forms: Forms {
        run: Some(OnRun { check: on_run, seen }),
        while_it_runs: Some(while_it_runs),
        report: Some(printed::on_report),
        abort: Some(printed::on_abort),
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
    let missing = Missing::of(run);
    let limit = own_limit(run).filter(|_| missing.can_be_the_limit());
    let more = limit.map_or(String::new(), |limit| {
        format!(" The limit was {} when the run started.", grouped(limit))
    });
    let severity = if share >= MOST { Severity::Invalid } else { Severity::Suspect };
    let evidence = format!(
        "{} failed because {}: {} of all requests.{more}",
        counted(failed, "connection"),
        missing.what(),
        percent(share)
    );
    let (cause, more) = missing.in_words(run);
    let fix = format!("{more}, or use fewer connections ({}).", spelled(run, Opt::Connections));
    Some(Finding::new(D21, severity, evidence, cause, fix))
}

/// What a connection needs, and the first that failed for it did not get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    /// A descriptor of this process (EMFILE).
    Descriptor,
    /// An open file of the whole machine (ENFILE).
    File,
    /// Memory of the kernel (ENOMEM, ENOBUFS).
    Memory,
    /// One of these.
    Unknown,
}

impl Missing {
    /// By the errno of the first failure, if that was one of these.
    fn of(run: &Run) -> Self {
        let first = run.record.first_failure;
        match first.filter(|first| first.kind == FailureKind::LocalDescriptors) {
            Some(first) => match first.errno {
                EMFILE => Self::Descriptor,
                ENFILE => Self::File,
                ENOMEM | ENOBUFS => Self::Memory,
                _ => Self::Unknown,
            },
            None => Self::Unknown,
        }
    }

    /// Whether the limit on the process's descriptors can be the reason.
    fn can_be_the_limit(self) -> bool {
        matches!(self, Self::Descriptor | Self::Unknown)
    }

    fn what(self) -> &'static str {
        match self {
            Self::Descriptor => "no descriptor was left",
            Self::File => "the machine had no open file left (ENFILE)",
            Self::Memory => "the kernel had no memory left (ENOMEM or ENOBUFS)",
            Self::Unknown => "no descriptor was left, or no memory for one",
        }
    }

    /// The cause, and the beginning of the fix.
    fn in_words(self, run: &Run) -> (&'static str, String) {
        let shell = match run.fleet {
            Some(_) => "in the shell that starts the worker",
            None => "in the shell before the run",
        };
        match self {
            Self::Descriptor => (
                "Each connection needs a file descriptor, and the limit on them is too low.",
                format!("Raise the limit {shell} (`ulimit -n`)"),
            ),
            Self::File => (FILES.0, FILES.1.to_owned()),
            Self::Memory => (
                "The kernel has no memory left for another socket: the machine's, or what this process's control group may \
                 use.",
                "Give the machine or the control group more memory".to_owned(),
            ),
            Self::Unknown => (
                "Each connection needs a file descriptor and memory for its socket; which of them was missing is not known.",
                format!("If the limit on descriptors is low, raise it {shell} (`ulimit -n`)"),
            ),
        }
    }
}

/// How many descriptors the client may have open. Of a fleet what was watched is the target's machine, if any.
fn own_limit(run: &Run) -> Option<u64> {
    let monitor = monitor(run).filter(|_| run.fleet.is_none())?;
    monitor.environment.descriptors.soft
}

/// One of the client's is enough for the finding.
fn while_it_runs(run: &UnderWay<'_>) -> Option<String> {
    let so_far = run.so_far;
    let failed = so_far.failures[FailureKind::LocalDescriptors as usize];
    (failed > 0).then(|| {
        format!("{} failed because {}", counted(failed, "connection"), Missing::Unknown.what())
    })
}

fn of_the_server(run: &Run) -> Option<Finding> {
    let (process, open, limit) = fullest(run)?;
    // It is the proxy that connections are opened to.
    let whose = if run.plan.target.proxy.is_some() { "proxy" } else { "server" };
    (open + SPARE >= limit && may_have_missed_some(run)).then(|| {
        Finding::new(
            D21,
            Severity::Suspect,
            format!(
                "The {whose}, {}, process {}, had {} descriptors open; its limit was {} when the run started.",
                process.name,
                process.pid,
                grouped(open),
                grouped(limit)
            ),
            format!(
                "With as many open as that permits, this process accepts no other connection until one closes: others wait in the \
                 {whose}'s queue, or are closed without a response."
            ),
            format!(
                "Raise the limit where the {whose} is started (`ulimit -n`, LimitNOFILE= of systemd, \
                 worker_rlimit_nofile of nginx), or use fewer connections ({}).",
                spelled(run, Opt::Connections)
            ),
        )
    })
}

/// Whether connections waited to be accepted, or requests got no response. Else the server had enough, however few were left.
fn may_have_missed_some(run: &Run) -> bool {
    let record = &run.record;
    let listener = target(run).and_then(|target| target.listener.as_ref());
    listener.is_some_and(|listener| listener.waiting.is_none_or(|waiting| waiting > 0))
        || record.failures_total() + record.repeated > 0
        || record.silent.count + record.silent.connecting > 0
}

fn seen(run: &Run) -> Option<String> {
    let limit = own_limit(run).map_or(String::new(), |limit| {
        format!("; the limit was {} when the run started", grouped(limit))
    });
    let server = fullest(run).map_or(String::new(), |(process, open, limit)| {
        format!(
            "; {} had at most {} open, and its limit was {} when the run started",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;
    use ablaze_model::monitor::Range;
    use ablaze_model::record::FirstFailure;

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

    fn failed(run: &mut Run, kind: FailureKind, errno: i32) -> Finding {
        run.record.failures[FailureKind::LocalDescriptors as usize] = 1;
        let first = FirstFailure { at_ns: 1, kind, errno, connecting: true };
        run.record.first_failure = Some(first);
        on_run(run).unwrap()
    }

    #[test]
    fn the_limit_is_too_low_only_where_it_was_what_failed() {
        let mut run = sample::run();
        let kind = FailureKind::LocalDescriptors;
        let finding = failed(&mut run, kind, EMFILE);
        assert!(
            finding.evidence.starts_with("1 connection failed because no descriptor was left:")
        );
        assert!(finding.cause.ends_with("the limit on them is too low."), "{finding:?}");
        for (errno, cause) in [(ENFILE, "fs.file-max"), (ENOMEM, "memory"), (ENOBUFS, "memory")] {
            let finding = failed(&mut run, kind, errno);
            assert!(finding.cause.contains(cause), "{finding:?}");
            let all = [finding.evidence, finding.cause, finding.fix].join(" ");
            assert!(!all.contains("ulimit") && !all.contains("1,024"), "{all}");
        }
        // What failed first was something else.
        let finding = failed(&mut run, FailureKind::Timeout, 0);
        assert!(finding.cause.ends_with("is not known."), "{finding:?}");
    }

    #[test]
    fn of_a_fleet_the_limit_is_not_that_of_the_targets_machine() {
        let mut run = sample::run();
        run.fleet = Some(Box::new(sample::fleet(2)));
        let finding = failed(&mut run, FailureKind::LocalDescriptors, EMFILE);
        assert!(!finding.evidence.contains("The limit was"), "{finding:?}");
        assert!(finding.fix.contains("in the shell that starts the worker"), "{finding:?}");
    }

    #[test]
    fn fewer_connections_are_advised_in_the_letters_of_the_caller() {
        let mut run = sample::run();
        sample::asked(&mut run, &[]);
        set_waiting(&mut run, 5);
        sample::monitor(&mut run).target.processes[0].descriptors =
            Some(Range { min: 9, max: 1_024, last: 9 });
        for front_end in sample::FRONT_ENDS {
            run.asked.as_mut().unwrap().front_end = front_end;
            let fix = on_run(&run).unwrap().fix;
            let option = spelled(&run, Opt::Connections);
            assert!(fix.ends_with(&format!("fewer connections ({option}).")), "{fix}");
        }
        run.plan.target.proxy = Some(sample::proxy());
        let finding = on_run(&run).unwrap();
        assert!(finding.evidence.starts_with("The proxy, nginx,"), "{finding:?}");
        assert!(finding.cause.contains("wait in the proxy's queue"), "{finding:?}");
    }

    fn set_waiting(run: &mut Run, waiting: u64) {
        let listener = sample::monitor(run).target.listener.as_mut().unwrap();
        listener.waiting = Some(waiting);
    }

    #[test]
    fn the_server_may_have_none_left() {
        let mut run = sample::run();
        set_waiting(&mut run, 5);
        assert!(seen(&run).unwrap().ends_with("the limit was 1,024 when the run started."));
        let with = |run: &mut Run, max| {
            sample::monitor(run).target.processes[0].descriptors =
                Some(Range { min: 9, max, last: 9 });
            on_run(run)
        };
        assert_eq!(with(&mut run, 1000), None);
        assert!(seen(&run).unwrap().ends_with(
            "; nginx had at most 1,000 open, and its limit was 1,024 when the run started."
        ));
        let finding = with(&mut run, 1023).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.contains("had 1,023 descriptors open; its limit was 1,024"));
        // All connections were accepted and served, and none waits: it had enough.
        set_waiting(&mut run, 0);
        assert_eq!(on_run(&run), None);
        run.record.failures[FailureKind::ClosedWithoutResponse as usize] = 1;
        assert!(on_run(&run).is_some());
        sample::serving(&mut run).descriptor_limit = None;
        assert_eq!(on_run(&run), None);
    }
}
