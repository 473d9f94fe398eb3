//! D22: the kernel dropped packets in one of its queues, other than the accept queue (D08), or had
//! hardly any space left to track connections.

use ablaze_model::Run;
use ablaze_model::monitor::ConnectionTracking;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D22;
use crate::finding::{Finding, Severity};
use crate::live::figures::{counter, monitor};
use crate::words::{counted, grouped, listed, percent};

/// Counters that rise when a queue is full, and what each is about.
const QUEUES: [(&str, &str); 7] = [
    ("TcpExtTCPBacklogDrop", "a socket's backlog"),
    ("TcpExtTCPRcvQDrop", "a socket's receive queue"),
    ("TcpExtRcvPruned", "a socket's receive buffer"),
    (OPENINGS, "the queue of connections being opened"),
    ("TcpExtTCPMemoryPressures", "TCP's memory"),
    ("IpInDiscards", "incoming packets"),
    ("IpOutDiscards", "outgoing packets"),
];
/// They rise for other reasons, too: a rule of a firewall that refuses what a program sends counts among the outgoing packets, and an
/// entry may be refused for another of the same addresses and ports.
const NOT_ONLY_QUEUES: [&str; 3] = ["IpInDiscards", "IpOutDiscards", "nf_conntrack insert_failed"];
/// It is as long as the backlog that the server gave to listen(), like the accept queue.
const OPENINGS: &str = "TcpExtTCPReqQFullDrop";
/// A smaller share of the packets is a note.
const LITTLE: f64 = 1e-4;

/// A table of tracked connections that is this full is about to drop some.
const NEARLY_FULL: f64 = 0.95;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D22,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), ..Forms::NONE },
};

fn on_run(run: &Run) -> Option<Finding> {
    // None of these queues is in the way of a Unix socket.
    let full = full(run).filter(|_| run.plan.target.unix_socket.is_none())?;
    if full.is_empty() {
        return nearly_full(&monitor(run)?.kernel.connection_tracking?);
    }
    let dropped: u64 = full.iter().map(|(_, _, count)| count).sum();
    let share = arrived(run).map(|arrived| dropped as f64 / arrived.max(dropped) as f64);
    let named = full.iter().map(|(name, about, count)| {
        format!("{} × {about} ({})", grouped(*count), name.trim_start_matches("TcpExt"))
    });
    let asked = run.plan.connections.socket_buffer_bytes.map_or(String::new(), |bytes| {
        format!(" The client's sockets were given buffers of {} B.", grouped(bytes.into()))
    });
    let of_all = share
        .map_or(String::new(), |share| format!("; {} of the packets that arrived", percent(share)));
    let evidence = format!(
        "{}: {}{of_all}. The counters cover the whole network namespace.{asked}",
        if is_of_queues(&full) { "Overflowed" } else { "Dropped" },
        listed(named)
    );
    // How much it was must be known for a doubt.
    let much = share.is_some_and(|share| share >= LITTLE);
    // Over TCP what is dropped is sent again: these were packets of others.
    let of_others = run.plan.http3.is_none() && counter(run, "TcpRetransSegs") == Some(0);
    let severity = if much && !of_others { Severity::Suspect } else { Severity::Note };
    Some(Finding::new(D22, severity, evidence, cause(run, &full), fix(&full)))
}

/// Whether all that rose is said to be a full queue by its counter.
fn is_of_queues(full: &[(&str, &str, u64)]) -> bool {
    full.iter().all(|(name, _, _)| !NOT_ONLY_QUEUES.contains(name))
}

/// What makes each of these queues longer.
fn fix(full: &[(&str, &str, u64)]) -> String {
    let longer = |name: &str| match name {
        OPENINGS => "a longer backlog in listen() and net.core.somaxconn",
        "TcpExtTCPMemoryPressures" => "net.ipv4.tcp_mem",
        name if name.starts_with("TcpExt") => "net.ipv4.tcp_rmem and net.core.rmem_max",
        "nf_conntrack insert_failed" => "what `conntrack -S` shows",
        name if name.starts_with("nf_conntrack") => "net.netfilter.nf_conntrack_max",
        name if name.starts_with("softnet") => "net.core.netdev_max_backlog",
        _ => "what `ip -s link` and `tc -s qdisc` show of each device",
    };
    let mut ways: Vec<&str> = full.iter().map(|(name, _, _)| longer(name)).collect();
    ways.dedup();
    format!(
        "{} ({}), or lower the load.",
        if is_of_queues(full) {
            "Enlarge what overflowed"
        } else {
            "See which it was, and enlarge what overflowed"
        },
        ways.join("; ")
    )
}

/// Whether all that overflowed is the queue of connections being opened, which is as long as the accept queue: it explains no
/// accept queue that was full.
pub(super) fn is_of_openings(run: &Run) -> bool {
    full(run).is_some_and(|full| full.iter().all(|(name, _, _)| *name == OPENINGS))
}

