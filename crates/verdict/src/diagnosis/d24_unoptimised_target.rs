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
mod tests {
    use super::*;
    use crate::live::sample;
    use ablaze_model::monitor::Standard;

    fn built(run: &mut Run, optimisation: Option<&str>, unoptimised_units: u64) {
        sample::serving(run).build = Some(Build {
            compiler: Some("GNU C17 12.2.0".to_owned()),
            options: None,
            optimisation: optimisation.map(str::to_owned),
            units: u64::from(optimisation.is_some()) * 4,
            unoptimised_units,
            sanitizers: Vec::new(),
        });
    }

    fn wrote(run: &mut Run, calls: u64, bytes: u64, standard: Option<Standard>) -> Option<Finding> {
        sample::serving(run).output = Some(Output {
            write_calls: Some(calls),
            written_bytes: Some(bytes),
            standard,
            files: Vec::new(),
        });
        on_run(run)
    }

    #[test]
    fn only_what_the_debug_data_says_is_told() {
        let mut run = sample::run();
        assert_eq!((on_run(&run), seen(&run)), (None, None));
        built(&mut run, Some("-O2"), 0);
        assert_eq!(on_run(&run), None);
        assert_eq!(
            seen(&run).unwrap(),
            "nginx was built by GNU C17 12.2.0 with -O2, without a sanitizer."
        );
        built(&mut run, None, 0);
        assert_eq!(on_run(&run), None, "rustc and clang do not tell");
        built(&mut run, Some("-O2"), 2);
        assert_eq!(on_run(&run), None, "half of them");
        let said = seen(&run).unwrap();
        assert!(said.contains("with -O2 (2 of the 4 compile units examined without)"), "{said}");
        let mut through = run.clone();
        built(&mut through, Some("-O0"), 3);
        through.plan.target.proxy = Some(sample::proxy());
        let finding = on_run(&through).unwrap();
        let text = [finding.evidence, finding.cause, finding.fix.to_string()].concat();
        assert!(text.contains("Build the proxy ") && !text.contains("he server"), "{text}");
        built(&mut run, Some("-O0"), 3);
        let finding = on_run(&run).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.contains("(-O0)") && finding.evidence.contains("3 of the 4"));
        // What a library does, which may be all, was not examined.
        assert!(finding.cause.contains("and not by its libraries"), "{}", finding.cause);
        built(&mut run, Some("-Og"), 0);
        assert_eq!(on_run(&run).unwrap().severity, Severity::Note);
        sample::serving(&mut run).build.as_mut().unwrap().sanitizers = vec!["address".to_owned()];
        let finding = on_run(&run).unwrap();
        assert!(finding.evidence.contains("address") && finding.severity == Severity::Suspect);
        assert!(finding.fix.contains("-fsanitize"));
    }

    #[test]
    fn a_file_that_grows_by_a_line_per_request_is_a_log() {
        let mut run = sample::run();
        let run_ns = run.elapsed_ns;
        assert_eq!(wrote(&mut run, 40_000, 0, None), None);
        let grow = |run: &mut Run, bytes, line_bytes| {
            sample::serving(run).output.as_mut().unwrap().files = vec![GrownFile {
                path: "/var/log/access.log".to_owned(),
                bytes,
                watched_ns: None,
                bytes_around: None,
                line_bytes,
            }];
            on_run(run)
        };
        let finding = grow(&mut run, 20_000 * 95, Some(95.0)).unwrap();
        assert_eq!(finding.severity, Severity::Note, "nginx comes so");
        let said = "/var/log/access.log, grew by 1.00 lines of 95.0 B per request";
        assert!(finding.evidence.contains(said), "{}", finding.evidence);
        // Another program may have the same file open; or it is the data of a server that appends records.
        assert!(finding.cause.starts_with("If the server writes these"), "{}", finding.cause);
        assert!(finding.fix.starts_with("If it is a log"), "{}", finding.fix);
        assert_eq!(grow(&mut run, 2_000 * 95, Some(95.0)), None, "one in ten requests");
        assert_eq!(grow(&mut run, 20_000 * 95, None), None, "no text");
        // Half of the run was watched, at half of its rate; what lies around the window has all requests.
        let file = |run: &mut Run| {
            grow(run, 5_000 * 95, Some(95.0));
            let output = sample::serving(run).output.as_mut().unwrap();
            output.files[0].watched_ns = Some(run_ns / 2);
            output.files[0].bytes_around = Some(20_000 * 95);
            on_run(run).unwrap().evidence
        };
        assert!(file(&mut run).contains("1.00 lines"));
        run.plan.limits.warmup_ns = 1;
        assert_eq!(grow(&mut run, 2_000 * 95, Some(95.0)), None, "with a warm-up, by the rate");
    }

    #[test]
    fn a_log_that_is_found_is_not_looked_for_on_standard_output() {
        let mut run = sample::run();
        run.record.received_bytes = 20_000 * 300;
        let pipe = Standard { name: "pipe:[7]".to_owned(), terminal: false, written_to: None };
        assert!(wrote(&mut run, 20_000, 20_000 * 80, Some(pipe)).is_some());
        sample::serving(&mut run).output.as_mut().unwrap().files = vec![GrownFile {
            path: "/var/log/app.log".to_owned(),
            bytes: 20_000 * 80,
            watched_ns: None,
            bytes_around: Some(20_000 * 80),
            line_bytes: Some(80.0),
        }];
        let said = on_run(&run).unwrap();
        assert!(!said.evidence.contains("pipe:") && !said.fix.contains("/dev/null"), "{said:?}");
    }

    #[test]
    fn bytes_beside_the_responses_go_to_a_terminal() {
        let mut run = sample::run();
        run.record.received_bytes = 20_000 * 300;
        let to = |terminal, written_to| {
            let name = if terminal { "/dev/pts/3" } else { "pipe:[7]" }.to_owned();
            Some(Standard { name, terminal, written_to })
        };
        let severity = |finding: Option<Finding>| finding.map(|finding| finding.severity);
        // Responses by send(2), a line by write(2).
        let sent = wrote(&mut run, 20_000, 20_000 * 80, to(true, Some(true)));
        // The terminal may have had a line in all, and a database the rest.
        assert_eq!(severity(sent.clone()), Some(Severity::Note));
        assert!(sent.unwrap().cause.starts_with("If these are lines of a log"));
        // Responses by writev(2), too.
        let both = wrote(&mut run, 40_000, 20_000 * 380, to(true, Some(true)));
        // One call for each, longer by what TLS adds, is the response.
        let mut tls = run.clone();
        tls.plan.tls = Some(ablaze_model::plan::tls::Tls::new("h"));
        assert_eq!(wrote(&mut tls, 20_000, 20_000 * 380, to(false, None)), None);
        assert!(both.unwrap().evidence.contains("80.0 B per request"));
        let piped = wrote(&mut run, 40_000, 20_000 * 380, to(false, None));
        assert_eq!(severity(piped.clone()), Some(Severity::Note), "it may be something else");
        // As much is a query to a database for each response.
        let piped = piped.unwrap();
        assert!(piped.cause.starts_with("If these are lines of a log"), "{piped:?}");
        assert!(piped.fix.starts_with("If it is a log"), "{piped:?}");
        // A line by write(2) that is longer than a response.
        assert!(wrote(&mut run, 20_000, 20_000 * 400, to(true, Some(true))).is_some());
        // Nothing but responses; responses in two pieces; a number that wakes another thread; both.
        assert_eq!(wrote(&mut run, 40_000, 20_000 * 308, to(true, Some(true))), None);
        assert_eq!(wrote(&mut run, 20_000, 20_000 * 300, to(true, Some(true))), None);
        assert_eq!(wrote(&mut run, 40_000, 20_000 * 300, to(true, Some(true))), None);
        assert_eq!(wrote(&mut run, 20_000, 20_000 * 8, to(true, Some(true))), None);
        // The terminal has been quiet, or there is none.
        assert_eq!(wrote(&mut run, 20_000, 20_000 * 80, to(true, Some(false))), None);
        assert_eq!(wrote(&mut run, 20_000, 20_000 * 80, None), None);
    }
}
