//! D50: over HTTP/3 every datagram took a system call of its own, although many were due at once.

use ablaze_model::Run;
use ablaze_model::record::{DatagramTraffic, QuicFacts};

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D50;
use crate::finding::{Finding, Severity};
use crate::words::{amount, grouped, listed};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D50,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check, seen }), ..Forms::NONE },
};

/// Fewer datagrams per call are one each, with exceptions.
const ONE: f64 = 1.2;

/// So many datagrams of one request or response could have gone together.
const MANY: f64 = 4.0;

/// Smaller datagrams on average are acknowledgements and single requests, of which there is one at a time to send.
const FULL_BYTES: u64 = 1_000;

/// No two of these fit one call, whose bytes are those of one packet of IP, 65,535.
const ALONE_BYTES: u64 = 32_768;

/// Fewer datagrams say nothing.
const FEWEST: u64 = 1_000;

/// With more than a handshake for so many responses, most datagrams may be those of handshakes.
const HANDSHAKES_MATTER: u64 = 100;

fn check(run: &Run) -> Option<Finding> {
    let quic = &run.record.http3.as_ref()?.quic;
    let missing = missing(quic);
    let sent = alone(run, quic.sent).then(|| of("sent", quic.sent));
    let received = alone(run, quic.received).then(|| of("received", quic.received));
    let received_alone = received.is_some();
    let alone: Vec<String> = sent.into_iter().chain(received).collect();
    if missing.is_empty() && alone.is_empty() {
        return None;
    }
    let evidence: Vec<String> = missing.iter().cloned().chain(alone).collect();
    let (cause, fix) = match (missing.is_empty(), received_alone) {
        (false, _) => (
            refused(quic),
            "Measure on a kernel that has both (Linux 5.0 or later), without a sandbox or a device that forbids them.",
        ),
        (true, true) => (
            "Datagrams that belong to one request or response came, or left, one at a time. What spreads them (pacing on \
             either side, a small congestion window, a slow link, a server that sends without UDP_SEGMENT, a device without \
             GRO) cannot be observed from this machine."
                .to_owned(),
            "Read CPU times as those of single datagrams. Where the server can send several at a time, turn that on \
             (nginx: quic_gso on).",
        ),
        (true, false) => (
            "Datagrams that belong to one request left one at a time. Why does not show: a small congestion window, or a server \
             that opens its windows in small steps, permits one at a time."
                .to_owned(),
            "Read CPU times as those of single datagrams.",
        ),
    };
    Some(Finding::new(D50, Severity::Note, format!("{}.", evidence.join("; ")), cause, fix))
}

/// What it costs that the kernel refused.
fn refused(quic: &QuicFacts) -> String {
    let what = match (quic.no_segmentation, quic.no_coalescing) {
        (Some(_), Some(_)) => "go or come with one system call (UDP_SEGMENT, UDP_GRO)",
        (Some(_), None) => "go with one system call (UDP_SEGMENT)",
        (None, _) => "come with one system call (UDP_GRO)",
    };
    format!(
        "This kernel, a sandbox or the network device does not let several datagrams of one connection {what}: each of them \
         costs a call, and the client spends more CPU time for the same load."
    )
}

/// What the kernel does not do, with its errno.
fn missing(quic: &QuicFacts) -> Vec<String> {
    let both = [
        ("Sending several datagrams with one call (UDP_SEGMENT)", quic.no_segmentation),
        ("Receiving several datagrams with one call (UDP_GRO)", quic.no_coalescing),
    ];
    both.into_iter()
        .filter_map(|(what, errno)| Some(format!("{what} was refused: errno {}", errno?)))
        .collect()
}

/// Whether many datagrams of each response went one by one. Those of handshakes wait for each other.
fn alone(run: &Run, traffic: DatagramTraffic) -> bool {
    let handshakes = run.record.http3.as_ref().map_or(0, |facts| facts.quic.handshakes);
    if handshakes.saturating_mul(HANDSHAKES_MATTER) > run.record.responses {
        return false;
    }
    let each = traffic.datagrams as f64 / run.record.responses.max(1) as f64;
    traffic.datagrams >= FEWEST
        && each >= MANY
        && traffic.bytes >= traffic.datagrams * FULL_BYTES
        && traffic.bytes < traffic.datagrams * ALONE_BYTES
        && traffic.per_call().is_some_and(|per_call| per_call < ONE)
}

fn of(what: &str, traffic: DatagramTraffic) -> String {
    format!(
        "{} datagrams were {what} with {} calls",
        grouped(traffic.datagrams),
        grouped(traffic.calls)
    )
}

fn seen(run: &Run) -> Option<String> {
    let Some(facts) = &run.record.http3 else { return Some("HTTP/3 was not used.".to_owned()) };
    let of_each = [("sent", facts.quic.sent), ("received", facts.quic.received)];
    let said = of_each
        .into_iter()
        .filter_map(|(what, traffic)| Some(format!("{} {what}", amount(traffic.per_call()?))));
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| format!("Datagrams per call: {}.", listed(said)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn single_datagrams_are_noted_where_several_were_due() {
        let mut run = sample::over_http3();
        assert_eq!(check(&run), None);
        let responses = run.record.responses;
        let quic = |run: &mut Run, datagrams, calls| {
            let quic = &mut run.record.http3.as_mut().unwrap().quic;
            quic.received = DatagramTraffic { calls, datagrams, bytes: datagrams * 1200 };
        };
        quic(&mut run, responses, responses);
        assert_eq!(check(&run), None, "a response in each datagram: nothing could go together");
        let acknowledged = DatagramTraffic {
            calls: responses * 9,
            datagrams: responses * 9,
            bytes: responses * 9 * 40,
        };
        run.record.http3.as_mut().unwrap().quic.sent = acknowledged;
        assert_eq!(check(&run), None, "acknowledgements leave one by one");
        // What loopback carries in one datagram.
        let whole = DatagramTraffic {
            calls: responses * 4,
            datagrams: responses * 4,
            bytes: responses * 4 * 60_000,
        };
        run.record.http3.as_mut().unwrap().quic.received = whole;
        assert_eq!(check(&run), None, "no two of them fit one call");
        quic(&mut run, responses * 4, responses * 4);
        let found = check(&run).unwrap();
        assert!(found.evidence.contains("datagrams were received with"), "{}", found.evidence);
        assert!(found.cause.contains("cannot be observed"), "{}", found.cause);
        quic(&mut run, responses * 4, responses);
        assert_eq!(check(&run), None);
        // Large requests: nothing that the server sends would change it.
        let sent = DatagramTraffic {
            calls: responses * 4,
            datagrams: responses * 4,
            bytes: responses * 4 * 1200,
        };
        run.record.http3.as_mut().unwrap().quic.sent = sent;
        let found = check(&run).unwrap();
        assert!(!found.fix.contains("server"), "{}", found.fix);
        run.record.http3.as_mut().unwrap().quic.sent = acknowledged;
        run.record.http3.as_mut().unwrap().quic.no_segmentation = Some(5);
        let found = check(&run).unwrap();
        assert!(
            found.evidence.contains("(UDP_SEGMENT) was refused: errno 5"),
            "{}",
            found.evidence
        );
        assert!(!found.cause.contains("UDP_GRO"), "{}", found.cause);
    }
}
