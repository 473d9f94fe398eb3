//! What ab says instead of a report, in its three shapes: a message behind the program's name
//! (22), a text followed by an empty line (1), and `call: reason (code)` with the code modulo 256.
//! Behind it comes a line of ours with the fix.

use std::ffi::OsString;
use std::fmt;
use std::io::Write;
use std::process::ExitCode;

use ablaze_model::printable::printable_lines;
use ablaze_report::shown_command::message_without_secrets;

use super::usage;
use crate::error::{About, CommandError};

/// A message of ab's and the exit status that goes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbError {
    /// Exit status.
    pub status: u8,
    shape: Shape,
    /// A line of ours that names the fix, for messages of ab's that name none.
    fix: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    /// Lines behind the program's name.
    Usage(Vec<String>),
    /// A line behind the program's name, then the usage text.
    WholeUsage(&'static str),
    /// A text and an empty line.
    Text(String),
    /// A line.
    Line(String),
}

/// What ab says to a command line without a URL, or with words behind it.
const WRONG_NUMBER: &str = "wrong number of arguments";
/// APR's number for a timeout.
pub const TIMED_OUT: u32 = 70_007;
/// APR's number for a name that does not resolve, and for a resolver that did not answer.
const NO_SUCH_NAME: u32 = 670_002;
const TRY_AGAIN: u32 = 670_003;

impl AbError {
    /// A message about the command line. ab puts its usage text of 45 lines behind it, which
    /// scrolls the message away; here the fix follows.
    pub fn usage(message: impl Into<String>, fix: impl Into<String>) -> Self {
        let shape = Shape::Usage(vec![message.into()]);
        Self { status: 22, shape, fix: Some(fix.into()) }
    }

    /// Nothing was asked for: the usage text says what there is.
    pub fn no_words() -> Self {
        Self { status: 22, shape: Shape::WholeUsage(WRONG_NUMBER), fix: None }
    }

    /// No URL, or more than one word where it is expected.
    pub fn wrong_number_of_arguments(operands: &[OsString]) -> Self {
        let program = usage::program_name();
        Self::usage(
            WRONG_NUMBER,
            match operands {
                [] => format!("missing URL, for example `{program} -n 100 http://127.0.0.1:8080/`"),
                [first, second, ..] if second.as_encoded_bytes().starts_with(b"-") => {
                    let (first, second) = (first.to_string_lossy(), second.to_string_lossy());
                    format!(
                        "unexpected option `{second}` after the URL: put options before \
                        `{first}`"
                    )
                }
                [first, rest @ ..] => format!(
                    "the URL is `{}`, and nothing may follow it: remove {}",
                    first.to_string_lossy(),
                    rest.iter()
                        .map(|word| format!("`{}`", word.to_string_lossy()))
                        .collect::<Vec<_>>()
                        .join(" ")
                ),
            },
        )
    }

    /// No option of ab's. ab goes on when exactly one word follows; losing an option measures
    /// something else than was asked for, so this does not.
    pub fn unknown_option(letter: u8) -> Self {
        let letter = char::from(letter);
        Self::usage(
            format!("illegal option -- {letter}"),
            format!("ab has no option -{letter}: `{} -h` lists its options", usage::program_name()),
        )
    }

    /// An option at the end of the line that wants a value.
    pub fn missing_value(letter: u8) -> Self {
        let letter = char::from(letter);
        let lines =
            vec![format!("option requires an argument -- {letter}"), WRONG_NUMBER.to_owned()];
        Self { status: 22, shape: Shape::Usage(lines), fix: None }
            .with_fix(format!("-{letter} requires a value: see `{} -h`", usage::program_name()))
    }

    /// A text with the empty line behind it that ab's own texts have.
    pub fn text(text: impl Into<String>) -> Self {
        Self { status: 1, shape: Shape::Text(text.into()), fix: None }
    }

    /// A line, status 1.
    pub fn line(line: impl Into<String>) -> Self {
        Self { status: 1, shape: Shape::Line(line.into()), fix: None }
    }

    /// A line of ours about a native option; the status is that of ab's usage.
    pub fn native_usage(line: impl Into<String>) -> Self {
        let line = format!("ablaze: {}", line.into());
        Self { status: 22, shape: Shape::Line(line), fix: None }
    }

    /// `call: reason (code)`; the exit status is the code modulo 256.
    pub fn call(call: &str, reason: &str, code: u32) -> Self {
        let line = format!("{call}: {reason} ({code})");
        Self { status: (code % 256) as u8, shape: Shape::Line(line), fix: None }
    }

    /// A failed call of the operating system.
    pub fn system_call(call: &str, errno: i32) -> Self {
        let reason = system_text(&std::io::Error::from_raw_os_error(errno));
        Self::call(call, &reason, errno.unsigned_abs())
    }

    /// No response in time.
    pub fn timed_out() -> Self {
        Self::call("apr_pollset_poll", "The timeout specified has expired", TIMED_OUT)
    }

