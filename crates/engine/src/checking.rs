//! Checks on every response: a walk that only watches. Requests are the Plan's, in any load; here is
//! what is kept of a response until it is complete, what the checks say of it, and which of those that failed are kept.

use std::borrow::Cow;
use std::sync::Arc;

use ablaze_journey::{
    CAPTURE_BYTES_MAX, Check, Checkable, Headers, HttpVersion, LooksAt, Reading, ResponseView,
    decoded,
};
use ablaze_model::plan::Plan;
use ablaze_model::plan::checks::PlannedChecks;
use ablaze_model::record::{Checks, FirstMessage, Message, Record, Sample, masked};
use ablaze_wire::http2::request::RequestText;

use crate::sampling::Sampling;
use crate::sink::{BodySink, Response, SinkOf};
use crate::walk::{Answered, Walk};

/// What makes the watches of a run: one for each worker.
#[derive(Debug)]
pub(crate) struct Watches {
    checks: Arc<PlannedChecks>,
    requests: Arc<[Request]>,
    /// What is shown of a request is how HTTP/2 and HTTP/3 would have it.
    is_written_anew: bool,
    seed: u64,
}

/// The watch of one worker.
#[derive(Debug)]
pub(crate) struct Watch {
    checks: Arc<PlannedChecks>,
    requests: Arc<[Request]>,
    /// What is shown of a request is how HTTP/2 and HTTP/3 would have it.
    is_written_anew: bool,
    looks_at_bodies: bool,
    places: Vec<Place>,
    /// What was kept of responses that are over: there are as many as responses arrived at once.
    free: Vec<Kept>,
    record: Checks,
    sampling: Sampling,
}

/// A template.
#[derive(Debug)]
struct Request {
    bytes: Vec<u8>,
    /// Whether requests of it differ.
    varies: bool,
}

/// Where an exchange is.
#[derive(Debug, Default)]
struct Place {
    /// Of the response that is arriving, or has just arrived.
    kept: Option<Kept>,
    /// The last request of a template that varies: as much of it as is shown.
    request: Vec<u8>,
    /// Its whole length, bytes.
    request_bytes: u64,
}

/// What is kept of a response.
#[derive(Debug, Default)]
struct Kept {
    status: u16,
    head: Vec<u8>,
    body: Vec<u8>,
    body_bytes: u64,
    /// Most bytes of the body that are kept.
    most: usize,
    /// Checks that failed, each with what was there instead.
    failed: Vec<(usize, String)>,
}

impl Kept {
    /// What checks see of it, with its body as it came or without its codings.
    fn checkable<'a>(&'a self, total_ns: u64, body: &'a [u8]) -> Checkable<'a> {
        let view = ResponseView {
            version: HttpVersion::of_head(&self.head),
            status: self.status,
            headers: self.headers(),
            body,
            duration_ns: total_ns,
            url: "",
        };
        let (body_bytes, is_cut) = (self.body_bytes, self.is_cut());
        Checkable { reading: Reading::new(view), body_bytes, is_cut }
    }

    fn headers(&self) -> Headers<'_> {
        let fields = self.head.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        Headers::Lines(&self.head[fields..])
    }

    fn is_cut(&self) -> bool {
        (self.body.len() as u64) < self.body_bytes
    }

    /// The body without its codings, for checks that look at it. One that is cut is not decoded: they fail by that.
    fn decoded(&self) -> Result<Cow<'_, [u8]>, String> {
        match self.is_cut() {
            true => Ok(Cow::Borrowed(&self.body)),
            false => decoded(self.headers(), &self.body, CAPTURE_BYTES_MAX),
        }
    }

    /// Judges those checks that look at as much.
    fn judge(&mut self, checks: &[Check], total_ns: u64, judged: impl Fn(LooksAt) -> bool) {
        let mut failed = std::mem::take(&mut self.failed);
        let each = || checks.iter().enumerate().filter(|(_, check)| judged(check.looks_at()));
        let looks_at_body = each().any(|(_, check)| check.looks_at() == LooksAt::Body);
        let body = if looks_at_body { self.decoded() } else { Ok(Cow::Borrowed(&[][..])) };
        let response = body.as_ref().map(|body| self.checkable(total_ns, body));
        let as_it_came = self.checkable(total_ns, &self.body);
        for (index, check) in each() {
            let judged = match (check.looks_at(), &response) {
                (LooksAt::Body, Ok(response)) => check.judge(response),
                (LooksAt::Body, Err(why)) => Err((*why).clone()),
                _ => check.judge(&as_it_came),
            };
            if let Err(why) = judged {
                failed.push((index, why));
            }
        }
        self.failed = failed;
    }
}

impl Watches {
    /// Of a Plan; `None` if nothing is checked.
    pub fn of(plan: &Plan) -> Option<Self> {
        let requests = plan.requests.templates.iter().map(|template| Request {
            bytes: template.bytes.clone(),
            varies: !template.patches.is_empty(),
        });
        Some(Self {
            checks: Arc::clone(plan.checks.as_ref()?),
            requests: requests.collect(),
            is_written_anew: plan.streams().is_some(),
            seed: plan.requests.seed,
        })
    }

