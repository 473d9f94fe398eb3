//! Limits of streams, kept to, raised and not filled.

use super::*;
use crate::DiagnosisId::D02;
use crate::live::judge;
use crate::live::sample;
use ablaze_model::FailureKind;
use ablaze_model::record::Phases;

fn permitting(permitted: u32, reached: u128) -> Run {
    let mut run = sample::over_http2(100);
    let facts = run.record.http2.as_mut().unwrap();
    facts.settings.as_mut().unwrap().streams_max = Some(permitted);
    facts.streams_permitted = (permitted < 100).then_some(permitted);
    run.record.in_flight_ns = reached * u128::from(run.elapsed_ns);
    run
}

/// Ten connections of 100 streams over HTTP/3, of which the server permits 10.
#[test]
fn quic_has_a_limit_of_another_name() {
    let mut run = permitting(128, 99);
    let streams = run.plan.http2.take().unwrap().streams;
    run.record.http2 = None;
    run.plan.http3 = Some(ablaze_model::plan::Http3::with_streams(streams));
    let facts = ablaze_model::record::Http3Facts {
        streams_permitted: Some(10),
        ..ablaze_model::record::Http3Facts::default()
    };
    run.record.http3 = Some(Box::new(facts));
    let found = on_run(&run).unwrap();
    assert_eq!(found.severity, Severity::Suspect);
    assert!(found.evidence.contains("(initial_max_streams_bidi), 100 were requested"));
    assert!(found.fix.contains("http3_max_concurrent_streams"), "{}", found.fix);
}

/// A limit that MAX_STREAMS raised is told as that, and only where it took a part of the run.
#[test]
fn a_limit_that_was_raised_is_not_told_as_the_server_s_limit() {
    let mut run = permitting(128, 990);
    let streams = run.plan.http2.take().unwrap().streams;
    run.record.http2 = None;
    run.plan.http3 = Some(ablaze_model::plan::Http3::with_streams(streams));
    let raised = |run: &mut Run, last, raised_ns| {
        let facts = ablaze_model::record::Http3Facts {
            streams_permitted: Some(0),
            streams_at_last: Some(last),
            streams_raised_ns: raised_ns,
            ..ablaze_model::record::Http3Facts::default()
        };
        run.record.http3 = Some(Box::new(facts));
    };
    raised(&mut run, 100, 300_000);
    assert_eq!(on_run(&run), None);
    let tenth_ns = run.elapsed_ns / 10;
    raised(&mut run, 100, tenth_ns);
    let found = on_run(&run).unwrap();
    assert_eq!(found.severity, Severity::Note);
    for part in [
        "0 streams at once per connection at first",
        "raised that to 100 (MAX_STREAMS) after up to 1.00 s",
    ] {
        assert!(found.evidence.contains(part), "{part:?} is not in {found:?}");
    }
    assert!(!found.evidence.contains("permits"), "{found:?}");
    // Requests that had waited in vain until then.
    run.record.streamless.timed_out = run.record.responses / 4;
    run.record.failures[FailureKind::Timeout as usize] = run.record.responses / 4;
    assert_eq!(on_run(&run).unwrap().severity, Severity::Suspect);
    run.record.streamless.timed_out = 0;
    run.record.failures[FailureKind::Timeout as usize] = 0;
    // It was raised, and not far enough.
    raised(&mut run, 10, 300_000);
    let found = on_run(&run).unwrap();
    assert_eq!(found.severity, Severity::Suspect);
    assert!(
        found.evidence.contains("at first (initial_max_streams_bidi is 0), and raised that to 10"),
        "{found:?}"
    );
    assert!(found.fix.contains("--streams 10"), "{found:?}");
}

/// One finding, and none that the server does not respond: it was asked nothing.
#[test]
fn without_a_stream_nothing_was_sent() {
    let mut run = permitting(0, 10);
    run.record.responses = 0;
    (run.record.answered, run.record.unfinished) = (Phases::new(), 10);
    for failed in [0, 30] {
        run.record.failures[FailureKind::Timeout as usize] = failed;
        let findings = judge(&run).findings;
        assert!(!findings.iter().any(|finding| finding.id == D02), "{findings:?}");
        let found = findings.iter().find(|finding| finding.id == D40).expect("D40");
        let said = format!("{} {}", found.evidence, found.cause);
        assert!(
            said.contains("permits no stream") && said.contains("no request was sent"),
            "{said}"
        );
        assert!(!said.contains("in flight"), "{said}");
    }
}

