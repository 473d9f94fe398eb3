//! The server that both programs send their requests to: it responds to every path in a way of its own, and records the requests.

use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::replies;

/// Longest that a connection waits for more of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Method and target.
    pub asked: String,
    /// Names in lower case with their values, sorted; without those that say which program it was.
    pub fields: Vec<(String, String)>,
    /// With the boundary of a form replaced, which is a random one.
    pub body: Bytes,
}

/// Shown as text.
#[derive(Clone, PartialEq, Eq)]
pub struct Bytes(Vec<u8>);

impl fmt::Debug for Bytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "\"{}\"", self.0.escape_ascii())
    }
}

/// Listens until the test's process ends.
pub struct RecordingServer {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl RecordingServer {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&seen);
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let seen = Arc::clone(&shared);
                std::thread::spawn(move || converse(stream, &seen));
            }
        });
        Self { address, seen }
    }

    /// What was asked since the last call.
    pub fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Responds to one request after the other until the client closes or falls silent.
fn converse(stream: TcpStream, seen: &Mutex<Vec<Seen>>) -> Option<()> {
    stream.set_read_timeout(Some(TIMEOUT)).ok()?;
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let request = read_request(&mut reader)?;
        let tries = {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.push(request.clone());
            seen.iter().filter(|earlier| earlier.asked == request.asked).count()
        };
        stream.write_all(&response_to(&request, tries)).ok()?;
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<Seen> {
    let mut line = || {
        let mut line = String::new();
        let length = reader.read_line(&mut line).ok()?;
        (length > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
    };
    let first = line()?;
    let mut fields = Vec::new();
    loop {
        let field = line()?;
        if field.is_empty() {
            break;
        }
        let (name, value) = field.split_once(':')?;
        fields.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = fields.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap_or(0))];
    reader.read_exact(&mut body).ok()?;
    let boundary = fields.iter_mut().find_map(|(_, value)| {
        let (start, boundary) = value.split_once("; boundary=")?;
        let found = boundary.to_owned();
        *value = format!("{start}; boundary=B");
        Some(found)
    });
    if let Some(boundary) = boundary {
        body = String::from_utf8_lossy(&body).replace(&boundary, "B").into_bytes();
        // The two boundaries differ in their lengths.
        fields.retain(|(name, _)| name != "content-length");
    }
    // Which codings are asked for follows from how libcurl was built; no body is said in one way or the other.
    fields.retain(|(name, value)| match name.as_str() {
        "user-agent" => !value.starts_with("hurl/") && !value.starts_with("ablaze/"),
        "content-length" => value != "0",
        name => name != "accept-encoding",
    });
    // libcurl sends the longer names and the later cookies first, ablaze the earlier ones (RFC 6265, 5.4).
    for (_, value) in fields.iter_mut().filter(|(name, _)| name == "cookie") {
        let mut cookies: Vec<&str> = value.split("; ").collect();
        cookies.sort_unstable();
        *value = cookies.join("; ");
    }
    fields.sort();
    let (asked, _) = first.rsplit_once(' ')?;
    Some(Seen { asked: in_upper_case(asked), fields, body: Bytes(body) })
}

/// The same with `%c3` as `%C3`: libcurl writes the former, and both are the same URL (RFC 3986, 2.1).
fn in_upper_case(asked: &str) -> String {
    let mut parts = asked.split('%');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        text.push('%');
        text.push_str(&digits.to_uppercase());
        text.push_str(rest);
    }
    text
}

/// `/r/NAME`: a prepared response. `/to/STATUS/NAME`: a redirect there. `/flaky/N/…`: 503 until it was asked more than
/// `N` times. `/set?a=b&…`: cookies. Everything else: the request as JSON.
fn response_to(request: &Seen, tries: usize) -> Vec<u8> {
    let (method, target) = request.asked.split_once(' ').unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let (status, fields, body) = match parts.as_slice() {
        ["r", name] => match replies::named(name) {
            Some(reply) if reply.is_compressed => {
                let fields = format!("{}Content-Encoding: gzip\r\n", reply.fields);
                (reply.status, fields, compressed(reply.body))
            }
            Some(reply) => (reply.status, reply.fields.to_owned(), reply.body.to_vec()),
            None => (404, String::new(), b"no such reply".to_vec()),
        },
        ["to", status, rest @ ..] => {
            let fields = format!("Location: /{}\r\n", rest.join("/"));
            (status.parse().unwrap_or(302), fields, b"moved".to_vec())
        }
        ["flaky", failures, ..] if tries <= failures.parse().unwrap_or(0) => {
            (503, "Retry-After: 0\r\n".to_owned(), b"later".to_vec())
        }
        ["set", ..] => {
            let set = query.split('&').map(|cookie| format!("Set-Cookie: {cookie}; Path=/\r\n"));
            (200, set.collect(), b"{}".to_vec())
        }
        _ => {
            let fields = "Content-Type: application/json\r\n".to_owned();
            (200, fields, echoed(request).to_string().into_bytes())
        }
    };
    let length = match status {
        204 | 304 => String::new(),
        _ => format!("Content-Length: {}\r\n", body.len()),
    };
    let mut response = format!("HTTP/1.1 {status} X\r\n{fields}{length}\r\n").into_bytes();
    if method != "HEAD" && !length.is_empty() {
        response.extend(body);
    }
    response
}

fn echoed(request: &Seen) -> Value {
    let mut fields: HashMap<&str, Vec<&str>> = HashMap::new();
    for (name, value) in &request.fields {
        fields.entry(name).or_default().push(value);
    }
    let (method, target) = request.asked.split_once(' ').unwrap_or_default();
    let body = String::from_utf8_lossy(&request.body.0);
    json!({"method": method, "target": target, "fields": fields, "body": body, "bytes": body.len()})
}

fn compressed(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}
