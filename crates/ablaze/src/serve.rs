//! `ablaze serve`: a server to load, from words to an exit status. It says where it listens,
//! serves until it is told to stop, and says what it served.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use ablaze_sys::stop_signals::StopSignals;
use ablaze_target::routes::HELLO;
use ablaze_target::{Options, Running, Server, StartError};
use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::refusal::note;
use crate::{Refusal, help, values};

/// The command line of `ablaze serve`.
#[derive(Debug, Parser)]
#[command(
    name = "ablaze serve",
    bin_name = "ablaze serve",
    about = "Answer HTTP/1 requests, for something to load: / with a body of the size asked for, \
             /echo with what was posted, everything else with 404.",
    after_help = AFTER_HELP,
    disable_version_flag = true,
    max_term_width = 100
)]
struct CommandLine {
    /// Where to listen: HOST:PORT, :PORT or PORT on 127.0.0.1; port 0 picks a free one
    #[arg(default_value = "127.0.0.1:8080", value_name = "ADDR")]
    address: String,
    /// Length of the body of / [default: 14, a greeting]
    #[arg(short, long, value_name = "SIZE", value_parser = values::size_bytes)]
    size: Option<u64>,
    /// Status of /
    #[arg(long, value_name = "STATUS", default_value_t = 200)]
    status: u16,
    /// Every path gives back what was posted, as /echo does
    #[arg(long, conflicts_with_all = ["size", "status"])]
    echo: bool,
    /// Threads [default: half of the CPUs; a tester on this machine takes the others]
    #[arg(short, long, value_name = "N", value_parser = threads)]
    threads: Option<usize>,
    /// Close each connection after its answer
    #[arg(long)]
    close: bool,
    /// Time that each answer waits
    #[arg(long, value_name = "TIME", value_parser = values::duration_ns, default_value = "0")]
    delay: u64,
    /// The Server field of answers; an empty one leaves it out
    #[arg(long, value_name = "NAME", default_value = "ablaze")]
    server_name: String,
    /// Longest body /echo takes in; it is held in memory until it is complete
    #[arg(long, value_name = "SIZE", value_parser = values::size_bytes, default_value = "1GiB")]
    max_body: u64,
    /// Stop when standard input ends: for a program that starts a server and must not leave it
    /// behind, however it ends itself
    #[arg(long)]
    stop_with_stdin: bool,
    /// Do not say what was served
    #[arg(short, long)]
    quiet: bool,
}

const AFTER_HELP: &str = "\
The address is printed when the server is ready. Ctrl-C and SIGTERM stop it; answers under way
have a second to finish.
Values: times 500ms, 10s (a bare number is seconds); sizes 64KB (1000), 64KiB (1024).
Exit status: 0 stopped; 1 it could not listen; 2 usage.";

/// Runs `ablaze serve` with the words behind `serve`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let program = OsString::from("ablaze serve");
    let served = match CommandLine::try_parse_from(std::iter::once(&program).chain(arguments)) {
        Ok(line) => serve(&line),
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            return help::print(&error.render().to_string());
        }
        Err(error) => Err(usage(&error, "serve")),
    };
    served.map_or_else(|refusal| refusal.report(), |()| ExitCode::SUCCESS)
}

/// The one line for a command line that clap could not read.
pub fn usage(error: &clap::Error, command: &str) -> Refusal {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    let meant = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(name)) => format!(" (did you mean {name}?)"),
        _ => String::new(),
    };
    Refusal::usage(format!("{first}{meant}; see `ablaze {command} --help`"))
}

fn serve(line: &CommandLine) -> Result<(), Refusal> {
    let options = options(line)?;
    // Before any thread starts: all of them have to leave these signals to this one.
    let signals = StopSignals::block()
        .map_err(|error| Refusal::machine(format!("Ctrl-C cannot be listened for: {error}")))?;
    let limit = ablaze_sys::limits::raise_descriptor_limit(u64::MAX);
    let server = Server::start(options.clone()).map_err(|error| match error {
        StartError::Options(_) => Refusal::usage(error.to_string()),
        _ => Refusal::machine(error.to_string()),
    })?;
    if let Some(soft) = limit.soft.filter(|soft| *soft < 4096) {
        note(&format!("only {soft} descriptors are allowed; `ulimit -n` raises that"));
    }
    announce(&server, &options);
    if line.stop_with_stdin {
        stop_when_stdin_ends()?;
    }
    let stopped = signals.wait();
    let served = server.stop().map_err(|error| Refusal::machine(error.to_string()))?;
    if !line.quiet {
        say(&format!(
            "served {} requests on {} connections",
            grouped(served.requests),
            grouped(served.connections)
        ));
    }
    stopped
        .map(|_| ())
        .map_err(|error| Refusal::machine(format!("waiting for a signal failed: {error}")))
}

