//! D53: several machines of a fleet reach the server through one translator of addresses (NAT), whose ports and tables
//! they share.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use ablaze_model::Run;
use ablaze_model::fleet::{Fleet, FleetWorker};
use ablaze_model::plan::Load;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D53;
use crate::finding::{Finding, Severity};
use crate::live::whose::without_fleet;
use crate::words::{counted, grouped};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D53,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check, seen }), ..Forms::NONE },
};

const CAUSE: &str = "Their addresses are translated on the way (NAT). What translates them has one table of connections and, \
                     for each address that it shows, at most 64,512 ports to one port of the server: the rate, the refusals \
                     and the times may be its own.";
const FIX: &str = "Have the workers reach the server without NAT: on its network, or each with an address of its own.";

fn check(run: &Run) -> Option<Finding> {
    let fleet = run.fleet.as_ref()?;
    behind_one_address(run, fleet).or_else(|| one_address_on_several_hosts(fleet))
}

/// Workers whose own addresses the target's host has not seen, while it saw others.
fn behind_one_address(run: &Run, fleet: &Fleet) -> Option<Finding> {
    if fleet.seen_from.is_empty() {
        return None;
    }
    let seen: BTreeSet<IpAddr> = fleet.seen_from.iter().map(|seen| seen.address).collect();
    let known: Vec<(&FleetWorker, IpAddr)> = sources(fleet).collect();
    let hidden: Vec<_> = known.iter().filter(|(_, source)| !seen.contains(source)).collect();
    let own: BTreeSet<IpAddr> = known.iter().map(|(_, source)| *source).collect();
    let shown: Vec<String> = seen.difference(&own).map(IpAddr::to_string).collect();
    let of_others = fleet.seen_from.iter().filter(|seen| !own.contains(&seen.address));
    let of_others: u64 = of_others.map(|seen| seen.connections).sum();
    let missing = hidden.iter().filter_map(|(worker, _)| worker.machine.as_ref());
    let missing: u64 = missing.map(|machine| u64::from(machine.connections)).sum();
    let few = few_opened(run);
    let are_theirs = match few {
        // Where ports have run out these are all there are.
        Some((opened, _)) => of_others <= opened && of_others * 2 >= opened.min(missing),
        // Fewer are those of somebody else.
        None => of_others * 2 >= missing,
    };
    if hidden.is_empty() || shown.is_empty() || !are_theirs {
        return None;
    }
    let refused = few.map_or(String::new(), |(opened, asked)| {
        format!(
            " Of the {} of all workers {} could be opened.",
            counted(asked, "connection"),
            grouped(opened)
        )
    });
    let severity = match shown.len() < hidden.len() {
        true => Severity::Suspect,
        // Each may have a translator for itself.
        false => Severity::Note,
    };
    let evidence = format!(
        "The server's host had connections from {}, which is the address of no worker; the own addresses of {} of {} ({}) \
         were not among those it had.{refused}",
        shown.join(", "),
        grouped(hidden.len() as u64),
        counted(known.len() as u64, "worker"),
        hidden.iter().map(|(_, source)| source.to_string()).collect::<Vec<_>>().join(", "),
    );
    Some(Finding::new(D53, severity, evidence, CAUSE, FIX))
}

/// How many connections were opened in all, and how many should have been, where some never were: of a load that keeps its
/// connections, and knows how many.
fn few_opened(run: &Run) -> Option<(u64, u64)> {
    let Load::Closed { connections, .. } = run.plan.load else { return None };
    let (opened, asked) = (run.record.connections_opened, u64::from(connections));
    (run.plan.connections.keep_alive && (1..asked).contains(&opened)).then_some((opened, asked))
}

/// Hosts of different names that have the same address on the way to the target: on one network no two can.
fn one_address_on_several_hosts(fleet: &Fleet) -> Option<Finding> {
    let mut hosts: BTreeMap<IpAddr, BTreeSet<&str>> = BTreeMap::new();
    for (worker, source) in sources(fleet).filter(|(_, source)| !source.is_loopback()) {
        let host = worker.machine.as_ref().map_or("", |machine| machine.host.as_str());
        hosts.entry(source).or_default().insert(host);
    }
    let (source, names) = hosts.into_iter().find(|(_, names)| names.len() > 1)?;
    let names: Vec<&str> = names.into_iter().collect();
    let evidence = format!(
        "{} have the same address on the way to the server, {source}, which no two hosts of one network can have.",
        names.join(" and ")
    );
    let cause = "Each is behind a translator of addresses (NAT), or they are one host under several names, as containers are that \
                 share its network. Whether they share a translator, or the host's ports, and with them one table of connections, \
                 was not seen.";
    let fix = "Have each worker reach the server from an address of its own: from hosts of their own, and without NAT.";
    Some(Finding::new(D53, Severity::Note, evidence, cause, fix))
}

