//! `--stats FILE`: the counters of a server that has stopped, as JSON. docs/targets.md has the
//! fields.

use std::path::Path;

use ablaze_report::file;
use ablaze_target::{Counts, Options};

use crate::Refusal;

/// Refuses a file that could not be written, before there is anything to write.
///
/// # Errors
/// When it could not.
pub fn check(path: Option<&Path>) -> Result<(), Refusal> {
    path.map_or(Ok(()), file::check_writable)
        .map_err(|error| Refusal::usage(format!("--stats {error}")))
}

/// Writes the file, whole or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn write(path: &Path, served: &Served<'_>) -> Result<(), Refusal> {
    file::write_atomically(path, served.json().as_bytes())
        .map_err(|error| Refusal::machine(format!("the counters are not kept: {error}")))
}

/// What a server was and did.
#[derive(Debug)]
pub struct Served<'a> {
    /// What it was told.
    pub options: &'a Options,
    /// Where it listened.
    pub address: std::net::SocketAddr,
    /// From its start to the end of its last worker, ns.
    pub uptime_ns: u64,
    /// Its threads by name.
    pub workers: &'a [(String, Counts)],
}

impl Served<'_> {
    fn json(&self) -> String {
        let total = self.workers.iter().fold(Counts::default(), |sum, (_, counts)| sum + *counts);
        let workers: Vec<_> = self
            .workers
            .iter()
            .map(|(name, counts)| format!("    {{\"name\": \"{name}\", {}}}", fields(counts)))
            .collect();
        // Names and addresses are plain ASCII without quotes or backslashes.
        format!(
            "{{\n  \"ablaze\": \"{}\",\n  \"address\": \"{}\",\n  \"model\": \"{}\",\n  \
             \"accept\": \"{}\",\n  \"uptime_ns\": {},\n  \"workers\": [\n{}\n  ],\n  \
             \"total\": {{{}}}\n}}\n",
            env!("CARGO_PKG_VERSION"),
            self.address,
            self.options.model,
            self.options.accept,
            self.uptime_ns,
            workers.join(",\n"),
            fields(&total),
        )
    }
}

fn fields(counts: &Counts) -> String {
    let fields: Vec<_> =
        counts.named().iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    fields.join(", ")
}
