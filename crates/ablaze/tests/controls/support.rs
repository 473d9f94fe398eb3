//! Starts the built-in server and loads as processes of their own, and ends them whatever happens.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::verdict::Report;

/// No load of a test takes so long unless something hangs.
const LONGEST: Duration = Duration::from_secs(60);

/// Held by a test as long as it runs: two at a time would disturb each other.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    // A test that failed has left nothing behind.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The command with these words.
pub fn ablaze(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    command.args(words);
    command
}

/// The command with these words, started by another one, such as `prlimit --nofile=64`.
pub fn ablaze_by(starter: &[&str], words: &[&str]) -> Command {
    let mut command = Command::new(starter[0]);
    command.args(&starter[1..]).arg(env!("CARGO_BIN_EXE_ablaze")).args(words);
    command
}

/// A process, killed when the test is done with it.
pub struct Running(Child);

impl Running {
    pub fn start(command: &mut Command) -> Self {
        let started = command.stdin(Stdio::null()).spawn();
        Self(started.unwrap_or_else(|error| panic!("{command:?}: {error}")))
    }

    pub fn id(&self) -> u32 {
        self.0.id()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    /// Stops it for so long.
    pub fn pause(&self, length: Duration) {
        self.signal(Signal::STOP);
        std::thread::sleep(length);
        self.signal(Signal::CONT);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `ablaze serve` on a free port.
pub struct Server {
    pub process: Running,
    address: SocketAddr,
}

impl Server {
    /// One worker, with these options.
    pub fn start(options: &[&str]) -> Self {
        Self::spawn(&mut ablaze(&Self::words(options)))
    }

    /// The same, started by another command.
    pub fn start_by(starter: &[&str], options: &[&str]) -> Self {
        Self::spawn(&mut ablaze_by(starter, &Self::words(options)))
    }

    fn words<'a>(options: &[&'a str]) -> Vec<&'a str> {
        [&["serve", "127.0.0.1:0", "--threads", "1"], options].concat()
    }

    fn spawn(command: &mut Command) -> Self {
        let mut process = Running::start(command.stdout(Stdio::piped()).stderr(Stdio::null()));
        let lines = BufReader::new(process.0.stdout.take().unwrap()).lines();
        let line = lines.map(Result::unwrap).find(|line| line.contains("http://")).unwrap();
        let url = line.split_once("http://").unwrap().1;
        Self { process, address: url.split('/').next().unwrap().parse().unwrap() }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Waits until it has answered so many requests.
    pub fn wait_for_requests(&self, number: u64) {
        let begun = Instant::now();
        while self.requests() < number {
            assert!(begun.elapsed() < Duration::from_secs(20), "the load does not begin");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Requests that it has answered.
    pub fn requests(&self) -> u64 {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(b"GET /_/status HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        let status: Value = serde_json::from_str(body).unwrap();
        status["total"]["requests"].as_u64().unwrap()
    }
}

/// A load under way, of which the JSON report is awaited.
pub struct Loading {
    pub process: Running,
    begun: Instant,
}

impl Loading {
    pub fn start(words: &[&str]) -> Self {
        Self::spawn(&mut ablaze(words))
    }

    /// The same, started by another command.
    pub fn start_by(starter: &[&str], words: &[&str]) -> Self {
        Self::spawn(&mut ablaze_by(starter, words))
    }

    pub fn spawn(command: &mut Command) -> Self {
        command.args(["--json", "--quiet"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { process: Running::start(command), begun: Instant::now() }
    }

    /// Waits for its end and reads what it printed.
    pub fn report(mut self) -> Report {
        let stdout = reader(self.process.0.stdout.take().unwrap());
        let stderr = reader(self.process.0.stderr.take().unwrap());
        while self.process.0.try_wait().unwrap().is_none() {
            assert!(self.begun.elapsed() < LONGEST, "the load did not end within {LONGEST:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
        let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
        Report::new(serde_json::from_str(&stdout).unwrap_or_else(|error| {
            panic!("{error}: {stdout}{stderr}");
        }))
    }
}

fn reader(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text).unwrap();
        text
    })
}

/// Loads to the end and reads the report.
pub fn load(words: &[&str]) -> Report {
    Loading::start(words).report()
}

/// Whether a program of the system is here. If not, says so; in CI its absence is a failure.
pub fn installed(program: &str) -> bool {
    let here = Command::new(program).arg("--version").output().is_ok_and(|it| it.status.success());
    let in_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    assert!(here || !in_ci, "{program} is not installed, and in CI this must not be skipped");
    if !here {
        eprintln!("SKIPPED: {program} is not installed");
    }
    here
}

/// Whether tests that take minutes are asked for.
pub fn long_tests() -> bool {
    std::env::var_os("ABLAZE_LONG_TESTS").is_some_and(|value| value == "1")
}

/// The same; if not, says so.
pub fn long_tests_or_told() -> bool {
    let asked = long_tests();
    if !asked {
        println!("skipped: takes long; ABLAZE_LONG_TESTS=1 runs it");
    }
    asked
}