fn options(line: &CommandLine) -> Result<Options, Refusal> {
    Ok(Options {
        address: address(&line.address)?,
        threads: line.threads.unwrap_or(0),
        status: line.status,
        body_bytes: line.size,
        echo_everywhere: line.echo,
        keep_alive: !line.close,
        delay: Duration::from_nanos(line.delay).into(),
        server_name: line.server_name.clone(),
        max_body_bytes: line.max_body,
        ..Options::default()
    })
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads) if threads > 0 => Ok(threads),
        _ => Err("write a number of threads from 1 up".into()),
    }
}

/// The line that says the server is ready. Programs that start one read it from a pipe.
fn announce(server: &Running, options: &Options) {
    let body = match options.body_bytes.unwrap_or(HELLO.len() as u64) {
        _ if options.echo_everywhere => "what is posted comes back".to_owned(),
        bytes => format!("{} B body", grouped(bytes)),
    };
    let threads = server.threads();
    say(&format!(
        "listening on http://{}/ · {threads} thread{} · {body} · {}",
        server.address(),
        if threads == 1 { "" } else { "s" },
        if options.keep_alive { "keep-alive" } else { "close" },
    ));
}

/// Prints a line at once; a reader that went away is no failure.
fn say(line: &str) {
    let mut out = io::stdout();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Reads standard input to its end, then asks this process to stop as SIGTERM would.
fn stop_when_stdin_ends() -> Result<(), Refusal> {
    let watch = || {
        let mut dropped = [0; 4096];
        let mut stdin = io::stdin().lock();
        loop {
            match stdin.read(&mut dropped) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        ablaze_sys::stop_signals::stop_this_process();
    };
    thread::Builder::new()
        .name("stdin".into())
        .spawn(watch)
        .map(|_| ())
        .map_err(|error| Refusal::machine(format!("no thread to watch standard input: {error}")))
}

/// Reads where to listen.
///
/// # Errors
/// When it is no address, or a name that cannot be resolved.
pub fn address(text: &str) -> Result<SocketAddr, Refusal> {
    let plain = text.strip_prefix("http://").unwrap_or(text);
    let plain = plain.strip_suffix('/').unwrap_or(plain);
    let refuse = |why: &str| {
        Err(Refusal::usage(format!(
            "cannot listen on `{text}`: {why}; write HOST:PORT, :PORT or [::1]:PORT"
        )))
    };
    if let Ok(address) = plain.parse::<SocketAddr>() {
        return Ok(address);
    }
    if let Ok(ip) = plain.trim_start_matches('[').trim_end_matches(']').parse() {
        return Ok(SocketAddr::new(ip, 8080));
    }
    let (host, port) = match plain.rsplit_once(':') {
        Some((host, port)) => (host, port),
        None if plain.bytes().all(|byte| byte.is_ascii_digit()) => ("", plain),
        None => (plain, "8080"),
    };
    let Ok(port) = port.parse::<u16>() else {
        return refuse("the port is no number from 0 to 65535");
    };
    let host = if host.is_empty() { "127.0.0.1" } else { host };
    match (host, port).to_socket_addrs() {
        Ok(mut addresses) => match addresses.next() {
            Some(address) => Ok(address),
            None => refuse("the host has no address"),
        },
        Err(_) => refuse("the host is not known"),
    }
}

/// A number with commas between groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_an_address() {
        let known = [
            (":12345", "127.0.0.1:12345"),
            ("12345", "127.0.0.1:12345"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("127.0.0.1", "127.0.0.1:8080"),
            ("[::1]:9", "[::1]:9"),
            ("[::1]", "[::1]:8080"),
            ("::1", "[::1]:8080"),
            ("http://127.0.0.1:81/", "127.0.0.1:81"),
        ];
        for (text, expected) in known {
            assert_eq!(address(text).unwrap(), expected.parse().unwrap(), "{text}");
        }
        for text in [":70000", "127.0.0.1:x", "", ":", "no such host:80"] {
            assert_eq!(address(text).unwrap_err().status, 2, "{text}");
        }
    }

    #[test]
    fn large_numbers_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }
}
