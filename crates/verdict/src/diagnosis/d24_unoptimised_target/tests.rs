//! Tests of D24.

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

/// 1,175 connections for 5,780 responses: each had a handshake, of some calls and some thousand bytes.
#[test]
fn handshakes_of_tls_are_no_log() {
    let mut run = sample::run();
    run.record.received_bytes = 20_000 * 70;
    let pipe = || Some(Standard { name: "pipe:[7]".into(), terminal: false, written_to: None });
    run.plan.tls = Some(ablaze_model::plan::tls::Tls::new("h"));
    run.record.connections_opened = 4_066;
    assert_eq!(wrote(&mut run, 37_000, 20_000 * 493, pipe()), None);
    run.record.connections_opened = 50;
    assert!(wrote(&mut run, 37_000, 20_000 * 493, pipe()).is_some());
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
