//! The journey that the users of a run walk: compiled, with everything that it needs beside the responses.

use std::fmt;
use std::sync::Arc;

use ablaze_journey::{Failure, Files, Journey, Site, Variables};
pub use ablaze_journey::{FormPart, Step, StepBody, Template};

use super::users::{Users, Ways};

/// A journey as a part of the Plan. A run counts journeys then: its limits, numbers and arrivals are theirs.
#[derive(Debug, Clone)]
pub struct PlannedJourney {
    /// The file, as it was named.
    pub name: String,
    /// The names of its steps, each of which is a template of the Plan. With several journeys, those of all; without those of
    /// the setup, whose templates stand behind.
    pub steps: Vec<String>,
    /// The numbers of those steps that permit any status (`HTTP *`): none that comes is unexpected there.
    pub any_status: Vec<usize>,
    /// Who walks it.
    pub users: Users,
    /// What is walked. `None` in a run that was read from a file.
    pub route: Option<Arc<Route>>,
}

impl PlannedJourney {
    /// Whether the requests of this group are of steps that permit any status: those themselves, or where they were redirected
    /// (`name redirect 2`).
    pub fn permits_any(&self, group: &str) -> bool {
        let is_name = |name: &str| self.steps.iter().any(|step| step == name);
        let redirected = || group.rsplit_once(" redirect ").map(|(name, _)| name);
        let name = if is_name(group) { group } else { redirected().unwrap_or(group) };
        let mut own = self.steps.iter().enumerate().filter(|(_, step)| *step == name).peekable();
        own.peek().is_some() && own.all(|(index, _)| self.any_status.contains(&index))
    }
}

/// What users walk.
#[derive(Debug)]
pub struct Route {
    /// The steps: of all journeys, one behind the other, then those of the setup.
    pub journey: Journey,
    /// Where they go: the target of the Plan, and the others in its order.
    pub sites: Vec<Site>,
    /// Which of them belong together.
    pub ways: Ways,
    /// The contents of the files that they send.
    pub files: Files,
    /// What every iteration begins with.
    pub given: Variables,
    /// The variable that each column of the Plan's data sets.
    pub columns: Vec<usize>,
    /// What messages must not show.
    pub secrets: Vec<String>,
    /// Which templates of the Plan the redirects of each step count as: those of the first, the second and so on, and of
    /// the last and all behind it. Empty where they count as the step's own.
    pub redirects: Vec<Vec<RedirectRow>>,
    /// Whether a failed assert ends an iteration.
    pub continue_on_error: bool,
    /// Who hears of every step.
    pub trace: Option<Trace>,
}

impl Route {
    /// How many templates the Plan has for it.
    pub fn rows(&self) -> usize {
        let last = |row: &RedirectRow| row.get.max(row.same) as usize + 1;
        let rows = self.redirects.iter().flatten().map(last);
        rows.max().unwrap_or(0).max(self.journey.steps.len())
    }

    /// Which template a request of a step counts as, which has followed so many redirects.
    pub fn row(&self, step: usize, redirects: u64, is_get: bool) -> u32 {
        let rows = self.redirects.get(step).map_or(&[][..], Vec::as_slice);
        let position = usize::try_from(redirects).unwrap_or(usize::MAX).min(rows.len());
        match position.checked_sub(1).map(|position| rows[position]) {
            Some(RedirectRow { get, same }) => {
                if is_get {
                    get
                } else {
                    same
                }
            }
            None => step as u32,
        }
    }
}

/// The templates of a redirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RedirectRow {
    /// Where it is a GET.
    pub get: u32,
    /// Where it has the method of its step.
    pub same: u32,
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
        /// How many redirects were followed before.
        redirects: u64,
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
    Failed {
        /// Which step.
        step: usize,
        /// What, and in which line.
        failure: &'a Failure,
    },
}
