//! D24: the server does work that a server in earnest would not do: it was compiled without
//! optimisation, a sanitizer watches each of its memory accesses, or it writes a line per request.

use ablaze_model::Run;
use ablaze_model::monitor::{Build, GrownFile, Output, Process};

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D24;
use crate::finding::{Finding, Severity};
use crate::live::figures::{elapsed_s, target};
use crate::words::{amount, listed};

/// So many lines per request are one each.
const LINES: f64 = 0.5;
/// What a handshake of TLS and its end may take of a server, in bytes (certificates most of all) and calls.
const HANDSHAKE_BYTES: f64 = 6_000.0;
const HANDSHAKE_CALLS: f64 = 6.0;
/// Plausible length of a log line, bytes.
const LINE_BYTES: std::ops::RangeInclusive<f64> = 20.0..=1000.0;
/// From this number of calls per request, there is one for each.
const CALLS: f64 = 0.9;
/// From so many on the responses may have one, and something else another.
const CALLS_FOR_BOTH: f64 = 1.5;
/// Requests and bytes were not counted over quite the same time: a difference of this share of the
/// responses says nothing.
const UNSURE: f64 = 0.15;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D24,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), ..Forms::NONE },
};

/// One thing that is wrong.
struct Fault {
    severity: Severity,
    evidence: String,
    cause: &'static str,
    fix: String,
}

fn on_run(run: &Run) -> Option<Finding> {
    let mut faults: Vec<Fault> =
        busiest_build(run).map(|(process, build)| of_build(process, build)).unwrap_or_default();
    faults.extend(log_file(run));
    faults.extend(log_stream(run));
    // Of equals the first: what comes later is seen less directly.
    let worst = faults.iter().rev().max_by_key(|fault| fault.severity)?;
    let (severity, cause, fix) = (worst.severity, worst.cause, worst.fix.clone());
    let evidence: Vec<String> = faults.into_iter().map(|fault| fault.evidence).collect();
    // It is the proxy that connections are opened to.
    let whose = |text: &str| match run.plan.target.proxy {
        Some(_) => text.replace("he server", "he proxy"),
        None => text.to_owned(),
    };
    Some(Finding::new(D24, severity, whose(&evidence.join(" ")), whose(cause), whose(&fix)))
}

fn seen(run: &Run) -> Option<String> {
    let (process, build) = busiest_build(run)?;
    let compiler = build.compiler.as_deref().unwrap_or("an unknown compiler");
    let how = match &build.optimisation {
        Some(level) => format!("with {level}"),
        None => "with unknown optimisation".to_owned(),
    };
    let others = match build.unoptimised_units {
        0 => String::new(),
        units => format!(" ({units} of the {} compile units examined without)", build.units),
    };
    Some(format!("{} was built by {compiler} {how}{others}, without a sanitizer.", process.name))
}

fn busiest_build(run: &Run) -> Option<(&Process, &Build)> {
    let process = target(run)?.busiest()?;
    Some((process, process.serving.as_ref()?.build.as_ref()?))
}

fn of_build(process: &Process, build: &Build) -> Vec<Fault> {
    let compiler = build.compiler.as_deref().unwrap_or("its compiler");
    let mut faults = Vec::new();
    if !build.sanitizers.is_empty() {
        let names = listed(&build.sanitizers);
        faults.push(Fault {
            severity: Severity::Suspect,
            evidence: format!(
                "{}, process {}, was built with a sanitizer: {names}.",
                process.name, process.pid
            ),
            cause: "A sanitizer checks the server's memory accesses at run time, which makes it \
                    several times slower.",
            fix: "Build the server without -fsanitize (Go: without -race), and measure again."
                .to_owned(),
        });
    }
    let level = build.optimisation.as_deref().unwrap_or_default();
    if build.unoptimised_units * 2 > build.units {
        faults.push(Fault {
            severity: Severity::Suspect,
            evidence: format!(
                "{}, process {}, was built by {compiler} without optimisation ({level}): {}.",
                process.name,
                process.pid,
                match level {
                    "-N" => "its program records the build options".to_owned(),
                    _ => format!(
                        "shown by the debug information of {} of the {} compile units examined",
                        build.unoptimised_units, build.units
                    ),
                }
            ),
            cause: "Code that was built without optimisation may run several times slower than with it. How much of the work is \
                    done by this program, and not by its libraries, was not examined.",
            fix: match level {
                "-N" => "Build the server without -gcflags=-N, and measure again.".to_owned(),
                _ => "Build the server with -O2, and measure again.".to_owned(),
            },
        });
    } else if level == "-Og" {
        faults.push(Fault {
            severity: Severity::Note,
            evidence: format!(
                "{}, process {}, was built by {compiler} with -Og.",
                process.name, process.pid
            ),
            cause: "-Og optimises for debugging and skips some of the optimisations of -O2.",
            fix: "Build the server with -O2 to measure its full rate.".to_owned(),
        });
    }
    faults
}

