//! D20: this machine had no local port for a connection.

mod printed;

use ablaze_model::spec::FrontEnd;
use ablaze_model::{FailureKind, Run};

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::{D03, D20};
use crate::finding::{Finding, Severity};
use crate::live::UnderWay;
use crate::live::figures::monitor;
use crate::live::options::{Opt, spelled};
use crate::words::{counted, grouped, percent};

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
        report: Some(printed::on_report),
        abort: Some(printed::on_abort),
        ..Forms::NONE
    },
};

fn on_run(run: &Run) -> Option<Finding> {
    let failed = run.record.failures_of(FailureKind::LocalPorts);
    // Where none was ever opened, the address may be why: D02 has both.
    if failed == 0 || run.record.connections_opened == 0 {
        return None;
    }
    let share = failed as f64 / run.record.finished() as f64;
    let (machine, figures) = match run.fleet {
        // What was watched is the target's machine, if any.
        Some(_) => ("a worker's machine", String::new()),
        None => ("this machine", of_this_machine(run)),
    };
    let evidence = format!(
        "{} failed because {machine} had no local port left: {} of all requests.{figures}",
        counted(failed, "connection"),
        percent(share)
    );
    let severity = if share >= MOST { Severity::Invalid } else { Severity::Suspect };
    let (cause, less) = in_words(run);
    let fix = format!(
        "{less}, or connect from more addresses with {}, such as 127.0.0.0/24 to reach this host.",
        spelled(run, Opt::LocalAddress)
    );
    Some(Finding::new(D20, severity, evidence, cause, fix))
}

/// Its ports, and the sockets that wait there, as sentences.
pub(super) fn of_this_machine(run: &Run) -> String {
    let ports = match &run.plan.connections.local_ports {
        Some(asked) => {
            Some(format!(" They were to use ports {} to {}.", asked.start(), asked.end()))
        }
        None => ports(run).map(|range| format!(" The kernel assigns ports {range}.")),
    };
    let waiting = monitor(run).and_then(|monitor| monitor.kernel.time_wait).map(|sockets| {
        let were = if sockets.after == 1 { "was" } else { "were" };
        format!(" {} {were} in TIME_WAIT at the end.", counted(sockets.after, "socket"))
    });
    [ports, waiting].into_iter().flatten().collect()
}

/// The cause, and the beginning of the fix: how fewer ports would do.
fn in_words(run: &Run) -> (String, String) {
    let (record, asked) = (&run.record, &run.plan.connections);
    let connections = u64::from(run.plan.load.connections());
    let stand =
        record.reused * 2 >= record.responses && record.connections_opened < connections * 2;
    if asked.keep_alive && stand {
        return (
            format!(
                "Each connection needs a local port for as long as it stands. {} were to stand at once, beside those of \
                 other programs and those closed in the last 60 s (TIME_WAIT).",
                grouped(connections)
            ),
            format!("Use fewer connections ({})", spelled(run, Opt::Connections)),
        );
    }
    let less = match (asked.requests_per_connection, run.front_end()) {
        (None | Some(1), FrontEnd::Ab) if !asked.keep_alive => "Reuse connections (-k)".to_owned(),
        (None, _) if !asked.keep_alive => {
            format!("Reuse connections (without {})", spelled(run, Opt::NoKeepAlive))
        }
        (Some(_), _) => format!(
            "Use each connection for more requests ({})",
            spelled(run, Opt::RequestsPerConnection)
        ),
        (None, _) => format!(
            "If something closes the connections, keep them open; otherwise use fewer ({})",
            spelled(run, Opt::Connections)
        ),
    };
    (
        "Each connection needs a local port, and the side that closes first keeps it for 60 s \
         (TIME_WAIT)."
            .to_owned(),
        less,
    )
}

/// One is enough for the finding.
fn while_it_runs(run: &UnderWay<'_>) -> Option<String> {
    let so_far = run.so_far;
    let failed = so_far.failures[FailureKind::LocalPorts as usize];
    (failed > 0 && so_far.connections_opened + so_far.responses > 0)
        .then(|| format!("{} failed because no local port was left", counted(failed, "connection")))
}

fn seen(run: &Run) -> Option<String> {
    if run.record.failures_of(FailureKind::LocalPorts) > 0 {
        return None;
    }
    let own = ports(run).filter(|_| run.fleet.is_none());
    let ports = own.map_or(String::new(), |range| format!("; the kernel assigns {range}"));
    Some(format!("No connection failed because local ports ran out{ports}."))
}