/// How many packets arrived with TCP and UDP, as far as is known: datagrams over IPv6 have no counter here, so that those of
/// this run are counted at least.
fn arrived(run: &Run) -> Option<u64> {
    let segments = counter(run, "TcpInSegs")?;
    let own = run.record.http3.as_ref().map_or(0, |facts| facts.quic.received.datagrams);
    Some(segments + counter(run, "UdpInDatagrams").unwrap_or(0).max(own))
}

/// A full queue is what the counters show; whether anything was sent again for it, another one does.
fn cause(run: &Run, full: &[(&str, &str, u64)]) -> String {
    let again = match counter(run, "TcpRetransSegs") {
        None => ".".to_owned(),
        Some(0) => "; no segment was sent again.".to_owned(),
        Some(1) => "; 1 segment was sent again, by timers of 200 ms or more or on duplicate \
                    acknowledgements."
            .to_owned(),
        Some(many) => format!(
            "; {} segments were sent again, by timers of 200 ms or more or on duplicate \
             acknowledgements.",
            grouped(many)
        ),
    };
    let what = match is_of_queues(full) {
        true => "A queue of the kernel was full, and packets in it were dropped or squeezed",
        false => {
            "Packets were dropped: for want of memory or a full queue, or where a rule of the firewall refuses what a program \
             sends, or where two connections have the same addresses and ports"
        }
    };
    format!("{what}{again}")
}

fn seen(run: &Run) -> Option<String> {
    let kernel = &monitor(run)?.kernel;
    kernel.network.as_ref()?;
    let tracked = kernel.connection_tracking.map_or(String::new(), |table| {
        format!(
            " {} were tracked at the end, of at most {}.",
            counted(table.after, "connection"),
            grouped(table.most)
        )
    });
    full(run)?.is_empty().then(|| format!("No kernel queue dropped anything.{tracked}"))
}

/// The counters that rose, each with what it is about.
fn full(run: &Run) -> Option<Vec<(&'static str, &'static str, u64)>> {
    let kernel = &monitor(run)?.kernel;
    let table = kernel.connection_tracking;
    let of_table = |field: fn(&ConnectionTracking) -> Option<u64>| table.as_ref().and_then(field);
    let queues = QUEUES.iter().map(|(name, about)| (*name, *about, counter(run, name))).chain([
        ("softnet dropped", "a CPU's packets", kernel.softnet.map(|softnet| softnet.dropped)),
        ("nf_conntrack drop", "the table of tracked connections", of_table(|t| t.dropped)),
        (
            "nf_conntrack insert_failed",
            "entries that the table of tracked connections did not take",
            of_table(|t| t.insert_failed),
        ),
        ("nf_conntrack early_drop", "older entries of that table", of_table(|t| t.dropped_early)),
    ]);
    // A send to a UDP port that is closed by then counts among the discarded, too.
    let of_datagrams = |name: &str| run.plan.http3.is_some() && name == "IpOutDiscards";
    let queues = queues.filter(|(name, _, _)| !of_datagrams(name));
    let risen = queues
        .filter_map(|(name, about, count)| Some((name, about, count.filter(|count| *count > 0)?)));
    Some(risen.collect())
}

