//! Runs the command against each script of a table and holds it to what has to come of that.

use std::sync::Arc;

use ablaze_tamper::hostile_http3::{Hostile, Peer, Script, StreamId};

use crate::hostile::{BACKENDS, Expected, FEW, MANY, ablaze_over, held, play_all};

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
    let ways = BACKENDS.map(|io| (io, peaceful_peak_bytes(io)));
    play_all(rows, &ways, |row, (io, peaceful_bytes)| {
        play(row, io, *peaceful_bytes).map_err(|said| format!("{io}, {}: {said}", row.name))
    });
}

fn play(row: &Row, io: &str, peaceful_bytes: u64) -> Result<(), String> {
    let server = Hostile::start(row.script.clone());
    let ran = ablaze_over("3", &server.url(), io, &[&["-k"], row.words].concat())?;
    let expected = Expected { kind: row.kind, says: &row.says, some_responses: row.some_responses };
    held(&ran, "http3", &expected, peaceful_bytes)
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
