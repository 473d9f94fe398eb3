//! D22: the kernel dropped packets in one of its queues, other than the accept queue (D08).

use ablaze_engine::Run;

use super::Rule;
use super::figures::{counter, witness};
use crate::DiagnosisId::D22;
use crate::finding::{Finding, Severity};
use crate::words::{grouped, listed, percent};

/// Counters that rise when a queue is full, and what each is about.
const QUEUES: [(&str, &str); 7] = [
    ("TcpExtTCPBacklogDrop", "a socket's backlog"),
    ("TcpExtTCPRcvQDrop", "a socket's receive queue"),
    ("TcpExtRcvPruned", "a socket's receive buffer"),
    ("TcpExtTCPReqQFullDrop", "the queue of connections being opened"),
    ("TcpExtTCPMemoryPressures", "TCP's memory"),
    ("IpInDiscards", "arriving packets"),
    ("IpOutDiscards", "leaving packets"),
];
/// A smaller share of the segments is a note.
const LITTLE: f64 = 1e-4;

pub const RULE: Rule = Rule { id: D22, check, seen };

fn check(run: &Run) -> Option<Finding> {
    let full: Vec<(&str, &str, u64)> = counted(run)?.filter(|(_, _, count)| *count > 0).collect();
    if full.is_empty() {
        return None;
    }
    let dropped: u64 = full.iter().map(|(_, _, count)| count).sum();
    let segments = counter(run, "TcpInSegs").unwrap_or(0).max(1);
    let share = dropped as f64 / segments as f64;
    let named = full.iter().map(|(name, about, count)| {
        format!("{} × {about} ({})", grouped(*count), name.trim_start_matches("TcpExt"))
    });
    let evidence = format!(
        "Full were: {}; {} of the segments that arrived. The counters are those of the whole network \
         namespace.",
        listed(named),
        percent(share)
    );
    let severity = if share < LITTLE { Severity::Note } else { Severity::Suspect };
    Some(Finding::new(
        D22,
        severity,
        evidence,
        "The kernel dropped packets for want of room, and they were sent again after a timer of 200 ms \
         or more.",
        "Enlarge the queue that is named (net.core.netdev_max_backlog, net.core.rmem_max, \
         net.ipv4.tcp_rmem, tcp_mem), or lower the load.",
    ))
}

fn seen(run: &Run) -> Option<String> {
    let known = counted(run)?.count();
    let segments = counter(run, "TcpInSegs").map_or(String::new(), |segments| {
        format!(", with {} segments that arrived", grouped(segments))
    });
    (known > 0).then(|| format!("None of {known} counters of full queues rose{segments}."))
}

/// Every queue whose counter this kernel has: its name, what it holds, how often it was full.
fn counted(run: &Run) -> Option<impl Iterator<Item = (&'static str, &'static str, u64)>> {
    let softnet = witness(run)?.kernel.softnet.map(|softnet| softnet.dropped);
    let all = QUEUES.iter().map(|(name, about)| (*name, *about, counter(run, name))).chain([(
        "softnet dropped",
        "a processor's packets",
        softnet,
    )]);
    Some(all.filter_map(|(name, about, count)| Some((name, about, count?))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn queues_are_named_and_few_drops_are_a_note() {
        let mut run = sample::run();
        assert_eq!(check(&run), None);
        sample::counter(&mut run, "TcpInSegs", 1_000_000);
        sample::counter(&mut run, "TcpExtTCPBacklogDrop", 99);
        assert_eq!(check(&run).unwrap().severity, Severity::Note);
        sample::counter(&mut run, "TcpExtTCPBacklogDrop", 1001);
        let finding = check(&run).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.contains("1,001 × a socket's backlog (TCPBacklogDrop)"));
        run.witness = None;
        assert_eq!(check(&run), None);
    }
}
