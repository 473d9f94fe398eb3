//! What bounded the rate of several machines: each has seen its own side of it, and one that had no time left bounds all.

use ablaze_model::finding::{Limit, Limited};
use ablaze_model::fleet::{Fleet, FleetWorker};

use crate::words::grouped;

/// So many names are shown; the others are counted.
const NAMES: usize = 4;

/// What bounded the rate of these.
pub(super) fn limit(fleet: &Fleet) -> Limited {
    let counted: Vec<&FleetWorker> = fleet.counted().collect();
    let full: Vec<&FleetWorker> =
        counted.iter().copied().filter(|worker| worker.is_at_its_limit()).collect();
    if !full.is_empty() {
        let evidence = format!(
            "the fleet: {} of {} workers were at their limit ({})",
            grouped(full.len() as u64),
            grouped(counted.len() as u64),
            names(&full)
        );
        return Limited { by: Limit::Client, evidence };
    }
    let first =
        counted.iter().find_map(|worker| worker.limit.as_ref().map(|limit| (worker, limit)));
    let Some((worker, limit)) = first else {
        return Limited { by: Limit::Unknown, evidence: "no worker has told its own".to_owned() };
    };
    let is_same =
        |other: &&FleetWorker| other.limit.as_ref().is_none_or(|own| own.key == limit.key);
    let by = Limit::of_key(&limit.key);
    // What each takes for other processes are the others of them, too.
    let of_cpus = matches!(by, Some(Limit::OtherProcesses | Limit::SharedCpu));
    if let (true, Some((host, workers))) = (of_cpus, shared_host(&counted)) {
        let evidence = format!(
            "the CPUs of {host} were full, and {workers} of the workers share them: each has the others among its other \
             processes"
        );
        return Limited { by: Limit::Unknown, evidence };
    }
    let alike = counted.len() > 1
        && counted.iter().all(|worker| worker.limit.as_ref().is_some_and(|own| own == limit));
    match by {
        Some(by) if alike => {
            let workers = grouped(counted.len() as u64);
            Limited { by, evidence: format!("{} (the same on all {workers} workers)", limit.text) }
        }
        // Each may have a reason of its own.
        Some(Limit::Unknown) if counted.len() > 1 && counted.iter().all(is_same) => Limited {
            by: Limit::Unknown,
            evidence: format!("no worker shows it; on {}: {}", worker.name, limit.text),
        },
        Some(by) if counted.iter().all(is_same) => {
            Limited { by, evidence: format!("{} on {}", limit.text, worker.name) }
        }
        _ => {
            let evidence = "its workers were limited by different things: see the table".to_owned();
            Limited { by: Limit::Unknown, evidence }
        }
    }
}

/// A host that several of them run on, and how many.
fn shared_host<'a>(workers: &[&'a FleetWorker]) -> Option<(&'a str, usize)> {
    let host = |worker: &&'a FleetWorker| Some(worker.machine.as_ref()?.host.as_str());
    let on = |name: &str| workers.iter().filter(|worker| host(worker) == Some(name)).count();
    workers.iter().filter_map(host).map(|name| (name, on(name))).find(|(_, number)| *number > 1)
}

/// The names of these, for a sentence.
pub(crate) fn names(workers: &[&FleetWorker]) -> String {
    let shown: Vec<&str> = workers.iter().take(NAMES).map(|worker| worker.name.as_str()).collect();
    match workers.len().saturating_sub(NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), grouped(more as u64)),
    }
}

#[cfg(test)]
mod tests {
    use ablaze_model::fleet::{WorkerLimit, WorkerMachine};

    use super::*;

    fn fleet(keys: &[&str]) -> Fleet {
        let worker = |(number, key): (usize, &&str)| FleetWorker {
            name: format!("host-{number}"),
            counted: true,
            limit: Some(WorkerLimit { key: (*key).to_owned(), text: "what was seen".to_owned() }),
            ..FleetWorker::default()
        };
        Fleet { workers: keys.iter().enumerate().map(worker).collect(), ..Fleet::default() }
    }

    #[test]
    fn one_that_has_no_time_left_bounds_all_and_is_named() {
        let limited = limit(&fleet(&["unknown", "client", "server", "client"]));
        assert_eq!(limited.by, Limit::Client);
        assert_eq!(
            limited.evidence,
            "the fleet: 2 of 4 workers were at their limit (host-1, host-3)"
        );
        let many = limit(&fleet(&["client"; 6]));
        assert!(many.evidence.ends_with("host-3 and 2 more)"), "{}", many.evidence);
    }

    #[test]
    fn what_one_saw_is_not_said_of_it_alone_nor_of_all() {
        let mut fleet = fleet(&["unknown", "unknown"]);
        assert_eq!(limit(&fleet).evidence, "what was seen (the same on all 2 workers)");
        let other = WorkerLimit { key: "unknown".to_owned(), text: "no response came".to_owned() };
        fleet.workers[1].limit = Some(other);
        assert_eq!(limit(&fleet).evidence, "no worker shows it; on host-0: what was seen");
    }

    #[test]
    fn workers_of_one_host_are_no_other_processes() {
        let mut fleet = fleet(&["other-processes", "other-processes"]);
        assert_eq!(limit(&fleet).by, Limit::OtherProcesses);
        for worker in &mut fleet.workers {
            worker.machine =
                Some(WorkerMachine { host: "here".to_owned(), ..WorkerMachine::default() });
        }
        let limited = limit(&fleet);
        assert_eq!(limited.by, Limit::Unknown);
        let said = "the CPUs of here were full, and 2 of the workers share them";
        assert!(limited.evidence.starts_with(said), "{}", limited.evidence);
    }

    #[test]
    fn what_all_of_them_saw_bounds_all() {
        assert_eq!(limit(&fleet(&["server", "server"])).by, Limit::Server);
        assert_eq!(limit(&fleet(&["server", "round-trip"])).by, Limit::Unknown);
        assert_eq!(limit(&fleet(&[])).by, Limit::Unknown);
    }
}
