//! A run that ended without a report. ab gives up at the first error of a connection (unless it was told -r) and says
//! so in one line, with the system's number; wrk, where it cannot open the first connection, in the system's words.

use super::finish::fits;
use super::line::count;
use super::{Command, Handshakes, Program, Tool};

/// Why the tool gave up, as far as it says.
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
    /// EADDRNOTAVAIL of connect().
    NoPort,
    /// EADDRNOTAVAIL of bind(): the address of `-B` is not one of this machine.
    NoAddress,
    /// Another error of a connection.
    Other,
    /// EMFILE.
    NoDescriptor,
    /// ab and others do not take `-c` above `-n`, and send nothing.
    TooFew,
    /// Another command line that the tool does not take.
    Rejected,
}

/// A run that ended without a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Abort {
    /// Line of the text, from 1.
    pub line: usize,
    /// The tool that ended.
    pub tool: Tool,
    /// The error that it printed.
    pub message: String,
    /// The kind of that error.
    pub reason: Reason,
    /// Requests that were complete by then, where that was printed.
    pub complete: Option<u64>,
    /// The command line above it.
    pub command: Option<Command>,
}

/// ab's calls that fail, and the numbers of the system's errors, or of its library's: those of Linux, and of macOS what
/// means the same there.
const CALLS: [&str; 7] = [
    "apr_sockaddr_info_get() for ",
    "apr_socket_recv: ",
    "apr_socket_connect(): ",
    "apr_pollset_poll: ",
    "apr_poll: ",
    "socket: ",
    "bind: ",
];
const NUMBERS: [(&str, Reason); 16] = [
    ("(670002)", Reason::NoName),
    ("(670003)", Reason::NoName),
    ("(670008)", Reason::NoName),
    ("(111)", Reason::Refused),
    ("(61)", Reason::Refused),
    ("(101)", Reason::Unreachable),
    ("(113)", Reason::Unreachable),
    ("(51)", Reason::Unreachable),
    ("(65)", Reason::Unreachable),
    ("(104)", Reason::Reset),
    ("(54)", Reason::Reset),
    ("(110)", Reason::TimedOut),
    ("(70007)", Reason::Silence),
    ("(99)", Reason::NoPort),
    ("(49)", Reason::NoPort),
    ("(24)", Reason::NoDescriptor),
];

/// The system's words, where the number behind them is lost, as where a line was wrapped.
const WITHOUT_NUMBER: [(&str, Reason); 7] = [
    // At 80 columns, behind `Benchmarking 127.0.0.1 (be patient)...`.
    ("The timeout specified has", Reason::Silence),
    ("Connection refused", Reason::Refused),
    ("Network is unreachable", Reason::Unreachable),
    ("No route to host", Reason::Unreachable),
    ("Connection reset by peer", Reason::Reset),
    ("The timeout specified has expired", Reason::Silence),
    ("Too many open files", Reason::NoDescriptor),
];

/// What ab says at the twelfth; where connections could not be opened, the error follows.
const TEN_FAILURES: &str = "Test aborted after 10 failures";

/// ab takes no more connections than requests.
const REJECTED: &str = "Cannot use concurrency level greater than total number of requests";

/// wrk has no such option.
const OF_WRK2: &str = "Throughput MUST be specified";

/// What the others say of a command line that they do not take, as far as it tells what is wrong; how it begins, and what it
/// has in it.
const REJECTIONS: [(Program, &str, &str, Reason); 11] = [
    (Program::Wrk, "number of connections must be >= threads", "", Reason::Rejected),
    (Program::Wrk, "invalid URL: ", "", Reason::Rejected),
    (Program::Wrk, "wrk: ", " option ", Reason::Rejected),
    (Program::Wrk, "wrk: ", "requires an argument", Reason::Rejected),
    (Program::Wrk, OF_WRK2, "", Reason::Rejected),
    (Program::Hey, "-n cannot be less than -c.", "", Reason::TooFew),
    (Program::Hey, "-n and -c cannot be smaller than 1.", "", Reason::Rejected),
    (Program::H2load, "-n, -c: the number of requests must be ", "", Reason::TooFew),
    (Program::H2load, "-", ": the number of ", Reason::Rejected),
    (Program::H2load, "-", ": they are mutually exclusive.", Reason::Rejected),
    (Program::H2load, "h2load: ", " option", Reason::Rejected),
];

