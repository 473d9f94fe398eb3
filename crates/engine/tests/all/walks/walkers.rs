//! A walk for tests: every user does three steps, each of which says what the step before got back.

use ablaze_engine::sink::{BodySink, Response, SinkOf};
use ablaze_engine::walk::{Answered, Next, Walk, Written};
use ablaze_model::failure::FailureKind;
use ablaze_model::record::Record;

/// Steps of a journey, and templates of the Plan.
pub const STEPS: u32 = 3;

/// What one user is at.
#[derive(Debug, Default, Clone)]
struct User {
    journey: Option<(u64, u64)>,
    step: u32,
    not_before_ns: u64,
    /// The body that came last, which the next request repeats.
    body: Vec<u8>,
    head: Vec<u8>,
}

/// The users of one worker.
#[derive(Debug)]
pub struct Walkers {
    users: Vec<User>,
    place_of: Vec<usize>,
    pause_ns: u64,
    pub whole: Vec<u64>,
    pub broken: Vec<(u64, u32, FailureKind)>,
    pub sent: u64,
    /// When each request was asked for, by journey and step.
    pub asked_ns: Vec<(u64, u32, u64)>,
}

impl Walkers {
    pub fn pausing(pause_ns: u64) -> impl Fn(SinkOf) -> Self + Sync {
        move |of| Self {
            users: vec![User::default(); of.places],
            place_of: vec![usize::MAX; of.places],
            pause_ns,
            whole: Vec::new(),
            broken: Vec::new(),
            sent: 0,
            asked_ns: Vec::new(),
        }
    }
}

impl BodySink for Walkers {
    fn begin(&mut self, place: usize, _response: Response, _at_ns: u64) {
        self.users[self.place_of[place]].body.clear();
    }

    fn bytes(&mut self, place: usize, bytes: &[u8], _at_ns: u64) {
        self.users[self.place_of[place]].body.extend_from_slice(bytes);
    }

    fn end(&mut self, _place: usize, _complete: bool, _at_ns: u64) {}
}

impl Walk for Walkers {
    const WALKS: bool = true;

    fn start(&mut self, user: u32, number: u64, due_ns: u64, _now_ns: u64) {
        let user = &mut self.users[user as usize];
        assert_eq!(user.journey, None, "a user was given a second number");
        *user = User { journey: Some((number, due_ns)), ..User::default() };
    }

    fn next(&mut self, user: u32, now_ns: u64) -> Next {
        let user = &mut self.users[user as usize];
        let Some((number, due_ns)) = user.journey else { return Next::Start };
        if now_ns < user.not_before_ns {
            return Next::Pause { until_ns: user.not_before_ns };
        }
        self.sent += 1;
        self.asked_ns.push((number, user.step, now_ns));
        let due_ns = if due_ns == 0 || user.step == 0 { due_ns } else { now_ns };
        Next::Send { template: user.step, number, due_ns, origin: 0 }
    }

    fn write(&mut self, user: u32, template: u32, out: &mut Vec<u8>) -> Written {
        let user = &self.users[user as usize];
        assert_eq!(template, user.step);
        if template == 0 {
            return Written::Constant;
        }
        let body = String::from_utf8_lossy(&user.body);
        out.extend_from_slice(
            format!("GET /{template}/{body} HTTP/1.1\r\nHost: there\r\n\r\n").as_bytes(),
        );
        Written::Here
    }

    fn head(&mut self, user: u32, place: usize, template: u32, status: u16, head: &[u8]) {
        self.place_of[place] = user as usize;
        let user = &mut self.users[user as usize];
        assert_eq!((template, status), (user.step, 200));
        assert!(head.starts_with(b"HTTP/1.1 200 ") && head.ends_with(b"\r\n\r\n"));
        user.head = head.to_vec();
    }

    fn answered(&mut self, user: u32, template: u32, response: Answered) {
        let user = &mut self.users[user as usize];
        assert_eq!(template, user.step);
        assert_eq!(response.body_bytes, user.body.len() as u64, "the body was not all seen");
        assert!(!user.head.is_empty(), "no head");
        user.step += 1;
        user.not_before_ns = response.at_ns + self.pause_ns;
        if user.step == STEPS {
            self.whole.extend(user.journey.take().map(|(number, _)| number));
        }
    }

    fn failed(&mut self, user: u32, template: u32, kind: FailureKind, _at_ns: u64) {
        let user = &mut self.users[user as usize];
        let number = user.journey.take().map(|(number, _)| number);
        self.broken.push((number.expect("a failure of nobody's request"), template, kind));
    }

    fn is_walking(&self) -> bool {
        self.users.iter().any(|user| user.journey.is_some())
    }

    fn report(&mut self, record: &mut Record, _closed_ns: u64) {
        record.first_malformed = b"a walk reported".to_vec();
    }
}
