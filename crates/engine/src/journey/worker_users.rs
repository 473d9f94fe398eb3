//! Who walks which journey, and when: the users of a worker among those of the run, those that have not come yet, those that
//! are through, and what each does once before the clock starts.

use ablaze_journey::{Failure, Jar, Variables};
use ablaze_model::plan::Plan;
use ablaze_model::plan::users::Users;
use ablaze_model::record::{FirstMessage, Journeys, Setup};
use ablaze_random::SplitMix64;

use super::JourneyWalk;
use crate::shares::share;
use crate::walk::Next;

/// Until it is asked again for another reason: never by itself.
const NEVER: Next = Next::Pause { until_ns: u64::MAX };
/// How long a user waits that asks at the end of the warm-up, before the window has opened.
const ABOUT_TO_OPEN_NS: u64 = 1_000_000;
/// What the seed is changed by for think times.
const THINKING: u64 = 0x0074_6869_6e6b;

/// The users of one worker.
#[derive(Debug, Clone)]
pub(super) struct WorkerUsers {
    pub asked: Users,
    worker: u32,
    workers: u32,
    /// How many users share a connection.
    per_connection: u32,
    /// How many users the worker has.
    count: u32,
    is_open: bool,
    warmup_ns: u64,
    /// When the first of them was asked behind the setup.
    begun_ns: Option<u64>,
    /// When the measured window opened.
    window_ns: Option<u64>,
    is_preparing: bool,
    /// How many of them are not through with their setup.
    unprepared: u32,
    /// How many of them walk no more.
    out: u32,
    pub setup: Option<Setup>,
}

/// What a user has of this.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// Journeys that it began in the window.
    iterations: u64,
    /// It walks no more.
    is_out: bool,
    /// It has come in the window.
    pub has_come: bool,
    /// It has begun its setup.
    has_begun_setup: bool,
    pub is_in_setup: bool,
    /// It has a session to keep.
    has_session: bool,
    /// What each of its iterations begins with, where that came of its setup.
    base: Option<Box<Base>>,
}

/// What came of a setup.
#[derive(Debug)]
struct Base {
    variables: Variables,
    jar: Jar,
}

impl WorkerUsers {
    /// For one worker of a plan.
    pub fn of(plan: &Plan, asked: &Users, worker: u32) -> Self {
        let workers = plan.workers.count.min(plan.load.connections()).max(1);
        let per_connection = plan.users_per_connection();
        let count = share(plan.load.connections(), workers, worker) * per_connection;
        Self {
            worker,
            workers,
            per_connection,
            count,
            is_open: plan.load.is_open(),
            warmup_ns: plan.limits.warmup_ns,
            begun_ns: None,
            window_ns: None,
            is_preparing: asked.setup.is_some(),
            unprepared: count,
            out: 0,
            setup: asked.setup.as_ref().map(|_| Setup::default()),
            asked: asked.clone(),
        }
    }

    /// The number of a user among those of all workers.
    pub fn global(&self, index: usize) -> u64 {
        let each = u64::from(self.per_connection);
        let (connection, stream) = (index as u64 / each, index as u64 % each);
        (connection * u64::from(self.workers) + u64::from(self.worker)) * each + stream
    }

    pub fn is_preparing(&self) -> bool {
        self.is_preparing && self.unprepared > 0
    }

    pub fn prepared(&mut self) {
        self.is_preparing = false;
    }

    pub fn is_over(&self) -> bool {
        self.out >= self.count
    }

    pub fn window_opens(&mut self, at_ns: u64) {
        self.window_ns = Some(at_ns);
    }

    /// When a user comes.
    fn comes_ns(&mut self, index: usize, now_ns: u64) -> u64 {
        let begun_ns = *self.begun_ns.get_or_insert(now_ns);
        let Some(ramp) = self.asked.ramp else { return 0 };
        let user = u32::try_from(self.global(index)).unwrap_or(u32::MAX);
        match self.window_ns {
            Some(window_ns) => window_ns.saturating_add(ramp.comes_after_ns(user)),
            None if user < ramp.from => 0,
            // It is asked again when the window has opened.
            None => (begun_ns.saturating_add(self.warmup_ns)).max(now_ns + ABOUT_TO_OPEN_NS),
        }
    }
}

impl JourneyWalk {
    /// A record of nothing yet.
    pub(super) fn empty_record(&self) -> Journeys {
        let names = self.worker_users.asked.journeys.iter().map(|journey| journey.name.clone());
        Journeys::of_several(&self.names, names)
    }

