//! D49: over HTTP/3 the kernel dropped datagrams on the server, because receive buffers of its sockets were full.

use ablaze_model::Run;
use ablaze_model::monitor::ServerDatagrams;
use ablaze_model::record::QuicFacts;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D49;
use crate::finding::{Finding, Severity};
use crate::live::figures::{counter, monitor};
use crate::words::{counted, grouped, percent};

/// From this share of the datagrams on, what they cost is in the figures: each lost one costs at least a round trip.
pub(super) const SUSPECT: f64 = 1e-3;

/// What makes receive buffers larger.
pub(super) const BUFFERS: &str =
    "Enlarge the buffers (sysctl net.core.rmem_default and net.core.rmem_max, or SO_RCVBUF)";

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D49,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check, seen }), ..Forms::NONE },
};

/// What is known of the server's sockets, where HTTP/3 was spoken to them.
pub(super) fn known(run: &Run) -> Option<ServerDatagrams> {
    run.record.http3.as_ref()?;
    monitor(run)?.server_datagrams
}

/// Whether half of the losses or more can be these drops, of which one stands for up to 64 datagrams.
pub(super) fn explains(known: ServerDatagrams, quic: &QuicFacts) -> bool {
    known.dropped.saturating_mul(64) >= quic.packets_lost / 2
}

/// How many datagrams the kernel dropped in this network namespace because a receive buffer was full; `None` where that is
/// not known. What it drops for another reason (a wrong checksum, a filter) it counts at the sockets, too.
pub(super) fn for_full_buffers(run: &Run) -> Option<u64> {
    let over_ipv6 = counter(run, "Udp6RcvbufErrors");
    let is_over_ipv4 = run.plan.target.addresses.iter().all(std::net::SocketAddr::is_ipv4);
    let over_ipv6 = over_ipv6.or(Some(0).filter(|_| is_over_ipv4))?;
    Some(counter(run, "UdpRcvbufErrors")? + over_ipv6)
}

/// Whether no full buffer can be why.
pub(super) fn for_another_reason(run: &Run) -> bool {
    for_full_buffers(run) == Some(0)
}

/// What is known of datagrams that were dropped although no buffer was full.
pub(super) fn other_reason(run: &Run) -> String {
    let damaged = ["UdpInCsumErrors", "Udp6InCsumErrors"].map(|name| counter(run, name));
    let damaged: u64 = damaged.into_iter().flatten().sum();
    format!(
        "No receive buffer was full, as the kernel counted none of these (RcvbufErrors, of this network namespace); it counted {} \
         with a wrong checksum (InCsumErrors). What else it drops at a socket a filter refused, or there was no memory for.",
        counted(damaged, "datagram")
    )
}

fn check(run: &Run) -> Option<Finding> {
    let known = known(run)?;
    if known.dropped == 0 {
        return None;
    }
    let quic = &run.record.http3.as_ref()?.quic;
    // Drops are counted over the whole run, losses in the measured part of it.
    let lost = quic.packets_lost as f64 / quic.packets_sent.max(1) as f64;
    let severity =
        if lost < SUSPECT || !explains(known, quic) { Severity::Note } else { Severity::Suspect };
    let dropped = format!(
        "The kernel dropped at least {} at the server's {}, whoever sent them (drops in /proc/net/udp, before and after the \
         run; a batch of up to 64 counts as one). The client sent {}.{}",
        counted(known.dropped, "datagram"),
        counted(known.sockets, "socket"),
        grouped(quic.sent.datagrams),
        self::lost(quic)
    );
    if for_another_reason(run) {
        return Some(Finding::new(
            D49,
            severity,
            format!("{dropped} {}", other_reason(run)),
            "They were damaged on the way, made wrong by who sent them, or not wanted at that socket; which of them were of this \
             load does not show. What was lost of it is sent again after at least a round trip.",
            "Find out who else sends to that port, and what damages or refuses datagrams on the way to it (`nstat -az 'Udp*'`). \
             Larger buffers do not help.",
        ));
    }
    Some(Finding::new(
        D49,
        severity,
        format!("{dropped} Its receive buffers were full."),
        "The server did not take datagrams from its sockets as fast as they came. What was in them is sent again after \
         at least a round trip, and the client's congestion window becomes smaller.",
        format!(
            "{BUFFERS} on the server, let it receive in more threads (a socket each, SO_REUSEPORT), or lower the load."
        ),
    ))
}

