//! Processes of the command, ended whatever happens to the test, and a client that asks for one
//! response.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{ChildStdout, Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use ablaze_testing::{Bounded, Running};

pub fn ablaze(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A process that has said where it listens.
pub struct Serving {
    pub child: Running,
    /// The line with the address.
    pub line: String,
    pub address: SocketAddr,
    stdout: BufReader<ChildStdout>,
}

impl Serving {
    pub fn start(words: &[&str]) -> Self {
        Self::spawn(&mut ablaze(words))
    }

    pub fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).start().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("://") {
            line.clear();
            if stdout.read_line(&mut line).unwrap() == 0 {
                let output = child.wait_with_output().unwrap();
                panic!("it ended without an address: {}", String::from_utf8_lossy(&output.stderr));
            }
        }
        let url = line.split_once("://").unwrap().1;
        let address = url.split('/').next().unwrap().parse().unwrap();
        Self { child, line, address, stdout }
    }

    /// The response to a GET of `/` over HTTP/1.0.
    pub fn get(&self) -> String {
        get(self.address)
    }

    pub fn connect(&self) -> TcpStream {
        connect(self.address)
    }

    pub fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).bounded_status().unwrap().success());
    }

    /// What it still prints, and how it ends.
    pub fn rest(mut self) -> (String, ExitStatus) {
        let mut text = String::new();
        self.stdout.read_to_string(&mut text).unwrap();
        (text, self.child.wait().unwrap())
    }

    /// Stops it as a service manager would; what it prints then.
    pub fn stop(self) -> String {
        self.signal("-TERM");
        let (text, status) = self.rest();
        assert!(status.success(), "{status}");
        text
    }
}

pub fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    // A server that never answers fails the test instead of hanging it.
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

pub fn get(address: SocketAddr) -> String {
    let mut stream = connect(address);
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

/// The one line on stderr.
pub fn one_line(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

/// An empty directory for one test.
pub fn directory(test: &str) -> PathBuf {
    ablaze_testing::scratch::kept(env!("CARGO_TARGET_TMPDIR"), &format!("serve-{test}"))
}
