//! What becomes of a response: cookies are kept, captures and asserts run; what failed is noted, without secrets.

use std::borrow::Cow;

use ablaze_journey::{
    CAPTURE_BYTES_MAX, Checked, Failure, Headers, Reading, Redirecting, ResponseView, decoded,
};
use ablaze_model::failure::FailureKind;
use ablaze_model::plan::journey::Traced;
use ablaze_model::record::masked;

use super::JourneyWalk;
use crate::walk::Answered;

/// What stands in place of a secret.
const HIDDEN: &str = "***";

/// The lines of a head behind its first.
fn fields(head: &[u8]) -> &[u8] {
    let first = head.iter().position(|byte| *byte == b'\n').map_or(head.len(), |end| end + 1);
    &head[first..]
}

impl JourneyWalk {
    pub(super) fn keep_cookies(&mut self, index: usize, head: &[u8]) {
        let mut set = Headers::Lines(fields(head)).values(b"set-cookie").peekable();
        if set.peek().is_none() {
            return;
        }
        let now_s = ablaze_journey::Moment::unix_us(&mut self.now) / 1_000_000;
        let user = &mut self.users[index];
        let origin = self.route.sites[user.origin as usize].origin(&user.url);
        let refused = set.filter(|field| !user.jar.store(field, &origin, now_s)).count();
        if !user.is_of_warmup {
            self.record.cookies_refused += refused as u64;
        }
    }

    /// The response is complete.
    pub(super) fn judge(&mut self, index: usize, response: Answered) {
        let user = &self.users[index];
        if self.route.trace.is_some() {
            let head = self.shown(index, &user.head);
            self.trace(Traced::Answered {
                head: head.as_bytes(),
                body_bytes: response.body_bytes,
                total_ns: response.total_ns,
            });
        }
        match self.follow(index) {
            Ok(false) => {}
            Ok(true) => return,
            Err(failure) => return self.fail(index, &failure, response.at_ns),
        }
        let (judged, failure, others) = self.captured_and_checked(index, response);
        let user = &self.users[index];
        // Of a step that is tried again the last try counts.
        let retry = self.route.journey.steps[user.step].options.retry;
        let counts = response.at_ns <= self.window_end_ns
            && (failure.is_none()
                || match retry {
                    None => true,
                    Some(times) => times.is_some_and(|times| user.tried >= times),
                });
        if counts && !user.is_of_warmup {
            self.record.asserts_passed += judged.passed;
            self.record.asserts_failed += judged.failed;
        }
        match failure {
            None => self.go_on(index, response.at_ns),
            Some(failure) => {
                if counts && !self.users[index].is_of_warmup {
                    self.sample(index, &failure, response);
                }
                let step = self.users[index].step;
                self.fail(index, &failure, response.at_ns);
                others.iter().for_each(|failure| self.trace(Traced::Failed { step, failure }));
            }
        }
    }

    /// Whether the response leads elsewhere, where the step goes on.
    fn follow(&mut self, index: usize) -> Result<bool, Failure> {
        let user = &mut self.users[index];
        let step = &self.route.journey.steps[user.step];
        let (status, headers) = (user.status, Headers::Lines(fields(&user.head)));
        let response = Redirecting { status, headers, url: &user.url, origin: user.origin };
        user.redirect.follow(step, &response, &self.route.sites)
    }

    /// How the asserts went, what failed first, and, if somebody wants to be told, what failed besides.
    fn captured_and_checked(
        &mut self,
        index: usize,
        response: Answered,
    ) -> (Checked, Option<Failure>, Vec<Failure>) {
        let route = &self.route;
        let user = &mut self.users[index];
        let step = &route.journey.steps[user.step];
        let headers = Headers::Lines(fields(&user.head));
        let view = ResponseView {
            version: user.version,
            status: user.status,
            headers,
            body: &user.body.bytes,
            duration_ns: response.total_ns,
            url: std::str::from_utf8(&user.url).unwrap_or_default(),
        };
        if let Err(failure) = step.expect(&Reading::new(view)) {
            return (Checked { passed: 0, failed: 1 }, Some(failure), Vec::new());
        }
        let first_line = u64::from(step.expects_first_line());
        let whole = match (self.steps[user.step].body, user.body.is_cut) {
            (false, _) => Ok(Cow::Borrowed(view.body)),
            (true, false) => decoded(headers, view.body, CAPTURE_BYTES_MAX),
            (true, true) => Err(format!(
                "the body has {} bytes, and captures and asserts look at {CAPTURE_BYTES_MAX} at most",
                response.body_bytes
            )),
        };
        let reading = match &whole {
            Ok(body) => Reading::new(ResponseView { body, ..view }),
            Err(why) => Reading::without_body(view, why.clone()),
        };
        if let Err(failure) = step.capture(&reading, &mut user.variables, &mut self.now) {
            return (Checked::default(), Some(failure), Vec::new());
        }
        if let Some(trace) = &route.trace {
            for (slot, is_secret) in step.captured() {
                let value = user.variables.get(slot);
                let shown = match (is_secret, value) {
                    (true, _) => HIDDEN.to_owned(),
                    (false, Some(value)) => value.text().unwrap_or_else(|| value.kind().to_owned()),
                    (false, None) => continue,
                };
                let shown = masked(&shown, &route.secrets);
                (trace.0)(Traced::Captured {
                    name: route.journey.names().name(slot),
                    value: &shown,
                });
            }
        }
        let (mut first, mut others) = (None, Vec::new());
        let checked = step.check(&reading, &user.variables, &mut self.now, |failure| {
            if first.is_none() {
                first = Some(failure);
            } else if route.trace.is_some() {
                others.push(failure);
            }
        });
        (Checked { passed: checked.passed + first_line, ..checked }, first, others)
    }

    pub(super) fn exchange_failed(&mut self, index: usize, kind: FailureKind, at_ns: u64) {
        if !self.users[index].is_walking {
            return;
        }
        let step = &self.route.journey.steps[self.users[index].step];
        let message = match self.users[index].redirect.count() {
            0 => format!("no response: {}", kind.label()),
            number => format!("no response behind redirect {number}: {}", kind.label()),
        };
        let failure = Failure { line: step.line, message };
        self.fail(index, &failure, at_ns);
    }

    /// Counts a journey that failed, once.
    pub(super) fn note_failure(&mut self, index: usize, failure: &Failure, at_ns: u64) {
        let user = &mut self.users[index];
        if user.is_of_warmup || user.failed_in.is_some() || at_ns > self.window_end_ns {
            return;
        }
        user.failed_in = Some(user.step);
        let (step, journey, feed_line) = (user.step, user.journey as usize, user.feed_line);
        if let Some(one) = self.record.each.get_mut(journey) {
            one.failed += 1;
        }
        // Only the first of a step is said.
        let is_first = self.record.steps.get(step).is_some_and(|step| step.first.is_none());
        let text = if is_first { self.without_secrets(index, failure) } else { String::new() };
        self.record.fails(step, at_ns, feed_line, || text);
    }

    /// What failed, in words that anybody may read.
    pub(super) fn without_secrets(&self, index: usize, failure: &Failure) -> String {
        self.without_secrets_of(index, &failure.to_string())
    }
}
