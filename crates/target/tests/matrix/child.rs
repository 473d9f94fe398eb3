//! A server in a process of its own: this test binary, started again. Its descriptors, threads
//! and memory are those of the server alone, and it can be traced.
//!
//! The child reads lines: `look` is answered with what it holds, the end of the input stops it,
//! and it says what it counted.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use ablaze_target::accepting::AcceptMode;
use ablaze_target::conditions::{AcceptBatch, Arm, FiberOptions, Scheduler, SocketOptions};
use ablaze_target::{Model, Options};
use ablaze_testing::allocations::{Counting, live_bytes};
use ablaze_testing::{Bounded, Running};

use crate::models::{options, start};

const VARIABLE: &str = "ABLAZE_TEST_SERVER";

#[global_allocator]
static COUNTING: Counting = Counting;

/// What server the child runs.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Its model.
    pub model: Model,
    /// How connections come to it.
    pub accept: AcceptMode,
    /// Its workers.
    pub threads: usize,
    /// SO_SNDBUF of its connections.
    pub send_buffer_bytes: Option<u32>,
    /// Connections accepted per event.
    pub batch: AcceptBatch,
    /// Who runs fibers.
    pub scheduler: Scheduler,
    /// How fibers wait.
    pub arm: Arm,
}

impl Kind {
    /// With everything else as it is by default.
    pub fn new(model: Model, accept: AcceptMode, threads: usize) -> Self {
        let FiberOptions { scheduler, arm, .. } = FiberOptions::default();
        let batch = AcceptBatch::Drain;
        Self { model, accept, threads, send_buffer_bytes: None, batch, scheduler, arm }
    }

    /// Its options.
    pub fn options(&self) -> Options {
        let Self { send_buffer_bytes, scheduler, arm, .. } = *self;
        Options {
            sockets: SocketOptions { send_buffer_bytes, ..SocketOptions::default() },
            accept_batch: self.batch,
            fibers: FiberOptions { scheduler, arm, ..FiberOptions::default() },
            ..options(self.model, self.accept, self.threads)
        }
    }

    /// As words, for the child.
    fn words(&self) -> String {
        let one = self.batch == AcceptBatch::One;
        let shared = self.scheduler == Scheduler::Shared;
        let per_wait = self.arm == Arm::PerWait;
        let buffer = self.send_buffer_bytes.unwrap_or(0);
        let Self { model, accept, threads, .. } = self;
        format!("{model} {accept} {threads} {buffer} {one} {shared} {per_wait}")
    }

    fn from_words(words: &str) -> Self {
        let words: Vec<_> = words.split(' ').collect();
        let is = |at: usize| words[at] == "true";
        let model = Model::from_name(words[0]).unwrap();
        let accept = AcceptMode::from_name(words[1]).unwrap();
        Self {
            send_buffer_bytes: words[3].parse().ok().filter(|&bytes| bytes > 0),
            batch: if is(4) { AcceptBatch::One } else { AcceptBatch::Drain },
            scheduler: if is(5) { Scheduler::Shared } else { Scheduler::PerThread },
            arm: if is(6) { Arm::PerWait } else { Arm::Persistent },
            ..Self::new(model, accept, words[2].parse().unwrap())
        }
    }
}

/// Named numbers that the child said.
pub type Numbers = BTreeMap<String, i64>;

/// A running child. Dropping it ends it.
pub struct ServerProcess {
    child: Running,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    /// Where it listens.
    pub address: SocketAddr,
    /// Its process; that of the tracer, if it is traced.
    pub pid: u32,
    /// Threads it had before it was a server.
    pub foreign_threads: Vec<u32>,
}

impl ServerProcess {
    /// Starts it.
    pub fn start(kind: Kind) -> Self {
        Self::start_as(Command::new(std::env::current_exe().unwrap()), kind).unwrap()
    }

    /// Starts it by a command that runs this test binary; what that said, if it did not.
    pub fn start_as(mut command: Command, kind: Kind) -> Result<Self, String> {
        let mut child = command
            .args(["--exact", "child::serve", "--nocapture", "--test-threads=1"])
            .env(VARIABLE, kind.words())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .start()
            .unwrap();
        let stdin = child.stdin.take();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let Some(line) = line_with(&mut stdout, "listening ") else {
            let output = child.wait_with_output().unwrap();
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        };
        let mut words = line.split_whitespace();
        let address = words.next().unwrap().parse().unwrap();
        let foreign_threads = words.map(|word| word.parse().unwrap()).collect();
        let pid = child.id();
        Ok(Self { child, stdin, stdout, address, pid, foreign_threads })
    }

    /// What it holds and has served at this moment.
    pub fn look(&mut self) -> Numbers {
        self.stdin.as_mut().unwrap().write_all(b"look\n").unwrap();
        numbers(&line_with(&mut self.stdout, "holds ").unwrap())
    }

    /// Stops it; its counters.
    pub fn stop(mut self) -> Numbers {
        self.stdin = None;
        let said = line_with(&mut self.stdout, "counted ");
        let status = self.child.wait().unwrap();
        assert!(status.success(), "the server ended with {status}");
        numbers(&said.unwrap())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // Its input ends, and so does it; if it is stuck, it is ended.
        self.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What follows the word in the first line that has it.
fn line_with(from: &mut impl BufRead, word: &str) -> Option<String> {
    let mut line = String::new();
    while from.read_line(&mut line).unwrap() > 0 {
        if let Some((_, rest)) = line.split_once(word) {
            return Some(rest.trim().to_owned());
        }
        line.clear();
    }
    None
}

fn numbers(text: &str) -> Numbers {
    let pairs = text.split_whitespace().map(|word| word.split_once('=').unwrap());
    pairs.map(|(name, number)| (name.to_owned(), number.parse().unwrap())).collect()
}

/// The child: does nothing unless a test started it.
#[test]
fn serve() {
    let Ok(words) = std::env::var(VARIABLE) else { return };
    let foreign: String = threads().iter().map(|thread| format!(" {thread}")).collect();
    let server = start(Kind::from_words(&words).options());
    say(&format!("listening {}{foreign}", server.address()));
    for line in std::io::stdin().lock().lines() {
        assert_eq!(line.unwrap(), "look");
        let served = server.served();
        let live_bytes = live_bytes();
        let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
        say(&format!(
            "holds live_bytes={live_bytes} descriptors={descriptors} threads={} resident_kib={} \
             requests={} connections={}",
            threads().len(),
            resident_kib(),
            served.requests,
            served.connections,
        ));
    }
    let counted = server.stop().unwrap().named();
    let words: Vec<_> = counted.iter().map(|(name, count)| format!("{name}={count}")).collect();
    say(&format!("counted {}", words.join(" ")));
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush()).unwrap();
}

/// The threads of this process; not those that the kernel runs for an io_uring, which come and
/// go as it likes.
fn threads() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc/self/task").unwrap().map(Result::unwrap);
    let of_kernel = |entry: &std::fs::DirEntry| {
        let name = std::fs::read_to_string(entry.path().join("comm"));
        name.is_ok_and(|name| name.starts_with("iou-"))
    };
    let own = entries.filter(|entry| !of_kernel(entry));
    own.map(|entry| entry.file_name().to_str().unwrap().parse().unwrap()).collect()
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}
