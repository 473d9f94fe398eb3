//! What a coordinator does: gathers the workers, compares their clocks, has them start together, hears their rows, collects
//! their Runs. A state machine: [`Event`]s go in with the time, [`Action`]s come out. Whoever drives it has the channels and
//! the clock.

mod outcome;
mod standing;
#[cfg(test)]
mod tests;
mod worker;

use ablaze_model::progress::Interval;

pub use self::outcome::{Outcome, Skew, WorkerOutcome};
pub use self::standing::Standing;
pub use self::worker::Reached;
use self::worker::{Stage, Worker};
use crate::message::{Assignment, FromWorker, ToWorker};

/// What happens when a worker is lost. Its share of the load is given to nobody in either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lost {
    /// The run ends, with what was measured until then.
    #[default]
    Fail,
    /// The others go on.
    GoOn,
}

/// How patient a coordinator is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Within which a worker must be ready, ns from its assignment.
    pub ready_within_ns: u64,
    /// A worker that says nothing for so long is lost, ns.
    pub silence_ns: u64,
    /// A worker that gets no further for so long, whatever else it says, is lost, ns: after the common start each row gets it
    /// further, and its Run does.
    pub standstill_ns: u64,
    /// How far ahead the common start is, ns.
    pub lead_ns: u64,
    /// Within which the Runs must be there once the run was ended, ns.
    pub collect_within_ns: u64,
    /// How often each clock is read.
    pub pings: u32,
    /// What happens when a worker is lost.
    pub lost: Lost,
}

impl Default for Settings {
    fn default() -> Self {
        const S: u64 = 1_000_000_000;
        Self {
            ready_within_ns: 60 * S,
            silence_ns: 10 * S,
            standstill_ns: 60 * S,
            lead_ns: 2 * S,
            collect_within_ns: 30 * S,
            pings: 12,
            lost: Lost::Fail,
        }
    }
}

/// How often a worker is told that somebody is there, ns.
const ALIVE_EVERY_NS: u64 = 1_000_000_000;
/// Whoever drives it lets time pass many times a second: where it did not for so long, it was itself stopped, ns.
const AWAY_NS: u64 = 2_000_000_000;

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A worker said something.
    Said(usize, FromWorker),
    /// A worker's channel has ended: why, as far as its launcher knows. A foreign string.
    Closed(usize, String),
    /// Time has passed.
    Tick,
    /// The person wants it to end.
    Interrupted,
}

/// Something to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Tell a worker.
    Say(usize, ToWorker),
    /// Close a worker's channel, and end what it runs in.
    Cut(usize),
    /// A piece of a worker's run has come.
    Row(usize, Box<Interval>),
    /// Everything is over: see [`Coordinator::outcome`].
    Over,
}

/// The coordinator of a fleet.
#[derive(Debug)]
pub struct Coordinator {
    settings: Settings,
    workers: Vec<Worker>,
    /// The common start, by the own clock; `None` before it was told.
    start_ns: Option<u64>,
    /// Since when Runs are waited for.
    collecting_since_ns: Option<u64>,
    /// The run was ended early: by the person, or because a worker was lost.
    stopped: bool,
    interruptions: u32,
    alive_said_ns: u64,
    /// When something happened last.
    seen_ns: u64,
    /// The longest time for which nothing could be heard or said, because this process did not run, ns.
    away_ns: u64,
    over: bool,
    actions: Vec<Action>,
}

impl Coordinator {
    /// Of these workers, whose channels are open; they are told their assignments at once.
    pub fn new(
        settings: Settings,
        assignments: Vec<Assignment>,
        now_ns: u64,
    ) -> (Self, Vec<Action>) {
        let workers = assignments.iter().map(|assignment| Worker::new(&assignment.name, now_ns));
        let workers = workers.collect();
        let say = |(at, assignment)| Action::Say(at, ToWorker::Assignment(Box::new(assignment)));
        let actions = assignments.into_iter().enumerate().map(say).collect();
        let coordinator = Self {
            settings,
            workers,
            start_ns: None,
            collecting_since_ns: None,
            stopped: false,
            interruptions: 0,
            alive_said_ns: now_ns,
            seen_ns: now_ns,
            away_ns: 0,
            over: false,
            actions,
        };
        let mut coordinator = coordinator;
        let actions = std::mem::take(&mut coordinator.actions);
        (coordinator, actions)
    }

