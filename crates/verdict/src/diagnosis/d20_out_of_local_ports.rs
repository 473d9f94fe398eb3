//! D20: this machine had no local port for a connection.

use ablaze_model::{FailureKind, Run};

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::{D03, D20};
use crate::finding::{Finding, Severity};
use crate::live::UnderWay;
use crate::live::figures::monitor;
use crate::live::options::{Opt, spelled};
use crate::printed::{Abort, Reason};
use crate::rules::aborted::evidence;
use crate::words::{grouped, percent};

/// From this share of the requests on the number is that of the shortage.
const MOST: f64 = 0.5;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D20,
    shown_by: ShownBy::Text,
    severities: &[Severity::Suspect, Severity::Invalid],
    explained_by: &[D03],
    forms: Forms {
        run: Some(OnRun { check: on_run, seen }),
        while_it_runs: Some(while_it_runs),
        abort: Some(on_abort),
        ..Forms::NONE
    },
};

fn on_run(run: &Run) -> Option<Finding> {
    let failed = run.record.failures_of(FailureKind::LocalPorts);
    if failed == 0 {
        return None;
    }
    let share = failed as f64 / run.record.finished() as f64;
    let ports = ports(run).map(|range| format!(" The kernel assigns ports {range}."));
    let waiting = monitor(run).and_then(|monitor| monitor.kernel.time_wait).map(|sockets| {
        format!(" {} sockets were in TIME_WAIT at the end.", grouped(sockets.after))
    });
    let more = [ports, waiting].into_iter().flatten().collect::<String>();
    let severity = if share >= MOST { Severity::Invalid } else { Severity::Suspect };
    Some(Finding::new(
        D20,
        severity,
        format!(
            "{} connections failed because this machine had no local port left: {} of all requests.{more}",
            grouped(failed),
            percent(share)
        ),
        "Each connection needs a local port, and the side that closes first keeps it for 60 s \
         (TIME_WAIT).",
        format!(
            "Reuse connections (without {}), or connect from more addresses with {}, such as \
             127.0.0.0/24 to reach this host.",
            spelled(run, Opt::NoKeepAlive),
            spelled(run, Opt::LocalAddress)
        ),
    ))
}

/// One is enough for the finding.
fn while_it_runs(run: &UnderWay<'_>) -> Option<String> {
    let so_far = run.so_far;
    let failed = so_far.failures[FailureKind::LocalPorts as usize];
    (failed > 0).then(|| {
        format!(
            "{} connections failed because this machine had no local port left",
            grouped(failed)
        )
    })
}

fn seen(run: &Run) -> Option<String> {
    let ports = ports(run).map_or(String::new(), |range| format!("; the kernel assigns {range}"));
    Some(format!("No connection failed because local ports ran out{ports}."))
}

/// The ports that the kernel gives out: `32768 to 60999`.
fn ports(run: &Run) -> Option<String> {
    let range = monitor(run)?.environment.settings.get("net.ipv4.ip_local_port_range")?;
    Some(range.split_whitespace().collect::<Vec<_>>().join(" to "))
}

/// A run of ab that ended with this, and without a report.
fn on_abort(abort: &Abort) -> Option<Finding> {
    (abort.reason == Reason::NoPort).then(|| {
        Finding::new(
            D20,
            Severity::Invalid,
            evidence(abort),
            "Each connection takes a local port, which stays in use for 60 s after the client \
             closes first; there are about 28,000.",
            "Reuse connections (-k), wait a minute between runs, or widen \
             net.ipv4.ip_local_port_range.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn one_is_a_doubt_and_half_is_another_experiment() {
        let mut run = sample::run();
        assert_eq!(on_run(&run), None);
        let with = |run: &mut Run, number| {
            run.record.failures[FailureKind::LocalPorts as usize] = number;
            on_run(run).map(|finding| finding.severity)
        };
        assert_eq!(with(&mut run, 1), Some(Severity::Suspect));
        assert_eq!(with(&mut run, 20_000), Some(Severity::Invalid));
        assert!(on_run(&run).unwrap().evidence.contains("32768 to 60999"));
    }
}
