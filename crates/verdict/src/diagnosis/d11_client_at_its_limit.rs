//! D11: the client had no time left, so the server could have done more.

use ablaze_model::Run;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::{D11, D13, D20, D21, D23};
use crate::finding::{Finding, Severity};
use crate::limit::{self, Limit};
use crate::live::figures::{client, server};
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
    if limited.by != Limit::Client {
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
        format!(
            "Give the client more threads ({}) if CPUs are available, or a machine of its own.",
            spelled(run, Opt::Threads)
        ),
    ))
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
    use super::*;
    use crate::live::sample;

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
}