    /// Something happened at `now_ns`; what is to be done about it. After [`Action::Over`] there is nothing.
    pub fn on(&mut self, event: Event, now_ns: u64) -> Vec<Action> {
        if self.over {
            return Vec::new();
        }
        self.seen(now_ns);
        match event {
            Event::Said(at, message) => self.said(at, message, now_ns),
            Event::Closed(at, why) => self.closed(at, &why),
            Event::Tick => self.tick(now_ns),
            Event::Interrupted => self.interrupted(),
        }
        self.go_on(now_ns);
        std::mem::take(&mut self.actions)
    }

    /// How far a worker is, for whoever watches.
    pub fn reached(&self, at: usize) -> Reached {
        self.workers.get(at).map_or(Reached::Nothing, Worker::reached)
    }

    /// How a worker stands by what it said last.
    pub fn standing(&self, at: usize) -> Option<&Standing> {
        self.workers.get(at).map(|worker| &worker.standing)
    }

    /// How long behind the common start the clock of a worker's run started, ns; `None` where it has not.
    pub fn late_ns(&self, at: usize) -> Option<u64> {
        let started_ns = self.workers.get(at)?.started_here_ns()?;
        Some(started_ns.saturating_sub(self.start_ns?))
    }

    /// The common start, by the own clock, ns; `None` before it was told.
    pub fn start_ns(&self) -> Option<u64> {
        self.start_ns
    }

    /// What came of it.
    pub fn outcome(self) -> Outcome {
        Outcome {
            start_ns: self.start_ns,
            interrupted: self.interruptions > 0,
            workers: self.workers.into_iter().map(Worker::outcome).collect(),
        }
    }

    /// Time has come to this. Where this process was stopped (SIGSTOP, a debugger, a machine without a free processor), what
    /// workers said meanwhile has still to be read: it is not they who were silent.
    fn seen(&mut self, now_ns: u64) {
        let away_ns = now_ns.saturating_sub(self.seen_ns);
        self.seen_ns = self.seen_ns.max(now_ns);
        if away_ns < AWAY_NS {
            return;
        }
        self.away_ns = self.away_ns.max(away_ns);
        self.workers.iter_mut().for_each(|worker| worker.excuse(away_ns));
        self.collecting_since_ns = self.collecting_since_ns.map(|since_ns| since_ns + away_ns);
    }

    fn said(&mut self, at: usize, message: FromWorker, now_ns: u64) {
        let pings = self.settings.pings;
        let Some(worker) = self.workers.get_mut(at).filter(|worker| !worker.is_gone()) else {
            return;
        };
        worker.heard_ns = now_ns;
        match message {
            FromWorker::Ready(machine) if worker.stage == Stage::Assigned => {
                worker.machine = Some(machine);
                worker.stage = Stage::Comparing;
                self.actions.push(Action::Say(at, worker.ping(now_ns)));
            }
            FromWorker::Pong { number, at_ns } => {
                if worker.ponged(number, at_ns, now_ns, pings) {
                    self.actions.push(Action::Say(at, worker.ping(now_ns)));
                } else if worker.stage == Stage::Ended {
                    self.actions.push(Action::Say(at, ToWorker::Received));
                }
            }
            FromWorker::Started { at_ns } => worker.started(at_ns),
            FromWorker::Row(row) => match row.interval() {
                Some(interval) if worker.has_started() => {
                    worker.rows.add(&interval);
                    worker.got_on_ns = now_ns;
                    self.actions.push(Action::Row(at, Box::new(interval)));
                }
                Some(_) => {}
                None => self.lose(at, "said a row that cannot be read"),
            },
            FromWorker::Run { document, cut_short } if worker.has_started() => {
                worker.run = Some(document);
                worker.stage = Stage::ComparingAgain;
                worker.got_on_ns = now_ns;
                self.actions.push(Action::Say(at, worker.ping(now_ns)));
                if cut_short && !self.stopped {
                    worker.lost = Some("it was ended by a signal or a limit of its own".to_owned());
                    if self.settings.lost == Lost::Fail {
                        self.stop();
                    }
                }
            }
            FromWorker::Failed { why } => self.lose(at, &why),
            FromWorker::Bye => self.closed(at, "it said goodbye"),
            FromWorker::Now { busy, limit } => worker.stands(busy, limit, now_ns),
            FromWorker::Found(found) => worker.found(found),
            FromWorker::Alive => {}
            FromWorker::Ready(_) | FromWorker::Run { .. } => {
                self.lose(at, "said something out of turn");
            }
        }
    }