/// A command line that the tool above does not take: ab says who it is before its words, and prints such of nothing else.
fn rejected(line: &str, number: usize, command: &Command) -> Option<Abort> {
    let (tool, reason) = match command.program {
        _ if command.is_of_ablaze() => return None,
        // The words of a call that failed follow the same name in some versions.
        Program::Ab if CALLS.iter().any(|call| line.contains(call)) => return None,
        Program::Ab if line.starts_with("ab: ") && !line.ends_with(REJECTED) => {
            (Tool::Ab, Reason::Rejected)
        }
        // `-t: warning: the number of threads is greater than hardware cores.`: it goes on.
        Program::H2load if line.contains(": warning: ") => return None,
        program => {
            let fits = |(of, start, part, _): &&(Program, &str, &str, Reason)| {
                *of == program && line.starts_with(start) && line.contains(part)
            };
            let tool = if line.starts_with(OF_WRK2) { Tool::Wrk2 } else { tool_of(program)? };
            (tool, REJECTIONS.iter().find(fits)?.3)
        }
    };
    Some(Abort { tool, ..of_ab(number, line.trim().to_owned(), reason) })
}

fn tool_of(program: Program) -> Option<Tool> {
    match program {
        Program::Wrk => Some(Tool::Wrk),
        Program::Hey => Some(Tool::Hey),
        Program::H2load => Some(Tool::H2load),
        _ => None,
    }
}

/// The system's words for what wrk prints without a number.
const WORDS: [(&str, Reason); 4] = [
    ("Connection refused", Reason::Refused),
    ("Network is unreachable", Reason::Unreachable),
    ("No route to host", Reason::Unreachable),
    ("Connection timed out", Reason::TimedOut),
];

/// The end of a run of wrk: `unable to connect to 127.0.0.1:80 Connection refused`.
fn of_wrk(line: &str, number: usize) -> Option<Abort> {
    let reason = if line.starts_with("unable to resolve ") {
        Reason::NoName
    } else {
        let said = line.strip_prefix("unable to connect to ")?;
        WORDS.iter().find(|(words, _)| said.ends_with(words)).map(|(_, reason)| *reason)?
    };
    Some(Abort { tool: Tool::Wrk, ..of_ab(number, line.to_owned(), reason) })
}

fn of_ab(line: usize, message: String, reason: Reason) -> Abort {
    Abort { line, tool: Tool::Ab, message, reason, complete: None, command: None }
}

/// The end of a run in a cleaned line. The words of wrk may stand in any log, but for its command above.
pub fn find(line: &str, number: usize, command: Option<&Command>) -> Option<Abort> {
    if let Some(abort) = command.and_then(|above| rejected(line, number, above)) {
        return Some(abort);
    }
    if command.is_some_and(|above| fits(above.program, Tool::Wrk)) {
        return of_wrk(line, number);
    }
    if let Some(at) = line.find(TEN_FAILURES) {
        return Some(of_ab(number, line[at..].trim().to_owned(), Reason::TenFailures));
    }
    if line.contains("ab: ") && line.ends_with(REJECTED) {
        return Some(of_ab(number, REJECTED.to_owned(), Reason::TooFew));
    }
    if line == "ab: invalid URL" {
        return Some(of_ab(number, line.to_owned(), Reason::Rejected));
    }
    let at = CALLS.iter().filter_map(|call| line.find(call)).min()?;
    let message = line[at..].trim();
    let known = NUMBERS
        .iter()
        .find_map(|(number, reason)| Some((message.find(number)? + number.len(), *reason)));
    let (reason_at, reason) = match known {
        Some((at, Reason::NoPort)) if message.starts_with("bind: ") => (at, Reason::NoAddress),
        Some(known) => known,
        None => match after_number(message) {
            Some(at) => (at, Reason::Other),
            None => (message.len(), without_number(message)?),
        },
    };
    Some(of_ab(number, message[..reason_at].to_owned(), reason))
}