/// The ports that the kernel gives out: `32768 to 60999`.
fn ports(run: &Run) -> Option<String> {
    let range = monitor(run)?.environment.settings.get("net.ipv4.ip_local_port_range")?;
    Some(range.split_whitespace().collect::<Vec<_>>().join(" to "))
}

#[cfg(test)]
mod tests {
    use ablaze_model::monitor::TimeWait;
    use ablaze_model::plan::Load;

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
        let said = on_run(&run).unwrap().evidence;
        assert!(said.ends_with("They were to use ports 20000 to 30000."), "{said}");
        run.plan.connections.local_ports = None;
        let waiting = TimeWait { before: 0, after: 1 };
        sample::monitor(&mut run).kernel.time_wait = Some(waiting);
        let said = on_run(&run).unwrap().evidence;
        assert!(said.contains("20,000 connections failed because this machine"), "{said}");
        assert!(said.contains("32768 to 60999. 1 socket was in TIME_WAIT"), "{said}");
    }

    /// [::1] where IPv6 is off: the first connect() fails with EADDRNOTAVAIL, and all ports are free.
    #[test]
    fn an_address_that_was_never_reached_is_no_lack_of_ports() {
        let mut run = sample::run();
        sample::nobody_answers(&mut run);
        (run.record.connections_opened, run.record.unfinished) = (0, 0);
        run.record.failures[FailureKind::LocalPorts as usize] = 1;
        let findings = crate::live::judge(&run).findings;
        assert!(!findings.iter().any(|finding| finding.id == D20), "{findings:?}");
        let found = findings.iter().find(|finding| finding.id == crate::DiagnosisId::D02).unwrap();
        assert_eq!(found.severity, Severity::Invalid);
        assert!(
            found
                .evidence
                .contains("None of 1 request got a response: no connection could be given")
        );
        assert!(found.evidence.contains("They were to use ports 20000 to 30000."), "{found:?}");
        assert!(found.cause.contains("no address from which that destination"), "{found:?}");
    }

    fn failed(run: &mut Run) -> Finding {
        run.record.failures[FailureKind::LocalPorts as usize] = 1;
        on_run(run).unwrap()
    }

    #[test]
    fn of_a_fleet_the_machine_is_a_workers() {
        let mut run = sample::run();
        run.fleet = Some(Box::new(sample::fleet(2)));
        let finding = failed(&mut run);
        assert!(finding.evidence.starts_with("1 connection failed because a worker's machine"));
        assert!(finding.evidence.ends_with("of all requests."), "{finding:?}");
        run.record.failures = [0; FailureKind::ALL.len()];
        assert_eq!(seen(&run).unwrap(), "No connection failed because local ports ran out.");
    }

    #[test]
    fn who_reuses_connections_is_not_told_to() {
        let mut run = sample::run();
        run.plan.load = Load::Closed { connections: 40_000, pipeline: 1 };
        let finding = failed(&mut run);
        assert!(finding.cause.contains("40,000 were to stand at once"), "{finding:?}");
        assert!(finding.fix.starts_with("Use fewer connections (--connections), or"));
        // Or each had one response, and nobody closed it.
        run.record.reused = 0;
        let finding = failed(&mut run);
        assert!(finding.cause.contains("closes first"), "{finding:?}");
        let said = "If something closes the connections, keep them open; otherwise use fewer (--connections)";
        assert!(finding.fix.starts_with(said), "{finding:?}");
        // All of them wait for their first response.
        run.record.responses = 0;
        let finding = failed(&mut run);
        assert!(finding.cause.contains("40,000 were to stand at once"), "{finding:?}");
    }

    #[test]
    fn who_closes_them_is_told_by_which_option_they_stay() {
        let mut run = sample::run();
        sample::asked(&mut run, &[]);
        (run.record.reused, run.plan.connections.keep_alive) = (0, false);
        let mut fix = |front_end, most| {
            run.asked.as_mut().unwrap().front_end = front_end;
            run.plan.connections.requests_per_connection = most;
            failed(&mut run).fix
        };
        let said = fix(FrontEnd::Load, None);
        assert!(said.starts_with("Reuse connections (without --no-keepalive), or"), "{said}");
        let said = fix(FrontEnd::Ab, None);
        assert!(said.starts_with("Reuse connections (-k), or"), "{said}");
        let said = fix(FrontEnd::Load, Some(5));
        assert!(said.contains("more requests (--requests-per-connection), or"), "{said}");
    }
}
