//! Starts the built-in server and loads as processes of their own, and ends them whatever happens.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use ablaze_testing::Bounded;

use crate::controls::verdict::Report;

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
pub struct Running(ablaze_testing::Running);

impl Running {
    pub fn start(command: &mut Command) -> Self {
        let started = command.stdin(Stdio::null()).start();
        Self(started.unwrap_or_else(|error| panic!("{command:?}: {error}")))
    }

    pub fn id(&self) -> u32 {
        self.0.id()
    }

    pub fn signal(&self, signal: Signal) {
        self.0.signal(signal);
    }

    /// Stops it for so long.
    pub fn pause(&self, length: Duration) {
        self.signal(Signal::STOP);
        std::thread::sleep(length);
        self.signal(Signal::CONT);
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
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let body = response.split_once("\r\n\r\n").unwrap().1;
        let status: Value = serde_json::from_str(body).unwrap();
        status["total"]["requests"].as_u64().unwrap()
    }
}

/// A load under way, of which the JSON report is awaited.
pub struct Loading {
    pub process: Running,
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
        Self { process: Running::start(command) }
    }

    /// Waits for its end and reads what it printed.
    pub fn report(self) -> Report {
        let ran = self.process.0.end();
        Report::new(serde_json::from_str(&ran.stdout).unwrap_or_else(|error| {
            panic!("{error}: {}{}", ran.stdout, ran.stderr);
        }))
    }
}

/// Loads to the end and reads the report.
pub fn load(words: &[&str]) -> Report {
    Loading::start(words).report()
}
