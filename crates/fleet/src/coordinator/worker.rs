//! What the coordinator knows of one worker.

use ablaze_model::fleet::WorkerMachine;
use ablaze_model::progress::Interval;

use super::Settings;
use super::outcome::WorkerOutcome;
use super::standing::Standing;
use crate::clock::{Clock, Ping};
use crate::message::{Found, ToWorker};

/// How far a worker is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// It has its assignment.
    Assigned,
    /// It is ready; its clock is being read.
    Comparing,
    /// Its clock is known.
    Compared,
    /// It knows when to start.
    Armed,
    /// Its run is under way.
    Running,
    /// Its Run has come; its clock is being read again.
    ComparingAgain,
    /// There is nothing more to ask.
    Ended,
    /// Its channel is closed.
    Gone,
}

/// How far a worker is, as others are told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// It is not ready yet.
    Nothing,
    /// It waits for the common start.
    Ready,
    /// Its clock runs.
    Start,
    /// It has ended.
    End,
    /// It was lost.
    Loss,
}

#[derive(Debug)]
pub(super) struct Worker {
    name: String,
    pub stage: Stage,
    pub assigned_ns: u64,
    pub heard_ns: u64,
    /// When it got further: the common start, its last row, its Run.
    pub got_on_ns: u64,
    pub machine: Option<WorkerMachine>,
    /// The ping under way: its number, and when it left.
    ping: Option<(u32, u64)>,
    /// Since when its answer is waited for: later than that, where the coordinator did not run meanwhile.
    pinged_ns: u64,
    pings: Vec<Ping>,
    clock: Option<Clock>,
    clock_after: Option<Clock>,
    started_ns: Option<u64>,
    /// All rows so far.
    pub rows: Interval,
    /// How it stands, as it says.
    pub standing: Standing,
    pub run: Option<String>,
    pub lost: Option<String>,
}

impl Worker {
    pub fn new(name: &str, now_ns: u64) -> Self {
        Self {
            name: name.to_owned(),
            stage: Stage::Assigned,
            assigned_ns: now_ns,
            heard_ns: now_ns,
            got_on_ns: now_ns,
            machine: None,
            ping: None,
            pinged_ns: now_ns,
            pings: Vec::new(),
            clock: None,
            clock_after: None,
            started_ns: None,
            rows: Interval::default(),
            standing: Standing::default(),
            run: None,
            lost: None,
        }
    }

    pub fn is_gone(&self) -> bool {
        self.stage == Stage::Gone
    }

    /// Whether it was told when to start.
    pub fn has_started(&self) -> bool {
        matches!(self.stage, Stage::Armed | Stage::Running)
    }

    /// The next ping, which leaves now.
    pub fn ping(&mut self, now_ns: u64) -> ToWorker {
        let number = self.pings.len() as u32;
        self.ping = Some((number, now_ns));
        self.pinged_ns = now_ns;
        ToWorker::Ping { number }
    }

    /// The answer to a ping; whether another is wanted. Of `wanted` pings the clock is known.
    pub fn ponged(&mut self, number: u32, at_ns: u64, now_ns: u64, wanted: u32) -> bool {
        let Some((_, sent_ns)) = self.ping.filter(|(sent, _)| *sent == number) else {
            return false;
        };
        self.ping = None;
        self.pings.push(Ping { sent_ns, there_ns: at_ns, back_ns: now_ns });
        if (self.pings.len() as u32) < wanted {
            return true;
        }
        let clock = Clock::of(&std::mem::take(&mut self.pings));
        match self.stage {
            Stage::Comparing => (self.clock, self.stage) = (clock, Stage::Compared),
            Stage::ComparingAgain => (self.clock_after, self.stage) = (clock, Stage::Ended),
            _ => {}
        }
        false
    }

    /// Why it is not waited for any longer; `None` where it is.
    pub fn is_overdue(&self, settings: &Settings, now_ns: u64) -> Option<String> {
        let is_over = |since_ns: u64, limit_ns: u64| now_ns.saturating_sub(since_ns) > limit_ns;
        let (what, limit_ns) = match self.stage {
            Stage::Gone => return None,
            // It says nothing before it is ready.
            Stage::Assigned if is_over(self.assigned_ns, settings.ready_within_ns) => {
                let ready_s = settings.ready_within_ns / 1_000_000_000;
                return Some(format!("was not ready within {ready_s} s"));
            }
            Stage::Assigned => return None,
            _ if is_over(self.heard_ns, settings.silence_ns) => {
                ("said nothing", settings.silence_ns)
            }
            _ if self.ping.is_some() && is_over(self.pinged_ns, settings.silence_ns) => {
                ("did not say what its clock shows", settings.silence_ns)
            }
            // Others may still be getting ready.
            Stage::Comparing | Stage::Compared => return None,
            _ if is_over(self.got_on_ns, settings.standstill_ns) => {
                ("said that it is there, and told of no row and no run,", settings.standstill_ns)
            }
            _ => return None,
        };
        Some(format!("{what} for {} s", limit_ns / 1_000_000_000))
    }

    /// It is not to blame for this time, in which nobody listened.
    pub fn excuse(&mut self, away_ns: u64) {
        let since =
            [&mut self.assigned_ns, &mut self.heard_ns, &mut self.got_on_ns, &mut self.pinged_ns];
        for since_ns in since {
            *since_ns = since_ns.saturating_add(away_ns);
        }
    }

    /// How far it is, for whoever watches.
    pub fn reached(&self) -> Reached {
        match self.stage {
            _ if self.lost.is_some() => Reached::Loss,
            Stage::Assigned => Reached::Nothing,
            Stage::Comparing | Stage::Compared | Stage::Armed => Reached::Ready,
            Stage::Running => Reached::Start,
            Stage::ComparingAgain | Stage::Ended | Stage::Gone => Reached::End,
        }
    }

    /// It is to start at this moment of the coordinator's clock; the moment by its own. `None` if it cannot.
    pub fn arm(&mut self, start_ns: u64) -> Option<u64> {
        let clock = self.clock.filter(|_| self.stage == Stage::Compared)?;
        self.stage = Stage::Armed;
        self.got_on_ns = start_ns;
        Some(clock.there_ns(start_ns))
    }

    /// The clock of its run started then, by its own clock.
    pub fn started(&mut self, at_ns: u64) {
        if self.stage == Stage::Armed {
            self.stage = Stage::Running;
            self.started_ns = Some(at_ns);
        }
    }

    /// It says how it stands.
    pub fn stands(&mut self, busy: Option<f64>, limit: Option<String>, now_ns: u64) {
        if let Some(since_ns) = self.started_here_ns().filter(|_| self.has_started()) {
            self.standing.hear(busy, limit, now_ns.saturating_sub(since_ns));
        }
    }

    /// It says what it found.
    pub fn found(&mut self, found: Found) {
        if self.has_started() {
            self.standing.find(found);
        }
    }

    /// When the clock of its run started, by the coordinator's clock.
    pub fn started_here_ns(&self) -> Option<u64> {
        self.clock.zip(self.started_ns).map(|(clock, at_ns)| clock.here_ns(at_ns))
    }

    pub fn outcome(self) -> WorkerOutcome {
        let started_ns = self.started_here_ns();
        WorkerOutcome {
            name: self.name,
            machine: self.machine,
            clock: self.clock,
            clock_after: self.clock_after,
            started_ns,
            rows: self.rows,
            standing: self.standing,
            run: self.run,
            lost: self.lost,
        }
    }
}
