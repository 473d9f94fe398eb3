//! ab's progress on stderr: `Completed N requests` at every tenth of the run, and at its end
//! `Finished N requests`. How far the run is becomes known in steps; no line is left out.

use std::io::Write;

use ablaze_engine::Progress;

use crate::carry_out::Watcher;

/// Runs of this many requests or fewer are quiet.
const QUIET_UP_TO: u64 = 150;
/// Shortest step.
const STEP_MIN: u64 = 100;
/// Step of a run whose number of requests is not known: a tenth of what ab's `-t` implies.
const STEP_WITHOUT_END: u64 = 5000;

/// Prints ab's progress lines.
#[derive(Debug)]
pub struct CompletedLines<W> {
    out: W,
    /// Requests between two lines; `None` is quiet.
    step: Option<u64>,
    printed: u64,
}

impl<W: Write> CompletedLines<W> {
    /// Lines for a run of this many requests, or for one that only ends by time.
    pub fn new(out: W, requests: Option<u64>, quiet: bool) -> Self {
        let step = match requests {
            _ if quiet => None,
            Some(..=QUIET_UP_TO) => None,
            Some(requests) => Some((requests / 10).max(STEP_MIN)),
            None => Some(STEP_WITHOUT_END),
        };
        Self { out, step, printed: 0 }
    }

    /// Whether there are lines at all.
    pub fn are_shown(&self) -> bool {
        self.step.is_some()
    }

    /// Prints the lines up to this many completed requests that are not printed yet.
    pub fn up_to(&mut self, completed: u64) {
        let Some(step) = self.step else { return };
        while self.printed + step <= completed {
            self.printed += step;
            // With stderr closed there is no one to tell.
            let _ = writeln!(self.out, "Completed {} requests", self.printed);
        }
    }

    /// The run has ended by itself.
    pub fn finished(&mut self, completed: u64) {
        self.up_to(completed);
        if self.step.is_some() {
            let _ = writeln!(self.out, "Finished {completed} requests");
        }
    }
}

impl<W: Write + Send> Watcher for CompletedLines<W> {
    fn tick(&mut self, progress: &Progress) {
        self.up_to(progress.so_far.finished());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(requests: u64, seen: &[u64], quiet: bool) -> Vec<String> {
        let mut out = Vec::new();
        let mut lines = CompletedLines::new(&mut out, Some(requests), quiet);
        for &responses in seen {
            lines.up_to(responses);
        }
        lines.finished(requests);
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn every_step_has_its_line_however_seldom_the_run_is_looked_at() {
        let expected: Vec<String> = (1..=10)
            .map(|tenth| format!("Completed {} requests", tenth * 199))
            .chain(["Finished 1999 requests".to_owned()])
            .collect();
        assert_eq!(lines(1999, &[], false), expected);
        assert_eq!(lines(1999, &[0, 198, 199, 199, 1000, 1999], false), expected);
    }

    #[test]
    fn short_and_quiet_runs_say_nothing() {
        assert!(lines(150, &[100], false).is_empty());
        assert!(lines(5000, &[600], true).is_empty());
        let expected = ["Completed 100 requests", "Finished 151 requests"];
        assert_eq!(lines(151, &[], false), expected);
    }
}