    /// Which journey a user walks, with this number of the run.
    pub(super) fn journey_of(&self, index: usize, number: u64) -> usize {
        let in_turn =
            if self.worker_users.is_open { number } else { self.worker_users.global(index) };
        self.route.ways.journey_of(in_turn)
    }

    /// What a user does that is in the middle of nothing. `None`: it has begun its setup.
    pub(super) fn between(&mut self, index: usize, now_ns: u64) -> Option<Next> {
        if self.worker_users.is_preparing {
            if self.users[index].standing.has_begun_setup {
                return Some(NEVER);
            }
            self.begin_setup(index, now_ns);
            return None;
        }
        let comes_ns = self.worker_users.comes_ns(index, now_ns);
        let standing = &mut self.users[index].standing;
        if standing.is_out {
            return Some(NEVER);
        }
        let is_through =
            self.worker_users.asked.iterations.is_some_and(|most| standing.iterations >= most);
        if is_through && self.worker_users.window_ns.is_some() {
            standing.is_out = true;
            self.worker_users.out += 1;
            return Some(NEVER);
        }
        if comes_ns > now_ns {
            return Some(Next::Pause { until_ns: comes_ns });
        }
        if let (Some(_), Some(window_ns)) =
            (self.worker_users.asked.ramp, self.worker_users.window_ns)
            && !std::mem::replace(&mut standing.has_come, true)
        {
            self.record.came.record(now_ns.saturating_sub(window_ns));
        }
        Some(Next::Start)
    }

    /// Cookies and variables of an iteration that begins, but for those that it is given.
    pub(super) fn begin_session(&mut self, index: usize) {
        let user = &mut self.users[index];
        let standing = &mut user.standing;
        standing.iterations += u64::from(self.worker_users.window_ns.is_some());
        if self.worker_users.asked.keep_session && standing.has_session {
            return;
        }
        standing.has_session = true;
        match &standing.base {
            Some(base) => {
                user.jar.clone_from(&base.jar);
                user.variables.reset_to(&base.variables);
            }
            None => {
                user.jar.clear();
                user.variables.reset_to(&self.route.given);
            }
        }
    }

    fn begin_setup(&mut self, index: usize, now_ns: u64) {
        let steps = self.route.ways.setup.clone().unwrap_or_default();
        let number = self.worker_users.global(index);
        let user = &mut self.users[index];
        user.begin(number, 0, now_ns, steps.end);
        // Nothing of it counts.
        user.is_of_warmup = true;
        (user.standing.has_begun_setup, user.standing.is_in_setup) = (true, true);
        user.jar.clear();
        user.variables.reset_to(&self.route.given);
        if let Some(setup) = &mut self.worker_users.setup {
            setup.begun += 1;
        }
        self.walking += 1;
        self.set_given(index, number);
        self.enter(index, steps.start, now_ns);
    }

    /// The setup of a user is over.
    pub(super) fn end_setup(&mut self, index: usize, failure: Option<&Failure>, now_ns: u64) {
        let text = failure.map(|failure| self.without_secrets(index, failure));
        let user = &mut self.users[index];
        (user.is_walking, user.standing.is_in_setup, user.not_before_ns) = (false, false, 0);
        self.walking -= 1;
        self.worker_users.unprepared -= 1;
        let Some(text) = text else {
            self.worker_users.setup.get_or_insert_default().whole += 1;
            user.standing.has_session = true;
            if !self.worker_users.asked.keep_session {
                let (variables, jar) = (user.variables.clone(), user.jar.clone());
                user.standing.base = Some(Box::new(Base { variables, jar }));
            }
            return;
        };
        user.standing.is_out = true;
        let feed_line = user.feed_line;
        self.worker_users.out += 1;
        let setup = self.worker_users.setup.get_or_insert_default();
        setup.failed += 1;
        setup.first.get_or_insert(FirstMessage { at_ns: now_ns, text, feed_line });
    }

    /// How long the user thinks before a step of its journey that is not the first, ns.
    pub(super) fn thinks_ns(&self, index: usize) -> u64 {
        let user = &self.users[index];
        match self.worker_users.asked.think_time {
            Some(think) if !user.standing.is_in_setup => {
                // The same for the same journey, whoever walks it.
                let at = (user.step as u64) << 32 | user.done & 0xffff_ffff;
                think.ns(SplitMix64::at(self.seed ^ THINKING ^ at.rotate_left(17), user.number))
            }
            _ => 0,
        }
    }
}