/// 0 first, 100 later: requests failed until then, and none waits in the end.
#[test]
fn a_server_that_permitted_no_stream_for_a_time_is_not_said_to_permit_none() {
    let mut run = permitting(0, 900);
    run.record.streamless.timed_out = 600;
    run.record.failures[FailureKind::Timeout as usize] = 600;
    let found = on_run(&run).unwrap();
    assert_eq!(found.severity, Severity::Suspect);
    assert!(found.evidence.starts_with("At least for a time the server permitted no stream"));
    assert!(!found.evidence.contains("permits") && !found.evidence.contains(" is 0"), "{found:?}");
    run.record.streamless.unfinished = 100;
    assert!(on_run(&run).unwrap().evidence.contains("permits no stream"));
}

#[test]
fn streams_that_the_client_does_not_fill_are_noted() {
    let found = on_run(&permitting(128, 499)).unwrap();
    assert_eq!(found.severity, Severity::Note);
    assert!(found.evidence.starts_with("On average 499 of 1,000 streams"), "{found:?}");
    assert_eq!(on_run(&permitting(128, 500)), None);
    let mut run = permitting(128, 499);
    run.record.connections_opened = 11;
    assert_eq!(on_run(&run), None, "connections that broke have their own finding");
}

#[test]
fn fewer_streams_than_asked_for_are_another_load() {
    let severity = |permitted, reached| {
        on_run(&permitting(permitted, reached)).map(|finding| finding.severity)
    };
    assert_eq!(severity(128, 990), None);
    assert_eq!(severity(100, 990), None);
    assert_eq!(severity(99, 980), Some(Severity::Note));
    assert_eq!(severity(50, 500), Some(Severity::Note));
    assert_eq!(severity(49, 490), Some(Severity::Suspect));
    assert_eq!(severity(10, 99), Some(Severity::Suspect));
    assert_eq!(severity(9, 90), Some(Severity::Invalid));
    let finding = on_run(&permitting(10, 99)).unwrap();
    assert!(finding.evidence.contains("10 connections that is 100 of 1,000"), "{finding:?}");
    assert!(finding.fix.ends_with("--streams 10 and --connections 100 to have as many in flight."));
    let mut open = permitting(10, 99);
    sample::open_loop(&mut open, 1e3);
    // Nobody had to wait for a stream.
    assert_eq!(on_run(&open), None);
    open.record.never_sent = 5;
    let mut intended = ablaze_model::record::Intended::default();
    intended.lag.record_many(500_000, 1_000);
    open.record.answered.intended = Some(Box::new(intended));
    let finding = on_run(&open).unwrap();
    assert_eq!(finding.severity, Severity::Note);
    assert!(!finding.evidence.contains("connections that is"), "{finding:?}");
}

/// The limit that is kept is the lowest of all connections.
#[test]
fn a_limit_that_was_exceeded_was_not_that_of_each_connection() {
    let mut run = sample::over_http2(100);
    run.record.http2.as_mut().unwrap().streams_permitted = Some(10);
    run.record.in_flight_ns = 900 * u128::from(run.elapsed_ns);
    let finding = on_run(&run).unwrap();
    assert_eq!(finding.severity, Severity::Note);
    assert!(
        finding.evidence.starts_with(
            "At least for a time the server permitted no more than 10 streams at once on a connection"
        ),
        "{finding:?}"
    );
    // It may have been the first of several, and a higher one the last.
    assert!(!finding.evidence.contains("in the end"), "{finding:?}");
    run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns);
    assert!(on_run(&run).unwrap().evidence.starts_with("The server permits 10 streams"));
}

/// A server that says nothing has permitted nothing in words: no limit was set.
#[test]
fn a_server_without_that_setting_is_not_said_to_permit_as_many() {
    let mut run = permitting(128, 90);
    assert!(on_run(&run).unwrap().evidence.contains("the server permits as many"));
    run.record.http2.as_mut().unwrap().settings.as_mut().unwrap().streams_max = None;
    let evidence = on_run(&run).unwrap().evidence;
    assert!(evidence.contains("sent no SETTINGS_MAX_CONCURRENT_STREAMS"), "{evidence}");
    assert!(!evidence.contains("permits"), "{evidence}");
    assert!(seen(&run).unwrap().contains("set no limit of streams"), "{:?}", seen(&run));
    run.record.http2.as_mut().unwrap().settings = None;
    let evidence = on_run(&run).unwrap().evidence;
    assert!(evidence.contains("no SETTINGS came") && !evidence.contains("permits"), "{evidence}");
}