/// The workers whose own addresses are known, with those.
fn sources(fleet: &Fleet) -> impl Iterator<Item = (&FleetWorker, IpAddr)> {
    let source = |worker: &FleetWorker| worker.machine.as_ref()?.source;
    fleet.counted().filter_map(move |worker| Some((worker, source(worker)?)))
}

fn seen(run: &Run) -> Option<String> {
    let text = match &run.fleet {
        None => without_fleet(run),
        Some(fleet) if fleet.seen_from.is_empty() => {
            "The coordinator was not on the server's host, and no two hosts had the same address."
        }
        Some(_) => "The server's host saw no address that is none of the workers'.",
    };
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use ablaze_model::fleet::SeenFrom;

    use super::*;
    use crate::live::sample;

    /// Workers on hosts of these addresses, and where their connections came from at the server.
    fn found(sources: &[&str], seen: &[&str]) -> Option<Finding> {
        check(&with(sources, seen, 10 * sources.len() as u64))
    }

    /// The same run with so many connections opened of ten each.
    fn with(sources: &[&str], seen: &[&str], opened: u64) -> Run {
        let mut run = sample::run();
        run.plan.load = Load::Closed { connections: 10 * sources.len() as u32, pipeline: 1 };
        run.record.connections_opened = opened;
        let mut fleet = sample::fleet(sources.len() as u32);
        for (number, (worker, source)) in fleet.workers.iter_mut().zip(sources).enumerate() {
            let machine = worker.machine.as_mut().unwrap();
            machine.host = format!("host-{number}");
            machine.source = Some(source.parse().unwrap());
        }
        let seen = seen.iter().map(|address| address.parse().unwrap());
        fleet.seen_from = seen.map(|address| SeenFrom { address, connections: 20 }).collect();
        run.fleet = Some(Box::new(fleet));
        run
    }

    #[test]
    fn a_translator_whose_ports_have_run_out_is_told_by_what_could_be_opened() {
        let sources = ["10.0.1.2", "10.0.2.2", "10.0.3.2", "10.0.4.2", "10.0.5.2"];
        let finding = check(&with(&sources, &["192.0.2.1"], 22)).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        let end = "Of the 50 connections of all workers 22 could be opened.";
        assert!(finding.evidence.ends_with(end), "{}", finding.evidence);
        // Somebody else's: none, or fewer, were opened by the workers.
        assert_eq!(check(&with(&sources, &["192.0.2.1"], 0)), None);
        assert_eq!(check(&with(&sources, &["192.0.2.1"], 7)), None);
        // All were opened.
        let finding = check(&with(&sources[..2], &["192.0.2.1"], 20)).unwrap();
        assert!(!finding.evidence.contains("could be opened"), "{}", finding.evidence);
    }

    #[test]
    fn workers_that_the_server_sees_as_one_address_are_suspect() {
        let finding = found(&["10.0.1.2", "10.0.2.2"], &["192.0.2.1"]).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.contains("connections from 192.0.2.1"), "{}", finding.evidence);
        assert!(finding.evidence.contains("2 of 2 workers (10.0.1.2, 10.0.2.2)"));
        // One behind a translator of its own beside one without.
        let one = found(&["10.0.1.2", "192.0.2.7"], &["192.0.2.1", "192.0.2.7"]).unwrap();
        assert_eq!(one.severity, Severity::Note);
    }

    #[test]
    fn workers_that_it_sees_as_themselves_are_not() {
        assert_eq!(found(&["192.0.2.6", "192.0.2.7"], &["192.0.2.6", "192.0.2.7"]), None);
        // Some may have had no connection at that moment: nobody else had one, either.
        assert_eq!(found(&["192.0.2.6", "192.0.2.7"], &["192.0.2.6"]), None);
        // Somebody else's few connections beside workers that had none at that moment: three have ten each.
        let sources = ["192.0.2.6", "192.0.2.7", "192.0.2.8", "192.0.2.9", "192.0.2.10"];
        assert_eq!(found(&sources, &["203.0.113.9"]), None);
        // Nobody looked.
        assert_eq!(found(&["192.0.2.6", "192.0.2.7"], &[]), None);
        // All on the coordinator's machine.
        assert_eq!(found(&["127.0.0.1", "127.0.0.1"], &["127.0.0.1"]), None);
    }

    #[test]
    fn hosts_that_have_the_same_address_are_behind_translators() {
        let finding = found(&["10.0.2.15", "10.0.2.15"], &[]).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        assert!(finding.evidence.starts_with("host-0 and host-1 have the same address"));
        assert!(finding.cause.contains("one host under several names"), "{finding:?}");
        assert_eq!(found(&["127.0.0.1", "127.0.0.1"], &[]), None);
    }
}
