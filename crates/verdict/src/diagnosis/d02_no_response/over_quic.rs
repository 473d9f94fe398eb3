//! Why requests over HTTP/3 got no valid response, where UDP and QUIC have causes of their own.

use ablaze_model::{FailureKind, Run};

use crate::words::time;

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

/// Nothing at all came from the server.
pub struct Silence {
    /// As a sentence.
    pub evidence: String,
    pub cause: &'static str,
    pub fix: &'static str,
}

/// A share of the time without a response that may be the end of what was under way.
const OF_SILENCE: f64 = 0.9;

/// Whether nothing came from the server in a silence of so long at the end of a run, not even what QUIC itself says for a
/// server that is there.
pub fn silence(run: &Run, without_response_s: f64) -> Option<Silence> {
    run.plan.http3?;
    let silent_ns = run.record.http3.as_ref()?.quic.silent_ns?;
    let refused = run.record.failures_of(FailureKind::Refused) > 0;
    // To what nobody sends there is nothing to acknowledge.
    let paused = run.was_paused_between(run.elapsed_ns.saturating_sub(silent_ns), run.elapsed_ns);
    if refused || paused || (silent_ns as f64) < OF_SILENCE * without_response_s * 1e9 {
        return None;
    }
    Some(Silence {
        evidence: format!(
            "For the last {} no datagram came on any connection, and none was refused (ICMP).",
            time(silent_ns as f64 / 1e6)
        ),
        cause: "A server that runs acknowledges what it receives, also where it does not respond: its process stood still \
                or hung, or nothing came through the network any more.",
        fix: "See whether the server's process runs (state in `ps`: T is stopped, D waits for a device), and what its log \
              says last; then measure again: the rate is that of the whole run, silence included.",
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

    /// Slices whose last three quarters have failures alone.
    fn fell_silent(silent_ns: u64) -> Run {
        let mut run = sample::over_http3();
        let slices = &mut run.record.slices;
        let quarter = slices.slices.len() / 4;
        for slice in &mut slices.slices[quarter..] {
            (slice.responses, slice.failures) = (0, 1);
        }
        let failed = slices.slices[quarter..].len() as u64;
        run.record.failures[FailureKind::Timeout as usize] = failed;
        run.record.http3.as_mut().unwrap().quic.silent_ns = Some(silent_ns);
        run
    }

    #[test]
    fn a_server_from_which_nothing_at_all_came_is_told_as_that() {
        let said = |run: &Run| {
            let found = super::super::went_away(run).expect("D02");
            format!("{} {} {}", found.evidence, found.cause, found.fix)
        };
        let elapsed_ns = sample::over_http3().elapsed_ns;
        let silent = said(&fell_silent(elapsed_ns));
        assert!(silent.contains("no datagram came on any connection"), "{silent}");
        assert!(silent.contains("T is stopped"), "{silent}");
        // It acknowledged: it is there.
        let acknowledged = said(&fell_silent(elapsed_ns / 100));
        assert!(!acknowledged.contains("datagram"), "{acknowledged}");
        // In a pause nothing is sent that it could acknowledge.
        let mut paused = fell_silent(elapsed_ns);
        paused.rate_changes =
            vec![ablaze_model::rate_change::RateChange { at_ns: elapsed_ns / 2, times_asked: 0.0 }];
        let paused = said(&paused);
        assert!(!paused.contains("datagram"), "{paused}");
        let mut run = fell_silent(elapsed_ns);
        let process = &mut sample::monitor(&mut run).target.processes[0];
        (process.readings, process.stopped_readings) = (20, 15);
        let stopped = said(&run);
        assert!(stopped.contains("state T or t in /proc) in 15 of the 20"), "{stopped}");
        assert!(stopped.contains("kill -CONT") && !stopped.contains("log"), "{stopped}");
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
