//! Runs the command with a limit on its time, and reads its JSON.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ablaze_target::{Options, Running, Server};
use serde_json::Value;

/// Every test that can is run over each of these.
pub const BACKENDS: [&str; 2] = ["uring", "epoll"];

/// No run of a test takes so long unless something hangs.
const RUN_MAX: Duration = Duration::from_secs(120);

/// What a command said and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub stdout: String,
    pub stderr: String,
    /// The exit status; -1 when a signal ended it.
    pub status: i32,
    pub took: Duration,
}

impl Ran {
    /// The report of `--json`.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// One line for the person, and no report: what a refusal looks like.
    pub fn assert_one_line(&self, status: i32, expected: &str) {
        assert_eq!(self.status, status, "{self:?}");
        assert!(self.stderr.contains(expected), "{expected}: {self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        assert!(!self.stderr.contains("panicked"), "{self:?}");
    }
}

/// The command with these words.
pub fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    command.args(words);
    command
}

/// Runs the command to its end.
pub fn ablaze(words: &[&str]) -> Ran {
    run(&mut command(words))
}

/// Runs the command with `--json` and reads what it printed.
pub fn measured(words: &[&str]) -> (Ran, Value) {
    let ran = ablaze(&[words, &["--json"]].concat());
    let json = ran.json();
    (ran, json)
}

/// Runs a program to its end, or kills it when it takes too long.
pub fn run(command: &mut Command) -> Ran {
    end(start(command))
}

/// Starts a program whose output is kept.
pub fn start(command: &mut Command) -> Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Waits for a program, and says what it said since it was started.
pub fn end(mut child: Child) -> Ran {
    let begun = Instant::now();
    let stdout = reader(child.stdout.take().unwrap());
    let stderr = reader(child.stderr.take().unwrap());
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > RUN_MAX {
            child.kill().unwrap();
            panic!("process {} did not end within {RUN_MAX:?}", child.id());
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let took = begun.elapsed();
    let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
    Ran { stdout, stderr, status: status.code().unwrap_or(-1), took }
}

fn reader(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Waits until something holds; whether it came to hold within 20 seconds.
pub fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !holds() {
        if begun.elapsed() > Duration::from_secs(20) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// The built-in server on a free port of this address.
pub fn serve_on(address: &str) -> Running {
    let options = Options { address: address.parse().unwrap(), threads: 1, ..Options::default() };
    Server::start(options).unwrap()
}

/// The built-in server on a free port.
pub fn serve() -> Running {
    serve_on("127.0.0.1:0")
}

/// A URL of a server.
pub fn url(server: &Running, path: &str) -> String {
    format!("http://{}{path}", server.address())
}

/// A number of the JSON report by its path, such as `/failed/total`.
pub fn number(json: &Value, pointer: &str) -> u64 {
    let value = json.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in {json}"));
    value.as_u64().unwrap_or_else(|| panic!("{pointer} is {value}"))
}

/// Whether tests that take long, or need a quiet machine, are asked for. If not, says so.
pub fn long_tests() -> bool {
    let asked = std::env::var_os("ABLAZE_LONG_TESTS").is_some_and(|value| value == "1");
    if !asked {
        println!("skipped: takes long; ABLAZE_LONG_TESTS=1 runs it");
    }
    asked
}

/// A file of a test's own, removed with it.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("ablaze-e2e-{}-{name}", std::process::id())))
    }

    pub fn with(name: &str, content: &[u8]) -> Self {
        let scratch = Self::new(name);
        std::fs::write(&scratch.0, content).unwrap();
        scratch
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn word(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
