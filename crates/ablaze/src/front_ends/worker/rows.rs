//! What a worker tells while its run lasts: when the clock started, and a row for each piece of it.

use std::sync::Arc;

use ablaze_engine::Progress;
use ablaze_fleet::message::{FromWorker, Row};

use super::channel::Channel;
use crate::carry_out::{UnderWay, Watcher};

/// The watcher of a worker's run.
pub struct Rows {
    channel: Arc<Channel>,
    has_started: bool,
}

impl Rows {
    /// Told over this channel.
    pub fn to(channel: Arc<Channel>) -> Self {
        Self { channel, has_started: false }
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
        if let Some(at_ns) = run.control.started_ns().filter(|_| !self.has_started) {
            self.has_started = true;
            self.channel.tell(&FromWorker::Started { at_ns });
        }
        self.tick(run.progress);
    }
}
