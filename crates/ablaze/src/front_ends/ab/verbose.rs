//! ab's `-v`: the request's head before the run, what arrives of each response while it runs, and what is
//! known of TLS behind it. A reporter does not sit in the hot path: whoever asks for this has a line
//! printed between one request and the next, as with ab, and no rate to speak of.

use std::io::{self, Write};

use ablaze_engine::Control;
use ablaze_model::certificate::Certificate;
use ablaze_model::moment::openssl;
use ablaze_model::plan::tls_names::suite;
use ablaze_model::record::{Spoken, TlsParty};
use ablaze_model::{FailureKind, Plan, Record, Run};

use super::error::AbError;
use crate::outlets;

/// Level from which heads and unexpected statuses are printed.
const HEADS: i64 = 2;
/// Level from which every status is.
const STATUSES: i64 = 3;
/// How much ab keeps of a response until its head is complete.
const KEPT: usize = 8191;

/// What is known before the run: the request.
///
/// # Errors
/// Those of writing.
pub fn before(plan: &Plan, verbosity: i64, out: &mut dyn Write) -> io::Result<()> {
    let (HEADS.., Some(request)) = (verbosity, plan.requests.templates.first()) else {
        return Ok(());
    };
    write!(out, "INFO: {} header == \n---\n", plan.requests.method)?;
    out.write_all(&request.bytes[..request.head_bytes])?;
    write!(out, "\n---\n")
}

/// What is printed while it runs: as ab does, whatever has come of a response after each piece, until its head
/// is complete, and then its status.
pub fn during(control: &Control, verbosity: i64) {
    if verbosity >= HEADS {
        control.show_heads(KEPT as u32 + 1, move |text| {
            outlets::print_with(|out| piece(text, verbosity, out));
        });
    }
}

/// What has come of a response so far.
fn piece(text: &[u8], verbosity: i64, out: &mut dyn Write) -> io::Result<()> {
    // ab holds it as a C string.
    let text = &text[..text.len().min(KEPT)];
    let text = &text[..text.iter().position(|byte| *byte == 0).unwrap_or(text.len())];
    writeln!(out, "LOG: header received:")?;
    out.write_all(text)?;
    writeln!(out)?;
    if find(text, b"\r\n\r\n").or(find(text, b"\n\n")).is_some() {
        status_line(status(text), verbosity, out)?;
    }
    Ok(())
}

/// The three bytes that ab takes for the status.
fn status(text: &[u8]) -> &[u8] {
    let line = find(text, b"HTTP").map_or(&b""[..], |at| &text[at..]);
    match line.get("HTTP/1.x ".len()..) {
        Some(rest) if !rest.is_empty() => &rest[..rest.len().min(3)],
        _ => b"500",
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

fn status_line(status: &[u8], verbosity: i64, out: &mut dyn Write) -> io::Result<()> {
    let status = String::from_utf8_lossy(status);
    match status.as_bytes().first() {
        Some(b'2') if verbosity >= STATUSES => writeln!(out, "LOG: Response code = {status}"),
        Some(b'2') => Ok(()),
        _ if verbosity >= HEADS => writeln!(out, "WARNING: Response code not 2xx ({status})"),
        _ => Ok(()),
    }
}

/// The server's certificate, as ab prints it at each handshake; here once, behind the run.
///
/// # Errors
/// Those of writing.
pub fn certificate(run: &Run, verbosity: i64, out: &mut dyn Write) -> io::Result<()> {
    let shown = run.record.tls.as_ref().filter(|_| verbosity >= HEADS);
    let Some(own) = shown.and_then(|facts| Certificate::read(&facts.certificate)) else {
        return Ok(());
    };
    let time = |unix_s: Option<u64>| unix_s.map_or("Bad time value".to_owned(), openssl);
    writeln!(out, "Peer certificate")?;
    writeln!(out, "Certificate version: {}", own.version)?;
    writeln!(out, "Valid from: {}", time(own.not_before_unix_s))?;
    writeln!(out, "Valid to  : {}", time(own.not_after_unix_s))?;
    writeln!(out, "Public key is {} bits", own.key_bits.unwrap_or(0))?;
    writeln!(out, "The issuer name is {}", own.issuer_line())?;
    writeln!(out, "The subject name is {}", own.subject_line())?;
    writeln!(out, "Extension Count: {}", own.extensions)
}

/// What is known of TLS: from level 2 on the versions and suites that were agreed on, as ab prints
/// them; from level 3 on the messages of the first connection before that, and behind it how many
/// handshakes there were and what was said of the first that came to nothing.
///
/// # Errors
/// Those of writing.
pub fn of_tls(run: &Run, verbosity: i64, out: &mut dyn Write) -> io::Result<()> {
    let (HEADS.., Some(facts)) = (verbosity, &run.record.tls) else { return Ok(()) };
    if lists_messages(verbosity) {
        messages(&facts.spoken, out)?;
    }
    for (agreed, times) in &facts.agreed {
        let version = agreed.version.name();
        writeln!(out, "Transport Protocol      :{version}")?;
        writeln!(out, "Cipher Suite Protocol   :{version}")?;
        if let Some(suite) = suite(agreed.suite) {
            writeln!(out, "Cipher Suite Name       :{}", suite.openssl)?;
            writeln!(out, "Cipher Suite Cipher Bits:{0} ({0})", suite.bits)?;
        }
        if lists_messages(verbosity) {
            writeln!(out, "SSL/TLS Handshake [Done] {times} times")?;
        }
    }
    if lists_messages(verbosity) {
        let (full, resumed) = (facts.handshakes_full, facts.handshakes_resumed);
        writeln!(out, "SSL/TLS State [connect] {full} full, {resumed} resumed")?;
        if let Some((kind, detail)) = &facts.first_failure {
            writeln!(out, "SSL/TLS Alert [first] {}: {detail}", kind.label())?;
        }
    }
    Ok(())
}

/// Whether a run at this level keeps the messages of its first handshake.
pub fn lists_messages(verbosity: i64) -> bool {
    verbosity >= STATUSES
}

/// A line for each message of the first connection.
fn messages(spoken: &[Spoken], out: &mut dyn Write) -> io::Result<()> {
    if !spoken.is_empty() {
        writeln!(out, "SSL/TLS Handshake [Start] of the first connection")?;
    }
    for Spoken { from, message, bytes } in spoken {
        let verb = match from {
            TlsParty::Client => "write",
            TlsParty::Server => "read",
        };
        if message.contains("alert") {
            writeln!(out, "SSL/TLS Alert [{verb}] {message}")?;
        } else {
            let unit = if *bytes == 1 { "byte" } else { "bytes" };
            writeln!(out, "SSL/TLS State [connect] {verb} {message}, {bytes} {unit}")?;
        }
    }
    Ok(())
}

/// The receive errors that `-r` kept quiet, a line each (`-v 1`).
///
/// # Errors
/// Those of writing.
pub fn suppressed(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    let kinds =
        [(FailureKind::Refused, libc::ECONNREFUSED), (FailureKind::Reset, libc::ECONNRESET)];
    for (kind, errno) in kinds {
        let line = AbError::system_call("apr_socket_recv", errno).to_string();
        for _ in 0..record.failures_of(kind) {
            out.write_all(line.as_bytes())?;
        }
    }
    Ok(())
}
