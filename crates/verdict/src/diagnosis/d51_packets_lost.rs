//! D51: over HTTP/3 packets that the client sent were declared lost. What is known of the sockets at both ends says where
//! they were not lost.

use ablaze_model::Run;

use super::d49_server_receive_buffer::{SUSPECT, explains, known};
use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::{D49, D51};
use crate::finding::{Finding, Severity};
use crate::live::whose::over_loopback;
use crate::words::{counted, grouped, percent};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D51,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[D49],
    forms: Forms { run: Some(OnRun { check, seen }), ..Forms::NONE },
};

fn check(run: &Run) -> Option<Finding> {
    let quic = &run.record.http3.as_ref()?.quic;
    let share = quic.packets_lost as f64 / quic.packets_sent.max(1) as f64;
    if quic.packets_lost == 0 {
        return None;
    }
    let severity = if share < SUSPECT { Severity::Note } else { Severity::Suspect };
    let window = match quic.congestion_events {
        0 => "no congestion window became smaller".to_owned(),
        events => format!("congestion windows became smaller {}", counted(events, "time")),
    };
    let explained = known(run).is_some_and(|known| explains(known, quic));
    let finding = Finding::new(
        D51,
        severity,
        format!(
            "{} of {} that the client sent were declared lost ({}); {window}.",
            grouped(quic.packets_lost),
            counted(quic.packets_sent, "packet"),
            percent(share)
        ),
        format!(
            "QUIC declares a packet lost when later ones were acknowledged and it was not, or when no acknowledgement came \
             in time (RFC 9002, 6): it was dropped on its way, the server took it and dropped it, it came out of order, or what acknowledges it was late. {}",
            where_not(run)
        ),
        match over_loopback(run) {
            true => {
                "Compare with a run at a lower rate: loss that grows with it is a queue that overflows, or a server that \
                     drops what it has no time for. See what the server counts of the datagrams that it took."
            }
            false => {
                "Compare with a run at a lower rate: loss that grows with it is a queue that overflows, or a server that \
                      drops what it has no time for. Look at the drops of the network devices between both (`ip -s link`), and \
                      measure over loopback or a path without loss to see the server alone."
            }
        },
    );
    Some(if explained { finding } else { finding.not_explained_by(D49) })
}

/// What the sockets at both ends say.
fn where_not(run: &Run) -> String {
    let dropped_here = run.record.http3.as_ref().map_or(0, |facts| facts.quic.dropped_here);
    let here = match dropped_here {
        0 => "The client's sockets dropped nothing that came back".to_owned(),
        dropped => format!(
            "The client's sockets dropped {} that came back, acknowledgements among them or not",
            counted(dropped, "datagram")
        ),
    };
    match known(run) {
        None => format!("{here}; whether the server's did cannot be observed from this machine."),
        Some(known) if known.dropped == 0 => format!("{here}, nor did the server's."),
        Some(known) => {
            format!("{here}; the server's dropped {}.", counted(known.dropped, "datagram"))
        }
    }
}

fn seen(run: &Run) -> Option<String> {
    let Some(facts) = &run.record.http3 else { return Some("HTTP/3 was not used.".to_owned()) };
    (facts.quic.packets_lost == 0)
        .then(|| format!("None of {} was lost.", counted(facts.quic.packets_sent, "packet")))
}

#[cfg(test)]
mod tests {
    use ablaze_model::monitor::ServerDatagrams;

    use super::*;
    use crate::live::{judge, sample};

    fn losing(lost: u64) -> Run {
        let mut run = sample::over_http3();
        let quic = &mut run.record.http3.as_mut().unwrap().quic;
        (quic.packets_sent, quic.packets_lost) = (100_000, lost);
        quic.sent.datagrams = 100_000;
        run
    }

    #[test]
    fn where_packets_were_lost_is_said_as_far_as_it_is_known() {
        assert_eq!(check(&losing(0)), None);
        assert_eq!(check(&losing(99)).unwrap().severity, Severity::Note);
        let found = check(&losing(100)).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        assert!(found.cause.contains("cannot be observed from this machine"), "{}", found.cause);
        assert!(found.cause.contains("the server took it and dropped it"), "{}", found.cause);
        let mut far = losing(100);
        far.plan.target.addresses = vec!["192.0.2.1:443".parse().unwrap()];
        let fix = |run: &Run| check(run).unwrap().fix.to_string();
        assert!(fix(&far).contains("measure over loopback"), "{}", fix(&far));
        far.plan.target.addresses = vec!["127.0.0.1:443".parse().unwrap()];
        assert!(!fix(&far).contains("loopback"), "{}", fix(&far));
        let mut run = losing(100);
        sample::monitor(&mut run).server_datagrams =
            Some(ServerDatagrams { sockets: 1, dropped: 0 });
        let cause = check(&run).unwrap().cause;
        assert!(cause.contains("nor did the server's"), "{cause}");
    }

    /// A full buffer on the server loses the client's packets: one finding counts.
    #[test]
    fn a_full_buffer_explains_it() {
        let mut run = losing(5_000);
        sample::monitor(&mut run).server_datagrams =
            Some(ServerDatagrams { sockets: 1, dropped: 5_000 });
        let findings = judge(&run).findings;
        let found = findings.iter().find(|finding| finding.id == D51).expect("D51");
        assert_eq!(found.explained_by, Some(D49), "{found:?}");
        // One datagram is at most a batch of 64.
        sample::monitor(&mut run).server_datagrams =
            Some(ServerDatagrams { sockets: 1, dropped: 1 });
        let judged = judge(&run);
        let found = judged.findings.iter().find(|finding| finding.id == D51).expect("D51");
        assert_eq!((found.severity, found.explained_by), (Severity::Suspect, None), "{found:?}");
    }
}
