//! What the users of a worker send and are told, by its script. A script runs in the worker's loop, as in wrk: what it
//! takes delays all connections of its thread, and shows as client delay.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ablaze_engine::Control;
use ablaze_engine::sink::{BodySink, Response, SinkOf};
use ablaze_engine::walk::{Answered, Next, Walk, Written};
use ablaze_model::failure::FailureKind;
use ablaze_script::{ScriptError, Worker, requests};

/// The template of requests whose responses have bodies, and of those to HEAD.
const WITH_BODY: u32 = 0;
const WITHOUT_BODY: u32 = 1;

/// What the threads of a run share: the first error of their script, which ends the run.
#[derive(Debug, Default)]
pub struct Failure(Mutex<Option<ScriptError>>);

impl Failure {
    /// The first error.
    pub fn taken(&self) -> Option<ScriptError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn keep(&self, error: ScriptError) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// A thread's script as it goes into its worker.
pub struct Thread {
    /// The script.
    pub script: Worker,
    /// The one request, where all are the same.
    pub constant: Option<Vec<u8>>,
    /// Whether the script gives several requests at once.
    pub several: bool,
    /// Which of the Plan's addresses its connections go to.
    pub address: usize,
    /// Counts how often the script was entered and left: odd while it runs. Written by the worker alone.
    pub calls: Arc<AtomicU64>,
}

/// The users of one worker.
pub struct Scripted {
    thread: Thread,
    failure: Arc<Failure>,
    control: Arc<Control>,
    wants_responses: bool,
    has_delay: bool,
    /// Nothing is sent any more.
    over: bool,
    users: Vec<User>,
    /// Whose response is at a place.
    user_of: Vec<usize>,
}

/// What one connection is at.
#[derive(Debug, Default, Clone)]
struct User {
    /// Number and due time of the request that it may send.
    number: Option<(u64, u64)>,
    /// When the pause before the next request is over; `None` before the script was asked for it.
    not_before_ns: Option<u64>,
    /// What the script gave: one request or several.
    bytes: Vec<u8>,
    /// Where those that were not sent end, the last first.
    ends: Vec<usize>,
    /// Where those begin and end that are sent and not written yet.
    unwritten: VecDeque<(usize, usize)>,
    /// Where the last of them ends.
    sent_to: usize,
    status: u16,
    head: Vec<u8>,
    body: Vec<u8>,
}

impl Scripted {
    /// For the worker that `of` names.
    pub fn new(thread: Thread, of: SinkOf, failure: Arc<Failure>, control: Arc<Control>) -> Self {
        let script = &thread.script;
        Self {
            wants_responses: script.wants_responses(),
            has_delay: script.has_delay(),
            over: false,
            users: vec![User::default(); of.places],
            user_of: vec![0; of.places],
            thread,
            failure,
            control,
        }
    }

    /// Has the script do something. One that fails ends the run.
    fn run<T>(&mut self, act: impl FnOnce(&Worker) -> Result<T, ScriptError>) -> Option<T> {
        let calls = &self.thread.calls;
        let before = calls.load(Ordering::Relaxed);
        calls.store(before + 1, Ordering::Relaxed);
        let result = act(&self.thread.script);
        calls.store(before + 2, Ordering::Relaxed);
        match result {
            Ok(value) => {
                self.over |= self.thread.script.is_stopped();
                Some(value)
            }
            Err(error) => {
                self.failure.keep(error);
                self.over = true;
                self.control.stop();
                None
            }
        }
    }

