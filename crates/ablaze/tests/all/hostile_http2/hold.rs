//! Runs the command against each script of a table and holds it to what has to come of that.

use std::io::Result;

use ablaze_tamper::hostile_http2::{Hostile, OK, Peer, Script};

use crate::hostile::{BACKENDS, Expected, FEW, MANY, Ran, ablaze_over, held, play_all};

/// What rustls and its tables take.
const OF_TLS_BYTES: u64 = 8 << 20;
/// A way to misbehave, and what has to come of it.
pub struct Row {
    name: &'static str,
    script: Script,
    expected: Expected<'static>,
    /// Further words of the command line.
    words: &'static [&'static str],
}

/// A row where no request is answered.
pub const fn row(
    name: &'static str,
    kind: &'static str,
    says: &'static str,
    script: Script,
) -> Row {
    Row { name, script, expected: Expected { kind, says, some_responses: false }, words: MANY }
}

impl Row {
    /// Every request waits as long as it may.
    pub const fn slow(mut self) -> Self {
        self.words = FEW;
        self
    }

    /// Other words for the number of requests, their timeout and so on.
    pub const fn with(mut self, words: &'static [&'static str]) -> Self {
        self.words = words;
        self
    }

    /// Some requests are answered: the run counts as measured, and the report has the words.
    pub const fn after_responses(mut self) -> Self {
        self.expected.some_responses = true;
        self
    }
}

/// Begins as a server has to, then does the same to every request.
pub fn each(peer: &mut Peer, play: impl Fn(&mut Peer, u32) -> Result<()>) -> Result<()> {
    peer.hello()?;
    loop {
        let stream = peer.request()?;
        play(peer, stream)?;
    }
}

/// Begins as a server has to, and does something once, when a request has come.
pub fn once(peer: &mut Peer, play: impl Fn(&mut Peer, u32) -> Result<()>) -> Result<()> {
    peer.hello()?;
    let stream = peer.request()?;
    play(peer, stream)
}

/// How the rows are played: the backend, and whether there is TLS below. TLS is the same over both.
const WAYS: [(&str, bool); 3] = [("uring", false), ("epoll", false), ("uring", true)];

/// Plays all rows in every way, and fails with a list of those that came to something else.
pub fn hold(rows: &[Row]) {
    let peaceful = BACKENDS.map(|io| peaceful_peak_bytes(io, &["-n", "2000", "--streams", "4"]));
    let peaceful = [peaceful[0], peaceful[1], peaceful[0] + OF_TLS_BYTES];
    let ways: Vec<_> = WAYS.into_iter().zip(peaceful).collect();
    play_all(rows, &ways, |row, ((io, tls), peaceful_bytes)| {
        let below = if *tls { " with TLS" } else { "" };
        play(row, io, *tls, *peaceful_bytes)
            .map_err(|said| format!("{io}{below}, {}: {said}", row.name))
    });
}

fn play(row: &Row, io: &str, tls: bool, peaceful_bytes: u64) -> std::result::Result<(), String> {
    let start = if tls { Hostile::start_tls } else { Hostile::start };
    let server = start(row.script);
    let words = [if tls { &["-k"][..] } else { &[] }, row.words].concat();
    held(&ablaze(&server.url(), io, &words)?, "http2", &row.expected, peaceful_bytes)
}

/// The memory it takes to talk to a server that answers as it should.
pub fn peaceful_peak_bytes(io: &str, words: &[&str]) -> u64 {
    let server = Hostile::start(|peer| each(peer, |peer, stream| peer.response(stream, OK)));
    let ran = ablaze(&server.url(), io, words).unwrap();
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.peak_bytes > 0);
    ran.peak_bytes
}

/// Runs the command over HTTP/2, on two connections unless the words say otherwise.
pub fn ablaze(url: &str, io: &str, words: &[&str]) -> std::result::Result<Ran, String> {
    ablaze_over("2", url, io, words)
}
