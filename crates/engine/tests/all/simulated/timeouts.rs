//! An exchange fails when its timeout is over, in whatever stage it is, and the run goes on.

use ablaze_model::FailureKind;
use ablaze_model::record::Stopped;
use ablaze_net::sim::{ConnectReply, Silent};

use crate::simulated::support::{
    HELLO, MS, S, Script, check_sums, clock_before, pipelined, plan, run, with_timeout,
};

const TIMEOUTS: [u64; 4] = [10 * MS, 250 * MS, S, 30 * S];

/// Connections 0 and 1 response as told, the others properly.
fn first_two(
    act: impl Fn(&mut crate::simulated::support::Moment<'_, '_>) + Send + Sync + 'static,
) -> Script {
    Script::new(
        &[HELLO],
        move |moment| {
            if moment.connection < 2 { act(moment) } else { moment.send(MS, 0) }
        },
    )
}

fn check(run: &ablaze_model::Run, timeout_ns: u64) {
    check_sums(run);
    let record = &run.record;
    assert_eq!(record.failures_of(FailureKind::Timeout), 2);
    assert_eq!(record.failures_total(), 2);
    assert_eq!(record.responses, 8);
    assert_eq!(record.failed.total.min_ns(), Some(timeout_ns));
    assert_eq!(record.failed.total.max_ns(), Some(timeout_ns));
}

#[test]
fn while_connecting() {
    let peer = Script::always(HELLO, MS).connecting(|_, number| match number {
        0 | 1 => ConnectReply::Never,
        _ => ConnectReply::AcceptAfter(MS),
    });
    for timeout_ns in TIMEOUTS {
        let plan = with_timeout(clock_before(plan(10, 2)), timeout_ns);
        run(&plan, &peer, |run| {
            check(run, timeout_ns);
            assert!(run.record.first_failure.unwrap().connecting);
        });
    }
}

#[test]
fn before_the_head() {
    for timeout_ns in TIMEOUTS {
        run(&with_timeout(plan(10, 2), timeout_ns), &first_two(|_| ()), |run| {
            check(run, timeout_ns);
            assert_eq!(run.record.failed.wait.count(), 0);
            assert_eq!(run.record.stopped, Stopped::default(), "it never began");
        });
    }
}

/// Without a length only a close ends the body, and none comes.
#[test]
fn behind_a_body_that_only_a_close_ends() {
    let peer = Script::always(b"HTTP/1.1 200 OK\r\n\r\nok", MS);
    run(&with_timeout(plan(4, 2), 250 * MS), &peer, |run| {
        let stopped = run.record.stopped;
        assert_eq!(run.record.failures_of(FailureKind::Timeout), 4);
        assert_eq!((stopped.partway, stopped.endless, stopped.total()), (4, 4, 0));
    });
}

#[test]
fn within_head_and_body() {
    for len in [1, 20, HELLO.len() - 1] {
        let peer = first_two(move |moment| moment.send_part(3 * MS, 0, len));
        for timeout_ns in TIMEOUTS {
            run(&with_timeout(plan(10, 2), timeout_ns), &peer, |run| {
                check(run, timeout_ns);
                assert_eq!(run.record.failed.wait.max_ns(), Some(3 * MS));
                assert_eq!(run.record.failed.receive.max_ns(), Some(timeout_ns - 3 * MS));
                // A pause of less than a second is none that anyone would call stuck.
                let stopped = run.record.stopped;
                let stuck = timeout_ns - 3 * MS >= S;
                assert_eq!((stopped.timed_out, stopped.unfinished), (u64::from(stuck) * 2, 0));
                assert_eq!((stopped.partway, stopped.endless), (2, 0));
                assert_eq!(
                    stopped.longest.map(|l| l.silent_ns),
                    stuck.then(|| timeout_ns - 3 * MS)
                );
            });
        }
    }
}

#[test]
fn in_a_pipeline() {
    // The first connection responses one of its four and then no more: one times out, those behind
    // it go to another connection.
    let peer = Script::new(&[HELLO], |moment| {
        if moment.connection > 0 || moment.request == 0 {
            moment.send(MS, 0);
        }
    });
    for timeout_ns in TIMEOUTS {
        run(&pipelined(with_timeout(plan(20, 1), timeout_ns), 4), &peer, |run| {
            check_sums(run);
            assert_eq!(run.record.failures_of(FailureKind::Timeout), 1);
            assert_eq!(run.record.failed.total.max_ns(), Some(timeout_ns));
            assert_eq!(run.record.responses, 19);
        });
    }
}

#[test]
fn what_was_behind_a_timeout_on_a_new_connection_is_not_called_a_failed_system_call() {
    let plan = pipelined(with_timeout(plan(8, 1), 10 * MS), 4);
    run(&plan, &first_two(|_| ()), |run| {
        check_sums(run);
        assert_eq!(run.record.failures_of(FailureKind::Other), 0);
        assert_eq!(run.record.finished(), 8);
        assert_eq!(run.record.failures_of(FailureKind::Timeout), run.record.failures_total());
    });
}

#[test]
fn staggered_deadlines_are_a_millisecond_late_at_most() {
    // Connections opened 100 µs apart: so are their deadlines.
    let mut plan = with_timeout(clock_before(plan(50, 50)), 10 * MS);
    plan.connections.ramp_ns = 100_000;
    run(&plan, &Script::new(&[HELLO], |_| ()), |run| {
        check_sums(run);
        assert_eq!(run.record.failures_of(FailureKind::Timeout), 50);
        assert!(run.record.failed.total.min_ns() >= Some(10 * MS));
        assert!(run.record.failed.total.max_ns() <= Some(11 * MS));
    });
}

#[test]
fn no_timeout_waits_for_ever() {
    let peer = Script::always(HELLO, 3_000 * S);
    run(&with_timeout(plan(2, 1), 0), &peer, |run| {
        assert_eq!(run.record.responses, 2);
        assert_eq!(run.elapsed_ns, 6_000 * S);
    });
}

#[test]
fn the_longest_timeout_and_duration_there_are() {
    let mut plan = with_timeout(plan(3, 1), u64::MAX);
    plan.limits.duration_ns = Some(u64::MAX);
    run(&plan, &Script::always(HELLO, MS), |run| assert_eq!(run.record.responses, 3));
}

#[test]
fn a_server_that_never_accepts_is_given_up_after_one_timeout() {
    run(&with_timeout(plan(1_000, 5), S), &Silent(ConnectReply::Never), |run| {
        assert_eq!(run.ended, ablaze_model::run::Ended::Unreachable);
        assert_eq!(run.record.failures_of(FailureKind::Timeout), 1);
        assert_eq!(run.record.failures_total(), 1);
    });
}
