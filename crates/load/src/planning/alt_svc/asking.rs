//! One request over TLS, blocking, of whose response only the head is read.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ablaze_engine::transport::tls::Shared;
use ablaze_model::plan::tls::Tls;
use ablaze_report::system_error::reason;
use ablaze_wire::http1::response::{self, Scan};
use rustls::{ClientConnection, StreamOwned};

/// Reading and writing return so often to look at the deadline.
const TICK: Duration = Duration::from_millis(50);
/// A longer head is refused.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// What a response says.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// The values of Alt-Svc, as one.
    pub field: Option<String>,
}

/// The request: it has no effect, and asks for no body (RFC 9110, 9.3.2).
pub fn request(path: &str, host_field: &str) -> Vec<u8> {
    format!(
        "HEAD {path} HTTP/1.1\r\nHost: {host_field}\r\nUser-Agent: ablaze\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    )
    .into_bytes()
}

/// Sends it to the first of these addresses that accepts.
///
/// # Errors
/// Why there is no response.
pub fn ask(
    addresses: &[SocketAddr],
    tls: &Tls,
    request: &[u8],
    deadline: Instant,
) -> Result<Answer, String> {
    let shared = Shared::new(tls).map_err(|error| error.to_string())?;
    let tcp = connected(addresses, deadline)?;
    let tls = ClientConnection::new(Arc::clone(&shared.config), shared.server_name)
        .map_err(|error| format!("TLS: {error}"))?;
    let mut stream = StreamOwned::new(tls, tcp);
    in_time(deadline, || stream.write_all(request).and_then(|()| stream.flush()))?;
    let (mut head, mut resume) = (Vec::new(), 0);
    loop {
        match response::scan(&head, resume, true, HEAD_BYTES_MAX) {
            Ok(Scan::Incomplete { resume: at }) => resume = at,
            // Interim responses announce another.
            Ok(Scan::Complete(whole)) if (100..200).contains(&whole.status) => {
                head.drain(..whole.len);
                resume = 0;
                continue;
            }
            Ok(Scan::Complete(whole)) => {
                let field = field(&head[..whole.len], "alt-svc");
                return Ok(Answer { status: whole.status, field });
            }
            Err(error) => return Err(format!("its response is malformed: {error}")),
        }
        let mut buffer = [0; 4096];
        let read = in_time(deadline, || stream.read(&mut buffer))?;
        if read == 0 {
            return Err("it closed the connection without a response".to_owned());
        }
        head.extend_from_slice(&buffer[..read]);
    }
}

fn connected(addresses: &[SocketAddr], deadline: Instant) -> Result<TcpStream, String> {
    let mut why = "it has no address".to_owned();
    for address in addresses {
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let tcp = TcpStream::connect_timeout(address, left).and_then(|tcp| {
            tcp.set_read_timeout(Some(TICK))?;
            tcp.set_write_timeout(Some(TICK))?;
            Ok(tcp)
        });
        match tcp {
            Ok(tcp) => return Ok(tcp),
            Err(error) => why = format!("{address}: {}", reason(&error)),
        }
    }
    Err(why)
}

/// Tries again until the deadline what was only not done yet.
fn in_time<T>(deadline: Instant, mut act: impl FnMut() -> std::io::Result<T>) -> Result<T, String> {
    loop {
        match act() {
            Ok(done) => return Ok(done),
            Err(error) if is_only_late(&error) && Instant::now() < deadline => {}
            Err(error) if is_only_late(&error) => {
                return Err("it did not respond in time".to_owned());
            }
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                return Err("it closed the connection without a response".to_owned());
            }
            Err(error) => {
                let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
                if matches!(inner, Some(rustls::Error::InvalidMessage(_))) {
                    return Err("it responds without TLS, and Alt-Svc is for https: use http://… without --alt-svc, \
                                or the port of https"
                        .to_owned());
                }
                let fix = match inner {
                    Some(rustls::Error::InvalidCertificate(_)) => " (-k accepts any certificate)",
                    _ => "",
                };
                return Err(format!("{}{fix}", reason(&error)));
            }
        }
    }
}

fn is_only_late(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// The values of a field, with commas between them (RFC 9110, 5.3).
fn field(head: &[u8], name: &str) -> Option<String> {
    let head = String::from_utf8_lossy(head);
    let values: Vec<&str> = head
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(field, _)| field.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
        .collect();
    (!values.is_empty()).then(|| values.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_fields_of_a_name_are_one() {
        let head = b"HTTP/1.1 200 OK\r\nalt-svc: h3=\":1\"\r\nX: y\r\nALT-SVC:  h2=\":2\" \r\n\r\n";
        assert_eq!(field(head, "alt-svc").as_deref(), Some("h3=\":1\", h2=\":2\""));
        assert_eq!(field(head, "y"), None);
    }
}
