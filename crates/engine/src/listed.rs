//! Lists of requests that go to several hosts: a walk in a box. Each connection of the load is a user that takes the next
//! number of the run and goes to the host of its request, on a connection of its own to that host.

use std::sync::Arc;

use ablaze_model::plan::Plan;
use ablaze_model::record::Record;

use crate::checking::{Watch, Watches};
use crate::sink::{BodySink, Response, SinkOf};
use crate::walk::{Answered, Next, Walk, Written};

/// What makes the walks of a run: one for each worker.
#[derive(Debug)]
pub(crate) struct Lists {
    shared: Arc<Shared>,
    watches: Option<Watches>,
}

/// What all workers read.
#[derive(Debug)]
struct Shared {
    /// The template of each request of the run, over and over.
    order: Vec<u32>,
    templates: Vec<Listed>,
}

/// A template.
#[derive(Debug)]
struct Listed {
    origin: u32,
    /// Whether its fields are filled in.
    is_patched: bool,
}

/// The users of one worker.
#[derive(Debug)]
pub(crate) struct List {
    shared: Arc<Shared>,
    /// What each user sends next, if it has a number.
    next: Vec<Next>,
    /// Of the checks, if there are any.
    watch: Option<Watch>,
}

impl Lists {
    /// Of a Plan; `None` if its requests go to one host, or a journey says where.
    pub fn of(plan: &Plan) -> Option<Self> {
        let requests = &plan.requests;
        if requests.origins.is_empty() {
            return None;
        }
        let templates = requests.templates.iter().zip(&requests.origins);
        let templates = templates
            .map(|(template, &origin)| Listed { origin, is_patched: !template.patches.is_empty() });
        let shared = Shared { order: requests.order.clone(), templates: templates.collect() };
        Some(Self { shared: Arc::new(shared), watches: Watches::of(plan) })
    }

    /// The walk of one worker.
    pub fn list(&self, of: SinkOf) -> List {
        List {
            shared: Arc::clone(&self.shared),
            next: vec![Next::Start; of.users as usize],
            watch: self.watches.as_ref().map(|watches| watches.watch(of)),
        }
    }
}

impl Shared {
    fn template_of(&self, number: u64) -> u32 {
        match self.order.len() {
            0 => 0,
            length => self.order[(number % length as u64) as usize],
        }
    }
}

impl BodySink for List {
    fn begin(&mut self, place: usize, response: Response, at_ns: u64) {
        if let Some(watch) = &mut self.watch {
            watch.begin(place, response, at_ns);
        }
    }

    fn bytes(&mut self, place: usize, bytes: &[u8], at_ns: u64) {
        if let Some(watch) = &mut self.watch {
            watch.bytes(place, bytes, at_ns);
        }
    }

    fn end(&mut self, place: usize, complete: bool, at_ns: u64) {
        if let Some(watch) = &mut self.watch {
            watch.end(place, complete, at_ns);
        }
    }
}

impl Walk for List {
    const WALKS: bool = true;

    fn wants_heads(&self) -> bool {
        self.watch.as_ref().is_some_and(Walk::wants_heads)
    }

    fn start(&mut self, user: u32, number: u64, due_ns: u64, _now_ns: u64) {
        let template = self.shared.template_of(number);
        let origin = self.shared.templates[template as usize].origin;
        self.next[user as usize] = Next::Send { template, number, due_ns, origin };
    }

    fn next(&mut self, user: u32, _now_ns: u64) -> Next {
        std::mem::replace(&mut self.next[user as usize], Next::Start)
    }

    fn write(&mut self, _user: u32, template: u32, _out: &mut Vec<u8>) -> Written {
        match self.shared.templates[template as usize].is_patched {
            true => Written::Filled,
            false => Written::Constant,
        }
    }

    fn sent(&mut self, place: usize, bytes: &[u8]) {
        if let Some(watch) = &mut self.watch {
            watch.sent(place, bytes);
        }
    }

    fn head(&mut self, user: u32, place: usize, template: u32, status: u16, head: &[u8]) {
        if let Some(watch) = &mut self.watch {
            watch.head(user, place, template, status, head);
        }
    }

    fn answered(&mut self, user: u32, template: u32, response: Answered) {
        if let Some(watch) = &mut self.watch {
            watch.answered(user, template, response);
        }
    }

    fn window_opens(&mut self, at_ns: u64) {
        if let Some(watch) = &mut self.watch {
            watch.window_opens(at_ns);
        }
    }

    fn report(&mut self, record: &mut Record, closed_ns: u64) {
        if let Some(watch) = &mut self.watch {
            watch.report(record, closed_ns);
        }
    }
}
