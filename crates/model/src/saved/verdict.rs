//! What the rules said of a run, in the file: names and sentences. Judged again when a file is read,
//! so that nothing depends on it.

use serde::{Deserialize, Serialize};

/// The verdict on a run, what bounded its rate, and what was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assessment {
    /// `VALID`, `SUSPECT` or `INVALID`.
    pub verdict: String,
    /// What bounded the rate: `server`, `client`, `shared-cpu` …
    pub limited_by: String,
    /// The figures that show it, as the end of a sentence.
    pub limit_evidence: String,
    /// What was found, the gravest first.
    pub findings: Vec<Found>,
    /// The rules that found nothing.
    #[serde(default)]
    pub passed: Vec<Passed>,
}

/// One diagnosis, found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// `D01` …
    pub id: String,
    /// Its name: `no response`.
    pub name: String,
    /// `note`, `suspect` or `invalid`.
    pub severity: String,
    /// The figures that show it.
    pub evidence: String,
    /// What brings such figures about.
    pub cause: String,
    /// What to do.
    pub fix: String,
    /// The finding of the same run that explains it.
    pub explained_by: Option<String>,
}

/// One diagnosis that was looked for and not found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Passed {
    /// `D01` …
    pub id: String,
    /// Its name.
    pub name: String,
    /// The figures that it went by; `None` where this run does not have them.
    pub evidence: Option<String>,
}
