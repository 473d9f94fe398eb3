//! A command with a page, and plain sockets to it.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use ablaze_target::{Options, Running as Served, Server};
use ablaze_testing::process::eventually;
use ablaze_testing::{Bounded, Running, Scratch};

/// A command that runs with its page.
pub struct Watched {
    pub running: Running,
    pub folder: Scratch,
    /// `127.0.0.1:41234`
    pub host: String,
    pub token: String,
}

/// The built-in server on a free port, and its URL.
pub fn serve() -> (Served, String) {
    let address = "127.0.0.1:0".parse().unwrap();
    let server = Server::start(Options { address, threads: 1, ..Options::default() }).unwrap();
    let url = format!("http://{}/", server.address());
    (server, url)
}

impl Watched {
    /// Starts it with these words and `--web`, in a folder of its own.
    pub fn start(words: &[&str]) -> Self {
        let folder = Scratch::new("web");
        let create = |name| Stdio::from(File::create(folder.path().join(name)).unwrap());
        let running = Command::new(env!("CARGO_BIN_EXE_ablaze"))
            .args(words)
            .arg("--web")
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(create("stdout"))
            .stderr(create("stderr"))
            .start()
            .unwrap();
        let mut said = String::new();
        assert!(eventually(|| {
            said = folder.read("stderr");
            said.contains("token=") && said.ends_with('\n')
        }));
        let url = said.split("http://").nth(1).unwrap().lines().next().unwrap();
        let (host, token) = url.split_once("/?token=").unwrap();
        let (host, token) = (host.to_owned(), token.to_owned());
        Self { running, folder, host, token }
    }

    /// The address of the page.
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.host, self.token)
    }

    /// A connection that is read with a bound.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends this; the stream to read the response from.
    pub fn sent(&self, request: &str) -> TcpStream {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// The whole response to a request with these fields.
    pub fn asked(&self, method: &str, target: &str, fields: &str) -> String {
        let request = format!("{method} {target} HTTP/1.1\r\n{fields}\r\n");
        let mut response = Vec::new();
        self.sent(&request).read_to_end(&mut response).unwrap();
        String::from_utf8(response).unwrap()
    }

    /// The same from a browser on the page: with Host and token.
    pub fn get(&self, path: &str) -> String {
        let fields = format!("Host: {}\r\n", self.host);
        self.asked("GET", &format!("{path}?token={}", self.token), &fields)
    }

    /// What came of a button.
    pub fn press(&self, button: &str) -> String {
        let fields = format!("Host: {0}\r\nOrigin: http://{0}\r\n", self.host);
        let target = format!("/control?token={}&do={button}", self.token);
        body(&self.asked("POST", &target, &fields)).to_owned()
    }

    /// The stream of events.
    pub fn events(&self) -> TcpStream {
        let Self { host, token, .. } = self;
        self.sent(&format!("GET /events?token={token} HTTP/1.1\r\nHost: {host}\r\n\r\n"))
    }

    /// Whether the events, read from now on, come to have this in them.
    pub fn tells(&self, text: &str) -> bool {
        read_until(&mut self.events(), text)
    }

    /// Waits for its end; its status and what it said on stderr.
    pub fn end(self) -> (Option<i32>, String) {
        let (status, folder) = self.ended();
        (status, folder.read("stderr"))
    }

    /// Waits for its end; its status, and its folder.
    pub fn ended(mut self) -> (Option<i32>, Scratch) {
        (self.running.wait().unwrap().code(), self.folder)
    }
}

/// Reads until this has come; whether it came before the end.
pub fn read_until(stream: &mut TcpStream, text: &str) -> bool {
    heard(stream, text).is_some()
}

/// Reads until this has come: everything up to then. `None` if the end came first.
pub fn heard(stream: &mut TcpStream, text: &str) -> Option<String> {
    let (mut all, mut piece) = (Vec::new(), [0; 16 * 1024]);
    loop {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(count) => all.extend_from_slice(&piece[..count]),
        }
        if all.windows(text.len()).any(|window| window == text.as_bytes()) {
            return Some(String::from_utf8_lossy(&all).into_owned());
        }
    }
}

/// What stands behind the head of a response.
pub fn body(response: &str) -> &str {
    response.split_once("\r\n\r\n").unwrap().1
}
