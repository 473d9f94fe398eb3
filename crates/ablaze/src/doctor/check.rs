//! One line of the answer: what was looked at, the figure, what that does to a measurement, and how
//! to fix it.

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Its name, which is its heading in docs/doctor.md, too.
    pub name: &'static str,
    /// How it stands.
    pub state: State,
    /// What was found, with its numbers; for [`State::Unknown`] what could not be read.
    pub figure: String,
    /// What that does to a measurement.
    pub effect: Option<String>,
    /// What to do, in words.
    pub advice: Option<String>,
    /// What to type.
    pub command: Option<String>,
}

/// How a check stands, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It will get in the way.
    Problem,
    /// It can get in the way, or a reader of the figures should know.
    Note,
    /// Nothing to do.
    Ok,
    /// It cannot be read here.
    Unknown,
}

impl Check {
    /// Nothing to do.
    pub fn ok(name: &'static str, figure: impl Into<String>) -> Self {
        Self::of(name, State::Ok, figure, None)
    }

    /// It can get in the way.
    pub fn note(name: &'static str, figure: impl Into<String>, effect: impl Into<String>) -> Self {
        Self::of(name, State::Note, figure, Some(effect.into()))
    }

    /// It will get in the way.
    pub fn problem(
        name: &'static str,
        figure: impl Into<String>,
        effect: impl Into<String>,
    ) -> Self {
        Self::of(name, State::Problem, figure, Some(effect.into()))
    }

    /// What is not offered here; `what` says which thing.
    pub fn unknown(name: &'static str, what: impl Into<String>) -> Self {
        Self::of(name, State::Unknown, what, None)
    }

    /// With words on what to do.
    pub fn advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// With what to type.
    pub fn command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }

    fn of(
        name: &'static str,
        state: State,
        figure: impl Into<String>,
        effect: Option<String>,
    ) -> Self {
        Self { name, state, figure: figure.into(), effect, advice: None, command: None }
    }
}
