//! Journeys walked: the [`Walk`] over a compiled journey. `user` is what one user has and does next; here is what a
//! worker's users share, `worker_users` who of them walks which journey and when, `judging` what becomes of their responses.

mod judging;
mod moment;
mod sampling;
mod user;
mod worker_users;

use std::sync::Arc;

use ablaze_journey::{Drafts, HttpVersion, Step};
use ablaze_model::failure::FailureKind;
use ablaze_model::plan::Plan;
use ablaze_model::plan::data::Data;
use ablaze_model::plan::journey::{Route, Traced};
use ablaze_model::record::{Journeys, Record};
use ablaze_model::spec::Part;

use self::moment::Now;
use self::user::{Kept, User};
use self::worker_users::WorkerUsers;
use crate::sampling::Sampling;
use crate::sink::{BodySink, Response, SinkOf};
use crate::walk::{Answered, Next, Walk, Written};

/// What makes the walks of a run: one for each worker.
#[derive(Debug)]
pub struct JourneyWalks {
    route: Arc<Route>,
    names: Vec<String>,
    of_workers: Vec<WorkerUsers>,
    data: Option<Data>,
    seed: u64,
    part: Part,
    duration_ns: Option<u64>,
}

/// The users of one worker.
#[derive(Debug)]
pub struct JourneyWalk {
    route: Arc<Route>,
    data: Option<Data>,
    seed: u64,
    /// Of which load this is which part: the numbers of its journeys are dealt in turn.
    part: Part,
    users: Vec<User>,
    /// The user whose response is at a place.
    user_at: Vec<u32>,
    /// How many of them are in the middle of a journey.
    walking: u32,
    now: Now,
    drafts: Drafts,
    record: Journeys,
    sampling: Sampling,
    /// The names of the steps that the record has.
    names: Vec<String>,
    worker_users: WorkerUsers,
    steps: Vec<StepNeeds>,
    /// How long the measured window is, if it has a length.
    duration_ns: Option<u64>,
    /// When it ends: what comes later in the last turn is no part of the run.
    window_end_ns: u64,
}

/// What has to be kept of a step's responses.
#[derive(Debug, Clone, Copy)]
struct StepNeeds {
    body: bool,
}

impl StepNeeds {
    fn of(step: &Step) -> Self {
        Self { body: step.needs_body() }
    }
}

impl JourneyWalks {
    /// Of a Plan; `None` if it has no journey to walk.
    pub fn of(plan: &Plan) -> Option<Self> {
        let planned = plan.journey.as_ref()?;
        Some(Self {
            route: Arc::clone(planned.route.as_ref()?),
            names: planned.steps.clone(),
            of_workers: (0..plan.workers.count)
                .map(|worker| WorkerUsers::of(plan, &planned.users, worker))
                .collect(),
            data: plan.requests.data.clone(),
            seed: plan.requests.seed,
            part: plan.part.unwrap_or(Part::WHOLE),
            duration_ns: plan.limits.duration_ns,
        })
    }

    /// The walk of one worker.
    pub fn walk(&self, of: SinkOf) -> JourneyWalk {
        let steps = &self.route.journey.steps;
        let mut walk = JourneyWalk {
            data: self.data.clone(),
            seed: self.seed,
            part: self.part,
            users: (0..of.users).map(|_| User::new(&self.route.journey)).collect(),
            user_at: vec![0; of.places],
            walking: 0,
            now: Now::new(self.seed, of.worker),
            drafts: Drafts::default(),
            record: Journeys::new(&self.names),
            sampling: Sampling::new(self.seed, of.worker),
            names: self.names.clone(),
            worker_users: self.of_workers[of.worker as usize].clone(),
            steps: steps.iter().map(StepNeeds::of).collect(),
            duration_ns: self.duration_ns,
            window_end_ns: u64::MAX,
            route: Arc::clone(&self.route),
        };
        walk.record = walk.empty_record();
        walk
    }
}

impl JourneyWalk {
    /// The row of the feed and the reserved variables of an iteration.
    fn set_given(&mut self, user: usize, number: u64) {
        let row_number =
            if self.route.ways.row_per_user { self.worker_users.global(user) } else { number };
        let user = &mut self.users[user];
        let table = self.data.as_ref().and_then(|data| Some((data, data.table.as_ref()?)));
        if let Some((data, table)) = table {
            let row = data.order.row(row_number, table.rows(), self.seed);
            user.feed_line = Some(table.line(row));
            for (column, slot) in self.route.columns.iter().enumerate() {
                // Checked before the run.
                let text = std::str::from_utf8(table.cell(row, column)).unwrap_or_default();
                user.variables.set_text(*slot, text);
            }
        }
        let names = self.route.journey.names();
        if let Some(slot) = names.slot("ablaze_seq") {
            user.variables.set_integer(slot, self.part.in_whole(number) as i64);
        }
        if let Some(slot) = names.slot("ablaze_rand") {
            let random = ablaze_random::SplitMix64::at(!self.seed, number) % 1_000_000_000;
            user.variables.set_integer(slot, random as i64);
        }
    }