    /// The script's next request, or requests, for a user.
    fn ask(&mut self, user: usize) -> Option<()> {
        let mut bytes = std::mem::take(&mut self.users[user].bytes);
        bytes.clear();
        match &self.thread.constant {
            Some(constant) => bytes.extend_from_slice(constant),
            None => self.run(|script| script.request(&mut bytes))?,
        }
        let mut ends = std::mem::take(&mut self.users[user].ends);
        ends.clear();
        ends.push(bytes.len());
        let is_asked = self.thread.constant.is_none();
        if self.thread.several {
            ends = self.run(|_| requests::ends(&bytes))?;
            ends.reverse();
        } else if is_asked && !requests::is_head_alone(&bytes) {
            // A script may give one request now and several later. What is no request is sent as it is, as wrk does it.
            ends = requests::ends(&bytes).unwrap_or(ends);
            ends.reverse();
        }
        let user = &mut self.users[user];
        (user.bytes, user.ends, user.sent_to) = (bytes, ends, 0);
        Some(())
    }
}

impl BodySink for Scripted {
    fn begin(&mut self, place: usize, _response: Response, _at_ns: u64) {
        self.users[self.user_of[place]].body.clear();
    }

    fn bytes(&mut self, place: usize, bytes: &[u8], _at_ns: u64) {
        if self.wants_responses {
            self.users[self.user_of[place]].body.extend_from_slice(bytes);
        }
    }

    fn end(&mut self, _place: usize, _complete: bool, _at_ns: u64) {}
}

impl Walk for Scripted {
    const WALKS: bool = true;

    fn start(&mut self, user: u32, number: u64, due_ns: u64, _now_ns: u64) {
        self.users[user as usize].number = Some((number, due_ns));
    }

    fn next(&mut self, user: u32, now_ns: u64) -> Next {
        let at = user as usize;
        let Some((number, due_ns)) = self.users[at].number else { return Next::Start };
        if self.users[at].ends.is_empty() && !self.over {
            if self.has_delay && self.users[at].not_before_ns.is_none() {
                let delay_ns = self.run(Worker::delay_ns).unwrap_or(0);
                self.users[at].not_before_ns = Some(now_ns.saturating_add(delay_ns));
            }
            let not_before_ns = self.users[at].not_before_ns.unwrap_or(0);
            if now_ns < not_before_ns {
                return Next::Pause { until_ns: not_before_ns };
            }
            if !self.over {
                self.ask(at);
            }
        }
        let user = &mut self.users[at];
        let Some(end) = user.ends.pop().filter(|_| !self.over) else {
            return Next::Pause { until_ns: u64::MAX };
        };
        user.not_before_ns = None;
        let begin = std::mem::replace(&mut user.sent_to, end);
        user.unwritten.push_back((begin, end));
        let is_head = user.bytes[begin..].starts_with(b"HEAD ");
        let template = if is_head { WITHOUT_BODY } else { WITH_BODY };
        Next::Send { template, number, due_ns, origin: 0 }
    }

    fn write(&mut self, user: u32, _template: u32, out: &mut Vec<u8>) -> Written {
        let user = &mut self.users[user as usize];
        let (begin, end) = user.unwritten.pop_front().unwrap_or_default();
        out.extend_from_slice(&user.bytes[begin..end]);
        Written::Here
    }

    fn has_more(&self, user: u32) -> bool {
        !self.over && !self.users[user as usize].ends.is_empty()
    }

    fn head(&mut self, user: u32, place: usize, _template: u32, status: u16, head: &[u8]) {
        self.user_of[place] = user as usize;
        if self.wants_responses {
            let user = &mut self.users[user as usize];
            user.status = status;
            user.head.clear();
            user.head.extend_from_slice(head);
            user.body.clear();
        }
    }

    fn answered(&mut self, user: u32, _template: u32, _response: Answered) {
        let at = user as usize;
        self.users[at].number = None;
        // A thread that was stopped is told nothing more, as in wrk.
        if self.wants_responses && !self.over {
            let user = &mut self.users[at];
            let (status, head, body) =
                (user.status, std::mem::take(&mut user.head), std::mem::take(&mut user.body));
            self.run(|script| script.response(status, &head, &body));
            (self.users[at].head, self.users[at].body) = (head, body);
        }
    }

    fn failed(&mut self, user: u32, _template: u32, _kind: FailureKind, _at_ns: u64) {
        let user = &mut self.users[user as usize];
        user.number = None;
        // What stood behind it in the same string went with the connection.
        user.ends.clear();
        user.unwritten.clear();
    }

    fn address(&self) -> usize {
        self.thread.address
    }
}
