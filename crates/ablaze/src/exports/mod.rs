//! What leaves a run by itself, beside its report: lines while it lasts, and what build servers are told.

pub mod github;
pub mod ndjson;
mod options;

use std::path::{Path, PathBuf};

use ablaze_model::{Assessed, Plan};

use crate::CommandError;
use crate::carry_out::Watcher;
use crate::watchers::Watchers;

pub use self::options::ExportOptions;

/// The exports of one run.
pub struct Exports {
    streams: Vec<ndjson::Stream>,
}

impl Exports {
    /// Opens all that was asked for; `outputs` are the files of `-o`, of which those of lines are written here.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn begin(
        asked: &ExportOptions,
        outputs: &[PathBuf],
        plan: &Plan,
    ) -> Result<Self, CommandError> {
        let streams = outputs.iter().filter(|path| is_streamed(path));
        let streams = streams.map(|path| ndjson::Stream::begin(path, plan, asked.interval));
        Ok(Self { streams: streams.collect::<Result<_, _>>()? })
    }

    /// The watcher of the run and all exports as one.
    pub fn beside<'a>(&'a mut self, watcher: &'a mut dyn Watcher) -> Watchers<'a> {
        let Self { streams } = self;
        let mut all: Vec<&'a mut dyn Watcher> = vec![watcher];
        all.extend(streams.iter_mut().map(|stream| -> &mut dyn Watcher { stream }));
        Watchers(all)
    }

    /// Hands out what is known when the run has been judged.
    pub fn end(&mut self, assessed: &Assessed) {
        self.streams.iter_mut().for_each(|stream| stream.end(assessed));
    }
}

/// Whether a file of `-o` is written while the run lasts.
pub fn is_streamed(path: &Path) -> bool {
    ndjson::is_asked(path)
}
