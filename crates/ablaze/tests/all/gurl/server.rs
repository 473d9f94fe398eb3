//! A server that records requests as they came, and responds by the path.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Request line and fields.
    pub head: Vec<String>,
    /// Its body.
    pub body: Vec<u8>,
    /// Which connection it came over, from 0.
    pub connection: usize,
}

impl Seen {
    /// `GET /path`.
    pub fn asked(&self) -> &str {
        self.head[0].rsplit_once(' ').unwrap().0
    }

    /// The value of the only field of this name.
    pub fn field(&self, name: &str) -> Option<&str> {
        let own = |line: &&String| line.split(':').next().unwrap().eq_ignore_ascii_case(name);
        let mut lines = self.head[1..].iter().filter(own);
        let line = lines.next();
        assert!(lines.next().is_none(), "{name} twice: {:?}", self.head);
        line.map(|line| line.split_once(':').unwrap().1.trim())
    }

    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

/// A server on a free port of loopback.
pub struct Recording {
    pub port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Recording {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&seen);
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().flatten().enumerate() {
                let seen = Arc::clone(&all);
                std::thread::spawn(move || serve(stream, number, &seen));
            }
        });
        Self { port, seen }
    }

    /// `:PORT/path`, as gurl writes it short.
    pub fn short(&self, path: &str) -> String {
        format!(":{}{path}", self.port)
    }

    /// What came since this was last asked.
    pub fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }

    /// The one request that came.
    #[track_caller]
    pub fn one(&self) -> Seen {
        let mut seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen.remove(0)
    }
}

fn serve(stream: TcpStream, connection: usize, seen: &Mutex<Vec<Seen>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    while let Some(request) = request(&mut reader, connection) {
        let response = response(&request);
        seen.lock().unwrap().push(request);
        if writer.write_all(&response).is_err() {
            return;
        }
        // A response without a length ends with its connection.
        if !response.windows(8).any(|bytes| bytes == b"Content-" || bytes == b"Transfer") {
            return;
        }
    }
}

fn request(reader: &mut impl BufRead, connection: usize) -> Option<Seen> {
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => head.push(line.to_owned()),
        }
    }
    let mut request = Seen { head, body: Vec::new(), connection };
    let length = request.field("Content-Length").map_or(0, |length| length.parse().unwrap());
    request.body = vec![0; length];
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}

/// By the path: `/to/STATUS/REST` redirects to `REST`, `/status/N` has that status; all others are 200 with method and
/// path as the body.
fn response(request: &Seen) -> Vec<u8> {
    let path = request.asked().split_once(' ').unwrap().1;
    let body = request.asked();
    let fixed = |status: &str, fields: &str, body: &str| {
        let length = body.len();
        let body = if body.starts_with("HEAD ") { "" } else { body };
        format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {length}\r\n\r\n{body}").into_bytes()
    };
    if let Some((status, location)) =
        path.strip_prefix("/to/").and_then(|rest| rest.split_once('/'))
    {
        return fixed(&format!("{status} Moved"), &format!("Location: {location}\r\n"), "moved");
    }
    match path {
        "/loop" => fixed("302 Found", "Location: /loop\r\n", ""),
        "/status/404" => fixed("404 Not Found", "", "no such page"),
        "/chunked" => {
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
                .to_vec()
        }
        "/close" => b"HTTP/1.1 200 OK\r\n\r\nto the end".to_vec(),
        "/short" => b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".to_vec(),
        "/cut" => {
            b"HTTP/1.1 200 OK\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n".to_vec()
        }
        "/raw" => b"HTTP/1.1 200 OK\r\nX-Name: a\x1b[31mb\r\nContent-Length: 6\r\n\r\n\x1b[31m\xff"
            .to_vec(),
        "/json" => fixed("200 OK", "Content-Type: application/json\r\n", r#"{"a":[1,"x"]}"#),
        "/cookies" => fixed("200 OK", "Set-Cookie: a=1\r\nset-cookie: b=2\r\n", "two"),
        _ => fixed("200 OK", "X-A: b\r\n", body),
    }
}
