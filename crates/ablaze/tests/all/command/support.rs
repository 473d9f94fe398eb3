//! A server that remembers what it was asked, with nothing of ablaze in it, and the command.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};

use ablaze_testing::Bounded;

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    /// Request line and header fields.
    pub head: Vec<String>,
    /// Body.
    pub body: String,
}

impl Request {
    /// The request target.
    pub fn path(&self) -> &str {
        self.head[0].split(' ').nth(1).unwrap()
    }

    /// The values of a header field.
    pub fn fields(&self, name: &str) -> Vec<&str> {
        let fields = self.head[1..].iter().filter_map(|line| line.split_once(": "));
        fields.filter(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value).collect()
    }
}

/// A server on a free port of loopback, for the length of a test.
pub struct Server {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Responses everything with this status and five bytes.
    pub fn start(status: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let all_seen = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&all_seen);
                std::thread::spawn(move || serve(stream, status, &seen));
            }
        });
        Self { address, seen }
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What has been asked so far.
    pub fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, status: u16, seen: &Mutex<Vec<Request>>) {
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    loop {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            match reader.read_line(&mut line) {
                Ok(length) if length > 0 => {}
                _ => return,
            }
            if line == "\r\n" {
                break;
            }
            head.push(line.trim_end().to_owned());
        }
        let mut request = Request { head, body: String::new() };
        let length: usize =
            request.fields("Content-Length").first().map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        request.body = String::from_utf8(body).unwrap();
        let close = request.fields("Connection").contains(&"close");
        let no_body = request.head[0].starts_with("HEAD ");
        seen.lock().unwrap().push(request);
        let connection = if close { "Connection: close\r\n" } else { "" };
        let body = if no_body { "" } else { "hello" };
        let response = format!(
            "HTTP/1.1 {status} Text\r\nServer: oracle\r\n{connection}Content-Length: 5\r\n\r\n{body}"
        );
        if writer.write_all(response.as_bytes()).is_err() || close {
            return;
        }
    }
}

/// What a command said.
#[derive(Debug)]
pub struct Said {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs `ablaze` to its end.
pub fn ablaze(arguments: &[&str]) -> Said {
    let output =
        Command::new(env!("CARGO_BIN_EXE_ablaze")).args(arguments).bounded_output().unwrap();
    Said {
        status: output.status.code().expect("not killed by a signal"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}
