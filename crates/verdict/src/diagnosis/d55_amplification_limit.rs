//! D55: over HTTP/3 the server's handshake was too long for what it may send to an address that is not validated yet.

use ablaze_model::Run;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D55;
use crate::finding::{Finding, Severity};
use crate::words::{counted, grouped, percent, time};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D55,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check, seen }), ..Forms::NONE },
};

fn check(run: &Run) -> Option<Finding> {
    let all = &run.record.http3.as_ref()?.quic.all_handshakes;
    let (limited, whole) = (all.limited_ns?, all.whole_ns?);
    let at = all.limited_at.map_or_else(String::new, |(sent, received)| {
        format!(
            " In the first it had received {} bytes and stopped after {} of its own.",
            grouped(sent),
            grouped(received)
        )
    });
    let share = limited.count as f64 / whole.count.max(1) as f64;
    let (cause, fix) = if share >= MOST { OF_MOST } else { OF_FEW };
    Some(Finding::new(
        D55,
        Severity::Note,
        format!(
            "In {} of {} ({}) the server stopped at three times the bytes that it had received, and went on after the next \
             datagram from here: nothing came for {} on average, of {} for the handshake.{at}",
            grouped(limited.count),
            counted(whole.count, "handshake"),
            percent(share),
            time(limited.mean() / 1e6),
            time(whole.mean() / 1e6),
        ),
        cause,
        fix,
    ))
}

/// The handshakes of one server are about as long as each other: where it comes to its limit, most of them show it.
const MOST: f64 = 0.5;

const OF_MOST: (&str, &str) = (
    "Until a server knows a client's address to be real it may send three times what it received (RFC 9000, 8.1). Its part \
     of the handshake, most of which is its certificates, is longer than that, so the handshake takes a round trip more.",
    "Where the server is yours: leave the root out of its certificate chain, use keys on elliptic curves (ECDSA) instead of \
     RSA, and certificates with fewer names.",
);
const OF_FEW: (&str, &str) = (
    "Until a server knows a client's address to be real it may send three times what it received (RFC 9000, 8.1). But most \
     handshakes did not stop there: datagrams of the server that were lost on the way, or came late, look the same.",
    "See whether handshakes lose datagrams: compare with a run over a path without loss, or with fewer handshakes at once.",
);

fn seen(run: &Run) -> Option<String> {
    let Some(facts) = &run.record.http3 else { return Some("HTTP/3 was not used.".to_owned()) };
    let all = &facts.quic.all_handshakes;
    (all.limited_ns.is_none() && all.count() > 0).then(|| {
        let handshakes = counted(all.count(), "handshake");
        format!("The server stopped at three times what it had received in none of {handshakes}.")
    })
}

#[cfg(test)]
mod tests {
    use ablaze_model::record::Spread;

    use super::*;
    use crate::live::sample;

    #[test]
    fn a_server_that_had_to_stop_is_named_with_its_bytes() {
        let mut run = sample::over_http3();
        assert_eq!((check(&run), seen(&run)), (None, None));
        let all = &mut run.record.http3.as_mut().unwrap().quic.all_handshakes;
        all.whole_ns = Some(Spread { min: 1_000_000, max: 3_000_000, sum: 8_000_000, count: 4 });
        assert!(seen(&run).unwrap().contains("in none of 4 handshakes"));
        let all = &mut run.record.http3.as_mut().unwrap().quic.all_handshakes;
        all.limited_ns = Some(Spread { min: 100_000, max: 300_000, sum: 400_000, count: 2 });
        all.limited_at = Some((1_200, 3_600));
        let found = check(&run).unwrap();
        for part in
            ["In 2 of 4 handshakes (50 %)", "200 µs", "of 2.00 ms", "received 1,200 bytes", "3,600"]
        {
            assert!(found.evidence.contains(part), "{part}: {}", found.evidence);
        }
        assert!(found.cause.contains("most of which is its certificates"), "{}", found.cause);
        // Its certificates are as long in each handshake.
        let all = &mut run.record.http3.as_mut().unwrap().quic.all_handshakes;
        all.whole_ns = Some(Spread { min: 1_000_000, max: 3_000_000, sum: 80_000_000, count: 40 });
        let found = check(&run).unwrap();
        assert!(found.cause.contains("were lost on the way"), "{}", found.cause);
        assert!(!found.fix.contains("certificate"), "{}", found.fix);
    }
}
