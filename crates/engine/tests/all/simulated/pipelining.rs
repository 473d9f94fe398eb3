//! Several requests in flight on one connection.

use ablaze_model::FailureKind;
use ablaze_net::sim::{Misbehave, Pieces};

use crate::simulated::http2::over_http2;
use crate::simulated::http2_peer::Http2Script;
use crate::simulated::support::{
    HELLO, HELLO_CLOSE, MS, Script, check_sums, clock_before, pipelined, plan, run, without_repeat,
};

#[test]
fn several_responses_in_one_read() {
    for depth in 2..=16 {
        // All responses of a batch arrive in the same instant, as one read.
        run(&pipelined(plan(200, 3), depth), &Script::always(HELLO, MS), |run| {
            check_sums(run);
            assert_eq!((run.record.responses, run.record.repeated), (200, 0));
            assert_eq!(run.record.answered.wait.max_ns(), Some(MS));
            assert_eq!(run.record.connections_opened, 3);
        });
    }
}

#[test]
fn responses_split_across_pieces() {
    for depth in [2, 5, 16] {
        for bytes in [1, 7, 60, 129] {
            let peer = Script::always(HELLO, MS).cut(Pieces::Of(bytes), 1_000);
            run(&pipelined(plan(100, 2), depth), &peer, |run| {
                check_sums(run);
                assert_eq!(run.record.responses, 100);
            });
        }
    }
}

/// Four requests wait for each connection, whose making is one time.
#[test]
fn a_connection_is_timed_once() {
    let limited = |mut plan: ablaze_model::Plan| {
        plan.connections.requests_per_connection = Some(8);
        clock_before(plan)
    };
    run(&limited(pipelined(plan(96, 3), 4)), &Script::always(HELLO, MS), |run| {
        check_sums(run);
        assert_eq!(run.record.connections_opened, 12);
        assert_eq!(run.record.answered.connect.count(), 12);
        assert_eq!(run.record.answered.processing.count(), 96);
    });
    run(&limited(over_http2(plan(96, 3), 4)), &Http2Script::always(MS), |run| {
        check_sums(run);
        let opened = run.record.connections_opened;
        assert_eq!(run.record.answered.connect.count(), opened);
    });
}

/// The server closes behind every fifth response, saying so or not.
#[test]
fn a_close_in_the_middle_loses_nothing() {
    for depth in [2, 4, 5] {
        for announced in [HELLO_CLOSE, HELLO] {
            let peer = Script::new(&[HELLO, announced], |moment| match moment.request {
                0..4 => moment.send(MS, 0),
                4 => {
                    moment.send(MS, 1);
                    moment.far.close_after(MS);
                }
                _ => {}
            });
            run(&pipelined(plan(100, 2), depth), &peer, |run| {
                check_sums(run);
                assert_eq!((run.record.responses, run.record.failures_total()), (100, 0));
                // Five responses each, but the last of either connection.
                assert!((20..=22).contains(&run.record.connections_opened));
                assert!(run.record.repeated > 0);
            });
            run(&without_repeat(pipelined(plan(100, 2), depth)), &peer, |run| {
                check_sums(run);
                assert_eq!(run.record.finished(), 100);
                assert_eq!(
                    run.record.failures_of(FailureKind::ClosedWithoutResponse),
                    run.record.failures_total()
                );
            });
        }
    }
}

#[test]
fn more_responses_than_requests_are_neither_lost_nor_timed_from_nowhere() {
    let peer = Script::new(&[HELLO], |moment| {
        for _ in 0..3 {
            moment.send(MS, 0);
        }
    });
    run(&pipelined(plan(60, 1), 4), &peer, |run| {
        check_sums(run);
        assert_eq!(run.record.finished(), 60);
    });
}

#[test]
fn the_bytes_of_a_broken_body_are_counted_once() {
    let peer = Script::new(&[HELLO], |moment| {
        if moment.request == 0 {
            moment.send_part(MS, 0, HELLO.len() - 1);
            moment.far.close_after(2 * MS);
        }
    });
    run(&pipelined(plan(4, 1), 4), &peer, |run| {
        check_sums(run);
        assert_eq!(run.record.failures_of(FailureKind::ShortBody), 1);
        assert_eq!(run.record.failures_of(FailureKind::ClosedWithoutResponse), 3);
        assert_eq!(run.record.body_bytes, 4);
    });
}

#[test]
fn a_request_behind_two_closes_is_not_sent_a_third_time() {
    // One response per connection: of three requests one is answered, one repeated and answered,
    // one repeated in vain.
    let peer = Script::new(&[HELLO], |moment| {
        if moment.request == 0 {
            moment.send(MS, 0);
            moment.far.close_after(2 * MS);
        }
    });
    let mut plan = pipelined(plan(3, 1), 3);
    plan.connections.requests_per_connection = Some(3);
    run(&plan, &peer, |run| {
        check_sums(run);
        assert_eq!((run.record.responses, run.record.repeated), (2, 2));
        assert_eq!(run.record.failures_of(FailureKind::ClosedWithoutResponse), 1);
    });
}
