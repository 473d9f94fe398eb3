//! Workers that are placed once and carry out one load after the other: those of an experiment, or the one of
//! `ablaze load`. Where one is lost, or a run is ended early, the next load has all of them placed anew.

use std::sync::Arc;

use ablaze_engine::Control;
use ablaze_fleet::Lost;
use ablaze_model::spec::Secrets;
use ablaze_model::{LoadSpec, Run};

use super::beside::{Beside, Starting};
use super::channel::Channels;
use super::placed::Placed;
use super::{Place, assignments, drive, fetching, longest_ns, settings, whole};
use crate::CommandError;
use crate::carry_out::{Watcher, interrupted, listen_for};

/// The workers of one load after the other.
pub struct Session {
    place: Place,
    lost: Lost,
    /// Not made before the first load.
    there: Option<There>,
}

/// Workers that are there.
struct There {
    /// They wait for an assignment; gone before what was made for them is.
    channels: Channels,
    placed: Placed,
}

impl Session {
    /// Of workers at this place, none of which is started yet.
    pub fn new(place: Place, lost: Lost) -> Self {
        Self { place, lost, there: None }
    }

    /// Whether the others go on where a worker is lost.
    pub fn goes_on(&self) -> bool {
        self.lost == Lost::GoOn
    }

    /// Whether each worker would have something to do.
    pub fn can_share(&self, load: &LoadSpec) -> bool {
        self.place.count().is_ok_and(|workers| super::check(load, workers as u32).is_ok())
    }

    /// Places the workers, for this load and those that follow.
    fn made(&self, load: &LoadSpec, id: &str) -> Result<There, CommandError> {
        // What has no share for each is refused before anything is made.
        super::check(load, self.place.count()? as u32)?;
        let placed = Placed::of(&self.place, id, longest_ns(load))?;
        Ok(There { channels: Channels::open(&placed)?, placed })
    }

    /// Has the workers carry the load out together; the Run of all.
    ///
    /// # Errors
    /// When no worker could be started, or none has handed over anything.
    pub fn carry_out(
        &mut self,
        load: &LoadSpec,
        secrets: &Secrets,
        watcher: &mut dyn Watcher,
    ) -> Result<Run, CommandError> {
        // Nothing runs under this handle: Ctrl-C and the keys of a view stop it, and what stops it is told to the workers.
        let control = Arc::new(Control::new());
        listen_for(&control)?;
        let id = assignments::random_id()?;
        let waiting = self.there.take().filter(|there| there.channels.are_whole());
        let There { mut placed, mut channels } = match waiting {
            Some(there) => there,
            None => self.made(load, &id)?,
        };
        let assignments = assignments::of(load, secrets, &placed.hosts, &id)?;
        let mut beside = Beside::begin(placed.place(), load, secrets);
        let settings = settings(load, self.lost);
        let mut starting = Starting::of(watcher, beside.as_mut());
        let mut driven =
            drive::drive(&mut channels, settings, assignments, &control, &mut starting);
        drop(starting);
        placed.explain(&mut driven.outcome);
        let fetched = fetching::fetch(&mut driven.outcome, &placed, &id);
        let start_ns = driven.outcome.start_ns;
        let all_wait = driven.outcome.workers.iter().all(|worker| worker.lost.is_none());
        let is_over = !all_wait || driven.outcome.interrupted || interrupted();
        let kept_as = placed.stays().then_some(id.as_str());
        let by = placed.place().by();
        // Where one is lost, all are placed anew.
        let there = There { channels, placed };
        self.there = (!is_over).then_some(there);
        let mut run = whole::run_of(driven, load, (by, kept_as), &fetched);
        if let (Ok(run), Some(beside)) = (&mut run, beside) {
            beside.end(run, start_ns);
        }
        run
    }
}
