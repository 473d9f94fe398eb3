//! `--prometheus`: the run as metrics over HTTP, for a scraper, while it lasts. The run hands over what it knows ten times a
//! second and waits for nobody: scrapers are served on threads of their own, of which there are few, each with a bound on
//! time and bytes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use ablaze_engine::Progress;
use ablaze_model::Plan;
use ablaze_model::progress::Stage;
use ablaze_report::metrics::{self, Format, Snapshot};
use ablaze_report::system_error::reason;

use crate::CommandError;
use crate::carry_out::{Watcher, interrupted};
use crate::error::note;

/// Scrapers served at a time; more are closed at once.
const SCRAPERS_MAX: usize = 8;
/// What a scraper has for its request and for the response.
const EXCHANGE_MAX: Duration = Duration::from_secs(5);
/// Longest head of a request.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// How often a wait looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(100);

/// The endpoint; its threads end with the process.
pub struct Endpoint {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    snapshot: Mutex<Snapshot>,
    serving: AtomicUsize,
    /// Whether a scraper has the final figures.
    scraped: Mutex<bool>,
    scraped_changed: Condvar,
}

impl Endpoint {
    /// Listens on this address from now on.
    ///
    /// # Errors
    /// When it cannot.
    pub fn begin(address: SocketAddr, plan: &Plan) -> Result<Self, CommandError> {
        let refused = |error: &std::io::Error| {
            let why = reason(error);
            CommandError::usage(format!("--prometheus cannot listen on {address}: {why}"))
        };
        let listener = TcpListener::bind(address).map_err(|error| refused(&error))?;
        let address = listener.local_addr().map_err(|error| refused(&error))?;
        let shared = Arc::new(Shared::default());
        {
            let mut snapshot = held(&shared.snapshot);
            snapshot.target.clone_from(&plan.target.url);
            snapshot.groups.clone_from(&plan.requests.groups.names);
        }
        let of_thread = Arc::clone(&shared);
        Builder::new()
            .name("prometheus".to_owned())
            .spawn(move || accept(&listener, &of_thread))
            .map_err(|error| refused(&error))?;
        note(&format!("metrics for Prometheus: http://{address}/metrics"));
        Ok(Self { shared })
    }

    /// Waits until a scraper has the final figures, so long at most, or until Ctrl-C.
    pub fn linger(&self, most_ns: u64) {
        let until = Instant::now() + Duration::from_nanos(most_ns);
        let mut scraped = held(&self.shared.scraped);
        while !*scraped && !interrupted() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.shared.scraped_changed.wait_timeout(scraped, left.min(LOOK));
            scraped = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Watcher for Endpoint {
    fn tick(&mut self, progress: &Progress) {
        let mut snapshot = held(&self.shared.snapshot);
        snapshot.so_far.clone_from(&progress.so_far);
        (snapshot.stage, snapshot.elapsed_ns) = (progress.stage, progress.elapsed_ns);
    }
}

/// What a thread that panicked has left is as good as before: it is only ever replaced.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept() else {
            // Out of descriptors, most likely, which pass on: without a pause this thread would take a core for itself.
            std::thread::sleep(LOOK);
            continue;
        };
        if shared.serving.fetch_add(1, Ordering::Relaxed) >= SCRAPERS_MAX {
            shared.serving.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let own = Arc::clone(shared);
        let serve = move || {
            // A scraper that goes away is no matter of the run.
            let _ = exchange(&stream, &own);
            own.serving.fetch_sub(1, Ordering::Relaxed);
        };
        if Builder::new().name("scraper".to_owned()).spawn(serve).is_err() {
            shared.serving.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// One request and its response; then the connection is closed.
fn exchange(mut stream: &TcpStream, shared: &Shared) -> std::io::Result<()> {
    let until = Instant::now() + EXCHANGE_MAX;
    let head = read_head(stream, until)?;
    let request = Request::read(&head);
    let is_metrics = request.status == 200;
    let (content_type, body, is_final) = match is_metrics {
        true => {
            let format = Format::of_accept(&request.accept);
            // Copied, so that a slow scraper never holds what the run is about to replace.
            let snapshot = held(&shared.snapshot).clone();
            let body = metrics::write(&metrics::families(&snapshot), format);
            (format.content_type(), body, snapshot.stage == Stage::Over)
        }
        false => {
            ("text/plain; charset=utf-8", b"the metrics are at GET /metrics\n".to_vec(), false)
        }
    };
    let (status, length) = (request.status_line(), body.len());
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n"
    );
    write_until(stream, head.as_bytes(), until)?;
    if !request.is_head {
        write_until(stream, &body, until)?;
        if is_final {
            *held(&shared.scraped) = true;
            shared.scraped_changed.notify_all();
        }
    }
    stream.shutdown(std::net::Shutdown::Write)?;
    // Closing on bytes not read would reset what was just sent.
    stream.set_read_timeout(Some(LOOK))?;
    let _ = stream.read(&mut [0; 1024]);
    Ok(())
}

/// The time left, as a bound for the next call.
fn left(until: Instant) -> std::io::Result<Option<Duration>> {
    match until.saturating_duration_since(Instant::now()) {
        Duration::ZERO => Err(std::io::ErrorKind::TimedOut.into()),
        left => Ok(Some(left)),
    }
}

fn read_head(mut stream: &TcpStream, until: Instant) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut piece = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() > HEAD_BYTES_MAX {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        stream.set_read_timeout(left(until)?)?;
        match stream.read(&mut piece)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            length => head.extend(&piece[..length]),
        }
    }
    Ok(head)
}

