//! ab's `-v`. ab prints while it runs; here the heads and statuses come when the run has ended,
//! because a reporter does not sit in the hot path: the request's head, the head of the response
//! that was complete first, and a line per response by status.

use std::io::{self, Write};

use ablaze_model::plan::tls_names::suite;
use ablaze_model::record::{Spoken, TlsParty};
use ablaze_model::{FailureKind, Plan, Record, Run};

use super::error::Refused;

/// Level from which heads and unexpected statuses are printed.
const HEADS: i64 = 2;
/// Level from which every status is.
const STATUSES: i64 = 3;

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

/// What is known after it: responses.
///
/// # Errors
/// Those of writing.
pub fn after(record: &Record, verbosity: i64, out: &mut dyn Write) -> io::Result<()> {
    if verbosity >= HEADS && !record.first_head.is_empty() {
        writeln!(out, "LOG: header received:")?;
        out.write_all(&record.first_head)?;
        writeln!(out)?;
    }
    for (status, count) in &record.statuses {
        let line = match status {
            200..300 if verbosity >= STATUSES => format!("LOG: Response code = {status}"),
            200..300 => continue,
            _ if verbosity >= HEADS => format!("WARNING: Response code not 2xx ({status})"),
            _ => continue,
        };
        for _ in 0..*count {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
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
        let line = Refused::system_call("apr_socket_recv", errno).to_string();
        for _ in 0..record.failures_of(kind) {
            out.write_all(line.as_bytes())?;
        }
    }
    Ok(())
}
