//! A server is given up when connections come to nothing, and not while others still may come to something.

use ablaze_model::FailureKind;
use ablaze_model::plan::{Close, Plan};
use ablaze_model::run::Ended;
use ablaze_net::sim::ConnectReply;

use crate::simulated::support::{
    HELLO, MS, S, Script, US, check_sums, clock_before, closing_each, plan, run, with_timeout,
};

const REFUSED: i32 = 111;

/// Clock after, clock before, close each.
fn ways(requests: u64, connections: u32) -> [Plan; 3] {
    let mut closing = closing_each(plan(requests, connections));
    closing.connections.close = Close::Fin;
    [plan(requests, connections), clock_before(plan(requests, connections)), closing]
}

/// Every second attempt stands, after a time in which many others have been refused.
#[test]
fn what_is_refused_first_does_not_decide_for_what_takes_longer() {
    let peer = Script::new(&[HELLO], |moment| moment.send(MS, 0)).connecting(|_, number| {
        match number % 2 {
            0 => ConnectReply::AcceptAfter(300 * MS),
            _ => ConnectReply::RefuseAfter(200 * US, REFUSED),
        }
    });
    for (way, mut plan) in ways(500, 24).into_iter().enumerate() {
        plan.limits.unreachable_after = 10;
        run(&plan, &peer, |run| {
            check_sums(run);
            assert_eq!(run.ended, Ended::Complete, "way {way}");
            assert_eq!(run.record.finished(), 500);
            assert!(run.record.responses > 0);
        });
    }
}

/// Others wait behind a firewall that drops: the time of a request is longer than anybody wants to wait for the end.
#[test]
fn what_never_stands_is_not_waited_for_long() {
    let peer = Script::always(HELLO, MS).connecting(|_, number| match number % 2 {
        0 => ConnectReply::Never,
        _ => ConnectReply::RefuseAfter(200 * US, REFUSED),
    });
    for (way, mut plan) in ways(500, 24).into_iter().enumerate().skip(1) {
        plan.limits.unreachable_after = 10;
        run(&with_timeout(plan, 100 * S), &peer, |run| {
            assert_eq!(run.ended, Ended::Unreachable, "way {way}");
            assert!((5 * S..7 * S).contains(&run.elapsed_ns), "{} ns", run.elapsed_ns);
        });
    }
}

/// All are opened at once, and their time is over at once.
#[test]
fn every_attempt_that_timed_out_before_the_clock_is_counted() {
    let never = Script::always(HELLO, MS).connecting(|_, _| ConnectReply::Never);
    for connections in [1, 10, 50] {
        run(&with_timeout(plan(500, connections), S), &never, |run| {
            assert_eq!(run.ended, Ended::Unreachable);
            let failed = run.record.setup_failures;
            assert_eq!(failed[FailureKind::Timeout as usize], u64::from(connections));
            assert_eq!(failed.iter().sum::<u64>(), u64::from(connections));
            assert_eq!(run.record.failures_total(), 1, "the failure that ended the run");
        });
    }
}
