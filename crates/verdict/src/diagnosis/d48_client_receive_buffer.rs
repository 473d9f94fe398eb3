//! D48: over HTTP/3 the kernel dropped datagrams on the client, because receive buffers of its sockets were full.

use ablaze_model::Run;

use super::d49_server_receive_buffer::{BUFFERS, SUSPECT, for_another_reason, other_reason};
use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D48;
use crate::finding::{Finding, Severity};
use crate::live::options::{Opt, spelled};
use crate::words::{counted, grouped, percent};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D48,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check, seen }), ..Forms::NONE },
};

fn check(run: &Run) -> Option<Finding> {
    let quic = &run.record.http3.as_ref()?.quic;
    let dropped = quic.dropped_here;
    if dropped == 0 {
        return None;
    }
    let share = dropped as f64 / (quic.received.datagrams + dropped) as f64;
    // What was dropped may have been batches such as those that came.
    let per_batch = quic.received.datagrams as f64 / quic.received.calls.max(1) as f64;
    let severity =
        if share * per_batch.max(1.0) < SUSPECT { Severity::Note } else { Severity::Suspect };
    let evidence = format!(
        "The kernel dropped at least {} of the {} that reached the client's sockets ({}; SO_RXQ_OVFL, which counts a batch of \
         up to 64 as one).",
        counted(dropped, "datagram"),
        grouped(quic.received.datagrams + dropped),
        percent(share)
    );
    // Those counters are of the namespace of a client that is no fleet.
    if run.fleet.is_none() && for_another_reason(run) {
        return Some(Finding::new(
            D48,
            severity,
            format!("{evidence} {}", other_reason(run)),
            "They were damaged on the way, or not wanted at that socket. The server has to find out that they are lost and \
             sends them again, with a smaller congestion window: responses take longer.",
            "Find out what damages or refuses datagrams on the way (`nstat -az 'Udp*'`, `ethtool -S`). Larger buffers do not help.",
        ));
    }
    Some(Finding::new(
        D48,
        severity,
        format!("{evidence} Their receive buffers were full."),
        "The client did not take datagrams from its sockets as fast as they came. The server has to find out that they \
         are lost and sends them again, with a smaller congestion window: responses take longer, and that is the \
         client's doing.",
        format!(
            "{BUFFERS}, give the client more threads ({}), or spread the load over more connections, each of which has \
             a socket with a buffer of its own.",
            spelled(run, Opt::Threads)
        ),
    ))
}

fn seen(run: &Run) -> Option<String> {
    let Some(facts) = &run.record.http3 else { return Some("HTTP/3 was not used.".to_owned()) };
    (facts.quic.dropped_here == 0).then(|| {
        let received = counted(facts.quic.received.datagrams, "datagram");
        format!("The client's sockets dropped none of {received}.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn one_in_a_thousand_is_suspect() {
        let severity = |dropped, per_batch| {
            let mut run = sample::over_http3();
            let quic = &mut run.record.http3.as_mut().unwrap().quic;
            (quic.dropped_here, quic.received.datagrams) = (dropped, 100_000 - dropped);
            quic.received.calls = quic.received.datagrams / per_batch;
            check(&run).map(|finding| finding.severity)
        };
        assert_eq!(severity(0, 1), None);
        assert_eq!(severity(99, 1), Some(Severity::Note));
        assert_eq!(severity(100, 1), Some(Severity::Suspect));
        // Each may have been 20 datagrams.
        assert_eq!(severity(4, 20), Some(Severity::Note));
        assert_eq!(severity(6, 20), Some(Severity::Suspect));
        assert_eq!(check(&sample::run()), None);
    }

    #[test]
    fn a_wrong_checksum_is_no_full_buffer() {
        let mut run = sample::over_http3();
        run.plan.target.addresses = vec!["127.0.0.1:443".parse().unwrap()];
        run.record.http3.as_mut().unwrap().quic.dropped_here = 100;
        let found = check(&run).unwrap();
        assert!(found.cause.contains("the client's doing"), "{}", found.cause);
        let counters = sample::monitor(&mut run).kernel.network.get_or_insert_default();
        counters.insert("UdpRcvbufErrors".to_owned(), 0);
        counters.insert("UdpInCsumErrors".to_owned(), 100);
        let found = check(&run).unwrap();
        assert!(
            found.evidence.contains("100 datagrams with a wrong checksum"),
            "{}",
            found.evidence
        );
        assert!(!found.cause.contains("client's doing"), "{}", found.cause);
    }
}
