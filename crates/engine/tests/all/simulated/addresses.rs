//! A name with several addresses: each is tried until one accepts.

use ablaze_model::FailureKind;
use ablaze_model::plan::Plan;
use ablaze_model::run::Ended;
use ablaze_net::sim::ConnectReply;

use crate::simulated::support::{
    HELLO, MS, S, Script, US, check_sums, clock_before, closing_each, plan, run, run_at,
    with_timeout,
};

const REFUSED: i32 = 111;

fn refusing() -> Script {
    Script::always(HELLO, MS).connecting(|_, _| ConnectReply::RefuseAfter(200 * US, REFUSED))
}

fn never() -> Script {
    Script::always(HELLO, MS).connecting(|_, _| ConnectReply::Never)
}

fn with_two(mut plan: Plan) -> Plan {
    plan.target.addresses.push(([127, 0, 0, 2], 80).into());
    plan
}

/// Clock after, clock before, close each.
fn ways(requests: u64, connections: u32) -> [Plan; 3] {
    let plan = with_two(plan(requests, connections));
    [plan.clone(), clock_before(plan.clone()), closing_each(plan)]
}

#[test]
fn the_second_takes_over_when_the_first_refuses() {
    for connections in [1, 2, 50] {
        for unreachable_after in [1, 10] {
            for (way, mut plan) in ways(200, connections).into_iter().enumerate() {
                plan.limits.unreachable_after = unreachable_after;
                plan.connections.close = ablaze_model::plan::Close::Fin;
                run_at(&plan, &[refusing(), Script::always(HELLO, MS)], |run| {
                    check_sums(run);
                    assert_eq!(run.ended, Ended::Complete, "{connections} {unreachable_after}");
                    assert_eq!((run.record.responses, run.record.failures_total()), (200, 0));
                    // No request failed by it, before the clock or behind it: it is counted all the same.
                    let refused = run.record.setup_failures[FailureKind::Refused as usize];
                    let [first, second] = &run.record.by_address[..] else {
                        panic!("two addresses")
                    };
                    assert_eq!(first.stood + second.kinds().count() as u64, 0, "way {way}");
                    assert_eq!(
                        first.kinds().collect::<Vec<_>>(),
                        [(FailureKind::Refused, refused)]
                    );
                    assert!(second.stood >= run.record.connections_opened.max(1), "way {way}");
                    let possible = 1..=u64::from(connections);
                    assert!(possible.contains(&refused), "{refused} of {connections}, way {way}");
                    assert_eq!(run.connected_to, "127.0.0.2:80");
                });
            }
        }
    }
}

#[test]
fn the_second_takes_over_when_the_first_never_answers() {
    for connections in [1, 2, 50] {
        for (way, plan) in ways(200, connections).into_iter().enumerate() {
            run_at(&with_timeout(plan, S), &[never(), Script::always(HELLO, MS)], |run| {
                check_sums(run);
                assert_eq!(run.ended, Ended::Complete, "{connections} connections, way {way}");
                assert_eq!(run.record.finished(), 200);
                // With the clock before, the first request of each connection has run out of time.
                let lost = if way == 0 { 0 } else { u64::from(connections) };
                assert_eq!(run.record.failures_of(FailureKind::Timeout), lost);
                // Before the clock each connection is tried there once.
                let before = if way == 0 { u64::from(connections) } else { 0 };
                assert_eq!(run.record.setup_failures.iter().sum::<u64>(), before);
                let first = &run.record.by_address[0];
                let timed_out = [(FailureKind::Timeout, u64::from(connections))];
                assert_eq!(first.kinds().collect::<Vec<_>>(), timed_out, "way {way}");
            });
        }
    }
}

#[test]
fn unreachable_is_found_quickly_and_counted_once() {
    for connections in [1, 5, 50] {
        for peers in [vec![refusing()], vec![refusing(), refusing()]] {
            for unreachable_after in [1, 10] {
                let mut plan = plan(100_000, connections);
                plan.limits.unreachable_after = unreachable_after;
                plan.target.addresses = vec![([127, 0, 0, 1], 80).into(); peers.len()];
                run_at(&plan, &peers, |run| {
                    assert_eq!(run.ended, Ended::Unreachable);
                    assert!(run.elapsed_ns < 2 * S);
                    assert_eq!(
                        run.record.first_failure.map(|failure| failure.errno),
                        Some(REFUSED)
                    );
                    let most = u64::from(unreachable_after) * peers.len() as u64;
                    let counted = run.record.failures_of(FailureKind::Refused);
                    assert!((1..=most).contains(&counted), "{counted} with {connections}");
                    assert_eq!(run.record.failures_total(), counted);
                    assert_eq!(run.record.connections_opened, 0);
                    // What is shown over time has them too.
                    let slices = &run.record.slices.slices;
                    let in_slices: u64 = slices.iter().map(|slice| slice.failures).sum();
                    assert_eq!(in_slices, counted, "{slices:?}");
                });
            }
        }
    }
}

/// A run by number has no other end than its requests: a million of them would be refused for hours.
#[test]
fn a_server_that_ended_is_given_up_in_a_run_by_number() {
    let peer = Script::new(&[HELLO], |moment| moment.send(MS, 0)).connecting(|_, number| {
        if number < 10 {
            ConnectReply::AcceptAfter(0)
        } else {
            ConnectReply::RefuseAfter(MS, REFUSED)
        }
    });
    let mut plan = closing_each(plan(1_000_000, 4));
    plan.connections.close = ablaze_model::plan::Close::Fin;
    run(&plan, &peer, |run| {
        check_sums(run);
        assert_eq!(run.ended, Ended::Unreachable);
        assert_eq!(run.record.responses, 10);
        assert!((30 * S..32 * S).contains(&run.elapsed_ns), "{}", run.elapsed_ns);
    });
    // With a time it ends then, and where failures are tolerated by its number.
    plan.limits.duration_ns = Some(40 * S);
    run(&plan, &peer, |run| assert_eq!(run.ended, Ended::Complete));
    (plan.limits.duration_ns, plan.limits.requests) = (None, Some(3_000));
    plan.limits.unreachable_after = u32::MAX;
    run(&plan, &peer, |run| {
        assert_eq!(run.ended, Ended::Complete);
        assert_eq!(run.record.finished(), 3_000);
    });
}

#[test]
fn requests_refused_later_fail_and_the_run_goes_on() {
    let peer = Script::new(&[HELLO], |moment| moment.send(MS, 0)).connecting(|_, number| {
        if number % 2 == 0 {
            ConnectReply::AcceptAfter(0)
        } else {
            ConnectReply::RefuseAfter(MS, REFUSED)
        }
    });
    let mut plan = closing_each(plan(100, 1));
    plan.connections.close = ablaze_model::plan::Close::Fin;
    run(&plan, &peer, |run| {
        check_sums(run);
        assert_eq!((run.record.responses, run.record.failures_of(FailureKind::Refused)), (50, 50));
        assert_eq!(run.ended, Ended::Complete);
        // Nothing was sent where nothing stood.
        let request = plan.requests.templates[0].bytes.len() as u64;
        assert_eq!(run.record.sent_bytes, 50 * request);
    });
}