    fn trace(&self, what: Traced<'_>) {
        if let Some(trace) = &self.route.trace {
            (trace.0)(what);
        }
    }
}

impl BodySink for JourneyWalk {
    fn begin(&mut self, _place: usize, _response: Response, _at_ns: u64) {}

    fn bytes(&mut self, place: usize, bytes: &[u8], _at_ns: u64) {
        let user = &mut self.users[self.user_at[place] as usize];
        user.body.keep(bytes);
    }

    fn end(&mut self, _place: usize, _complete: bool, _at_ns: u64) {}
}

impl Walk for JourneyWalk {
    const WALKS: bool = true;

    fn start(&mut self, user: u32, number: u64, due_ns: u64, now_ns: u64) {
        self.walking += 1;
        let user = user as usize;
        let journey = self.journey_of(user, number);
        let steps = self.route.ways.steps_of(journey, self.route.journey.steps.len());
        // Whoever was through behind the end of the window begins no other in it.
        if now_ns <= self.window_end_ns {
            self.record.begun += 1;
            if let Some(one) = self.record.each.get_mut(journey) {
                one.begun += 1;
            }
        }
        self.users[user].begin(number, due_ns, now_ns, steps.end);
        self.users[user].journey = journey as u32;
        self.begin_session(user);
        self.set_given(user, number);
        self.enter(user, steps.start, now_ns);
    }

    fn next(&mut self, user: u32, now_ns: u64) -> Next {
        self.what_next(user as usize, now_ns)
    }

    fn write(&mut self, user: u32, _template: u32, out: &mut Vec<u8>) -> Written {
        // It is kept: what failed is shown with it.
        out.extend_from_slice(&self.users[user as usize].request);
        if self.route.trace.is_some() {
            let shown = self.shown(user as usize, &self.users[user as usize].request);
            let User { step, redirect, .. } = &self.users[user as usize];
            let (step, redirects, request) = (*step, redirect.count(), shown.as_bytes());
            self.trace(Traced::Sent { step, redirects, request });
        }
        Written::Here
    }

    fn head(&mut self, user: u32, place: usize, _template: u32, status: u16, head: &[u8]) {
        self.user_at[place] = user;
        let own = &mut self.users[user as usize];
        let (needs, step) = (self.steps[own.step], &self.route.journey.steps[own.step]);
        own.status = status;
        own.version = HttpVersion::of_head(head);
        own.head.clear();
        own.head.extend_from_slice(head);
        let is_another = |expected| expected != status;
        own.body.clear(needs.body || step.expected_statuses().any(is_another));
        self.keep_cookies(user as usize, head);
    }

    fn answered(&mut self, user: u32, _template: u32, response: Answered) {
        self.judge(user as usize, response);
    }

    fn failed(&mut self, user: u32, _template: u32, kind: FailureKind, at_ns: u64) {
        self.exchange_failed(user as usize, kind, at_ns);
    }

    fn is_preparing(&self) -> bool {
        self.worker_users.is_preparing()
    }

    fn prepared(&mut self) {
        self.worker_users.prepared();
    }

    fn is_over(&self) -> bool {
        self.worker_users.is_over()
    }

    fn window_opens(&mut self, at_ns: u64) {
        self.worker_users.window_opens(at_ns);
        self.sampling.open_window(at_ns);
        self.window_end_ns = self.duration_ns.map_or(u64::MAX, |ns| at_ns.saturating_add(ns));
        self.record = self.empty_record();
        for user in &mut self.users {
            user.is_of_warmup = user.is_walking;
            user.paused_ns = user.paused_ns.map(|_| at_ns);
            // Whoever is in the middle of a journey has come.
            if user.is_walking && self.worker_users.asked.ramp.is_some() {
                user.standing.has_come = true;
                self.record.came.record(0);
            }
        }
    }

    fn is_walking(&self) -> bool {
        self.walking > 0
    }

    fn report(&mut self, record: &mut Record, closed_ns: u64) {
        self.sampling.report(record);
        // Pauses that the end of the run cut short.
        let paused = self.users.iter().filter_map(|user| user.paused_ns);
        self.record.pauses_ns += paused.map(|ns| closed_ns.saturating_sub(ns)).sum::<u64>();
        let setup = self.worker_users.setup.clone();
        record.journeys = Some(Box::new(Journeys { setup, ..self.record.clone() }));
    }
}

/// Bodies are kept up to the size of the largest capture.
type Body = Kept<{ ablaze_journey::CAPTURE_BYTES_MAX }>;