/// What the client's side of QUIC says, which counts each packet.
fn lost(quic: &QuicFacts) -> String {
    match quic.packets_lost {
        0 => String::new(),
        lost => format!(
            " Of {} that the client sent, {} were declared lost ({}).",
            counted(quic.packets_sent, "packet"),
            grouped(lost),
            percent(lost as f64 / quic.packets_sent.max(1) as f64)
        ),
    }
}

fn seen(run: &Run) -> Option<String> {
    if run.record.http3.is_none() {
        return Some("HTTP/3 was not used.".to_owned());
    }
    let known = known(run)?;
    (known.dropped == 0)
        .then(|| format!("The server's {} dropped no datagram.", counted(known.sockets, "socket")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn only_what_was_seen_of_the_server_is_said() {
        let mut run = sample::over_http3();
        assert_eq!(check(&run), None);
        let mut severity = |dropped| {
            let quic = &mut run.record.http3.as_mut().unwrap().quic;
            quic.sent.datagrams = 10_000;
            (quic.packets_sent, quic.packets_lost) = (10_000, dropped);
            sample::monitor(&mut run).server_datagrams =
                Some(ServerDatagrams { sockets: 2, dropped });
            check(&run).map(|finding| finding.severity)
        };
        assert_eq!(severity(0), None);
        assert_eq!(severity(9), Some(Severity::Note));
        assert_eq!(severity(10), Some(Severity::Suspect));
        run.monitor = None;
        assert_eq!(check(&run), None);
    }

    /// Datagrams with wrong checksums count at the socket as well.
    #[test]
    fn drops_are_no_full_buffer_where_the_kernel_counted_none() {
        let mut run = sample::over_http3();
        run.plan.target.addresses = vec!["127.0.0.1:443".parse().unwrap()];
        let with = |run: &mut Run, full: u64, damaged: u64| {
            let monitor = sample::monitor(run);
            monitor.server_datagrams = Some(ServerDatagrams { sockets: 1, dropped: 40 });
            let counters = monitor.kernel.network.get_or_insert_default();
            counters.insert("UdpRcvbufErrors".to_owned(), full);
            counters.insert("UdpInCsumErrors".to_owned(), damaged);
            check(run).unwrap()
        };
        let found = with(&mut run, 40, 0);
        assert!(found.evidence.ends_with("Its receive buffers were full."), "{}", found.evidence);
        let found = with(&mut run, 0, 40);
        assert!(
            found.evidence.contains("it counted 40 datagrams with a wrong checksum"),
            "{}",
            found.evidence
        );
        assert!(!found.cause.contains("as fast as they came"), "{}", found.cause);
        // Of IPv6 it is another counter.
        run.plan.target.addresses = vec!["[::1]:443".parse().unwrap()];
        let found = with(&mut run, 0, 40);
        assert!(found.cause.contains("as fast as they came"), "{}", found.cause);
    }

    #[test]
    fn losses_that_the_drops_cannot_be_do_not_count_here() {
        let severity = |dropped, lost| {
            let mut run = sample::over_http3();
            let quic = &mut run.record.http3.as_mut().unwrap().quic;
            (quic.sent.datagrams, quic.packets_sent, quic.packets_lost) = (100_000, 100_000, lost);
            sample::monitor(&mut run).server_datagrams =
                Some(ServerDatagrams { sockets: 1, dropped });
            check(&run).unwrap().severity
        };
        assert_eq!(severity(1, 5_000), Severity::Note);
        assert_eq!(severity(40, 5_000), Severity::Suspect);
        // Before the measured part of the run, in which nothing was lost.
        assert_eq!(severity(2_000, 0), Severity::Note);
    }
}
