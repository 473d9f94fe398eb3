//! What a worker tells while its run lasts: when the clock started, and a row for each piece of it.

use std::sync::Arc;

use ablaze_engine::Progress;
use ablaze_fleet::message::{FromWorker, Row};

use super::channel::Channel;
use crate::carry_out::{UnderWay, Watcher};
use crate::error::note;
use crate::fleet::kept::Place;

/// The watcher of a worker's run.
pub struct Rows {
    channel: Arc<Channel>,
    /// What the Run is called where it has to wait.
    name: String,
    has_started: bool,
    /// Where it would wait.
    place: Option<Place>,
}

impl Rows {
    /// Told over this channel.
    pub fn to(channel: Arc<Channel>, name: String) -> Self {
        Self { channel, name, has_started: false, place: None }
    }

    /// Where the Run can wait, if it has to; `None` where it never started.
    pub fn place(self) -> Option<Place> {
        self.place
    }
}

impl Watcher for Rows {
    fn tick(&mut self, progress: &Progress) {
        progress
            .news
            .iter()
            .for_each(|piece| self.channel.tell(&FromWorker::Row(Row::from(piece))));
    }

    fn look(&mut self, run: &mut UnderWay<'_>) {
        // A run that is called off ends its wait for the start, too.
        let is_told = || self.channel.state().has_start;
        if let Some(at_ns) = run.control.started_ns().filter(|_| !self.has_started && is_told()) {
            self.has_started = true;
            self.channel.tell(&FromWorker::Started { at_ns });
            match Place::take(&self.name) {
                Ok(place) => self.place = Some(place),
                Err(error) => {
                    note(&format!("the run could not wait here for a coordinator: {error}"))
                }
            }
        }
        self.tick(run.progress);
    }
}