fn without_number(message: &str) -> Option<Reason> {
    WITHOUT_NUMBER.iter().find(|(words, _)| message.ends_with(words)).map(|(_, reason)| *reason)
}

/// Where a message with an error's number in parentheses ends: `Protocol not available (92)`.
fn after_number(message: &str) -> Option<usize> {
    let open = message.rfind(" (")? + 2;
    let digits = message[open..].find(')').filter(|digits| *digits > 0)?;
    let is_number = message[open..open + digits].bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(open + digits + 1)
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
        let reason = |line| find(line, 1, None).map(|abort| abort.reason);
        let quiet = "Benchmarking h (be patient)...apr_socket_recv: Connection refused (111)";
        assert_eq!(reason(quiet), Some(Reason::Refused));
        assert_eq!(
            find(quiet, 1, None).unwrap().message,
            "apr_socket_recv: Connection refused (111)"
        );
        assert_eq!(reason("apr_socket_recv: Connection reset by peer (104)"), Some(Reason::Reset));
        let silence = "apr_pollset_poll: The timeout specified has expired (70007)";
        assert_eq!(reason(silence), Some(Reason::Silence));
        let of_older = "apr_poll: The timeout specified has expired (70007)";
        assert_eq!(reason(of_older), Some(Reason::Silence));
        assert_eq!(reason("socket: Too many open files (24)"), Some(Reason::NoDescriptor));
        assert_eq!(reason("a websocket (24) without its call"), None);
        assert_eq!(reason("apr_socket_recv: something else (5)"), Some(Reason::Other));
        assert_eq!(reason("apr_socket_recv: something else (x)"), None);
        // The line was wrapped before its number.
        let wrapped =
            "Benchmarking h (be patient)...apr_pollset_poll: The timeout specified has expired";
        assert_eq!(reason(wrapped), Some(Reason::Silence));
        let shorter = "apr_pollset_poll: The timeout specified has";
        assert_eq!(reason(shorter), Some(Reason::Silence));
        assert_eq!(reason("bind: Cannot assign requested address (99)"), Some(Reason::NoAddress));
        assert_eq!(completed("Total of 90 requests completed"), Some(90));
        // Of macOS.
        assert_eq!(reason("apr_socket_recv: Connection refused (61)"), Some(Reason::Refused));
        let no_name =
            "apr_sockaddr_info_get() for h: nodename nor servname provided, or not known (670008)";
        assert_eq!(reason(no_name), Some(Reason::NoName));
        assert_eq!(reason(&format!("ab: {REJECTED}")), Some(Reason::TooFew));
    }

    #[test]
    fn options_that_h2load_does_not_take_together_are_a_command_line_that_it_rejects() {
        let text = "$ h2load --h1 -D 1 -c 10 -r 2 http://10.0.0.5/\n-r, -D: they are mutually exclusive.\n";
        let read = crate::printed::read(text);
        let said: Vec<_> = read.aborts.iter().map(|abort| (abort.tool, abort.reason)).collect();
        assert_eq!(said, [(Tool::H2load, Reason::Rejected)]);
    }

    #[test]
    fn wrk_s_only_words_are_understood() {
        let reason = |line| of_wrk(line, 1).map(|abort| (abort.tool, abort.reason));
        let refused = "unable to connect to 127.0.0.1:22199 Connection refused";
        assert_eq!(reason(refused), Some((Tool::Wrk, Reason::Refused)));
        let no_name = "unable to resolve nope:http Name or service not known";
        assert_eq!(reason(no_name), Some((Tool::Wrk, Reason::NoName)));
        assert_eq!(reason("unable to connect to the database"), None);
    }
}
