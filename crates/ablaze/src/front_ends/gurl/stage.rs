//! A stage that sends requests: one after the other or `-ac` at a time, `-an` of them or one for each record of the stage
//! before. Bodies go where `-o` says, or as records to the stage behind it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ablaze_report::system_error::reason;
use serde_json::{Map, Value};

use super::client::{self, Client, Head, Piece, Trusted};
use super::options::Options;
use super::request::{Fill, Record, Request};
use super::written::Delivery;
use crate::CommandError;
use crate::error::note;

/// As long a body is held, where it cannot be written as it comes.
const HELD_BYTES_MAX: usize = 256 << 20;

/// What its workers share.
pub struct Stage<'o> {
    options: &'o Options,
    trusted: Arc<Trusted>,
    /// Where records come from, if the stage reads them.
    from: Option<Mutex<Receiver<Record>>>,
    /// Where records go, if it writes them.
    to: Option<SyncSender<Record>>,
    began: Instant,
    /// Requests begun.
    count: AtomicU64,
    /// Nobody wants what comes.
    over: AtomicBool,
    /// A request without a response.
    failed: AtomicBool,
}

impl<'o> Stage<'o> {
    /// A stage between these two.
    pub fn new(
        options: &'o Options,
        from: Option<Receiver<Record>>,
        to: Option<SyncSender<Record>>,
    ) -> Self {
        Self {
            options,
            trusted: Arc::new(Trusted::new(options.insecure)),
            from: from.map(Mutex::new),
            to,
            began: Instant::now(),
            count: AtomicU64::new(0),
            over: AtomicBool::new(false),
            failed: AtomicBool::new(false),
        }
    }

    /// Sends all requests. Whether each got its response.
    ///
    /// # Errors
    /// When the words make no request, whatever is read.
    pub fn run(self) -> Result<bool, CommandError> {
        if self.options.connections == 0 {
            return Err(CommandError::usage("-ac 0 sends nothing: use -ac 1 or more"));
        }
        if !self.options.stream.read {
            client::check(&Request::new(self.options, None)?)?;
        }
        let workers = match (&self.from, self.options.requests) {
            (None, Some(requests)) if self.options.duration_ns.is_none() => {
                u64::from(self.options.connections).min(requests)
            }
            _ => u64::from(self.options.connections),
        };
        std::thread::scope(|scope| {
            for number in 1..workers {
                let spawned = std::thread::Builder::new().spawn_scoped(scope, || self.work());
                if let Err(error) = spawned {
                    note(&format!("-ac: {number} at a time, no more threads: {}", reason(&error)));
                    break;
                }
            }
            self.work();
        });
        Ok(!self.failed.into_inner())
    }

    fn work(&self) {
        let mut client = Client::new(Arc::clone(&self.trusted), self.options.timeout_ns);
        while !self.over.load(Ordering::Relaxed) {
            let Some(record) = self.next() else { return };
            if let Err(error) = self.one(&mut client, record.as_ref()) {
                self.failed.store(true, Ordering::Relaxed);
                // The record says it to the stage behind.
                if self.to.is_none() {
                    note(&error);
                }
            }
        }
    }

    /// What the next request is made of, when it is due; `None` when there is none. The record is none without `-r`.
    fn next(&self) -> Option<Option<Record>> {
        let record = match &self.from {
            Some(from) => {
                let from = from.lock().unwrap_or_else(PoisonError::into_inner);
                Some(from.recv().ok()?)
            }
            None => None,
        };
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let due_ns = self.options.rate_per_s.map_or(0, |rate| {
            u64::try_from(u128::from(number) * 1_000_000_000 / u128::from(rate)).unwrap_or(u64::MAX)
        });
        if record.is_none() {
            let elapsed_ns = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            let is_past = match self.options.duration_ns {
                Some(duration_ns) => elapsed_ns.max(due_ns) >= duration_ns,
                None => self.options.requests.is_some_and(|requests| number >= requests),
            };
            if is_past {
                return None;
            }
        }
        let due = self.began + Duration::from_nanos(due_ns);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        Some(record)
    }

    /// One request, and what comes of it.
    fn one(&self, client: &mut Client, record: Option<&Record>) -> Result<(), String> {
        let options = self.options;
        if let Some(record) = record.filter(|_| options.stream.debug) {
            note(&format!("read {}", text_of(record)));
        }
        let mut response = self.to.is_some().then(Kept::default);
        let done = self.response(client, record, &mut response);
        if let (Some(to), Some(response)) = (&self.to, response) {
            let mut out = response.record(done.as_ref().err());
            if let Some(record) = record.filter(|_| options.stream.merge) {
                out.extend(record.clone());
            }
            // The stage behind is over: so is this one.
            if to.send(out).is_err() {
                self.over.store(true, Ordering::Relaxed);
            }
        }
        done
    }

