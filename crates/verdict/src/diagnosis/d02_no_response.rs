//! D02: requests that nobody answered. Other clients count them as complete.

use ablaze_model::record::Stopped;
use ablaze_model::{FailureKind, Run};

mod causes;
mod gone;
mod printed;

use super::{Diagnosis, Forms, OnRun, ShownBy, d29_stuck_connection};
use crate::DiagnosisId::{D02, D03};
use crate::finding::{Finding, Severity};
use crate::live::curl;
use crate::live::figures::elapsed_s;
use crate::printed::{Abort, Reason};
use crate::rules::aborted::evidence;
use crate::words::{counted, decimal, grouped, percent};
pub(super) use gone::gone;
use gone::went_away;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D02,
    shown_by: ShownBy::Text,
    severities: &[Severity::Suspect, Severity::Invalid],
    explained_by: &[D03],
    forms: Forms {
        run: Some(OnRun { check: on_run, seen }),
        report: Some(printed::on_report),
        abort: Some(on_abort),
        ..Forms::NONE
    },
};

/// Fewer than this are accidents.
const SHARE: f64 = 0.01;
/// From here on the rate is no rate of responses.
const MOST: f64 = 0.5;
/// Failures by which the far end left a request without a response; those of this machine have
/// diagnoses of their own.
const OF_THE_SERVER: [FailureKind; 28] = [
    FailureKind::Refused,
    FailureKind::Reset,
    FailureKind::Timeout,
    FailureKind::ClosedWithoutResponse,
    FailureKind::ShortBody,
    FailureKind::Malformed,
    FailureKind::TooLarge,
    FailureKind::Unreachable,
    FailureKind::CertificateExpired,
    FailureKind::CertificateName,
    FailureKind::CertificateIssuer,
    FailureKind::CertificateSelfSigned,
    FailureKind::CertificateInvalid,
    FailureKind::ClientCertificate,
    FailureKind::NoCommonTls,
    FailureKind::AnsweredInPlain,
    FailureKind::AnsweredInTls,
    FailureKind::TlsRefused,
    FailureKind::TlsBroken,
    FailureKind::TlsTruncated,
    FailureKind::NoHttp2,
    FailureKind::StreamReset,
    FailureKind::GoAway,
    FailureKind::Http2Violated,
    FailureKind::ProxyAuthentication,
    FailureKind::ProxyRefused,
    FailureKind::ProxyClosed,
    FailureKind::ProxyMalformed,
];

fn on_run(run: &Run) -> Option<Finding> {
    let record = &run.record;
    // Responses that stopped in the middle are another diagnosis.
    let stuck =
        if d29_stuck_connection::is_found(run) { record.stopped } else { Stopped::default() };
    if record.finished() == 0 {
        return (record.unfinished > stuck.unfinished).then(|| still_waiting(run));
    }
    let failures_of = |kind: FailureKind| match kind {
        FailureKind::Timeout => record.failures_of(kind).saturating_sub(stuck.timed_out),
        kind => record.failures_of(kind),
    };
    let kinds = OF_THE_SERVER.into_iter().filter(|kind| failures_of(*kind) > 0);
    let unanswered: u64 = OF_THE_SERVER.iter().map(|kind| failures_of(*kind)).sum();
    let share = unanswered as f64 / record.finished() as f64;
    if share <= SHARE {
        return went_away(run);
    }
    let failed: Vec<(FailureKind, u64)> = kinds.map(|kind| (kind, failures_of(kind))).collect();
    let mut evidence = format!(
        "{} of {} ({}) got no valid response: {}.",
        grouped(unanswered),
        counted(record.finished(), "request"),
        percent(share),
        causes::by_kind(&failed)
    );
    let severity = if share >= MOST { Severity::Invalid } else { Severity::Suspect };
    if let Some(gone) = gone(run) {
        evidence = format!("{} {evidence}", gone.evidence());
    }
    Some(Finding::new(D02, severity, evidence, causes::of(run, &failed), fix(run)))
}

fn seen(run: &Run) -> Option<String> {
    let record = &run.record;
    let unanswered: u64 = OF_THE_SERVER.iter().map(|kind| record.failures_of(*kind)).sum();
    (record.finished() > 0).then(|| {
        format!(
            "{} of {} got no valid response.",
            grouped(unanswered),
            counted(record.finished(), "request")
        )
    })
}

/// Nothing came back, and nothing failed.
fn still_waiting(run: &Run) -> Finding {
    Finding::new(
        D02,
        Severity::Invalid,
        format!(
            "No request got a response in {} s; {} were still waiting at the end.",
            decimal(elapsed_s(run), 2),
            grouped(run.record.unfinished)
        ),
        "The server accepts connections and does not respond, or its responses take longer than \
         the run.",
        fix(run),
    )
}

fn fix(run: &Run) -> String {
    format!(
        "Try the target once with `curl -v {}` to see what it does, and measure again once it \
         responds.",
        curl::arguments(run)
    )
}

