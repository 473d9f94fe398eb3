//! What is advised on the first failure of a run without a response.

use ablaze_model::FailureKind;
use ablaze_model::plan::journey::PlannedJourney;
use ablaze_model::plan::users::Users;
use ablaze_model::record::FirstFailure;

use super::{CLOSED_LATE_NS, fix};

/// A server of another protocol closes at once; one that read the request for a while has a reason of its own.
#[test]
fn a_connection_that_was_held_before_it_was_closed_is_no_other_protocol() {
    let kind = FailureKind::ClosedWithoutResponse;
    let failure = FirstFailure { at_ns: 0, kind, errno: 0, connecting: false };
    let said = |after_ns| {
        let mut run = ablaze_model::by_hand::run();
        run.record.failures = [0; FailureKind::ALL.len()];
        run.record.failed.total.record_many(after_ns, 10);
        fix(&failure, "127.0.0.1:8080", &run)
    };
    let late = said(2 * CLOSED_LATE_NS);
    assert!(late.contains("held the connection for 500 ms and closed it"), "{late}");
    assert!(late.contains("timeouts") && !late.contains("protocol"), "{late}");
    let at_once = said(CLOSED_LATE_NS / 100);
    assert!(at_once.contains("does it speak TLS, or another protocol?"), "{at_once}");
}

/// Which step of a journey it was, and what came before that, curl is not told.
#[test]
fn what_is_looked_at_is_what_the_run_sent() {
    let kind = FailureKind::Timeout;
    let failure = FirstFailure { at_ns: 0, kind, errno: 0, connecting: false };
    let mut run = ablaze_model::by_hand::run();
    run.record.failures = [0; FailureKind::ALL.len()];
    run.record.failures[kind as usize] = 10;
    run.record.failed.wait.record_many(1_000_000, 10);
    run.record.first_head = Vec::new();
    let said = fix(&failure, "127.0.0.1:8080", &run);
    assert!(said.contains("see it with `curl -v http://127.0.0.1:8080/`"), "{said}");
    run.plan.journey = Some(PlannedJourney {
        name: "shop.hurl".to_owned(),
        steps: Vec::new(),
        any_status: Vec::new(),
        users: Users::default(),
        route: None,
    });
    let said = fix(&failure, "127.0.0.1:8080", &run);
    assert!(said.contains("see it with `ablaze run shop.hurl --very-verbose"), "{said}");
}
