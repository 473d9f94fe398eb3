//! Runs the command against each script of a table and holds it to what has to come of that.

use std::io::{Read, Result};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use ablaze_testing::{Bounded, Running};

use ablaze_tamper::hostile_http2::{Hostile, OK, Peer, Script};

pub const BACKENDS: [&str; 2] = ["uring", "epoll"];
/// However busy the machine is, a run of a few requests that takes longer hangs.
const RUN_MAX: Duration = Duration::from_secs(30);
/// Memory that a run may take, and how much more than against a server that does nothing wrong.
const PEAK_MAX_BYTES: u64 = 200 << 20;
pub const PEAK_GROWTH_MAX_BYTES: u64 = 40 << 20;
/// Requests that end soon, and requests that wait as long as they may.
const MANY: &[&str] = &["-n", "24", "--streams", "4", "--timeout", "20s"];
const FEW: &[&str] = &["-n", "8", "--streams", "4", "--timeout", "2s"];
/// What rustls and its tables take.
const OF_TLS_BYTES: u64 = 8 << 20;
/// Scripts that are played at the same time.
const AT_ONCE: usize = 4;

/// A way to misbehave, and what has to come of it.
pub struct Row {
    name: &'static str,
    script: Script,
    /// The kind of every failure.
    kind: &'static str,
    /// What the one line for the person says.
    says: &'static str,
    /// Further words of the command line.
    words: &'static [&'static str],
    /// Some requests are answered before it goes wrong.
    some_responses: bool,
}

/// A row where no request is answered.
pub const fn row(
    name: &'static str,
    kind: &'static str,
    says: &'static str,
    script: Script,
) -> Row {
    Row { name, script, kind, says, words: MANY, some_responses: false }
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
        self.some_responses = true;
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
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(row) = rows.get(at / WAYS.len()) else { return };
                    let (io, tls) = WAYS[at % WAYS.len()];
                    if let Err(said) = play(row, io, tls, peaceful[at % WAYS.len()]) {
                        let below = if tls { " with TLS" } else { "" };
                        wrong.lock().unwrap().push(format!("{io}{below}, {}: {said}", row.name));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

fn play(row: &Row, io: &str, tls: bool, peaceful_bytes: u64) -> std::result::Result<(), String> {
    let start = if tls { Hostile::start_tls } else { Hostile::start };
    let server = start(row.script);
    let words = [if tls { &["-k"][..] } else { &[] }, row.words].concat();
    let ran = ablaze(&server.url(), io, &words)?;
    let json = ran.json()?;
    let failed = &json["failed"];
    let check = |holds: bool, what: &str| {
        let responses = &json["responses"];
        let first = &json["http2"]["first_failure"];
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
        let detail = json["http2"]["first_failure"]["detail"].as_str().unwrap_or("");
        check(detail.contains(row.says), row.says)?;
    } else {
        check(ran.stderr.contains(row.says), row.says)?;
    }
    let most = (peaceful_bytes + PEAK_GROWTH_MAX_BYTES).min(PEAK_MAX_BYTES);
    check(ran.peak_bytes < most, "memory")
}

/// The memory it takes to talk to a server that answers as it should.
pub fn peaceful_peak_bytes(io: &str, words: &[&str]) -> u64 {
    let server = Hostile::start(|peer| each(peer, |peer, stream| peer.response(stream, OK)));
    let ran = ablaze(&server.url(), io, words).unwrap();
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.peak_bytes > 0);
    ran.peak_bytes
}

/// What a run said and how it ended.
pub struct Ran {
    stdout: String,
    pub stderr: String,
    pub status: i32,
    pub took: Duration,
    /// The most memory it was seen to have held.
    pub peak_bytes: u64,
}

impl Ran {
    /// The report of `--json`.
    pub fn json(&self) -> std::result::Result<Value, String> {
        serde_json::from_str(&self.stdout).map_err(|error| {
            format!("{error}: status {}, stdout {}, {}", self.status, self.stdout, self.stderr)
        })
    }
}

/// Runs the command over HTTP/2, on two connections unless the words say otherwise.
pub fn ablaze(url: &str, io: &str, words: &[&str]) -> std::result::Result<Ran, String> {
    ablaze_over("2", url, io, words)
}

/// The same over this version.
pub fn ablaze_over(
    http: &str,
    url: &str,
    io: &str,
    words: &[&str],
) -> std::result::Result<Ran, String> {
    let common = ["--http", http, "-t", "1", "--json", "--quiet"];
    let connections = if words.contains(&"-c") { &[][..] } else { &["-c", "2"] };
    let mut child = Command::new(env!("CARGO_BIN_EXE_ablaze"))
        .args([url, "--io", io])
        .args(common)
        .args(connections)
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .start()
        .unwrap();
    let begun = Instant::now();
    let stdout = reader(child.stdout.take().unwrap());
    let stderr = reader(child.stderr.take().unwrap());
    let (status, peak_bytes) = watch(&mut child, begun)?;
    let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
    Ok(Ran { stdout, stderr, status, took: begun.elapsed(), peak_bytes })
}

/// Waits for a child; its status, and its peak memory as it was seen last.
fn watch(child: &mut Running, begun: Instant) -> std::result::Result<(i32, u64), String> {
    let mut peak_bytes = 0;
    loop {
        // VmHWM is the peak so far (proc_pid_status(5)); a process that has ended has none.
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
        let line = status.unwrap_or_default();
        let line = line.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        if let Some(kib) = line.and_then(|line| line.split_whitespace().next()) {
            peak_bytes = kib.parse::<u64>().unwrap() << 10;
        }
        if let Some(status) = child.try_wait().unwrap() {
            return Ok((status.code().unwrap_or(-1), peak_bytes));
        }
        if begun.elapsed() > RUN_MAX {
            child.kill().unwrap();
            child.wait().unwrap();
            return Err(format!("did not end within {RUN_MAX:?}, {} MiB", peak_bytes >> 20));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn reader(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
