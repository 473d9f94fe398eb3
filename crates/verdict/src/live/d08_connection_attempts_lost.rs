//! D08: connection attempts that the kernel dropped, mostly because the accept queue was full. The
//! kernel's counters say so, and so do connects that take as long as the timers of SYNs.

use ablaze_engine::Run;
use ablaze_stats::Latency;

use super::Rule;
use super::figures::{counter, target};
use crate::DiagnosisId::D08;
use crate::finding::{Finding, Severity};
use crate::words::{counted, grouped, time};

/// Linux sends the first packet of a connection again after a second; here with room for the
/// resolution of the timers.
const RESENT_NS: u64 = 990_000_000;

pub const RULE: Rule = Rule { id: D08, check, seen };

fn check(run: &Run) -> Option<Finding> {
    // The counters are those of the network namespace: they accuse only a listener in it.
    let own = target(run).is_some();
    let overflows = counter(run, "TcpExtListenOverflows").filter(|count| own && *count > 0);
    let late = late(&run.record.setup_connect) + late(&run.record.answered.connect);
    if overflows.is_none() && late == 0 {
        return None;
    }
    let mut evidence = Vec::new();
    if let Some(overflows) = overflows {
        evidence.push(format!(
            "The accept queue was full {} times (ListenOverflows, of this network namespace).",
            grouped(overflows)
        ));
    }
    let listener = target(run).and_then(|target| target.listener.as_ref());
    if let Some((backlog, longest)) = listener.and_then(|l| l.backlog.zip(l.longest_queue)) {
        evidence.push(format!(
            "It holds {}; {} were seen waiting.",
            counted(backlog, "connection"),
            grouped(longest)
        ));
    }
    if late > 0 {
        let longest = [&run.record.setup_connect, &run.record.answered.connect]
            .into_iter()
            .filter_map(Latency::max_ns)
            .max()?;
        let resent = counter(run, "TcpExtTCPSynRetrans").map_or(String::new(), |count| {
            format!("; {} first packets were sent again (TCPSynRetrans)", grouped(count))
        });
        evidence.push(format!(
            "{} took a second or more to open, the longest {}{resent}.",
            counted(late, "connection"),
            time(longest as f64 / 1e6)
        ));
    }
    Some(Finding::new(
        D08,
        Severity::Suspect,
        evidence.join(" "),
        "More connections came at once than the listening socket holds: the rest was dropped, and \
         tried again by timers of a second and more.",
        "Give listen() a longer backlog and raise net.core.somaxconn to the same, or open the \
         connections over some time with --ramp.",
    ))
}

fn seen(run: &Run) -> Option<String> {
    let connects = [&run.record.setup_connect, &run.record.answered.connect];
    let count: u64 = connects.iter().map(|connects| connects.count()).sum();
    let longest_ns = connects.into_iter().filter_map(Latency::max_ns).max()?;
    let overflows = counter(run, "TcpExtListenOverflows").filter(|_| target(run).is_some());
    let overflows = overflows.map_or(String::new(), |count| {
        format!("The accept queue was full {}. ", counted(count, "time"))
    });
    Some(format!(
        "{overflows}The longest of {} took {} to open.",
        counted(count, "connection"),
        time(longest_ns as f64 / 1e6)
    ))
}

/// Connects that took a second or more.
fn late(connects: &Latency) -> u64 {
    connects.count() - connects.count_at_most(RESENT_NS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn counters_or_timers_give_it_away() {
        let mut run = sample::run();
        assert_eq!(check(&run), None);
        sample::counter(&mut run, "TcpExtListenOverflows", 994);
        let finding = check(&run).unwrap();
        assert!(finding.evidence.contains("was full 994 times"), "{}", finding.evidence);
        assert!(finding.evidence.contains("It holds 511 connections"), "{}", finding.evidence);
        sample::counter(&mut run, "TcpExtListenOverflows", 0);
        run.record.setup_connect.record(1_003_000_000);
        let finding = check(&run).unwrap();
        assert!(finding.evidence.contains("1 connection took a second"), "{}", finding.evidence);
    }

    #[test]
    fn a_remote_server_is_not_accused_by_local_counters() {
        let mut run = sample::run();
        sample::counter(&mut run, "TcpExtListenOverflows", 994);
        sample::witness(&mut run).target.on_this_host = false;
        assert_eq!(check(&run), None);
        run.witness = None;
        run.record.setup_connect.record(900_000_000);
        assert_eq!(check(&run), None);
    }
}
