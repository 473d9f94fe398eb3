//! CPU time of server and client, and why the server's is not known.

use ablaze_model::Run;

use super::of_block;
use crate::page::{Block, Section, ShownRun, charts};

/// CPU time of server and client.
pub fn cpu(subjects: &[ShownRun<'_>]) -> Section {
    let unseen = subjects.iter().map(|subject| (subject.name, server_unseen(subject.run)));
    let caption = servers_unseen(unseen);
    let block = charts::cpu(subjects).map(|chart| Block::Chart { chart, caption, figures: true });
    of_block("", block, "No CPU times were measured.")
}

/// Why nothing is shown of the server's CPU time, if so.
pub fn server_unseen(run: &Run) -> Option<&'static str> {
    if crate::effort::of_the_server(run).is_some_and(|(cpu_ns, _)| cpu_ns > 0.0) {
        return None;
    }
    Some(match run.monitor.as_ref().map(|monitor| &monitor.target) {
        // As the merge writes it.
        None if run.plan.workers.count_reason.ends_with(" shards") => {
            "What the monitors of merged runs saw of the server's CPU time is with each of them."
        }
        None => "The server's CPU time was not measured: there was no monitor.",
        Some(target) if !target.on_this_host => {
            "A server's CPU time can only be measured on the client's own host."
        }
        Some(target) if target.processes.is_empty() => {
            "The server's process could not be observed, so its CPU time is not known."
        }
        Some(_) if run.elapsed_ns >= 1_000_000_000 => {
            "The server's process was read too few times to measure its CPU time."
        }
        Some(_) => "The run was too short to measure the server's CPU time.",
    })
}

/// The same of several, each with its name: a sentence for each reason, with whose it is unless it is that of all.
pub fn servers_unseen<'a>(
    servers: impl Iterator<Item = (&'a str, Option<&'static str>)>,
) -> String {
    let servers: Vec<(&str, Option<&str>)> = servers.collect();
    let mut sentences: Vec<String> = Vec::new();
    let mut said: Vec<&str> = Vec::new();
    for reason in servers.iter().filter_map(|(_, reason)| *reason) {
        if said.contains(&reason) {
            continue;
        }
        said.push(reason);
        let whose = servers.iter().filter(|(_, other)| *other == Some(reason));
        let names: Vec<&str> = whose.map(|(name, _)| *name).collect();
        sentences.push(match names.len() == servers.len() {
            true => reason.to_owned(),
            false => format!("{}: {reason}", names.join(", ")),
        });
    }
    sentences.join(" ")
}