/// Nothing was dropped yet.
fn nearly_full(table: &ConnectionTracking) -> Option<Finding> {
    let share = table.after as f64 / table.most.max(1) as f64;
    (share >= NEARLY_FULL).then(|| {
        Finding::new(
            D22,
            Severity::Note,
            format!(
                "{} were tracked at the end (nf_conntrack_count), {} of the maximum of {}; {} at \
                 the start.",
                counted(table.after, "connection"),
                percent(share),
                grouped(table.most),
                grouped(table.before)
            ),
            "The kernel tracks each connection for a firewall or for address translation, closed \
             ones for some minutes more, and drops new ones when the table is full.",
            "Raise net.netfilter.nf_conntrack_max, or exempt the target's port from tracking.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;
    use ablaze_model::monitor::Softnet;

    #[test]
    fn queues_are_named_and_few_drops_are_a_note() {
        let mut run = sample::run();
        assert_eq!(on_run(&run), None);
        sample::counter(&mut run, "TcpInSegs", 1_000_000);
        sample::counter(&mut run, "TcpExtTCPBacklogDrop", 99);
        assert_eq!(on_run(&run).unwrap().severity, Severity::Note);
        sample::counter(&mut run, "TcpExtTCPBacklogDrop", 1001);
        let finding = on_run(&run).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.contains("1,001 × a socket's backlog (TCPBacklogDrop)"));
        assert!(finding.evidence.contains("; 0.10 % of the packets that arrived"), "{finding:?}");
        run.plan.target.unix_socket = Some("/run/there".into());
        assert_eq!(on_run(&run), None, "packets of others");
        run.plan.target.unix_socket = None;
        run.monitor = None;
        assert_eq!(on_run(&run), None);
    }

    /// The segments are those of somebody's terminal.
    #[test]
    fn drops_are_a_share_of_all_packets() {
        let mut run = sample::over_http3();
        sample::counter(&mut run, "TcpInSegs", 200);
        sample::counter(&mut run, "UdpInDatagrams", 20_000_000);
        let softnet = Softnet { processed: 20_000_000, dropped: 50, squeezed: 0 };
        sample::monitor(&mut run).kernel.softnet = Some(softnet);
        let finding = on_run(&run).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        assert!(finding.evidence.contains("; 0.0002"), "{finding:?}");
        // Over IPv6: this run's own 50,000.
        sample::counter(&mut run, "UdpInDatagrams", 0);
        let finding = on_run(&run).unwrap();
        assert!(finding.evidence.contains("; 0.10 % of the packets"), "{finding:?}");
        let counters = sample::monitor(&mut run).kernel.network.as_mut().unwrap();
        counters.remove("TcpInSegs");
        let finding = on_run(&run).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        assert!(finding.evidence.contains("(softnet dropped). The counters"), "{finding:?}");
    }

    /// `iptables -A OUTPUT -p udp -j DROP`, and a program that sends datagrams.
    #[test]
    fn discarded_packets_are_not_said_to_be_those_of_a_full_queue() {
        let mut run = sample::run();
        sample::counter(&mut run, "IpOutDiscards", 1399);
        let finding = on_run(&run).unwrap();
        assert!(finding.evidence.starts_with("Dropped: 1,399 × outgoing packets"), "{finding:?}");
        assert!(finding.cause.contains("a rule of the firewall"), "{finding:?}");
        assert!(!finding.cause.contains("queue of the kernel was full"), "{finding:?}");
    }

    /// listen(5), 60 connections and no SYN cookies.
    #[test]
    fn connections_being_opened_wait_in_a_queue_of_the_server_s_own_length() {
        let mut run = sample::run();
        sample::counter(&mut run, "TcpExtTCPReqQFullDrop", 208);
        let fix = on_run(&run).unwrap().fix;
        assert!(fix.contains("backlog in listen()"), "{fix}");
        for other in ["netdev_max_backlog", "tcp_rmem", "nf_conntrack"] {
            assert!(!fix.contains(other), "{fix}");
        }
        assert!(is_of_openings(&run));
        sample::counter(&mut run, "TcpExtRcvPruned", 40);
        assert!(on_run(&run).unwrap().fix.contains("net.ipv4.tcp_rmem"));
        assert!(!is_of_openings(&run));
    }

    #[test]
    fn packets_are_said_to_be_sent_again_only_where_some_were() {
        let mut run = sample::run();
        sample::counter(&mut run, "TcpExtRcvPruned", 40);
        let cause = |run: &Run| on_run(run).unwrap().cause;
        assert!(!cause(&run).contains("timer"), "{}", cause(&run));
        sample::counter(&mut run, "TcpRetransSegs", 0);
        assert!(cause(&run).contains("no segment was sent again"), "{}", cause(&run));
        // Then nothing of this run was dropped, however much of others was.
        sample::counter(&mut run, "TcpInSegs", 1_000);
        assert_eq!(on_run(&run).unwrap().severity, Severity::Note);
        sample::counter(&mut run, "TcpRetransSegs", 3);
        assert_eq!(on_run(&run).unwrap().severity, Severity::Suspect);
        assert!(cause(&run).contains("3 segments were sent again"), "{}", cause(&run));
        run.plan.connections.socket_buffer_bytes = Some(1024);
        assert!(on_run(&run).unwrap().evidence.contains("buffers of 1,024 B"));
    }

    #[test]
    fn tracked_connections_have_a_table_that_fills_up() {
        let mut run = sample::run();
        sample::counter(&mut run, "TcpInSegs", 1_000_000);
        let table = |run: &mut Run, after, dropped| {
            sample::monitor(run).kernel.connection_tracking = Some(ConnectionTracking {
                before: 10,
                after,
                most: 1000,
                insert_failed: Some(0),
                dropped,
                dropped_early: None,
            });
        };
        table(&mut run, 949, Some(0));
        assert_eq!(on_run(&run), None);
        assert!(
            seen(&run)
                .unwrap()
                .contains("949 connections were tracked at the end, of at most 1,000")
        );
        table(&mut run, 950, None);
        assert!(on_run(&run).unwrap().evidence.contains("95 % of the maximum of 1,000"));
        table(&mut run, 1000, Some(700));
        let finding = on_run(&run).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.contains("(nf_conntrack drop)"), "{}", finding.evidence);
    }
}