fn write_until(mut stream: &TcpStream, mut bytes: &[u8], until: Instant) -> std::io::Result<()> {
    while !bytes.is_empty() {
        stream.set_write_timeout(left(until)?)?;
        match stream.write(bytes)? {
            0 => return Err(std::io::ErrorKind::WriteZero.into()),
            written => bytes = &bytes[written..],
        }
    }
    Ok(())
}

/// What a scraper asks for.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    /// The status of the response to it.
    status: u16,
    /// Whether it wants no body.
    is_head: bool,
    /// Its fields Accept, joined as RFC 9110, 5.2 says.
    accept: String,
}

impl Request {
    fn read(head: &[u8]) -> Self {
        let text = String::from_utf8_lossy(head);
        let mut lines = text.split("\r\n");
        let words: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
        let fields = lines.filter_map(|line| line.split_once(':'));
        let accept = fields.filter(|(name, _)| name.eq_ignore_ascii_case("accept"));
        let accept: Vec<&str> = accept.map(|(_, value)| value.trim()).collect();
        let (status, is_head) = match words[..] {
            [method, path, version] if version.starts_with("HTTP/1.") => {
                let path = path.split('?').next().unwrap_or_default();
                match (method, path) {
                    ("GET" | "HEAD", "/metrics") => (200, method == "HEAD"),
                    ("GET" | "HEAD", _) => (404, method == "HEAD"),
                    _ => (405, false),
                }
            }
            _ => (400, false),
        };
        Self { status, is_head, accept: accept.join(",") }
    }

    fn status_line(&self) -> &'static str {
        match self.status {
            200 => "200 OK",
            404 => "404 Not Found",
            // RFC 9110, 15.5.6: with the methods that there are.
            405 => "405 Method Not Allowed\r\nAllow: GET, HEAD",
            _ => "400 Bad Request",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_metrics_are_served() {
        let status = |head: &[u8]| Request::read(head).status;
        assert_eq!(status(b"GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n"), 200);
        assert_eq!(status(b"GET /metrics?x=1 HTTP/1.0\r\n\r\n"), 200);
        assert_eq!(status(b"GET / HTTP/1.1\r\n\r\n"), 404);
        assert_eq!(status(b"POST /metrics HTTP/1.1\r\n\r\n"), 405);
        assert_eq!(status(b"\x16\x03\x01\r\n\r\n"), 400);
        assert_eq!(status(b"GET /metrics HTTP/2.0\r\n\r\n"), 400);
    }

    #[test]
    fn several_accept_fields_are_one_list() {
        let head = b"GET /metrics HTTP/1.1\r\nAccept: text/plain\r\naccept:a/b \r\n\r\n";
        assert_eq!(Request::read(head).accept, "text/plain,a/b");
    }
}
