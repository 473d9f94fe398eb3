//! D58: a control group used up its CPU quota: its threads stood still for the rest of each such period, though CPUs were idle.

use ablaze_model::Run;
use ablaze_model::monitor::Throttled;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D58;
use crate::finding::{Finding, Severity};
use crate::live::figures::monitor;
use crate::live::quota;

/// The client's was stopped for less than this share of the run: a note.
const LITTLE: f64 = 0.01;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D58,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), ..Forms::NONE },
};

/// Who stands still with the client's group is seen of the server only where it is in a group of its own.
const CLIENT: (&str, &str) = (
    "A group that has used up its quota (docker's --cpus, CPUQuota= of systemd, a CPU limit of Kubernetes) stands still until the \
     period ends: the client, and the server if it is in the same group. The times of requests include that, and the rate is \
     what the quota permits.",
    "Measure without a CPU limit on the client, or with one that it does not reach.",
);
const SERVER: (&str, &str) = (
    "A group that has used up its quota (docker's --cpus, CPUQuota= of systemd, a CPU limit of Kubernetes) stands still until the \
     period ends. The server's rate and times are those of a server with this quota.",
    "For its capacity without it, start the server without a CPU limit; with one, it stands still less often with no more \
     threads than the limit has CPUs.",
);
const BOTH: (&str, &str) = (
    "A group that has used up its quota (docker's --cpus, CPUQuota= of systemd, a CPU limit of Kubernetes) stands still until the \
     period ends. The times of requests include that of both sides.",
    "Measure without a CPU limit on the client; and for the server's capacity without its own, on the server neither.",
);

fn on_run(run: &Run) -> Option<Finding> {
    let (client, server) = (quota::of_client(run), quota::of_server(run));
    let of = |side: &str, throttled: Throttled| {
        format!(
            "The CPU quota of the {side}'s control group was used up in {}.",
            quota::cost(throttled)
        )
    };
    let sides = [
        client.map(|throttled| of("client", throttled)),
        server.map(|throttled| of("server", throttled)),
    ];
    let evidence: Vec<String> = sides.into_iter().flatten().collect();
    let (cause, fix) = match (client, server) {
        (Some(_), Some(_)) => BOTH,
        (Some(_), None) => CLIENT,
        (None, Some(_)) => SERVER,
        (None, None) => return None,
    };
    // What a quota of its own does to the server is the server's.
    let share = client.map_or(0.0, |client| client.time_ns as f64 / run.elapsed_ns.max(1) as f64);
    let severity = if share >= LITTLE { Severity::Suspect } else { Severity::Note };
    Some(Finding::new(D58, severity, evidence.join(" "), cause, fix))
}

fn seen(run: &Run) -> Option<String> {
    let said = match monitor(run)?.kernel.throttled {
        Some(_) => "No CPU quota of the client's control group was used up.",
        None => "The client's control group counts no CPU quota.",
    };
    Some(said.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiagnosisId::{D13, D23};
    use crate::limit::{self, Limit};
    use crate::live::{self, sample};
    use ablaze_model::monitor::{Gap, Heartbeat};

    /// Stopped in each of so many of 100 periods for 50 ms.
    fn throttled(periods: u64) -> Option<Throttled> {
        Some(Throttled { periods, of_periods: Some(100), time_ns: periods * 50_000_000 })
    }

    fn with_client(periods: u64) -> Run {
        let mut run = sample::with_shares(0.3, 0.5);
        sample::monitor(&mut run).kernel.throttled = throttled(periods);
        run
    }

    fn with_server(periods: u64) -> Run {
        let mut run = sample::with_shares(0.5, 0.3);
        sample::monitor(&mut run).target.throttled = throttled(periods);
        run
    }

    #[test]
    fn the_clients_quota_is_a_doubt_and_the_servers_a_note() {
        assert_eq!(on_run(&sample::run()), None);
        assert_eq!(on_run(&with_client(0)), None);
        let finding = on_run(&with_client(98)).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert_eq!(
            finding.evidence,
            "The CPU quota of the client's control group was used up in 98 of 100 periods, which stopped its threads for 4.90 \
             s, added up over all CPUs."
        );
        // 50 ms of 10 s.
        assert_eq!(on_run(&with_client(1)).unwrap().severity, Severity::Note);
        let finding = on_run(&with_server(98)).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        assert!(finding.evidence.contains("the server's control group"), "{finding:?}");
        // Of another host nothing is seen.
        let mut run = with_server(98);
        sample::monitor(&mut run).target.on_this_host = false;
        assert_eq!(on_run(&run), None);
    }

    #[test]
    fn a_quota_used_up_in_most_periods_is_the_limit() {
        for run in [with_client(98), with_server(98)] {
            let limited = limit::of(&run);
            assert_eq!(limited.by, Limit::CpuQuota, "{limited}");
            assert!(limited.evidence.contains("in 98 of 100 periods"), "{limited}");
        }
        assert_ne!(limit::of(&with_client(20)).by, Limit::CpuQuota);
        // A whole core of a thread is the server's limit, quota or not; and a rate that was kept up is the load's.
        let mut run = sample::with_shares(0.97, 0.3);
        sample::monitor(&mut run).target.throttled = throttled(98);
        assert_eq!(limit::of(&run).by, Limit::Server);
        let mut run = with_client(98);
        sample::open_loop(&mut run, 2_000.0);
        assert_eq!(limit::of(&run).by, Limit::AskedRate);
    }

    #[test]
    fn whom_a_quota_stopped_others_did_not_hold_up() {
        let mut run = with_client(98);
        sample::monitor(&mut run).heartbeat = Some(Heartbeat {
            beats: 500,
            gaps: 98,
            gaps_ns: 3_900_000_000,
            gaps_waited_ns: Some(3_900_000_000),
            longest: vec![Gap {
                at_clock_ns: 5,
                length_ns: 40_000_000,
                waited_ns: Some(40_000_000),
            }],
        });
        // Others had half of the machine, and the client's thread waited for 49 % of the time: for its quota.
        sample::threads(&mut run)[0].waited_ns = 4_900_000_000;
        sample::processors(&mut run).user_ns += 9_000_000_000;
        sample::processors(&mut run).idle_ns -= 9_000_000_000;
        let judged = live::judge(&run);
        let of = |id| judged.findings.iter().find(|finding| finding.id == id);
        assert_eq!(of(D13), None, "{:?}", judged.findings);
        let late = of(D23).unwrap();
        assert_eq!(late.explained_by, Some(D58));
        assert!(!late.cause.contains("Other tasks"), "{late:?}");
        // Of 3.9 s only 50 ms.
        sample::monitor(&mut run).kernel.throttled = throttled(1);
        let judged = live::judge(&run);
        let late = judged.findings.iter().find(|finding| finding.id == D23).unwrap();
        assert!(late.explained_by.is_none() && late.cause.starts_with("Other tasks"), "{late:?}");
    }
}
