//! Drives the coordinator: what comes over the channels goes in, what it wants done is done, and whoever watches the run hears
//! of it about ten times a second.

use std::sync::Arc;
use std::time::Duration;

use ablaze_engine::{Control, Progress};
use ablaze_fleet::coordinator::Reached;
use ablaze_fleet::message::{Assignment, FromWorker};
use ablaze_fleet::{Action, Coordinator, Event, Outcome, Settings, ToWorker};
use ablaze_load::carry_out::{WorkerProgress, WorkerState};
use ablaze_model::finding::Limit;
use ablaze_model::progress::{Interval, Stage};
use ablaze_sys::clock::{monotonic_ns, unix_ns};

use super::channel::Channels;
use super::gather::Gathered;
use super::whole;
use crate::carry_out::{UnderWay, Watcher};

/// How often time is seen to pass.
const TICK: Duration = Duration::from_millis(20);
/// How often a watcher is told, ns.
const TELL_EVERY_NS: u64 = 100_000_000;

/// What came of the workers, and when the common start was by the wall clock, ns since 1970.
pub struct Driven {
    /// What the coordinator knows.
    pub outcome: Outcome,
    /// The common start; of a run that did not come to it, the end.
    pub start_unix_ns: u64,
    /// Everything of the time in which all workers ran, from the common start.
    pub together: Interval,
}

/// Has these workers carry their assignments out.
pub fn drive(
    channels: &mut Channels,
    settings: Settings,
    assignments: Vec<Assignment>,
    control: &Arc<Control>,
    watcher: &mut dyn Watcher,
) -> Driven {
    let names = assignments.iter().map(|assignment| assignment.name.clone()).collect();
    let (mut coordinator, actions) = Coordinator::new(settings, assignments, monotonic_ns());
    let mut watched = Watched::new(names, control, watcher);
    let mut over = watched.carry_out(actions, channels);
    let mut has_stopped = false;
    while !over {
        let (event, at_ns) = channels.next(TICK).unwrap_or_else(|| (Event::Tick, monotonic_ns()));
        if let Event::Closed(worker, _) = &event {
            watched.gathered.leave(*worker);
        }
        let started = match &event {
            Event::Said(worker, FromWorker::Started { .. }) => Some(*worker),
            _ => None,
        };
        over = watched.carry_out(coordinator.on(event, at_ns), channels);
        if let Some((worker, late_ns)) = started.zip(started.and_then(|at| coordinator.late_ns(at)))
        {
            watched.gathered.start(worker, late_ns);
        }
        if control.stopped() && !std::mem::replace(&mut has_stopped, true) {
            over |= watched.carry_out(coordinator.on(Event::Interrupted, at_ns), channels);
        }
        // Many events in a row leave no tick by themselves.
        over |= watched.carry_out(coordinator.on(Event::Tick, monotonic_ns()), channels);
        watched.start_ns = coordinator.start_ns();
        watched.tell(&coordinator);
    }
    watched.end();
    let outcome = coordinator.outcome();
    let (now_ns, now_unix_ns) = (monotonic_ns(), unix_ns());
    let since_ns = outcome.start_ns.map_or(0, |start_ns| now_ns.saturating_sub(start_ns));
    let together = watched.gathered.together().clone();
    Driven { outcome, together, start_unix_ns: now_unix_ns.saturating_sub(since_ns) }
}

/// The run as its watcher hears of it.
struct Watched<'a> {
    gathered: Gathered,
    progress: Progress,
    /// The same of each worker.
    workers: Vec<WorkerProgress>,
    control: &'a Arc<Control>,
    watcher: &'a mut dyn Watcher,
    start_ns: Option<u64>,
    told_ns: u64,
}

impl<'a> Watched<'a> {
    fn new(names: Vec<String>, control: &'a Arc<Control>, watcher: &'a mut dyn Watcher) -> Self {
        let gathered = Gathered::new(names.len());
        let preparing = |name| WorkerProgress { name, ..WorkerProgress::default() };
        Self {
            gathered,
            progress: Progress::default(),
            workers: names.into_iter().map(preparing).collect(),
            control,
            watcher,
            start_ns: None,
            told_ns: 0,
        }
    }

    /// Does what is to be done; whether it is over.
    fn carry_out(&mut self, actions: Vec<Action>, channels: &mut Channels) -> bool {
        let mut over = false;
        for action in actions {
            match action {
                Action::Say(worker, message) => {
                    if message == ToWorker::Received {
                        self.gathered.leave(worker);
                    }
                    channels.say(worker, message);
                }
                Action::Cut(worker) => {
                    self.gathered.leave(worker);
                    channels.cut(worker);
                }
                Action::Row(worker, interval) => {
                    self.gathered.hear(worker, &interval);
                    if self.watcher.listens()
                        && let Some(worker) = self.workers.get_mut(worker)
                    {
                        worker.progress.hear(*interval);
                        worker.progress.told();
                    }
                }
                Action::Over => over = true,
            }
        }
        over
    }

    /// Tells the watcher, if it is time.
    fn tell(&mut self, coordinator: &Coordinator) {
        let now_ns = monotonic_ns();
        if now_ns.saturating_sub(self.told_ns) < TELL_EVERY_NS {
            return;
        }
        self.told_ns = now_ns;
        if let Some(start_ns) = self.start_ns.filter(|start_ns| now_ns >= *start_ns) {
            self.progress.stage = Stage::Measuring;
            self.progress.elapsed_ns = now_ns - start_ns;
        }
        for (at, worker) in self.workers.iter_mut().enumerate() {
            worker.state = match coordinator.reached(at) {
                Reached::Nothing => WorkerState::Preparing,
                Reached::Ready => WorkerState::Ready,
                Reached::Start => WorkerState::Measuring,
                Reached::End => WorkerState::Ended,
                Reached::Loss => WorkerState::Lost,
            };
            if let Some(standing) = coordinator.standing(at).filter(|_| self.watcher.listens()) {
                worker.busy = standing.busy;
                worker.limit = standing.limit.as_deref().and_then(Limit::of_key);
                worker.found = whole::held(standing).collect();
            }
        }
        self.look(false);
    }

    /// Tells it the rest.
    fn end(&mut self) {
        self.look(true);
        self.progress.stage = Stage::Over;
        self.progress.elapsed_ns = self.progress.so_far.to_ns;
        self.look(true);
        if self.watcher.listens() {
            self.watcher.finish();
        }
    }

    fn look(&mut self, all: bool) {
        let Self { gathered, progress, .. } = self;
        gathered.pass(all, |piece| progress.hear(piece));
        if !self.watcher.listens() {
            return progress.told();
        }
        let (progress, control, workers) = (&self.progress, &**self.control, &*self.workers);
        self.watcher.look(&mut UnderWay { progress, control, monitor: None, workers });
        self.progress.told();
    }
}
