//! D52: over HTTP/3 the server had handshakes repeated with a token first (Retry).

use ablaze_model::Run;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D52;
use crate::finding::{Finding, Severity};
use crate::words::{counted, grouped, percent};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D52,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check, seen }), ..Forms::NONE },
};

fn check(run: &Run) -> Option<Finding> {
    let quic = &run.record.http3.as_ref()?.quic;
    if quic.retries == 0 {
        return None;
    }
    let each = if run.plan.connections.keep_alive {
        "Connections that are kept pay it once."
    } else {
        "With a connection for each request every request pays it."
    };
    Some(Finding::new(
        D52,
        Severity::Note,
        format!(
            "The server responded with Retry to {} of {} ({}).",
            grouped(quic.retries),
            counted(quic.handshakes, "handshake"),
            percent(quic.retries as f64 / quic.handshakes.max(1) as f64)
        ),
        format!(
            "Before a server spends work and bytes on a client it may have it prove its address with a token (RFC 9000, \
             8.1.2): the handshake takes a round trip more. Servers do so always, or while many handshakes are under way. \
             {each}"
        ),
        "Where the server is meant to be measured without it, turn it off there (nginx: quic_retry off), or open the \
         connections more slowly.",
    ))
}

fn seen(run: &Run) -> Option<String> {
    let Some(facts) = &run.record.http3 else { return Some("HTTP/3 was not used.".to_owned()) };
    (facts.quic.retries == 0).then(|| {
        let handshakes = counted(facts.quic.handshakes, "handshake");
        format!("The server responded with Retry to none of {handshakes}.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn a_retry_is_a_round_trip_more() {
        let mut run = sample::over_http3();
        assert_eq!(check(&run), None);
        run.record.http3.as_mut().unwrap().quic.retries = 5;
        let found = check(&run).unwrap();
        assert!(found.evidence.contains("to 5 of 10 handshakes (50 %)"), "{}", found.evidence);
        assert!(found.cause.contains("pay it once"), "{}", found.cause);
        run.plan.connections.keep_alive = false;
        let found = check(&run).unwrap();
        assert!(found.cause.contains("every request pays it"), "{}", found.cause);
    }
}
