//! What the tables of servers that break a protocol have in common: the built command is run against each, and held to what
//! has to come of that.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use ablaze_testing::{Bounded, Running};

pub const BACKENDS: [&str; 2] = ["uring", "epoll"];
/// Requests that end soon, and requests that wait as long as they may.
pub const MANY: &[&str] = &["-n", "24", "--streams", "4", "--timeout", "20s"];
pub const FEW: &[&str] = &["-n", "8", "--streams", "4", "--timeout", "2s"];
/// How much more memory a run may take than against a server that does nothing wrong, and how much at all.
pub const PEAK_GROWTH_MAX_BYTES: u64 = 40 << 20;
const PEAK_MAX_BYTES: u64 = 200 << 20;
/// However busy the machine is, a run of a few requests that takes longer hangs.
const RUN_MAX: Duration = Duration::from_secs(30);
/// Scripts that are played at the same time.
const AT_ONCE: usize = 4;

/// What has to come of a run.
pub struct Expected<'a> {
    /// The kind of every failure.
    pub kind: &'static str,
    /// What the one line for the person says.
    pub says: &'a str,
    /// Some requests are answered before it goes wrong: the run counts as measured, and the report has the words.
    pub some_responses: bool,
}

/// Plays all rows in every way, and fails with a list of those that came to something else; `play` says to what.
pub fn play_all<R: Sync, W: Sync>(
    rows: &[R],
    ways: &[W],
    play: impl Fn(&R, &W) -> Result<(), String> + Sync,
) {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(row) = rows.get(at / ways.len()) else { return };
                    if let Err(said) = play(row, &ways[at % ways.len()]) {
                        wrong.lock().unwrap().push(said);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

/// Whether a run came to what was expected; `facts` is where its JSON has those of the protocol.
pub fn held(
    ran: &Ran,
    facts: &str,
    expected: &Expected<'_>,
    peaceful_bytes: u64,
) -> Result<(), String> {
    let Expected { kind, says, some_responses } = *expected;
    let json = ran.json()?;
    let failed = &json["failed"];
    let check = |holds: bool, what: &str| {
        let responses = &json["responses"];
        let first = &json[facts]["first_failure"];
        let Ran { status, stderr, took, peak_bytes, .. } = ran;
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
    check(total > 0 && failed["by_kind"][kind] == total, kind)?;
    check((json["responses"] != 0) == some_responses, "responses")?;
    check(ran.status == i32::from(!some_responses), "exit status")?;
    let lines = usize::from(!some_responses);
    check(ran.stderr.lines().count() == lines, "number of lines on stderr")?;
    if some_responses {
        let detail = json[facts]["first_failure"]["detail"].as_str().unwrap_or("");
        check(detail.contains(says), says)?;
    } else {
        check(ran.stderr.contains(says), says)?;
    }
    let most = (peaceful_bytes + PEAK_GROWTH_MAX_BYTES).min(PEAK_MAX_BYTES);
    check(ran.peak_bytes < most, "memory")
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
    pub fn json(&self) -> Result<Value, String> {
        serde_json::from_str(&self.stdout).map_err(|error| {
            format!("{error}: status {}, stdout {}, {}", self.status, self.stdout, self.stderr)
        })
    }
}

/// Runs the command over this version of HTTP, on two connections unless the words say otherwise.
pub fn ablaze_over(http: &str, url: &str, io: &str, words: &[&str]) -> Result<Ran, String> {
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
fn watch(child: &mut Running, begun: Instant) -> Result<(i32, u64), String> {
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
