//! Journeys walked: the [`Walk`] over a compiled journey. `user` is what one user has and does next; here is what a
//! worker's users share, and what becomes of their responses.

mod judging;
mod moment;
mod sampling;
mod user;

use std::sync::Arc;

use ablaze_journey::{Drafts, Step};
use ablaze_model::failure::FailureKind;
use ablaze_model::plan::Plan;
use ablaze_model::plan::data::Data;
use ablaze_model::plan::journey::{Route, Traced};
use ablaze_model::record::{Journeys, Record};

use self::moment::Now;
use self::user::{Kept, User};
use crate::sampling::Sampling;
use crate::sink::{BodySink, Response, SinkOf};
use crate::walk::{Answered, Next, Walk, Written};

/// What makes the walks of a run: one for each worker.
#[derive(Debug)]
pub struct JourneyWalks {
    route: Arc<Route>,
    names: Vec<String>,
    data: Option<Data>,
    seed: u64,
}

/// The users of one worker.
#[derive(Debug)]
pub struct JourneyWalk {
    route: Arc<Route>,
    data: Option<Data>,
    seed: u64,
    users: Vec<User>,
    /// The user whose response is at a place.
    user_at: Vec<u32>,
    /// How many of them are in the middle of a journey.
    walking: u32,
    now: Now,
    drafts: Drafts,
    record: Journeys,
    sampling: Sampling,
    steps: Vec<StepNeeds>,
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
            data: plan.requests.data.clone(),
            seed: plan.requests.seed,
        })
    }

    /// The walk of one worker.
    pub fn walk(&self, of: SinkOf) -> JourneyWalk {
        let steps = &self.route.journey.steps;
        JourneyWalk {
            data: self.data.clone(),
            seed: self.seed,
            users: (0..of.users).map(|_| User::new(&self.route.journey)).collect(),
            user_at: vec![0; of.places],
            walking: 0,
            now: Now::new(self.seed, of.worker),
            drafts: Drafts::default(),
            record: Journeys::new(&self.names),
            sampling: Sampling::new(self.seed, of.worker),
            steps: steps.iter().map(StepNeeds::of).collect(),
            route: Arc::clone(&self.route),
        }
    }
}

impl JourneyWalk {
    /// The row of the feed and the reserved variables of an iteration.
    fn set_given(&mut self, user: usize, number: u64) {
        let user = &mut self.users[user];
        user.variables.reset_to(&self.route.given);
        let table = self.data.as_ref().and_then(|data| Some((data, data.table.as_ref()?)));
        if let Some((data, table)) = table {
            let row = data.order.row(number, table.rows(), self.seed);
            for (column, slot) in self.route.columns.iter().enumerate() {
                // Checked before the run.
                let text = std::str::from_utf8(table.cell(row, column)).unwrap_or_default();
                user.variables.set_text(*slot, text);
            }
        }
        let names = self.route.journey.names();
        if let Some(slot) = names.slot("ablaze_seq") {
            user.variables.set_integer(slot, number as i64);
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
        self.record.begun += 1;
        self.users[user as usize].begin(number, due_ns, now_ns);
        self.set_given(user as usize, number);
        self.enter(user as usize, 0, now_ns);
    }

    fn next(&mut self, user: u32, now_ns: u64) -> Next {
        self.what_next(user as usize, now_ns)
    }

    fn write(&mut self, user: u32, _template: u32, out: &mut Vec<u8>) -> Written {
        // It is kept: what failed is shown with it.
        out.extend_from_slice(&self.users[user as usize].request);
        let User { step, redirect, .. } = &self.users[user as usize];
        self.trace(Traced::Sent { step: *step, redirects: redirect.count(), request: out });
        Written::Here
    }

    fn head(&mut self, user: u32, place: usize, _template: u32, status: u16, head: &[u8]) {
        self.user_at[place] = user;
        let own = &mut self.users[user as usize];
        let (needs, step) = (self.steps[own.step], &self.route.journey.steps[own.step]);
        own.status = status;
        own.is_http10 = head.starts_with(b"HTTP/1.0");
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

    fn window_opens(&mut self, at_ns: u64) {
        let names: Vec<String> = self.record.steps.iter().map(|step| step.name.clone()).collect();
        self.record = Journeys::new(&names);
        self.sampling.open_window(at_ns);
        for user in &mut self.users {
            user.is_of_warmup = user.is_walking;
        }
    }

    fn is_walking(&self) -> bool {
        self.walking > 0
    }

    fn report(&mut self, record: &mut Record) {
        record.journeys = Some(Box::new(self.record.clone()));
        self.sampling.report(record);
    }
}

/// Bodies are kept up to the size of the largest capture.
type Body = Kept<{ ablaze_journey::CAPTURE_BYTES_MAX }>;
