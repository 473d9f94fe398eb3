//! `ablaze load --fleet`: several workers and one report, and what becomes of it when some of them are lost.

mod cluster;
mod containers;
mod controls;
mod experiments;
mod hosts;
mod kubernetes;
mod losses;
mod networks;
mod sequence;
mod slurm;
mod ssh;
mod sums;

use std::path::Path;
use std::process::Command;

use ablaze_testing::Scratch;
use serde_json::Value;

use crate::e2e::support::{Ran, command, eventually};

/// A coordinator whose templates find this very program as `ablaze`.
fn coordinator(words: &[&str]) -> Command {
    let mut command = command(words);
    let own = Path::new(env!("CARGO_BIN_EXE_ablaze")).parent().unwrap().display();
    command.env("PATH", format!("{own}:{}", std::env::var("PATH").unwrap_or_default()));
    command
}

/// A folder in which each worker leaves the number of its process.
struct Numbers(Scratch);

impl Numbers {
    fn new(name: &str) -> Self {
        Self(Scratch::new(name))
    }

    /// `exec:` of these hosts, each of which runs `then`.
    fn of(&self, hosts: &str, then: &str) -> String {
        let folder = self.0.path().display();
        format!(
            "exec:{hosts}=sh -c '[ -e {folder}/{{host}} ] || echo $$ > {folder}/{{host}}; {then}'"
        )
    }

    /// A file of this name in the folder.
    fn file(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// The process of a host, as soon as there is one.
    fn process(&self, host: &str) -> i32 {
        let path = self.0.path().join(host);
        let read = || std::fs::read_to_string(&path).ok()?.trim().parse().ok();
        assert!(eventually(|| read().is_some()), "{host} was never started");
        read().unwrap()
    }

    /// Whether none of these hosts has a process any more, within a time.
    fn have_ended(&self, hosts: &[&str]) -> bool {
        let ended = |host: &&str| !is_running(self.process(host));
        eventually(|| hosts.iter().all(ended))
    }
}

/// The finding of this number in a report of `--json`.
fn finding<'a>(json: &'a Value, id: &str) -> Option<&'a Value> {
    json["verdict"]["findings"].as_array()?.iter().find(|finding| finding["id"] == id)
}

/// A report without the ends of its lines, which are where the terminal's width has them.
fn unwrapped(ran: &Ran) -> String {
    ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether there is a process of this number that is not only waiting to be reaped.
fn is_running(process: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default().trim().chars().next();
    state.is_some_and(|state| state != 'Z')
}
