//! D11: the client had no time left, so the server could have done more.

use ablaze_model::Run;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::{D11, D13, D20, D21, D23};
use crate::finding::{Finding, Severity};
use crate::limit::{self, Limit};
use crate::live::figures::{client, monitor, server};
use crate::live::options::{Opt, spelled};
use crate::words::percent;

/// A server this busy would not have done much more.
const NEARLY: f64 = 0.85;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D11,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[D13, D20, D21, D23],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), ..Forms::NONE },
};

fn on_run(run: &Run) -> Option<Finding> {
    let limited = limit::of(run);
    // Which machines of a fleet had no time left D46 says.
    if limited.by != Limit::Client || run.fleet.is_some() {
        return None;
    }
    let nearly = server(run).is_some_and(|server| server.busiest >= NEARLY);
    let severity = if nearly { Severity::Note } else { Severity::Suspect };
    Some(Finding::new(
        D11,
        severity,
        format!("The client's {}.", limited.evidence.trim_start_matches("its ")),
        "The client could not send faster: the rate is a lower bound for the server, and the \
         times include waiting in the client.",
        fix(run),
    ))
}

fn fix(run: &Run) -> String {
    let allowed = monitor(run).and_then(|monitor| monitor.client.as_ref());
    let allowed = allowed.map_or(0, |client| client.cpus_allowed.len());
    let costly = match run.asked.as_ref().is_some_and(|asked| !asked.checks.is_empty()) {
        true => ", or check less of each response",
        false => "",
    };
    // More threads than CPUs share these.
    if allowed > 0 && allowed <= run.workers.len() {
        return format!("Give the client more CPUs, or a machine of its own{costly}.");
    }
    let more = more_threads(run);
    format!("Give the client {more} if CPUs are available, or a machine of its own{costly}.")
}

/// More of them, in the options of whoever asked. A thread needs a connection of its own.
pub(super) fn more_threads(run: &Run) -> String {
    match run.plan.workers.count < run.plan.load.connections() {
        true => format!("more threads ({})", spelled(run, Opt::Threads)),
        false => format!(
            "more connections ({}), which more threads ({}) can share,",
            spelled(run, Opt::Connections),
            spelled(run, Opt::Threads)
        ),
    }
}

fn seen(run: &Run) -> Option<String> {
    let client = client(run)?;
    Some(format!(
        "The client's busiest thread worked {} of the time; {} counts as its limit.",
        percent(client.busiest),
        percent(limit::CLIENT_FULL)
    ))
}

#[cfg(test)]
mod tests {
    use ablaze_model::fleet::WorkerLimit;
    use ablaze_model::plan::Load;

    use super::*;
    use crate::DiagnosisId::D46;
    use crate::live::{judge, sample};

    #[test]
    fn the_client_is_accused_only_where_the_server_had_time_left() {
        let severity = |server, client| {
            on_run(&sample::with_shares(server, client)).map(|finding| finding.severity)
        };
        assert_eq!(severity(0.60, 0.90), Some(Severity::Suspect));
        assert_eq!(severity(0.86, 0.88), Some(Severity::Note));
        assert_eq!(severity(0.96, 0.97), None);
        assert_eq!(severity(0.60, 0.80), None);
        let said = on_run(&sample::with_shares(0.60, 0.90)).unwrap().evidence;
        assert_eq!(
            said,
            "The client's one thread worked 90 % of the time; the server's busiest thread ran at \
             60 % of a core."
        );
        let mut unseen = sample::with_shares(0.5, 0.9);
        unseen.monitor = None;
        assert_eq!(on_run(&unseen).unwrap().severity, Severity::Suspect);
    }

    #[test]
    fn as_many_threads_as_connections_need_more_of_both() {
        let mut run = sample::with_shares(0.60, 0.90);
        let fix = |run: &Run| on_run(run).unwrap().fix;
        assert!(fix(&run).starts_with("Give the client more threads (--threads) if"));
        run.plan.load = Load::Closed { connections: 1, pipeline: 100 };
        let said = fix(&run);
        assert!(said.contains("more connections (--connections), which more threads"), "{said}");
    }

    #[test]
    fn machines_of_a_fleet_are_told_of_in_one_place() {
        let mut run = sample::with_shares(0.60, 0.90);
        let mut fleet = sample::fleet(2);
        let limit = WorkerLimit { key: "client".to_owned(), text: "its thread".to_owned() };
        fleet.workers[0].limit = Some(limit);
        run.fleet = Some(Box::new(fleet));
        let found: Vec<_> = judge(&run).findings.into_iter().map(|finding| finding.id).collect();
        assert!(found.contains(&D46) && !found.contains(&D11), "{found:?}");
    }
}
