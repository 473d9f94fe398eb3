//! How an experiment or a search was asked for: what a person reads above its results, and what repeats it.

use serde::{Deserialize, Serialize};

/// What was said beside the work itself. It is no part of what is measured: an experiment is continued whatever its
/// title is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// What the page is called; the targets' names if this is empty.
    #[serde(default)]
    pub title: String,
    /// What it is about, in a sentence or two; may be empty.
    #[serde(default)]
    pub about: String,
    /// The words of the command line, without secrets; empty where nobody knows them any more.
    #[serde(default)]
    pub command: Vec<String>,
}
