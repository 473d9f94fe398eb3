//! What D02 says where more is known of the failures than their kinds.

use super::*;
use crate::live::sample;

fn with(kind: FailureKind, count: u64) -> Run {
    let mut run = sample::run();
    run.record.failures[kind as usize] = count;
    run
}

fn cause(run: &Run) -> String {
    on_run(run).unwrap().cause
}

#[test]
fn who_closed_is_said_where_it_was_the_client() {
    let mut run = with(FailureKind::ClosedWithoutResponse, 1_000);
    assert!(cause(&run).starts_with("The server closed some connections"), "{}", cause(&run));
    run.record.circumstances.closed_here = 1_000;
    run.record.circumstances.closed_for_surplus = 900;
    let said = cause(&run);
    assert!(said.contains("900 by the client, because bytes that belong to none"), "{said}");
    assert!(said.contains("100 by the client, behind a response"), "{said}");
    assert!(!said.contains("by the server"), "{said}");
    run.record.circumstances.closed_here = 950;
    assert!(cause(&run).contains("50 by the server"), "{}", cause(&run));
}

/// Each of these connections may have been closed behind a response.
#[test]
fn requests_pipelined_on_a_connection_are_lost_with_it() {
    let mut run = with(FailureKind::ClosedWithoutResponse, 1_000);
    run.record.repeated = 1_000;
    run.plan.load = ablaze_model::plan::Load::Closed { connections: 10, pipeline: 4 };
    let said = cause(&run);
    assert!(!said.contains("without a response"), "{said}");
    assert_eq!(said.matches("lost with").count(), 1, "{said}");
    assert!(said.contains("all of them are lost with the connection"), "{said}");
}

#[test]
fn an_interim_response_is_no_beginning_of_a_head() {
    for kind in [FailureKind::ShortHead, FailureKind::Reset] {
        let mut run = with(kind, 1_000);
        assert!(!cause(&run).contains("interim"), "{}", cause(&run));
        run.record.circumstances.interim_only = 1_000;
        let said = cause(&run);
        assert!(said.starts_with("Only an interim response (1xx) came"), "{said}");
        // Of the others the head had begun, or nothing came.
        run.record.circumstances.interim_only = 999;
        assert!(!cause(&run).contains("interim"), "{}", cause(&run));
    }
}

#[test]
fn what_comes_behind_whole_responses_may_be_a_surplus() {
    let mut run = with(FailureKind::Malformed, 1_000);
    run.record.first_malformed = b"}".to_vec();
    assert!(cause(&run).contains("were not HTTP/1"), "{}", cause(&run));
    run.record.circumstances.malformed_behind = 1_000;
    let said = cause(&run);
    assert!(said.contains("more than the length of the response before that comes late"), "{said}");
    run.record.circumstances.malformed_behind = 999;
    assert!(cause(&run).contains("were not HTTP/1"), "{}", cause(&run));
}

#[test]
fn a_body_that_was_not_taken_is_no_silence() {
    let mut run = with(FailureKind::Timeout, 1_000);
    assert!(cause(&run).contains("did not respond"), "{}", cause(&run));
    run.record.circumstances.unsent_timed_out = 1_000;
    let said = cause(&run);
    assert!(
        said.starts_with("These requests") && said.contains("could not be sent whole"),
        "{said}"
    );
    run.record.circumstances.unsent_timed_out = 400;
    let said = cause(&run);
    assert!(said.starts_with("400 of the requests that timed out"), "{said}");
    run.record = ablaze_model::Record::new();
    run.record.unfinished = 4;
    run.record.circumstances.unsent_unfinished = 4;
    let finding = on_run(&run).unwrap();
    assert!(finding.evidence.contains("4 of them had not been sent whole"), "{finding:?}");
    assert!(!finding.cause.contains("does not respond"), "{finding:?}");
}
