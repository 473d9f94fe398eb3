//! Whether all workers of a server still run, for whoever waits to hear of it. Workers tell it when they end,
//! [`Running`](crate::Running) when it stops them.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Tells when a worker of a server ends before it was told to.
#[derive(Debug, Clone, Default)]
pub struct Health(Arc<Told>);

#[derive(Debug, Default)]
struct Told {
    state: Mutex<State>,
    changed: Condvar,
}

/// What is known of the workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum State {
    /// All of them run.
    #[default]
    Runs,
    /// One ended by itself.
    Failed,
    /// They were told to stop.
    Stopped,
}

impl Health {
    /// Waits until a worker ends by itself, by a panic or an error (`true`), or the server is stopped (`false`).
    pub fn wait_for_failure(&self) -> bool {
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.0.changed.wait_while(state, |state| *state == State::Runs);
        *state.unwrap_or_else(PoisonError::into_inner) == State::Failed
    }

    /// The first to tell is right.
    pub(crate) fn tell(&self, what: State) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        if *state == State::Runs {
            *state = what;
        }
        drop(state);
        self.0.changed.notify_all();
    }
}
