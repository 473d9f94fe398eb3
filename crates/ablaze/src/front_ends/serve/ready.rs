//! Saying that the server is ready, and watching for the end of whoever started it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::thread;

use ablaze_report::number::{counted, grouped};
use ablaze_target::conditions::ResponseKind;
use ablaze_target::routes::HELLO;
use ablaze_target::{Options, Running};

use crate::error::note;
use crate::{CommandError, outlets};

/// The descriptor of `--ready-fd`, taken over from whoever started this program.
///
/// # Errors
/// When it is a standard stream, or was not handed to this program.
pub fn descriptor(number: i32) -> Result<File, CommandError> {
    if (0..=2).contains(&number) {
        return Err(CommandError::usage(format!(
            "--ready-fd {number} is a standard stream: use 3 or more (standard output gets the \
             address anyway)"
        )));
    }
    ablaze_sys::inherited::take(number).map(File::from).map_err(|error| {
        CommandError::usage(format!(
            "--ready-fd {number} is not open ({error}): open it as in `ablaze serve --ready-fd \
             {number} {number}>FILE`"
        ))
    })
}

/// Says that the server is ready: in a line on standard output, and as a URL to the descriptor,
/// which is then closed. Programs that start a server wait for one or the other.
pub fn announce(server: &Running, options: &Options, descriptor: Option<File>) {
    let scheme = if options.tls.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{}/", server.address());
    let body = match options.body_bytes.unwrap_or(HELLO.len() as u64) {
        _ if options.response == ResponseKind::None => "no response".to_owned(),
        _ if options.response == ResponseKind::Echo => "echoes every byte".to_owned(),
        _ if options.echo_everywhere => "echoes bodies".to_owned(),
        _ if matches!(options.status, 100..=199 | 204 | 304) => "no body".to_owned(),
        bytes => format!("{} B body", grouped(bytes)),
    };
    say(&format!(
        "listening on {url} · {}{}, {} · {} · {body} · {}",
        match (options.http2, options.http3) {
            (_, Some(_)) => "HTTP/2, HTTP/3 · ",
            (true, None) => "HTTP/2 · ",
            (false, None) => "",
        },
        options.model,
        options.accept,
        counted(server.threads() as u64, "thread"),
        if options.keep_alive { "keep-alive" } else { "close" },
    ));
    if let Some(mut file) = descriptor
        && let Err(error) = writeln!(file, "{url}")
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        note(&format!("cannot write the address to --ready-fd: {error}"));
    }
}

/// Prints text and a line end at once.
pub fn say(text: &str) {
    outlets::print(&format!("{text}\n"));
}

/// Reads standard input to its end, then asks this process to stop as SIGTERM would.
///
/// # Errors
/// When there is no thread for it.
pub fn stop_when_stdin_ends() -> Result<(), CommandError> {
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
        ablaze_sys::signals::stop_this_process();
    };
    thread::Builder::new().name("stdin".into()).spawn(watch).map(|_| ()).map_err(|error| {
        CommandError::machine(format!("cannot start a thread to watch standard input: {error}"))
    })
}

/// When a worker of the server ends by itself, says so and asks this process to stop: with a worker fewer it would be
/// another server than the one that was asked for.
///
/// # Errors
/// When there is no thread for it.
pub fn stop_when_a_worker_fails(server: &Running) -> Result<(), CommandError> {
    let health = server.health();
    let watch = move || {
        if health.wait_for_failure() {
            note("a worker of the server has failed: the server stops");
            ablaze_sys::signals::stop_this_process();
        }
    };
    thread::Builder::new().name("health".into()).spawn(watch).map(|_| ()).map_err(|error| {
        CommandError::machine(format!("cannot start a thread to watch the workers: {error}"))
    })
}
