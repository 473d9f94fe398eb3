//! The journey that the users of a run walk: compiled, with everything that it needs beside the responses.

use std::fmt;
use std::sync::Arc;

use ablaze_journey::{Failure, Files, Journey, Site, Variables};

/// A journey as a part of the Plan. A run counts journeys then: its limits, numbers and arrivals are theirs.
#[derive(Debug, Clone)]
pub struct PlannedJourney {
    /// The file, as it was named.
    pub name: String,
    /// The names of its steps, each of which is a template of the Plan.
    pub steps: Vec<String>,
    /// What is walked. `None` in a run that was read from a file.
    pub route: Option<Arc<Route>>,
}

/// What users walk.
#[derive(Debug)]
pub struct Route {
    /// The steps.
    pub journey: Journey,
    /// Where they go.
    pub site: Site,
    /// The contents of the files that they send.
    pub files: Files,
    /// What every iteration begins with.
    pub given: Variables,
    /// The variable that each column of the Plan's data sets.
    pub columns: Vec<usize>,
    /// What messages must not show.
    pub secrets: Vec<String>,
    /// Whether a failed assert ends an iteration.
    pub continue_on_error: bool,
    /// Who hears of every step.
    pub trace: Option<Trace>,
}

/// Who hears of every step, in the loop: for a run of one iteration.
#[derive(Clone)]
pub struct Trace(pub Arc<dyn Fn(Traced<'_>) + Send + Sync>);

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trace")
    }
}

/// What happened in a step.
#[derive(Debug)]
pub enum Traced<'a> {
    /// Its request is sent.
    Sent {
        /// Which step.
        step: usize,
        /// The bytes, head and body.
        request: &'a [u8],
    },
    /// Its response is complete.
    Answered {
        /// The head, with its empty line.
        head: &'a [u8],
        /// Length of the body.
        body_bytes: u64,
        /// How long it took, ns.
        total_ns: u64,
    },
    /// A variable got a value.
    Captured {
        /// Its name.
        name: &'a str,
        /// Its value, as templates write it, or what kind it is.
        value: &'a str,
    },
    /// Something is not as the file says.
    Failed(&'a Failure),
}
