//! Why requests over HTTP/3 got no valid response, where UDP and QUIC have causes of their own.

use ablaze_model::{FailureKind, Run};

/// The cause, where it is another one than over TCP; nothing beyond what was seen.
pub fn cause(run: &Run, kind: FailureKind) -> Option<&'static str> {
    run.plan.http3?;
    let quic = run.record.http3.as_ref().map(|facts| &facts.quic);
    // Those before the clock are among the connections only.
    let tls = run.record.tls.as_ref().map_or(0, |tls| tls.handshakes());
    let handshakes = quic.map_or(0, |quic| quic.handshakes).max(tls);
    let received = quic.map_or(0, |quic| quic.received.datagrams);
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
        FailureKind::Timeout if run.record.responses == 0 => {
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
    }
}
