//! Why requests over HTTP/3 got no valid response, where UDP and QUIC have causes of their own.

use ablaze_model::{FailureKind, Run};

/// The cause, where it is another one than over TCP; nothing beyond what was seen.
pub fn cause(run: &Run, kind: FailureKind) -> Option<&'static str> {
    run.plan.http3?;
    let quic = run.record.http3.as_ref().map(|facts| &facts.quic);
    // Also those before the clock.
    let tls = run.record.tls.as_ref().map_or(0, |tls| tls.handshakes());
    let handshakes =
        quic.map_or(0, |quic| quic.handshakes.max(quic.all_handshakes.count())).max(tls);
    let received =
        quic.map_or(0, |quic| quic.received.datagrams.max(quic.all_handshakes.incomplete_received));
    Some(match kind {
        FailureKind::Refused if run.record.responses == 0 => {
            "The target refused the datagrams (ICMP): nothing listens on UDP at that address and port, or a firewall \
             rejects them. HTTP/3 needs the server to listen on UDP."
        }
        FailureKind::Refused => {
            "Datagrams were refused for a part of the run: nothing listened on UDP then, or something in front of the \
             server rejected them."
        }
        FailureKind::Timeout if handshakes == 0 && received == 0 => {
            "No datagram came back: nothing at that address and UDP port speaks QUIC, or something on the way drops \
             the datagrams."
        }
        FailureKind::Timeout if handshakes == 0 => {
            "Datagrams came back, and no QUIC handshake was completed in time."
        }
        // Not where responses had begun.
        FailureKind::Timeout
            if run.record.responses == 0 && run.record.failed.wait.count() == 0 =>
        {
            "QUIC handshakes were completed, and the server does not respond in time."
        }
        FailureKind::StreamReset => "The server resets streams (RESET_STREAM).",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::{judge, sample};

    #[test]
    fn silence_over_udp_is_no_full_accept_queue() {
        let mut run = sample::over_http3();
        sample::nobody_answers(&mut run);
        run.record.failures[FailureKind::Timeout as usize] = 50;
        run.record.connections_opened = 0;
        let quic = &mut run.record.http3.as_mut().unwrap().quic;
        (quic.handshakes, quic.received.datagrams) = (0, 0);
        let cause = |run: &Run| {
            let findings = judge(run).findings;
            findings.into_iter().find(|found| found.id == crate::DiagnosisId::D02).unwrap().cause
        };
        let silent = cause(&run);
        assert!(silent.contains("No datagram came back"), "{silent}");
        assert!(!silent.contains("accept queue"), "{silent}");
        run.record.http3.as_mut().unwrap().quic.received.datagrams = 3;
        assert!(cause(&run).contains("no QUIC handshake was completed"));
        // Before the clock, too.
        let quic = &mut run.record.http3.as_mut().unwrap().quic;
        (quic.received.datagrams, quic.all_handshakes.incomplete_received) = (0, 3);
        assert!(cause(&run).contains("no QUIC handshake was completed"));
    }

    #[test]
    fn responses_that_began_are_no_silence() {
        let mut run = sample::over_http3();
        sample::nobody_answers(&mut run);
        run.record.failures[FailureKind::Timeout as usize] = 50;
        let silent = cause(&run, FailureKind::Timeout).unwrap();
        assert!(silent.contains("does not respond in time"), "{silent}");
        run.record.failed.wait.record(1_000_000);
        assert_eq!(cause(&run, FailureKind::Timeout), None);
    }
}
