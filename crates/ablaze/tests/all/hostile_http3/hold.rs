//! Runs the command against each script of a table and holds it to what has to come of that.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use ablaze_tamper::hostile_http3::{Hostile, Peer, Script, StreamId};

use crate::hostile_http2::hold::{BACKENDS, PEAK_GROWTH_MAX_BYTES, Ran, ablaze_over};

/// Requests that end soon, and requests that wait as long as they may.
const MANY: &[&str] = &["-n", "24", "--streams", "4", "--timeout", "20s"];
const FEW: &[&str] = &["-n", "8", "--streams", "4", "--timeout", "2s"];
/// Scripts that are played at the same time.
const AT_ONCE: usize = 4;

/// A way to misbehave, and what has to come of it.
pub struct Row {
    name: String,
    script: Arc<dyn Script>,
    /// The kind of every failure.
    kind: &'static str,
    /// What the one line for the person says.
    says: String,
    /// Further words of the command line.
    words: &'static [&'static str],
    /// Some requests are answered before it goes wrong.
    some_responses: bool,
}

/// A row where no request is answered, and every one meets the same.
pub fn row(
    name: impl Into<String>,
    kind: &'static str,
    says: impl Into<String>,
    request: impl Fn(&mut Peer, StreamId) + Send + Sync + 'static,
) -> Row {
    scripted(name, kind, says, Arc::new(request))
}

/// The same for what a server says on streams of its own when a connection begins. Requests are answered never.
pub fn at_first(
    name: impl Into<String>,
    kind: &'static str,
    says: impl Into<String>,
    connected: impl Fn(&mut Peer) + Send + Sync + 'static,
) -> Row {
    scripted(name, kind, says, Arc::new(AtFirst(connected)))
}

struct AtFirst<F>(F);

impl<F: Fn(&mut Peer) + Send + Sync> Script for AtFirst<F> {
    fn connected(&self, peer: &mut Peer) {
        (self.0)(peer);
    }

    fn request(&self, _: &mut Peer, _: StreamId) {}
}

fn scripted(
    name: impl Into<String>,
    kind: &'static str,
    says: impl Into<String>,
    script: Arc<dyn Script>,
) -> Row {
    let (name, says) = (name.into(), says.into());
    Row { name, script, kind, says, words: MANY, some_responses: false }
}

impl Row {
    /// Every request waits as long as it may.
    pub fn slow(mut self) -> Self {
        self.words = FEW;
        self
    }

    /// Other words for the number of requests, their timeout and so on.
    pub fn with(mut self, words: &'static [&'static str]) -> Self {
        self.words = words;
        self
    }

    /// Some requests are answered: the run counts as measured, and the report has the words.
    pub fn after_responses(mut self) -> Self {
        self.some_responses = true;
        self
    }
}

/// Plays all rows over both backends, and fails with a list of those that came to something else.
pub fn hold(rows: &[Row]) {
    let peaceful = BACKENDS.map(peaceful_peak_bytes);
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(row) = rows.get(at / BACKENDS.len()) else { return };
                    let way = at % BACKENDS.len();
                    if let Err(said) = play(row, BACKENDS[way], peaceful[way]) {
                        let said = format!("{}, {}: {said}", BACKENDS[way], row.name);
                        wrong.lock().unwrap().push(said);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

fn play(row: &Row, io: &str, peaceful_bytes: u64) -> Result<(), String> {
    let server = Hostile::start(row.script.clone());
    let ran = ablaze_over("3", &server.url(), io, &[&["-k"], row.words].concat())?;
    let json = ran.json()?;
    let failed = &json["failed"];
    let check = |holds: bool, what: &str| {
        let responses = &json["responses"];
        let first = &json["http3"]["first_failure"];
        let Ran { status, stderr, took, peak_bytes, .. } = &ran;
        if holds {
            return Ok(());
        }
        Err(format!(
            "{what}: status {status}, {responses} responses, failed {failed}, first {first}, \
             {} MiB, {took:?}, stderr {stderr:?}",
            peak_bytes >> 20
        ))
    };
    let total = failed["total"].as_u64().unwrap_or(0);
    check(total > 0 && failed["by_kind"][row.kind] == total, row.kind)?;
    check((json["responses"] != 0) == row.some_responses, "responses")?;
    check(ran.status == i32::from(!row.some_responses), "exit status")?;
    let lines = usize::from(!row.some_responses);
    check(ran.stderr.lines().count() == lines, "number of lines on stderr")?;
    if row.some_responses {
        let detail = json["http3"]["first_failure"]["detail"].as_str().unwrap_or("");
        check(detail.contains(&row.says), &row.says)?;
    } else {
        check(ran.stderr.contains(&row.says), &row.says)?;
    }
    check(ran.peak_bytes < peaceful_bytes + PEAK_GROWTH_MAX_BYTES, "memory")
}

/// The memory it takes to talk to a server that answers as it should.
fn peaceful_peak_bytes(io: &str) -> u64 {
    let server = Hostile::start(Arc::new(|peer: &mut Peer, stream: StreamId| {
        peer.respond(stream, b"fine");
    }));
    let words = ["-k", "-n", "2000", "--streams", "4"];
    let ran = ablaze_over("3", &server.url(), io, &words).unwrap();
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.peak_bytes > 0);
    ran.peak_bytes
}