    /// The watch of one worker.
    pub fn watch(&self, of: SinkOf) -> Watch {
        let each = &self.checks.each;
        Watch {
            looks_at_bodies: each.iter().any(|check| check.looks_at() == LooksAt::Body),
            places: (0..of.places).map(|_| Place::default()).collect(),
            free: Vec::new(),
            record: Checks::new(each.iter().map(Check::text)),
            sampling: Sampling::new(self.seed, of.worker),
            checks: Arc::clone(&self.checks),
            requests: Arc::clone(&self.requests),
            is_written_anew: self.is_written_anew,
        }
    }
}

impl Watch {
    fn count(&mut self, kept: &Kept, at_ns: u64) {
        self.record.responses += 1;
        self.record.failed_responses += u64::from(!kept.failed.is_empty());
        for check in &mut self.record.each {
            check.passed += 1;
        }
        for (index, why) in &kept.failed {
            let check = &mut self.record.each[*index];
            check.passed -= 1;
            check.failed += 1;
            if check.first.is_none() {
                let text = masked(why, &self.checks.secrets);
                check.first = Some(FirstMessage { at_ns, text, feed_line: None });
            }
        }
    }

    #[cold]
    fn sample(&mut self, kept: &Kept, template: u32, response: Answered) {
        let secrets = &self.checks.secrets;
        let (place, request) = (&self.places[response.place], &self.requests[template as usize]);
        let (request, mut request_bytes) = match request.varies {
            true => (&place.request, place.request_bytes),
            false => (&request.bytes, request.bytes.len() as u64),
        };
        let mut request = Cow::Borrowed(request.as_slice());
        if self.is_written_anew {
            let shown = RequestText::shown(&request);
            request_bytes -= (request.len() - shown.len()) as u64;
            request = Cow::Owned(shown);
        }
        let failed = kept.failed.iter().map(|(index, why)| {
            format!("{}: {}", self.checks.each[*index].text(), masked(why, secrets))
        });
        self.sampling.failed(response.at_ns, |drawn| Sample {
            key: drawn.key,
            at_ns: drawn.at_ns,
            number: response.number,
            step: None,
            status: kept.status,
            total_ns: response.total_ns,
            failed: failed.collect(),
            request: Message::of_request(&request, request_bytes, secrets),
            response: Message::of(&kept.head, &kept.body, kept.body_bytes, secrets),
        });
    }

    /// What was kept of a response is not needed any more.
    fn release(&mut self, kept: Option<Kept>) {
        self.free.extend(kept);
    }
}

impl BodySink for Watch {
    fn begin(&mut self, _place: usize, _response: Response, _at_ns: u64) {}

    fn bytes(&mut self, place: usize, bytes: &[u8], _at_ns: u64) {
        let Some(kept) = &mut self.places[place].kept else { return };
        kept.body_bytes += bytes.len() as u64;
        let free = kept.most - kept.body.len();
        kept.body.extend_from_slice(&bytes[..bytes.len().min(free)]);
    }

    fn end(&mut self, place: usize, complete: bool, _at_ns: u64) {
        if !complete {
            let kept = self.places[place].kept.take();
            self.release(kept);
        }
    }
}

impl Walk for Watch {
    const WALKS: bool = true;

    fn only_watches(&self) -> bool {
        true
    }

    fn sent(&mut self, place: usize, bytes: &[u8]) {
        let place = &mut self.places[place];
        place.request_bytes = bytes.len() as u64;
        place.request.clear();
        let most = Message::HEAD_BYTES + Message::BODY_BYTES;
        place.request.extend_from_slice(&bytes[..bytes.len().min(most)]);
    }

    fn head(&mut self, _user: u32, place: usize, _template: u32, status: u16, head: &[u8]) {
        let mut kept = self.free.pop().unwrap_or_default();
        kept.status = status;
        kept.head.clear();
        kept.head.extend_from_slice(head);
        kept.body.clear();
        kept.body_bytes = 0;
        kept.failed.clear();
        kept.judge(&self.checks.each, 0, |looks_at| looks_at == LooksAt::Head);
        kept.most = match (self.looks_at_bodies, kept.failed.is_empty()) {
            (true, _) => CAPTURE_BYTES_MAX,
            (false, false) => Message::BODY_BYTES,
            (false, true) => 0,
        };
        let before = self.places[place].kept.replace(kept);
        self.release(before);
    }

    fn answered(&mut self, _user: u32, template: u32, response: Answered) {
        let Some(mut kept) = self.places[response.place].kept.take() else { return };
        if response.counts {
            kept.judge(&self.checks.each, response.total_ns, |looks_at| looks_at != LooksAt::Head);
            self.count(&kept, response.at_ns);
            if !kept.failed.is_empty() {
                self.sample(&kept, template, response);
            }
        }
        self.release(Some(kept));
    }

    fn window_opens(&mut self, at_ns: u64) {
        self.sampling.open_window(at_ns);
    }

    fn report(&mut self, record: &mut Record, _closed_ns: u64) {
        record.checks = Some(Box::new(std::mem::take(&mut self.record)));
        self.sampling.report(record);
    }
}