    fn closed(&mut self, at: usize, why: &str) {
        let Some(worker) = self.workers.get_mut(at).filter(|worker| !worker.is_gone()) else {
            return;
        };
        if worker.run.is_some() {
            worker.stage = Stage::Gone;
        } else if self.stopped && !worker.has_started() {
            // It was told to end and had nothing to tell.
            worker.stage = Stage::Gone;
        } else if self.away_ns > self.settings.silence_ns {
            let (away_s, silence_s) =
                (self.away_ns / 1_000_000_000, self.settings.silence_ns / 1_000_000_000);
            self.lose(
                at,
                &format!(
                    "{why}, after this coordinator did not run for {away_s} s: a worker ends its load when it hears \
                     nothing for {silence_s} s"
                ),
            );
        } else {
            self.lose(at, why);
        }
    }

    /// A worker is lost: it is not waited for any more. Whatever it says behind its Run takes nothing away from that.
    fn lose(&mut self, at: usize, why: &str) {
        let worker = &mut self.workers[at];
        worker.stage = Stage::Gone;
        self.actions.push(Action::Cut(at));
        if worker.run.is_some() {
            return;
        }
        worker.lost = Some(why.to_owned());
        if self.settings.lost == Lost::Fail {
            self.stop();
        }
    }

    /// Everybody is to end, and to tell what was measured.
    fn stop(&mut self) {
        if !std::mem::replace(&mut self.stopped, true) {
            let all = self.workers.iter().enumerate();
            let there = all.filter(|(_, worker)| !worker.is_gone() && worker.run.is_none());
            self.actions.extend(there.map(|(at, _)| Action::Say(at, ToWorker::Stop)));
        }
    }

    fn interrupted(&mut self) {
        self.interruptions += 1;
        self.stop();
        if self.interruptions > 1 {
            self.give_up("the run was interrupted twice");
        }
    }

    /// Nobody is waited for any more.
    fn give_up(&mut self, why: &str) {
        for at in 0..self.workers.len() {
            let worker = &mut self.workers[at];
            if worker.is_gone() {
                continue;
            }
            if worker.run.is_none() {
                worker.lost = Some(why.to_owned());
            }
            worker.stage = Stage::Gone;
            self.actions.push(Action::Cut(at));
        }
    }

    fn tick(&mut self, now_ns: u64) {
        let settings = self.settings;
        for at in 0..self.workers.len() {
            let worker = &mut self.workers[at];
            let Some(why) = worker.is_overdue(&settings, now_ns) else { continue };
            if worker.run.is_none() {
                self.lose(at, &why);
            } else {
                worker.stage = Stage::Gone;
                self.actions.push(Action::Cut(at));
            }
        }
        if now_ns.saturating_sub(self.alive_said_ns) >= ALIVE_EVERY_NS {
            self.alive_said_ns = now_ns;
            // Behind Received the next line would be another assignment.
            let hears = |worker: &Worker| !worker.is_gone() && worker.stage != Stage::Ended;
            let there = self.workers.iter().enumerate().filter(|(_, worker)| hears(worker));
            self.actions.extend(there.map(|(at, _)| Action::Say(at, ToWorker::Alive)));
        }
        let waited_ns = self.collecting_since_ns.map(|since_ns| now_ns.saturating_sub(since_ns));
        if waited_ns.is_some_and(|waited_ns| waited_ns > settings.collect_within_ns) {
            let why = format!(
                "did not hand over its run within {} s",
                settings.collect_within_ns / 1_000_000_000
            );
            self.give_up(&why);
        }
    }

    /// What follows from what everybody has come to.
    fn go_on(&mut self, now_ns: u64) {
        let there = || self.workers.iter().filter(|worker| !worker.is_gone());
        if there().next().is_none() {
            self.over = true;
            return self.actions.push(Action::Over);
        }
        // Those that end by a number of requests may end at very different times.
        if self.stopped && self.collecting_since_ns.is_none() {
            self.collecting_since_ns = Some(now_ns);
        }
        if self.start_ns.is_none()
            && !self.stopped
            && there().all(|worker| worker.stage == Stage::Compared)
        {
            self.start(now_ns + self.settings.lead_ns);
        }
    }

    /// Everybody is to begin at this moment of the own clock.
    fn start(&mut self, start_ns: u64) {
        self.start_ns = Some(start_ns);
        for (at, worker) in self.workers.iter_mut().enumerate() {
            if let Some(at_ns) = worker.arm(start_ns) {
                self.actions.push(Action::Say(at, ToWorker::Start { at_ns }));
            }
        }
    }
}
