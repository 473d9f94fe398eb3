//! Simulated workers of a fleet: delays on their ways, clocks of their own, losses and hangs at every stage of their lives.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ablaze_model::fleet::WorkerMachine;
use ablaze_model::progress::Interval;

use crate::message::{Found, FromWorker, Row, ToWorker};

pub const MS: u64 = 1_000_000;
pub const S: u64 = 1_000 * MS;
/// How long a run lasts.
pub const RUN_NS: u64 = 2 * S;
/// Workers' clocks count from far away of the coordinator's.
pub const HERE_NS: u64 = 1_000 * S;

/// What goes wrong with a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    None,
    /// It dies at this moment of its life: see [`Moment`].
    Dies(Moment),
    /// It says nothing from then on.
    Hangs(Moment),
    /// It cannot do what it was asked for.
    Fails,
    /// What it says is out of turn.
    Babbles,
    /// It lives, and never says what its clock shows.
    HidesItsClock,
    /// It lives, and tells of nothing from this moment of its life on.
    OnlyLives(Moment),
    /// Its process is replaced by a new one at the other end of the same channel, which knows nothing of what was said.
    Restarts(Moment),
    /// The same, where whoever starts it again repeats the assignment: it is ready once more.
    RestartsAssigned(Moment),
    /// Its channel breaks, and carries again what it says a while later; it goes on meanwhile.
    Breaks(Moment),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    BeforeReady,
    AfterReady,
    InMidRun,
    BeforeItsRun,
    BehindItsRun,
    BeforeGoodbye,
}

#[derive(Debug, Clone)]
pub struct Script {
    pub ahead_ns: i64,
    /// Ways of its messages: one after the other, again and again.
    pub ways_ns: Vec<u64>,
    pub trouble: Trouble,
}

/// A simulated worker.
pub struct Worker {
    pub script: Script,
    pub sent: usize,
    /// Its messages arrive in order.
    pub last_there_ns: u64,
    pub last_here_ns: u64,
    pub is_dead: bool,
    pub hangs: bool,
    /// It is the second of this name.
    pub is_new: bool,
    /// Its channel carries nothing at present, or has not at some time.
    pub is_broken: bool,
    pub has_broken: bool,
    pub started_here_ns: Option<u64>,
    pub stopped: bool,
    /// Responses in its rows so far, and in those that the coordinator was given.
    pub done: u64,
    pub has_ended: bool,
    pub was_cut: bool,
    pub was_received: bool,
}

impl Worker {
    /// It is the second of its name, and was not told what to do.
    pub fn knows_nothing(&self) -> bool {
        self.is_new && matches!(self.script.trouble, Trouble::Restarts(_))
    }
}

#[derive(Debug, PartialEq)]
pub enum What {
    ToWorker(usize, ToWorker),
    ToCoordinator(usize, FromWorker),
    Closed(usize),
    Row(usize, u64),
    Start(usize),
    /// A worker that lives says so.
    Beat(usize),
    /// A channel carries again what is said.
    Back(usize),
    Tick,
    Interrupt,
}

pub struct Simulation {
    pub now_ns: u64,
    pub queue: BinaryHeap<Reverse<(u64, u64)>>,
    pub what: Vec<Option<What>>,
    pub workers: Vec<Worker>,
}

impl Simulation {
    pub fn at(&mut self, at_ns: u64, what: What) {
        self.queue.push(Reverse((at_ns, self.what.len() as u64)));
        self.what.push(Some(what));
    }

    pub fn way_ns(&mut self, at: usize) -> u64 {
        let worker = &mut self.workers[at];
        worker.sent += 1;
        worker.script.ways_ns[worker.sent % worker.script.ways_ns.len()]
    }

    pub fn tell(&mut self, at: usize, message: FromWorker) {
        let worker = &self.workers[at];
        if worker.is_dead || worker.hangs || worker.is_broken {
            return;
        }
        let way_ns = self.way_ns(at);
        let worker = &mut self.workers[at];
        worker.last_here_ns = worker.last_here_ns.max(self.now_ns + way_ns);
        let at_ns = worker.last_here_ns;
        self.at(at_ns, What::ToCoordinator(at, message));
    }

    /// Whether it gets past this moment.
    fn survives(&mut self, at: usize, moment: Moment) -> bool {
        match self.workers[at].script.trouble {
            Trouble::Dies(when) if when == moment => {
                self.dies(at);
                false
            }
            Trouble::Hangs(when) if when == moment => {
                self.workers[at].hangs = true;
                false
            }
            Trouble::OnlyLives(when) => when != moment,
            Trouble::Restarts(when) if when == moment => self.restarts(at, false),
            Trouble::RestartsAssigned(when) if when == moment => self.restarts(at, true),
            Trouble::Breaks(when) if when == moment && !self.workers[at].has_broken => {
                self.breaks(at);
                true
            }
            _ => true,
        }
    }

