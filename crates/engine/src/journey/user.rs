//! One user: what it has, and what it does next.

use ablaze_journey::{Failure, HttpVersion, Jar, Journey, Redirect, Sending, Variables};

use super::worker_users::Standing;
use super::{Body, JourneyWalk};
use crate::walk::Next;

/// How long a user rests whose journey failed before anything was sent, so that such journeys do not keep a worker
/// from everything else.
const REST_NS: u64 = 1_000_000;

/// What one user has.
#[derive(Debug)]
pub(super) struct User {
    pub variables: Variables,
    pub jar: Jar,
    /// The request that is sent next.
    pub request: Vec<u8>,
    /// The URL of the request under way.
    pub url: Vec<u8>,
    /// Which of the sites it goes to.
    pub origin: u32,
    pub status: u16,
    pub version: HttpVersion,
    /// Of the response, if something looks at it.
    pub head: Vec<u8>,
    pub body: Body,
    /// It has begun a journey that it has not ended.
    pub is_walking: bool,
    pub is_of_warmup: bool,
    pub number: u64,
    /// The line of its row in the feed's file.
    pub feed_line: Option<u32>,
    /// Which of several journeys it walks.
    pub journey: u32,
    /// Where its steps end.
    end: u32,
    due_ns: u64,
    begun_ns: u64,
    pub step: usize,
    /// How often the step was tried in vain.
    pub tried: u64,
    /// How often the step was done.
    pub done: u64,
    pub not_before_ns: u64,
    /// Since when it pauses in the middle of a journey.
    pub paused_ns: Option<u64>,
    /// The redirects of the step that were followed.
    pub redirect: Redirect,
    /// Something was sent.
    has_sent: bool,
    /// The step in which the journey failed first, where it went on all the same.
    pub failed_in: Option<usize>,
    pub standing: Standing,
}

/// The beginning of a body, up to a limit.
#[derive(Debug, Default)]
pub(super) struct Kept<const MOST: usize> {
    pub bytes: Vec<u8>,
    pub is_cut: bool,
    is_wanted: bool,
}

impl<const MOST: usize> Kept<MOST> {
    pub fn clear(&mut self, is_wanted: bool) {
        self.bytes.clear();
        (self.is_cut, self.is_wanted) = (false, is_wanted);
    }

    pub fn keep(&mut self, bytes: &[u8]) {
        if !self.is_wanted || self.is_cut {
            return;
        }
        let free = MOST - self.bytes.len();
        self.is_cut = bytes.len() > free;
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(free)]);
    }
}

impl User {
    pub fn new(journey: &Journey) -> Self {
        Self {
            variables: journey.variables(),
            jar: Jar::new(),
            request: Vec::new(),
            url: Vec::new(),
            origin: 0,
            status: 0,
            version: HttpVersion::Http11,
            head: Vec::new(),
            body: Body::default(),
            is_walking: false,
            is_of_warmup: false,
            number: 0,
            feed_line: None,
            journey: 0,
            end: 0,
            due_ns: 0,
            begun_ns: 0,
            step: 0,
            tried: 0,
            done: 0,
            not_before_ns: 0,
            paused_ns: None,
            redirect: Redirect::default(),
            has_sent: false,
            failed_in: None,
            standing: Standing::default(),
        }
    }

    /// It begins a journey whose steps end there.
    pub fn begin(&mut self, number: u64, due_ns: u64, now_ns: u64, end: usize) {
        self.end = end as u32;
        (self.is_walking, self.is_of_warmup, self.has_sent) = (true, false, false);
        (self.number, self.due_ns, self.begun_ns) = (number, due_ns, now_ns);
        self.failed_in = None;
    }
}

impl JourneyWalk {
    /// A user comes to a step, or to the next one that is not left out, or to the end.
    pub(super) fn enter(&mut self, index: usize, step: usize, now_ns: u64) {
        let steps = &self.route.journey.steps;
        let user = &mut self.users[index];
        let Some(step) = (step..user.end as usize).find(|step| steps[*step].is_done()) else {
            return self.end(index, now_ns);
        };
        (user.step, user.tried, user.done) = (step, 0, 0);
        user.redirect.clear();
        user.not_before_ns = now_ns + steps[step].options.delay_ns.unwrap_or(0);
        if user.has_sent {
            self.users[index].not_before_ns += self.thinks_ns(index);
        }
    }