/// A file that grows by a line per request.
fn log_file(run: &Run) -> Option<Fault> {
    let outputs = outputs(run);
    let grown = outputs.iter().flat_map(|(process, output)| {
        output.files.iter().filter_map(|file| Some((file, lines(run, process, file)?)))
    });
    let (file, (lines, line_bytes)) =
        grown.filter(|(_, (lines, _))| *lines >= LINES).max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
    Some(Fault {
        severity: Severity::Note,
        evidence: format!(
            "A file that the server has open for writing, {}, grew by {} lines of {} B per request.",
            file.path,
            amount(lines),
            amount(line_bytes)
        ),
        cause: "If the server writes these lines, formatting and writing them is part of the measured work.",
        fix: "If it is a log, keep it if the server also writes it in production; otherwise turn it off."
            .to_owned(),
    })
}

/// Lines per request and the length of one.
fn lines(run: &Run, process: &Process, file: &GrownFile) -> Option<(f64, f64)> {
    let line_bytes = file.line_bytes.filter(|length| LINE_BYTES.contains(length))?;
    Some((file_bytes_per_request(run, process, file)? / line_bytes, line_bytes))
}

/// What a file grew by for each request: by all of them where the looks allow it, as a rate over a part of the run is
/// not that of all of it.
fn file_bytes_per_request(run: &Run, process: &Process, file: &GrownFile) -> Option<f64> {
    let requests = run.record.finished();
    match file.bytes_around {
        Some(bytes) if run.plan.limits.warmup_ns == 0 && requests >= 100 => {
            Some(bytes as f64 / requests as f64)
        }
        _ => per_request(run, file.watched_ns.unwrap_or(process.watched_ns), file.bytes),
    }
}

/// Bytes that no response is made of, where standard output or error is a terminal or a pipe.
fn log_stream(run: &Run) -> Option<Fault> {
    outputs(run).into_iter().find_map(|(process, output)| {
        let standard = output.standard.as_ref()?;
        let calls = per_request(run, process.watched_ns, output.write_calls?)?;
        let written = per_request(run, process.watched_ns, output.written_bytes?)?;
        let response = run.record.received_bytes as f64 / run.record.responses as f64;
        // TLS writes its records, and HTTP/2 several responses at once, as long as they come out: one call each is theirs.
        let as_sent = run.plan.tls.is_some() || run.plan.http2.is_some();
        let line_bytes = beside_responses(calls, written, response)
            .filter(|_| !as_sent || calls >= CALLS_FOR_BOTH)?;
        if may_be_handshakes(run, calls, line_bytes) {
            return None;
        }
        let to_files = output.files.iter().filter_map(|f| file_bytes_per_request(run, process, f));
        if to_files.sum::<f64>() >= line_bytes / 2.0 {
            return None;
        }
        let is_log = LINE_BYTES.contains(&line_bytes);
        (is_log && standard.written_to != Some(false)).then(|| Fault {
            // That a terminal was written to does not say what was: a line per request, or one each minute beside queries to
            // another server.
            severity: Severity::Note,
            evidence: format!(
                "{}, process {}, writes {} B per request besides its responses, with {} write \
                 calls per request in total, and its standard output is {}.",
                process.name,
                process.pid,
                amount(line_bytes),
                amount(calls),
                if standard.terminal {
                    format!("the terminal {}", standard.name)
                } else {
                    format!("a stream, {}", standard.name)
                }
            ),
            cause: "If these are lines of a log, writing them is part of the measured work, and whatever displays or reads them \
                    uses CPU time too. A request to another server (a database, an upstream) for each response is written in \
                    the same way.",
            fix: "If it is a log, redirect it to /dev/null or turn it off.".to_owned(),
        })
    })
}

/// Whether handshakes of TLS may be the most of so many bytes per request, or of so many calls beside one for each response.
fn may_be_handshakes(run: &Run, calls: f64, bytes: f64) -> bool {
    let each = run.record.connections_opened as f64 / run.record.responses as f64;
    run.plan.tls.is_some()
        && (bytes - HANDSHAKE_BYTES * each < bytes / 2.0
            || calls - HANDSHAKE_CALLS * each < CALLS_FOR_BOTH)
}

/// The bytes per request that no response is made of, by calls and bytes that were written per request.
/// Responses that go out by send(2) are not among what is written; those that go out by writev(2) are.
fn beside_responses(calls: f64, written: f64, response: f64) -> Option<f64> {
    let unlike_responses = (written - response).abs() > UNSURE * response;
    match calls {
        // Either the responses or something else.
        CALLS..CALLS_FOR_BOTH => unlike_responses.then_some(written),
        CALLS_FOR_BOTH.. if unlike_responses && written > response => Some(written - response),
        CALLS_FOR_BOTH.. if unlike_responses => Some(written),
        _ => None,
    }
}

/// What each process wrote, if that is to be seen.
fn outputs(run: &Run) -> Vec<(&Process, &Output)> {
    let processes = target(run).map(|target| target.processes.as_slice()).unwrap_or_default();
    processes
        .iter()
        .filter_map(|process| Some((process, process.serving.as_ref()?.output.as_ref()?)))
        .collect()
}

/// What came in the time that a process, or a file of it, was watched for, by the requests of that time.
fn per_request(run: &Run, watched_ns: u64, amount: u64) -> Option<f64> {
    let watched_s = watched_ns as f64 / 1e9;
    let requests = run.record.responses as f64 * watched_s / elapsed_s(run);
    (requests >= 100.0).then(|| amount as f64 / requests)
}

#[cfg(test)]
mod tests;
