//! A small HTTP server beside a run, for what a run hands out while it lasts: few connections at a time, each for one
//! request, with bounds on its time and its bytes. Its threads end with the process; none of them is the run's.

mod request;
mod response;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};

pub use request::Request;
pub use response::Response;

/// What a client has for its request and for reading the response.
pub const EXCHANGE_MAX: Duration = Duration::from_secs(5);
/// Longest head of a request.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// How long no connection can be accepted before it is tried again, and how long the end of a client is waited for.
const PAUSE: Duration = Duration::from_millis(100);

/// How a server is called, and what is too much for it.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The name of its threads.
    pub name: &'static str,
    /// Connections at a time; more are closed at once.
    pub connections_max: usize,
}

/// A request with the connection that it came on.
#[derive(Debug)]
pub struct Exchange {
    /// The request.
    pub request: Request,
    stream: TcpStream,
    until: Instant,
}

/// Serves what `answer` answers from now on.
///
/// # Errors
/// When there is no thread for it.
pub fn serve(
    listener: TcpListener,
    bounds: Bounds,
    answer: impl Fn(Exchange) -> std::io::Result<()> + Send + Sync + 'static,
) -> std::io::Result<()> {
    let answer = Arc::new(answer);
    let accepting = move || accept(&listener, bounds, &answer);
    Builder::new().name(bounds.name.to_owned()).spawn(accepting).map(|_| ())
}

fn accept<A>(listener: &TcpListener, bounds: Bounds, answer: &Arc<A>)
where
    A: Fn(Exchange) -> std::io::Result<()> + Send + Sync + 'static,
{
    let serving = Arc::new(AtomicUsize::new(0));
    loop {
        let Ok((stream, _)) = listener.accept() else {
            // Out of descriptors, most likely, which pass on: without a pause this thread would take a core for itself.
            std::thread::sleep(PAUSE);
            continue;
        };
        if serving.load(Ordering::Relaxed) >= bounds.connections_max {
            continue;
        }
        let place = Place::taken(&serving);
        let answer = Arc::clone(answer);
        let converse = move || {
            let _place = place;
            // A client that goes away is no matter of the run.
            let _ = exchange(stream).and_then(|exchange| answer(exchange));
        };
        // Without a thread the connection is closed, and its place is free again.
        let _ = Builder::new().name(bounds.name.to_owned()).spawn(converse);
    }
}

/// One of the places for connections, given back when dropped.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn taken(serving: &Arc<AtomicUsize>) -> Self {
        serving.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(serving))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Reads a request. What is none is answered here.
fn exchange(stream: TcpStream) -> std::io::Result<Exchange> {
    let until = Instant::now() + EXCHANGE_MAX;
    let head = read_head(&stream, until)?;
    let read = Request::read(&head);
    let request = read.clone().unwrap_or_default();
    let exchange = Exchange { request, stream, until };
    match read {
        Ok(_) => Ok(exchange),
        Err(status) => {
            let why = match status {
                413 => "a request has no body here: what it says is in its query\n",
                _ => "bad request\n",
            };
            exchange.respond(&Response::text(status, why))?;
            Err(std::io::ErrorKind::InvalidData.into())
        }
    }
}

impl Exchange {
    /// Sends a response and ends the connection; whether the client has all of it in time.
    ///
    /// # Errors
    /// When it has not.
    pub fn respond(&self, response: &Response) -> std::io::Result<()> {
        write_until(&self.stream, response.head().as_bytes(), self.until)?;
        if self.request.method != "HEAD" {
            write_until(&self.stream, &response.body, self.until)?;
        }
        self.stream.shutdown(std::net::Shutdown::Write)?;
        // Closing on bytes not read would reset what was just sent.
        self.stream.set_read_timeout(Some(PAUSE))?;
        let _ = (&self.stream).read(&mut [0; 1024]);
        Ok(())
    }

    /// Sends a part of a response that goes on, which the client has so long to take.
    ///
    /// # Errors
    /// When it does not take it.
    pub fn send(&self, bytes: &[u8], within: Duration) -> std::io::Result<()> {
        write_until(&self.stream, bytes, Instant::now() + within)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_takes_nothing_is_let_go_and_gives_its_place_back() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        let bounds = Bounds { name: "test", connections_max: 1 };
        let tell = std::sync::Mutex::new(tell);
        serve(listener, bounds, move |exchange: Exchange| {
            // More than the buffers of both sockets hold.
            let sent = exchange.send(&vec![b'x'; 64 << 20], Duration::from_millis(50));
            tell.lock().unwrap().send(sent.is_err()).unwrap();
            sent
        })
        .unwrap();
        let asked = || {
            let mut stream = TcpStream::connect(address).unwrap();
            let _ = stream.write_all(b"GET / HTTP/1.1\r\n\r\n");
            stream
        };
        let _silent = asked();
        assert_eq!(told.recv_timeout(Duration::from_secs(30)), Ok(true));
        let next = (0..300).find_map(|_| {
            let stream = asked();
            told.recv_timeout(PAUSE).ok().map(|_| stream)
        });
        assert!(next.is_some());
    }
}