    /// The step is done: once more, or the next one.
    pub(super) fn go_on(&mut self, index: usize, now_ns: u64) {
        let user = &mut self.users[index];
        let step = &self.route.journey.steps[user.step];
        user.redirect.clear();
        user.done += 1;
        if user.done < step.options.repeat.flatten().unwrap_or(1) {
            user.tried = 0;
            user.not_before_ns = now_ns + step.options.delay_ns.unwrap_or(0);
            self.users[index].not_before_ns += self.thinks_ns(index);
        } else {
            self.enter(index, self.users[index].step + 1, now_ns);
        }
    }

    /// The journey is over.
    fn end(&mut self, index: usize, now_ns: u64) {
        if self.users[index].standing.is_in_setup {
            return self.end_setup(index, None, now_ns);
        }
        let user = &mut self.users[index];
        user.is_walking = false;
        user.not_before_ns = if user.has_sent { 0 } else { now_ns + REST_NS };
        self.walking -= 1;
        let in_time = now_ns <= self.window_end_ns;
        if in_time && !user.is_of_warmup && user.failed_in.is_none() {
            let from_ns = if user.due_ns > 0 { user.due_ns } else { user.begun_ns };
            let took_ns = now_ns.saturating_sub(from_ns);
            self.record.whole += 1;
            self.record.duration.record(took_ns);
            if let Some(one) = self.record.each.get_mut(user.journey as usize) {
                one.whole += 1;
                one.duration.record(took_ns);
            }
        }
    }

    /// The step failed: it is tried again, or the journey ends there, or goes on as a failed one.
    pub(super) fn fail(&mut self, index: usize, failure: &Failure, now_ns: u64) {
        self.trace(super::Traced::Failed { step: self.users[index].step, failure });
        let user = &mut self.users[index];
        let options = &self.route.journey.steps[user.step].options;
        user.tried += 1;
        user.redirect.clear();
        let is_tried_again = match options.retry {
            None => false,
            Some(None) => true,
            Some(Some(times)) => user.tried <= times,
        };
        if is_tried_again {
            user.not_before_ns = now_ns + options.retry_interval_ns.unwrap_or(1_000_000_000);
            return;
        }
        if self.users[index].standing.is_in_setup {
            return self.end_setup(index, Some(failure), now_ns);
        }
        self.note_failure(index, failure, now_ns);
        if self.route.continue_on_error {
            self.go_on(index, now_ns);
            return;
        }
        let user = &mut self.users[index];
        user.is_walking = false;
        self.walking -= 1;
        user.not_before_ns = if user.has_sent { 0 } else { now_ns + REST_NS };
    }

    pub(super) fn what_next(&mut self, index: usize, now_ns: u64) -> Next {
        loop {
            let user = &mut self.users[index];
            if now_ns < user.not_before_ns {
                if user.is_walking && user.has_sent {
                    user.paused_ns.get_or_insert(now_ns);
                }
                return Next::Pause { until_ns: user.not_before_ns };
            }
            if let Some(paused_ns) = user.paused_ns.take() {
                self.record.pauses_ns += now_ns.saturating_sub(paused_ns);
            }
            if !user.is_walking {
                match self.between(index, now_ns) {
                    Some(next) => return next,
                    None => continue,
                }
            }
            let (redirects, is_get) = (user.redirect.count(), user.redirect.is_get());
            let template = self.route.row(user.step, redirects, is_get);
            if let Err(failure) = self.write_step(index) {
                self.fail(index, &failure, now_ns);
                continue;
            }
            let user = &mut self.users[index];
            let is_first = !std::mem::replace(&mut user.has_sent, true);
            // What follows is due when the user comes to it.
            let due_ns = if user.due_ns == 0 || is_first { user.due_ns } else { now_ns };
            return Next::Send { template, number: user.number, due_ns, origin: user.origin };
        }
    }

    fn write_step(&mut self, index: usize) -> Result<(), Failure> {
        let user = &mut self.users[index];
        let step = &self.route.journey.steps[user.step];
        if user.redirect.count() == 0 {
            let unset = step.set_variables(&mut user.variables, &mut self.now);
            unset.map_err(|error| Failure {
                line: error.line,
                message: error.explain(self.route.journey.names()),
            })?;
        }
        user.request.clear();
        let mut sending = Sending {
            sites: &self.route.sites,
            files: &self.route.files,
            jar: &user.jar,
            variables: &user.variables,
            moment: &mut self.now,
            redirect: &user.redirect,
            url: &mut user.url,
            origin: &mut user.origin,
            drafts: &mut self.drafts,
        };
        step.write_request(&mut sending, &mut user.request)
    }
}