/// A run of ab that ended with this, and without a report.
fn on_abort(abort: &Abort) -> Option<Finding> {
    let (severity, cause, fix) = match abort.reason {
        Reason::Refused => (
            Severity::Invalid,
            "Nothing listens at that address, or a firewall blocks it. ab tries the addresses of \
             a name in turn and reports only the last error.",
            "Try the target once with `curl -v`; if that works, use the address it shows in the \
             URL.",
        ),
        Reason::Reset => (
            Severity::Suspect,
            "The server, or something on the way, cut a connection without responding. ab stops \
             at the first such error and discards what it has measured.",
            "Run ab with -r, or use `ablaze ab`, which counts such errors and continues; then see \
             how many there are.",
        ),
        _ => return None,
    };
    Some(Finding::new(D02, severity, evidence(abort), cause, fix))
}

#[cfg(test)]
mod tests_on_runs {
    use super::*;
    use crate::live::sample;

    #[test]
    fn one_in_a_hundred_is_noticed_and_half_is_no_rate() {
        let mut run = sample::run();
        assert_eq!(on_run(&run), None);
        let with = |run: &mut Run, resets| {
            run.record.failures[FailureKind::Reset as usize] = resets;
            on_run(run).map(|finding| finding.severity)
        };
        // 20,000 responses.
        assert_eq!(with(&mut run, 200), None);
        assert_eq!(with(&mut run, 300), Some(Severity::Suspect));
        assert_eq!(with(&mut run, 20_000), Some(Severity::Invalid));
    }

    #[test]
    fn a_target_that_never_answers_is_told_from_one_that_refuses() {
        let mut run = sample::run();
        sample::nobody_answers(&mut run);
        let finding = on_run(&run).unwrap();
        assert!(finding.evidence.contains("100 were still waiting"), "{}", finding.evidence);
        run.record.failures[FailureKind::Refused as usize] = 10;
        let finding = on_run(&run).unwrap();
        assert!(finding.evidence.contains("10 of 10 requests (100 %)"), "{}", finding.evidence);
        assert!(finding.cause.starts_with("Nothing listens"));
    }

    #[test]
    fn each_kind_of_failure_has_a_cause_of_its_own() {
        let cause = |kind: FailureKind, responses: u64| {
            let mut run = sample::run();
            if responses == 0 {
                sample::nobody_answers(&mut run);
            }
            run.record.failures[kind as usize] = 1474;
            on_run(&run).unwrap().cause
        };
        for responses in [0, 20_000] {
            for kind in OF_THE_SERVER.into_iter().filter(|kind| *kind != FailureKind::Refused) {
                let cause = cause(kind, responses);
                assert!(!cause.contains("othing listens"), "{kind:?}: {cause}");
            }
        }
        assert!(cause(FailureKind::Refused, 0).contains("Nothing listens"));
        assert!(cause(FailureKind::ShortBody, 0).contains("in the middle of a response"));
        assert!(cause(FailureKind::Timeout, 0).contains("does not respond in time"));
        // Two kinds, two causes; nothing is said of a few beside many.
        let mut run = sample::run();
        sample::nobody_answers(&mut run);
        run.record.failures[FailureKind::Reset as usize] = 600;
        run.record.failures[FailureKind::ShortBody as usize] = 400;
        run.record.failures[FailureKind::Malformed as usize] = 2;
        let finding = on_run(&run).unwrap();
        assert!(finding.cause.contains("resets") && finding.cause.contains("in the middle"));
        assert!(!finding.cause.contains("HTTP/1"), "{}", finding.cause);
        assert!(
            finding.evidence.ends_with("600 reset, 400 with a short body and 2 malformed."),
            "{}",
            finding.evidence
        );
    }

    #[test]
    fn a_timeout_of_connections_that_never_stood_is_no_silent_server() {
        let mut run = sample::run();
        sample::nobody_answers(&mut run);
        run.record.connections_opened = 0;
        run.record.failures[FailureKind::Timeout as usize] = 10;
        let cause = on_run(&run).unwrap().cause;
        assert!(cause.contains("No connection could be established in time"), "{cause}");
    }

    #[test]
    fn a_server_that_goes_away_is_told_though_few_requests_failed() {
        let mut run = sample::run();
        let slices = &mut run.record.slices.slices;
        for slice in &mut slices[50..] {
            *slice = ablaze_model::record::Slice { failures: 1, ..Default::default() };
        }
        run.record.responses = 10_000;
        run.record.failures[FailureKind::Refused as usize] = 50;
        let finding = on_run(&run).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(
            finding.evidence.starts_with("No response came from 5.00 s on, until the run ended at 10.0 s: 50 requests failed, 50 refused."),
            "{}",
            finding.evidence
        );
        assert!(finding.cause.contains("any longer"), "{}", finding.cause);
        let verdict = crate::live::judge(&run);
        let beginning = |finding: &Finding| finding.evidence.contains("The first");
        assert!(!verdict.findings.iter().any(beginning), "{:?}", verdict.findings);
        // A few failures after the last of few responses prove nothing.
        for (at, slice) in run.record.slices.slices.iter_mut().enumerate() {
            (slice.responses, slice.failures) = (u64::from(at % 10 == 0), u64::from(at > 94));
        }
        run.record.responses = 10;
        run.record.failures[FailureKind::Refused as usize] = 5;
        assert!(!on_run(&run).unwrap().evidence.starts_with("No response came from"));
    }

    #[test]
    fn this_machine_s_own_shortages_are_other_diagnoses() {
        let mut run = sample::run();
        run.record.failures[FailureKind::LocalPorts as usize] = 20_000;
        run.record.failures[FailureKind::LocalDescriptors as usize] = 20_000;
        assert_eq!(on_run(&run), None);
    }
}
