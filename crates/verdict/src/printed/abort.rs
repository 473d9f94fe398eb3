//! A run of ab that ended without a report. ab gives up at the first error of a connection (unless
//! it was told -r) and says so in one line, with the system's number.

use super::line::count;
use super::{Command, Handshakes};

/// Why ab gave up, as far as it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// ECONNREFUSED.
    Refused,
    /// ENETUNREACH or EHOSTUNREACH: no way to the host.
    Unreachable,
    /// The resolver knows no such host.
    NoName,
    /// ab counted twelve failures of a kind that it does not report otherwise.
    TenFailures,
    /// ECONNRESET.
    Reset,
    /// ETIMEDOUT: the system gave up on a connection.
    TimedOut,
    /// Nothing happened on any connection for as long as `-s` says.
    Silence,
    /// EADDRNOTAVAIL.
    NoPort,
    /// EMFILE.
    NoDescriptor,
}

/// A run that ended without a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Abort {
    /// Line of the text, from 1.
    pub line: usize,
    /// The error that ab printed.
    pub message: String,
    /// The kind of that error.
    pub reason: Reason,
    /// Requests that were complete by then, where that was printed.
    pub complete: Option<u64>,
    /// The command line above it.
    pub command: Option<Command>,
}

/// ab's calls that fail, and the numbers of the system's errors (Linux), or of its library's.
const CALLS: [&str; 6] = [
    "apr_sockaddr_info_get() for ",
    "apr_socket_recv: ",
    "apr_socket_connect(): ",
    "apr_pollset_poll: ",
    "socket: ",
    "bind: ",
];
const NUMBERS: [(&str, Reason); 10] = [
    ("(670002)", Reason::NoName),
    ("(670003)", Reason::NoName),
    ("(111)", Reason::Refused),
    ("(101)", Reason::Unreachable),
    ("(113)", Reason::Unreachable),
    ("(104)", Reason::Reset),
    ("(110)", Reason::TimedOut),
    ("(70007)", Reason::Silence),
    ("(99)", Reason::NoPort),
    ("(24)", Reason::NoDescriptor),
];

/// What ab says at the twelfth; where connections could not be opened, the error follows.
const TEN_FAILURES: &str = "Test aborted after 10 failures";

/// The end of a run in a cleaned line.
pub fn find(line: &str, number: usize) -> Option<Abort> {
    if let Some(at) = line.find(TEN_FAILURES) {
        let (message, reason) = (line[at..].trim().to_owned(), Reason::TenFailures);
        return Some(Abort { line: number, message, reason, complete: None, command: None });
    }
    let at = CALLS.iter().filter_map(|call| line.find(call)).min()?;
    let message = line[at..].trim();
    let (reason_at, reason) = NUMBERS
        .iter()
        .find_map(|(number, reason)| Some((message.find(number)? + number.len(), *reason)))?;
    let message = message[..reason_at].to_owned();
    Some(Abort { line: number, message, reason, complete: None, command: None })
}

/// `Total of 90 requests completed`.
pub fn completed(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once("Total of ")?;
    rest.contains("requests completed").then(|| count(rest)).flatten()
}

/// ab's words of a TLS handshake that failed, and those of OpenSSL behind them; whether the line is one of these.
pub fn handshake(handshakes: &mut Handshakes, line: &str) -> bool {
    if line.contains("SSL handshake failed") {
        handshakes.failed += 1;
        return true;
    }
    // `…:error:0A0004B0:SSL routines:ssl3_read_bytes:reason(1200):../ssl/rec_layer_s3.c:1601:SSL alert number 200`
    let Some((_, rest)) = line.split_once(":SSL routines:") else { return false };
    let parts: Vec<&str> = rest.split(':').map(str::trim).collect();
    let said = [1, 4].into_iter().filter_map(|at| parts.get(at)).filter(|part| !part.is_empty());
    let said: Vec<&str> = said.copied().collect();
    if handshakes.reason.is_none() && !said.is_empty() {
        handshakes.reason = Some(said.join(", "));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ab_s_last_words_are_understood() {
        let reason = |line| find(line, 1).map(|abort| abort.reason);
        let quiet = "Benchmarking h (be patient)...apr_socket_recv: Connection refused (111)";
        assert_eq!(reason(quiet), Some(Reason::Refused));
        assert_eq!(find(quiet, 1).unwrap().message, "apr_socket_recv: Connection refused (111)");
        assert_eq!(reason("apr_socket_recv: Connection reset by peer (104)"), Some(Reason::Reset));
        let silence = "apr_pollset_poll: The timeout specified has expired (70007)";
        assert_eq!(reason(silence), Some(Reason::Silence));
        assert_eq!(reason("socket: Too many open files (24)"), Some(Reason::NoDescriptor));
        assert_eq!(reason("a websocket (24) without its call"), None);
        assert_eq!(reason("apr_socket_recv: something else (5)"), None);
        assert_eq!(completed("Total of 90 requests completed"), Some(90));
    }
}
