//! D02: requests that nobody answered.

use ablaze_model::plan::proxy::Way;
use ablaze_model::record::Stopped;
use ablaze_model::{FailureKind, Run};

use super::figures::elapsed_s;
use super::{Rule, d29_stuck_connection};
use crate::DiagnosisId::D02;
use crate::finding::{Finding, Severity};
use crate::words::{counted, decimal, grouped, listed, percent};

/// Fewer than this are accidents.
const SHARE: f64 = 0.01;
/// From here on the rate is no rate of answers.
const MOST: f64 = 0.5;

/// Failures by which the far end left a request without an answer; those of this machine have
/// diagnoses of their own.
const OF_THE_SERVER: [FailureKind; 28] = [
    FailureKind::Refused,
    FailureKind::Reset,
    FailureKind::Timeout,
    FailureKind::ClosedWithoutAnswer,
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

pub const RULE: Rule = Rule { id: D02, check, seen };

fn check(run: &Run) -> Option<Finding> {
    let record = &run.record;
    // Answers that stopped in the middle are another diagnosis.
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
        return None;
    }
    let which: Vec<String> =
        kinds.map(|kind| format!("{} {}", grouped(failures_of(kind)), kind.label())).collect();
    let evidence = format!(
        "{} of {} ({}) got no valid answer: {}.",
        grouped(unanswered),
        counted(record.finished(), "request"),
        percent(share),
        listed(which)
    );
    let severity = if share >= MOST { Severity::Invalid } else { Severity::Suspect };
    let of_tls = FailureKind::ALL.into_iter().filter(|kind| kind.is_of_tls());
    let of_tls: u64 = of_tls.map(failures_of).sum();
    let of_proxy = FailureKind::ALL.into_iter().filter(|kind| kind.is_of_proxy());
    let of_proxy: u64 = of_proxy.map(failures_of).sum();
    let cause = if of_proxy > unanswered / 2 {
        "The proxy in between made no tunnels: what the target would have answered is not known."
    } else if record.answers == 0 && of_tls > 0 {
        "Server and client did not come to terms about TLS."
    } else if record.answers == 0 && run.plan.http2.is_some() {
        "Nobody listened there, or whoever did speaks something else than HTTP/2."
    } else if record.answers == 0 {
        "Nobody listened there, or whoever did speaks something else than HTTP/1."
    } else {
        "The server, or something before it, refused, cut or left out answers; their times are in no \
         percentile."
    };
    Some(Finding::new(D02, severity, evidence, cause, remedy(run)))
}

fn seen(run: &Run) -> Option<String> {
    let record = &run.record;
    let unanswered: u64 = OF_THE_SERVER.iter().map(|kind| record.failures_of(*kind)).sum();
    (record.finished() > 0).then(|| {
        format!(
            "{} of {} were left without a valid answer.",
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
            "Not one request was answered in {} s; {} still wait.",
            decimal(elapsed_s(run), 2),
            grouped(run.record.unfinished)
        ),
        "The server takes connections and does not answer, or its answers take longer than the run.",
        remedy(run),
    )
}

fn remedy(run: &Run) -> String {
    let by_proxy = run.plan.target.proxy.as_ref().map(|proxy| {
        let tunnels = if proxy.way == Way::Tunnel { "--proxytunnel " } else { "" };
        format!("--proxy http://{} {tunnels}", proxy.authority())
    });
    format!(
        "Ask the target once with `curl -v {}{}` to see what it does, and measure again when it \
         answers.",
        by_proxy.unwrap_or_default(),
        run.plan.target.url
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn one_in_a_hundred_is_noticed_and_half_is_no_rate() {
        let mut run = sample::run();
        assert_eq!(check(&run), None);
        let with = |run: &mut Run, resets| {
            run.record.failures[FailureKind::Reset as usize] = resets;
            check(run).map(|finding| finding.severity)
        };
        // 20,000 answers.
        assert_eq!(with(&mut run, 200), None);
        assert_eq!(with(&mut run, 300), Some(Severity::Suspect));
        assert_eq!(with(&mut run, 20_000), Some(Severity::Invalid));
    }

    #[test]
    fn a_target_that_never_answers_is_told_from_one_that_refuses() {
        let mut run = sample::run();
        sample::nobody_answers(&mut run);
        let finding = check(&run).unwrap();
        assert!(finding.evidence.contains("100 still wait"), "{}", finding.evidence);
        run.record.failures[FailureKind::Refused as usize] = 10;
        let finding = check(&run).unwrap();
        assert!(finding.evidence.contains("10 of 10 requests (100.0 %)"), "{}", finding.evidence);
        assert!(finding.cause.starts_with("Nobody listened"));
    }

    #[test]
    fn this_machine_s_own_shortages_are_other_diagnoses() {
        let mut run = sample::run();
        run.record.failures[FailureKind::LocalPorts as usize] = 20_000;
        run.record.failures[FailureKind::LocalDescriptors as usize] = 20_000;
        assert_eq!(check(&run), None);
    }
}