    fn response(
        &self,
        client: &mut Client,
        record: Option<&Record>,
        kept: &mut Option<Kept>,
    ) -> Result<(), String> {
        let options = self.options;
        let request = Request::new(options, record).map_err(|error| error.line)?;
        let file = options.output.file.as_deref().map(|file| Fill(record).text(file));
        // Records carry the bodies: standard output is for what the last stage writes.
        let file = file.or_else(|| self.to.is_none().then(|| "stdout".to_owned()));
        let live = options.connections == 1;
        let is_held = kept.is_some() || (file.is_some() && (!live || options.output.color));
        let (mut body_bytes, mut is_too_long) = (0, false);
        let mut delivery = Delivery::to(&options.output, file, live);
        client.perform(&request, &mut |piece| {
            if let Piece::Body(bytes) = &piece {
                body_bytes += bytes.len();
                is_too_long = is_held && body_bytes > HELD_BYTES_MAX;
            }
            if is_too_long {
                return false;
            }
            if let Some(kept) = kept.as_mut() {
                kept.piece(&piece);
            }
            delivery.piece(&piece)
        })?;
        if is_too_long {
            return Err(format!(
                "{}: the body is longer than 256 MiB, the most that -w, -c and -ac can hold",
                request.url
            ));
        }
        delivery.end();
        if delivery.unread {
            self.over.store(true, Ordering::Relaxed);
        }
        delivery.error.map_or(Ok(()), Err)
    }
}

/// A response for a record.
#[derive(Default)]
struct Kept {
    status: u16,
    fields: Map<String, Value>,
    body: Vec<u8>,
}

impl Kept {
    fn piece(&mut self, piece: &Piece<'_>) {
        match piece {
            Piece::Head(head) => {
                self.status = head.status;
                self.fields = fields(head);
            }
            Piece::Body(bytes) => self.body.extend_from_slice(bytes),
        }
    }

    /// gurl's keys; a request without a response has status 0 and no header.
    fn record(self, error: Option<&String>) -> Record {
        let kept = error.map_or(self, |_| Self::default());
        let header = if error.is_some() { Value::Null } else { Value::Object(kept.fields) };
        Record::from([
            ("err".to_owned(), error.map_or("", String::as_str).into()),
            ("status_code".to_owned(), kept.status.to_string().into()),
            ("body".to_owned(), String::from_utf8_lossy(&kept.body).into()),
            ("header".to_owned(), header),
        ])
    }
}

/// The header fields, each with a list of its values, under their names as Go writes them.
fn fields(head: &Head<'_>) -> Map<String, Value> {
    let mut fields = Map::new();
    let text = String::from_utf8_lossy(head.bytes);
    for line in text.lines().skip(1) {
        let Some((name, value)) = line.split_once(':') else { continue };
        let values = fields.entry(canonical(name)).or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(values) = values {
            values.push(value.trim().into());
        }
    }
    fields
}

/// `content-type` as `Content-Type`.
fn canonical(name: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        first.to_ascii_uppercase() + &rest.to_ascii_lowercase()
    };
    name.split('-').map(word).collect::<Vec<_>>().join("-")
}

/// A record as JSON.
pub fn text_of(record: &Record) -> String {
    Value::Object(record.clone().into_iter().collect()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_gurls_keys() {
        let mut kept = Kept::default();
        let bytes = b"HTTP/1.1 200 OK\r\nset-COOKIE: a\r\nSet-Cookie: b\r\nx: \xff\r\n\r\n";
        kept.piece(&Piece::Head(Head { status: 200, bytes, request: b"" }));
        kept.piece(&Piece::Body(b"bo"));
        kept.piece(&Piece::Body(b"dy"));
        let expected = "{\"body\":\"body\",\"err\":\"\",\"header\":{\"Set-Cookie\":[\"a\",\"b\"],\
                        \"X\":[\"\u{fffd}\"]},\"status_code\":\"200\"}";
        assert_eq!(text_of(&kept.record(None)), expected);
        let expected = r#"{"body":"","err":"why","header":null,"status_code":"0"}"#;
        assert_eq!(text_of(&Kept::default().record(Some(&"why".to_owned()))), expected);
    }
}
