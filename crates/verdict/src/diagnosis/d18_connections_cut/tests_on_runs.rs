//! D18 on Runs.

use super::*;
use crate::live::sample;

#[test]
fn cuts_are_noted_with_how_often() {
    let mut run = sample::run();
    assert_eq!(on_run(&run), None);
    run.record.reused = 19_800;
    run.record.connections_opened = 300;
    let finding = on_run(&run).unwrap();
    assert!(finding.evidence.starts_with("200 of 20,000 responses closed"), "{finding:?}");
    // Nothing counts what each connection carried.
    assert!(
        finding.cause.contains("which of these was not recorded. A limit of 100"),
        "{finding:?}"
    );
    assert!(!finding.cause.contains("limits the number"), "{finding:?}");
    // Error responses that close look the same, and no limit can be raised for them.
    run.record.statuses = [(200, 19_800), (503, 200)].into();
    let finding = on_run(&run).unwrap();
    assert!(finding.cause.ends_with(
        "200 responses had a status of 400 or above: these may be the ones that close."
    ));
    assert!(!finding.cause.contains("nginx"), "{finding:?}");
    // As asked.
    run.plan.connections.requests_per_connection = Some(100);
    assert_eq!(on_run(&run), None);
}

#[test]
fn one_request_was_and_two_were() {
    assert_eq!([1, 2].map(were), ["1 request was", "2 requests were"]);
}

#[test]
fn goaways_are_part_of_the_figures_and_errors_a_doubt() {
    let mut run = sample::over_http2(100);
    assert_eq!(on_run(&run), None);
    let facts = run.record.http2.as_mut().unwrap();
    facts.goaways = 20;
    facts.goaway_codes = Codes(vec![(0, 20)]);
    run.record.repeated = 1_500;
    run.record.connections_opened = 30;
    let finding = on_run(&run).unwrap();
    assert_eq!(finding.severity, Severity::Note);
    assert!(
        finding.evidence.contains("20 connections by GOAWAY (20 with NO_ERROR)"),
        "{finding:?}"
    );
    assert!(finding.evidence.contains("one per 1,000 responses"), "{finding:?}");
    assert!(
        finding.cause.contains("or a time") && finding.cause.contains("since 1.19.10"),
        "{finding:?}"
    );
    let facts = run.record.http2.as_mut().unwrap();
    facts.goaway_codes = Codes(vec![(0, 10), (11, 10)]);
    facts.last_goaway_said = Some("too_many".into());
    run.record.failures[FailureKind::GoAway as usize] = 1_000;
    let finding = on_run(&run).unwrap();
    assert_eq!(finding.severity, Severity::Suspect);
    assert!(finding.cause.ends_with("Its last debug message: too_many."), "{finding:?}");
    assert!(
        finding.cause.contains("an error (ENHANCE_YOUR_CALM): it takes the load"),
        "{finding:?}"
    );
    // A fault of the server's own is no objection to the load.
    let facts = run.record.http2.as_mut().unwrap();
    facts.goaway_codes = Codes(vec![(0, 10), (2, 10)]);
    let finding = on_run(&run).unwrap();
    assert!(finding.cause.contains("an error (INTERNAL_ERROR). Its last"), "{finding:?}");
    assert!(!finding.fix.contains("fewer"), "{finding:?}");
    // Sent again, they count like those that HTTP/1 loses; and a limit of requests is no error.
    run.record.failures[FailureKind::GoAway as usize] = 0;
    assert_eq!(on_run(&run).unwrap().severity, Severity::Suspect);
    run.record.repeated = 10;
    let finding = on_run(&run).unwrap();
    assert_eq!(finding.severity, Severity::Note);
    assert!(!finding.cause.contains("after a number of requests"), "{finding:?}");
    assert!(!finding.evidence.contains("failed because"), "{finding:?}");
}

#[test]
fn what_a_goaway_says_is_told_of_servers_that_respond_to_nothing() {
    let mut run = sample::over_http2(100);
    sample::nobody_answers(&mut run);
    let facts = ablaze_model::record::Http2Facts {
        goaways: 20,
        goaway_codes: Codes(vec![(11, 20)]),
        ..Default::default()
    };
    run.record.http2 = Some(facts.into());
    run.record.repeated = 2_000;
    run.record.failures[FailureKind::GoAway as usize] = 2_000;
    let finding = on_run(&run).unwrap();
    assert_eq!(finding.severity, Severity::Suspect);
    assert!(finding.evidence.contains("(20 with ENHANCE_YOUR_CALM). "), "{finding:?}");
    assert!(finding.cause.contains("an error (ENHANCE_YOUR_CALM)"), "{finding:?}");
    run.record.http2.as_mut().unwrap().goaway_codes = Codes(vec![(0, 20)]);
    let finding = on_run(&run).unwrap();
    assert_eq!(finding.severity, Severity::Note);
    assert!(finding.cause.contains("named no error"), "{finding:?}");
}

#[test]
fn refused_streams_are_noted() {
    let mut run = sample::over_http2(100);
    run.record.repeated = 200;
    assert_eq!(on_run(&run), None);
    run.record.repeated = 201;
    let finding = on_run(&run).unwrap();
    assert_eq!(finding.severity, Severity::Note);
    assert!(finding.fix.contains("or lower --streams"), "{finding:?}");
    // Of one stream no other is in progress.
    run.plan.http2 = Some(ablaze_model::plan::Http2 { streams: 1 });
    let finding = on_run(&run).unwrap();
    assert!(!finding.fix.contains("--streams"), "{finding:?}");
    assert!(!finding.cause.contains("in progress"), "{finding:?}");
}