    /// Whether the one that was there gets any further.
    fn restarts(&mut self, at: usize, is_assigned: bool) -> bool {
        if std::mem::replace(&mut self.workers[at].is_new, true) {
            return true;
        }
        self.workers[at].started_here_ns = None;
        if is_assigned {
            self.tell(at, FromWorker::Ready(WorkerMachine::default()));
        }
        false
    }

    fn breaks(&mut self, at: usize) {
        let worker = &mut self.workers[at];
        (worker.is_broken, worker.has_broken) = (true, true);
        let at_ns = worker.last_here_ns.max(self.now_ns);
        self.at(at_ns, What::Closed(at));
        self.at(at_ns + 250 * MS, What::Back(at));
    }

    /// Somebody who was not told what to do hears this.
    fn is_lost_for_words(&mut self, at: usize) -> bool {
        let is_it = self.workers[at].knows_nothing();
        if is_it {
            self.tell(at, FromWorker::Failed { why: "no assignment".to_owned() });
            self.dies(at);
        }
        is_it
    }

    fn dies(&mut self, at: usize) {
        let worker = &mut self.workers[at];
        if !std::mem::replace(&mut worker.is_dead, true) {
            let at_ns = worker.last_here_ns.max(self.now_ns);
            self.at(at_ns, What::Closed(at));
        }
    }

    pub fn heard(&mut self, at: usize, message: ToWorker) {
        let worker = &self.workers[at];
        if worker.is_dead || worker.hangs || worker.is_broken || self.is_lost_for_words(at) {
            return;
        }
        let trouble = self.workers[at].script.trouble;
        match message {
            ToWorker::Assignment(_) => match trouble {
                Trouble::Fails => {
                    self.tell(at, FromWorker::Failed { why: "no such host".to_owned() });
                    self.dies(at);
                }
                Trouble::Babbles => {
                    self.tell(at, FromWorker::Run { document: String::new(), cut_short: false })
                }
                _ if self.survives(at, Moment::BeforeReady) => {
                    self.tell(at, FromWorker::Ready(WorkerMachine::default()));
                    self.at(self.now_ns + S, What::Beat(at));
                }
                _ => {}
            },
            ToWorker::Ping { number } => {
                let moment = match self.workers[at].has_ended {
                    true => Moment::BehindItsRun,
                    false => Moment::AfterReady,
                };
                if self.survives(at, moment) && trouble != Trouble::HidesItsClock {
                    let at_ns = self.now_ns.saturating_add_signed(self.workers[at].script.ahead_ns);
                    self.tell(at, FromWorker::Pong { number, at_ns });
                }
            }
            ToWorker::Start { at_ns } => {
                let ahead_ns = self.workers[at].script.ahead_ns;
                let here_ns = at_ns.saturating_add_signed(-ahead_ns).max(self.now_ns);
                self.at(here_ns, What::Start(at));
            }
            ToWorker::Alive => {}
            ToWorker::Stop => match self.workers[at].started_here_ns {
                Some(_) => self.workers[at].stopped = true,
                None => {
                    self.tell(at, FromWorker::Bye);
                    self.dies(at);
                }
            },
            ToWorker::Received => {
                self.workers[at].was_received = true;
                if self.survives(at, Moment::BeforeGoodbye) {
                    self.tell(at, FromWorker::Bye);
                    self.dies(at);
                }
            }
        }
    }

    pub fn starts(&mut self, at: usize) {
        if self.workers[at].is_dead || self.workers[at].knows_nothing() {
            return;
        }
        self.workers[at].started_here_ns = Some(self.now_ns);
        let at_ns = self.now_ns.saturating_add_signed(self.workers[at].script.ahead_ns);
        self.tell(at, FromWorker::Started { at_ns });
        self.at(self.now_ns + 100 * MS, What::Row(at, 1));
    }

    pub fn row(&mut self, at: usize, number: u64) {
        let worker = &self.workers[at];
        if worker.is_dead || worker.hangs || worker.knows_nothing() {
            return;
        }
        if number == 7 && !self.survives(at, Moment::InMidRun) {
            return;
        }
        let responses = number * 10 + at as u64;
        let interval = Interval {
            from_ns: (number - 1) * 100 * MS,
            to_ns: number * 100 * MS,
            responses,
            ..Interval::default()
        };
        self.workers[at].done += responses;
        if number == 5 {
            self.tell(at, FromWorker::Now { busy: Some(0.5), limit: Some("client".to_owned()) });
            let evidence = "20 connections failed".to_owned();
            self.tell(at, FromWorker::Found(Found { id: "D20".to_owned(), evidence, holds: true }));
        }
        self.tell(at, FromWorker::Row(Row::from(&interval)));
        if number * 100 * MS < RUN_NS && !self.workers[at].stopped {
            return self.at(self.now_ns + 100 * MS, What::Row(at, number + 1));
        }
        if self.survives(at, Moment::BeforeItsRun) {
            self.workers[at].has_ended = true;
            let document = self.workers[at].done.to_string();
            self.tell(at, FromWorker::Run { document, cut_short: false });
        }
    }
}
