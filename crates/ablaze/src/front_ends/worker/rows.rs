//! What a worker tells while its run lasts: when the clock started, a row for each piece of it, and each second how it stands
//! and what it found.

use std::sync::Arc;

use ablaze_engine::Progress;
use ablaze_fleet::message::{Found, FromWorker, Row};
use ablaze_model::Plan;
use ablaze_model::progress::Stage;

use super::channel::Channel;
use crate::carry_out::{UnderWay, Watcher};
use crate::error::note;
use crate::fleet::kept::Place;
use crate::live::{Findings, Steering, limited_now, working};

/// The watcher of a worker's run.
pub struct Rows {
    channel: Arc<Channel>,
    /// What the Run is called where it has to wait.
    name: String,
    has_started: bool,
    /// Where it would wait.
    place: Option<Place>,
    looks: u32,
    findings: Findings,
    steering: Steering,
}

/// Looks at itself every so many looks, of which there are ten a second.
const LOOKS_PER_QUESTION: u32 = 10;

impl Rows {
    /// Of a run of this plan, told over this channel.
    pub fn to(channel: Arc<Channel>, name: String, plan: &Plan) -> Self {
        let (findings, steering) = (Findings::of(plan), Steering::of(plan));
        Self { channel, name, has_started: false, place: None, looks: 0, findings, steering }
    }

    /// Tells what its last second shows, and what it found.
    fn stand(&mut self, run: &mut UnderWay<'_>) {
        for found in self.findings.look(run) {
            let (id, holds) = (found.id.to_string(), !found.is_past);
            self.channel.tell(&FromWorker::Found(Found { id, evidence: found.evidence, holds }));
        }
        let Some(present) = run.monitor.as_mut().and_then(|monitor| monitor.look()) else { return };
        let progress = run.progress;
        let recent = progress.recent();
        let requested = self.steering.requested_per_s(progress.so_far.to_ns);
        let limited = limited_now(&present, requested.map(|(lately, _)| lately), &recent);
        self.channel.tell(&FromWorker::Now {
            busy: present.client.as_ref().map(|side| working(side, &recent)),
            limit: limited.map(|limited| limited.by.key().to_owned()),
        });
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
        // At the end the Run says more.
        if self.has_started && run.progress.stage == Stage::Measuring {
            self.looks += 1;
            if self.looks.is_multiple_of(LOOKS_PER_QUESTION) {
                self.stand(run);
            }
        }
    }
}
