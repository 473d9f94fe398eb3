//! What a fleet has put elsewhere and has to take away again: Jobs, containers. It is taken away when the run is over, however
//! it ends; what could not be is told, with the command that does it.

use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::ask::ask;
use crate::error::note;
use crate::shell;

/// So long each command may take when a run is over.
const LONGEST: Duration = Duration::from_secs(60);
/// So long it may take when this program is ended at once.
const LONGEST_AT_ONCE: Duration = Duration::from_secs(10);

/// What there is now.
static PRESENT: Mutex<Vec<Leftover>> = Mutex::new(Vec::new());

/// Something elsewhere, and how it is taken away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// What it is: `the Job load-1`.
    pub what: String,
    /// The command that takes it away.
    pub words: Vec<String>,
    /// What that command says of something that is not there any more, or goes.
    pub gone: &'static [&'static str],
}

/// Takes something away when it goes out of scope.
#[derive(Debug)]
pub struct Guard(Leftover);

impl Guard {
    /// From now on, and before it is there.
    pub fn of(leftover: Leftover) -> Self {
        present().push(leftover.clone());
        Self(leftover)
    }
}

impl Guard {
    /// It was never there.
    pub fn forget(self) {
        self.leave();
    }

    /// Whether it was for this one to take away.
    fn leave(&self) -> bool {
        let mut present = present();
        let before = present.len();
        present.retain(|other| *other != self.0);
        present.len() < before
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.leave() {
            self.0.take_away(LONGEST);
        }
    }
}

/// Takes everything away at once: for a coordinator that ends in the middle of a run.
pub fn take_all_away() {
    let all = std::mem::take(&mut *present());
    all.iter().for_each(|leftover| leftover.take_away(LONGEST_AT_ONCE));
}

impl Leftover {
    fn take_away(&self, longest: Duration) {
        let Some((program, arguments)) = self.words.split_first() else { return };
        match ask(Command::new(program).args(arguments), "", longest) {
            Err(why) if !self.gone.iter().any(|gone| why.contains(gone)) => note(&format!(
                "{} was not removed ({why}): run `{}`",
                self.what,
                shell::line(&self.words)
            )),
            _ => {}
        }
    }
}

fn present() -> std::sync::MutexGuard<'static, Vec<Leftover>> {
    PRESENT.lock().unwrap_or_else(PoisonError::into_inner)
}
