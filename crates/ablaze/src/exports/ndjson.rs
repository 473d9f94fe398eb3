//! `-o run.ndjson`: a line for each interval and for what is found while the run lasts, and its findings and figures at the
//! end. Each line is in the file before the next is made, so that what a killed run measured is there.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use ablaze_engine::Progress;
use ablaze_model::progress::{Interval, Stage};
use ablaze_model::{Assessed, Plan};
use ablaze_report::ndjson;
use ablaze_report::system_error::reason;

use crate::carry_out::{UnderWay, Watcher};
use crate::live::Findings;
use crate::{CommandError, outlets};

/// Length of an interval where none is asked for: what workers hand over at once, ns.
const INTERVAL_NS: u64 = 100_000_000;

/// A file that grows while a run lasts.
pub struct Stream {
    path: PathBuf,
    /// `None` when it could not be written any more, which was told.
    file: Option<File>,
    interval_ns: u64,
    groups: Vec<String>,
    findings: Findings,
    /// What came since the last line.
    pending: Interval,
}

/// Whether a file of `-o` is one of these.
pub fn is_asked(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ndjson"))
}

impl Stream {
    /// Creates the file, or empties it, and writes its first line.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(path: &Path, plan: &Plan, interval_ns: Option<u64>) -> Result<Self, CommandError> {
        let interval_ns = interval_ns.unwrap_or(INTERVAL_NS).max(INTERVAL_NS);
        // A FIFO without a reader fails instead of waiting for one, and one whose reader sleeps instead of holding the run.
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(path)
            .map_err(|error| {
                let (path, why) = (path.display(), reason(&error));
                CommandError::usage(format!("--output cannot write `{path}`: {why}"))
            })?;
        let mut stream = Self {
            path: path.to_owned(),
            file: Some(file),
            interval_ns,
            groups: plan.requests.groups.names.clone(),
            findings: Findings::of(plan),
            pending: Interval::default(),
        };
        stream.write(&ndjson::begin(plan, interval_ns));
        Ok(stream)
    }

    /// Writes what was found of the run, and its figures.
    pub fn end(&mut self, assessed: &Assessed) {
        for finding in &assessed.judged.findings {
            self.write(&ndjson::finding(finding));
        }
        self.write(&ndjson::summary(assessed));
    }

    /// Adds a piece: it belongs to the interval that it begins in.
    fn hear(&mut self, piece: &Interval) {
        let number = |interval: &Interval| interval.from_ns / self.interval_ns;
        // What was counted at the very end has no time of its own.
        let is_moment = piece.from_ns == piece.to_ns;
        if self.pending.to_ns > 0 && !is_moment && number(&self.pending) != number(piece) {
            self.flush();
        }
        self.pending.add(piece);
    }

    fn flush(&mut self) {
        if self.pending.to_ns > 0 {
            self.write(&ndjson::interval(&self.pending, &self.groups));
            self.pending = Interval::default();
        }
    }

    /// Writes a line. What cannot be written is told once, and the run goes on without.
    fn write(&mut self, line: &str) {
        let Some(file) = &mut self.file else { return };
        let Err(error) = file.write_all(line.as_bytes()) else { return };
        self.file = None;
        let (path, why) = (self.path.display(), reason(&error));
        outlets::lost(&CommandError::machine(format!(
            "cannot write `{path}`: {why}; the run goes on, and no more lines follow"
        )));
    }
}

impl Watcher for Stream {
    fn tick(&mut self, progress: &Progress) {
        progress.news.iter().for_each(|piece| self.hear(piece));
        if progress.stage == Stage::Over {
            self.flush();
        }
    }

    fn look(&mut self, run: &mut UnderWay<'_>) {
        self.tick(run.progress);
        // At the end the verdict says more.
        if run.progress.stage == Stage::Measuring {
            let at_ns = run.progress.so_far.to_ns;
            for found in self.findings.look(run) {
                self.write(&ndjson::so_far(found.id, &found.evidence, !found.is_past, at_ns));
            }
        }
    }
}