    /// The same with a line that names the fix.
    pub fn with_fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// What planning refused, in ab's words where ab has any. `host` is the name looked up.
    pub fn of_planning(error: CommandError, host: &str) -> Self {
        match error.about {
            About::UnknownHost => {
                let (reason, code) = match error.line.contains("Temporary failure") {
                    true => ("Temporary failure in name resolution", TRY_AGAIN),
                    false => ("Name or service not known", NO_SUCH_NAME),
                };
                Self::call(&format!("apr_sockaddr_info_get() for {host}"), reason, code)
                    .with_fix(no_name(host).unwrap_or(error.line))
            }
            About::Machine => Self::system_call("socket", libc::EMFILE).with_fix(error.line),
            About::Usage => Self::native_usage(error.line),
        }
    }

    /// Prints it to stderr and gives the exit status.
    pub fn report(&self) -> ExitCode {
        // With stderr closed there is no one left to tell.
        let _ = std::io::stderr()
            .write_all(printable_lines(&message_without_secrets(&self.to_string())).as_bytes());
        ExitCode::from(self.status)
    }
}

impl fmt::Display for AbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.shape {
            Shape::Usage(lines) => {
                let program = usage::program_name();
                for line in lines {
                    writeln!(f, "{program}: {line}")?;
                }
            }
            Shape::WholeUsage(line) => {
                let program = usage::program_name();
                write!(f, "{program}: {line}\n{}", usage::text(&program))?;
            }
            Shape::Text(text) => write!(f, "{text}\n\n")?,
            Shape::Line(line) => writeln!(f, "{line}")?,
        }
        match &self.fix {
            Some(fix) => writeln!(f, "ablaze: {fix}"),
            None => Ok(()),
        }
    }
}

/// Schemes that people have in mind, and ab does not know.
const SCHEMES: [&str; 6] = ["ftp", "ws", "wss", "h2", "h2c", "file"];

/// What is wrong with a host that holds what is none: ab takes a scheme other than http and https, one with a single slash,
/// a user with a password and a port that is no number for a part of the name.
fn no_name(host: &str) -> Option<String> {
    let (before, port) = host.rsplit_once(':')?;
    if host.parse::<std::net::Ipv6Addr>().is_ok() {
        return None;
    }
    if host.contains('@') {
        return Some(
            "ab reads no user and password in a URL: give them with -A USER:PASSWORD".to_owned(),
        );
    }
    Some(match (port, before.to_ascii_lowercase().as_str()) {
        // With both slashes and in lower case it is no part of the host.
        ("", scheme @ ("http" | "https")) if before == scheme => {
            format!("`{scheme}:` needs two slashes: use {scheme}://")
        }
        ("", scheme @ ("http" | "https")) => {
            format!("ab reads `{before}://` in lower case only: use {scheme}://")
        }
        ("", scheme) if SCHEMES.contains(&scheme) => {
            format!("unsupported scheme {before}://: use http:// or https://")
        }
        ("", _) => format!(
            "no port behind `{before}:`: give one, or leave out the colon; as schemes ab knows http:// and https://"
        ),
        _ => format!("port `{port}` is not a number: a port is 1 to 65535"),
    })
}

/// The operating system's words for an error, without Rust's `(os error 2)`.
pub fn system_text(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error ") {
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_statuses_are_the_code_modulo_256() {
        let table = [
            (AbError::system_call("apr_socket_recv", 104), "Connection reset by peer (104)", 104),
            (AbError::system_call("socket", 24), "socket: Too many open files (24)", 24),
            (AbError::timed_out(), "The timeout specified has expired (70007)", 119),
        ];
        for (refused, message, status) in table {
            assert!(refused.to_string().ends_with(&format!("{message}\n")), "{refused}");
            assert_eq!(refused.status, status);
        }
    }

    #[test]
    fn a_name_that_does_not_resolve_is_worded_as_ab_words_it_and_has_a_fix() {
        let refused = AbError::of_planning(CommandError::unknown_host("check its spelling"), "h");
        assert_eq!(
            refused.to_string(),
            "apr_sockaddr_info_get() for h: Name or service not known (670002)\n\
             ablaze: check its spelling\n"
        );
        assert_eq!(refused.status, 50);
        for (host, fix) in [
            ("ftp:", "unsupported scheme ftp://: use http:// or https://"),
            ("HTTP:", "ab reads `HTTP://` in lower case only: use http://"),
            ("http:", "`http:` needs two slashes: use http://"),
            (
                "127.0.0.1:",
                "no port behind `127.0.0.1:`: give one, or leave out the colon; as schemes ab knows http:// and https://",
            ),
            (
                "ann:secret@127.0.0.1",
                "ab reads no user and password in a URL: give them with -A USER:PASSWORD",
            ),
            ("127.0.0.1:abc", "port `abc` is not a number: a port is 1 to 65535"),
            ("h", "check its spelling"),
        ] {
            let unknown = CommandError::unknown_host("check its spelling");
            let text = AbError::of_planning(unknown, host).to_string();
            assert!(text.ends_with(&format!("\nablaze: {fix}\n")), "{text}");
        }
        let later = CommandError::unknown_host("Temporary failure in name resolution");
        assert_eq!(AbError::of_planning(later, "h").status, 51);
    }
}
