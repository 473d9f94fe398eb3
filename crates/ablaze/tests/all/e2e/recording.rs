//! A server that records requests as they come, byte for byte, and what curl sends to it for the same words.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use ablaze_testing::Bounded;
use ablaze_testing::process::eventually;

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Came {
    /// The request line and the fields, each without its end.
    pub head: Vec<String>,
    /// The body.
    pub body: Vec<u8>,
}

impl Came {
    /// The values of a field, in order.
    pub fn fields(&self, name: &str) -> Vec<&str> {
        let fields = self.head.iter().filter_map(|line| line.split_once(": "));
        fields.filter(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value).collect()
    }

    /// The value of a field that is there once.
    pub fn field(&self, name: &str) -> &str {
        let fields = self.fields(name);
        assert_eq!(fields.len(), 1, "{name} in {:?}", self.head);
        fields[0]
    }

    /// Method and target.
    pub fn line(&self) -> &str {
        self.head[0].rsplit_once(' ').unwrap().0
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// The server; its threads end with the test.
pub struct Recording {
    address: SocketAddr,
    came: Arc<Mutex<Vec<Came>>>,
}

impl Recording {
    /// One that responds 200 to everything, with these field lines.
    pub fn start(fields: &'static str) -> Self {
        Self::start_for(move |_| fields)
    }

    /// One whose field lines are those for the method and target of the request.
    pub fn start_for(fields: impl Fn(&str) -> &'static str + Send + Sync + 'static) -> Self {
        let fields = Arc::new(fields);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let came = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&came);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, fields) = (Arc::clone(&kept), Arc::clone(&fields));
                thread::spawn(move || converse(stream, &kept, &*fields));
            }
        });
        Self { address, came }
    }

    /// Its URL.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What came since the last time; waits for so many requests.
    pub fn taken(&self, count: usize) -> Vec<Came> {
        assert!(eventually(|| self.came.lock().unwrap().len() >= count), "{:?}", self.came);
        std::mem::take(&mut self.came.lock().unwrap())
    }

    /// The one request that curl sends for these words.
    pub fn of_curl(&self, words: &[&str]) -> Came {
        let always = ["-sS", "--noproxy", "*", "-H", "Expect:", "--max-time", "20"];
        let run = Command::new("curl").args(always).args(words).bounded_output().unwrap();
        assert!(run.status.success(), "{words:?}: {run:?}");
        self.taken(1).remove(0)
    }
}

fn converse(mut stream: TcpStream, came: &Mutex<Vec<Came>>, fields: &dyn Fn(&str) -> &'static str) {
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut bytes = Vec::new();
    while let Some(request) = next_request(&mut stream, &mut bytes) {
        let fields = fields(request.line());
        came.lock().unwrap().push(request);
        let response = format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 0\r\n\r\n");
        if stream.write_all(response.as_bytes()).is_err() {
            return;
        }
    }
}

fn next_request(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<Came> {
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let head: Vec<String> = head.split("\r\n").map(str::to_owned).collect();
            let came = Came { head, body: Vec::new() };
            let length =
                came.fields("Content-Length").first().map_or(0, |own| own.parse().unwrap());
            if bytes.len() >= end + 4 + length {
                let body = bytes[end + 4..end + 4 + length].to_vec();
                bytes.drain(..end + 4 + length);
                return Some(Came { body, ..came });
            }
        }
        let mut piece = vec![0; 1 << 16];
        match stream.read(&mut piece) {
            Ok(read @ 1..) => bytes.extend_from_slice(&piece[..read]),
            _ => return None,
        }
    }
}
