//! D52: over HTTP/3 the server had handshakes repeated with a token first (Retry).

use ablaze_model::Run;
use ablaze_model::record::QuicFacts;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D52;
use crate::finding::{Finding, Severity};
use crate::words::{counted, grouped, percent, time};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D52,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check, seen }), ..Forms::NONE },
};

fn check(run: &Run) -> Option<Finding> {
    let quic = &run.record.http3.as_ref()?.quic;
    let (retries, handshakes) = retries(quic);
    if retries == 0 {
        return None;
    }
    let took = quic.all_handshakes.retry_ns.map_or_else(String::new, |until| {
        format!(" The Retry came after {} on average.", time(until.mean() / 1e6))
    });
    let each = if run.plan.connections.keep_alive {
        "Connections that are kept pay it once."
    } else {
        "With a connection for each request every request pays it."
    };
    Some(Finding::new(
        D52,
        Severity::Note,
        format!(
            "The server responded with Retry to {} of {} ({}).{took}",
            grouped(retries),
            counted(handshakes, "handshake"),
            percent(retries as f64 / handshakes.max(1) as f64)
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

/// Of all handshakes, those before the clock included, where they are known: files of older versions have only those of the
/// measured window.
fn retries(quic: &QuicFacts) -> (u64, u64) {
    let all = &quic.all_handshakes;
    match all.count() {
        0 => (quic.retries, quic.handshakes),
        handshakes => (all.retry_ns.map_or(0, |until| until.count), handshakes),
    }
}

fn seen(run: &Run) -> Option<String> {
    let Some(facts) = &run.record.http3 else { return Some("HTTP/3 was not used.".to_owned()) };
    let (retries, handshakes) = retries(&facts.quic);
    (retries == 0).then(|| {
        let handshakes = counted(handshakes, "handshake");
        format!("The server responded with Retry to none of {handshakes}.")
    })
}

#[cfg(test)]
mod tests {
    use ablaze_model::record::Spread;

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
        let all = &mut run.record.http3.as_mut().unwrap().quic.all_handshakes;
        all.whole_ns = Some(Spread { min: 1, max: 9_000_000, sum: 40_000_000, count: 20 });
        all.retry_ns = Some(Spread { min: 1, max: 3_000_000, sum: 20_000_000, count: 20 });
        let evidence = check(&run).unwrap().evidence;
        assert!(
            evidence.contains("to 20 of 20 handshakes (100 %)"),
            "before the clock: {evidence}"
        );
        assert!(evidence.contains("came after 1.00 ms"), "{evidence}");
        run.plan.connections.keep_alive = false;
        let found = check(&run).unwrap();
        assert!(found.cause.contains("every request pays it"), "{}", found.cause);
    }
}
