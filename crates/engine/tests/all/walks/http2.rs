//! Journeys over HTTP/2: a user is a stream at a time. What ends a stream ends one journey; a server that replaces its
//! connections ends none.

use ablaze_model::failure::FailureKind;
use ablaze_model::plan::users::{Ramp, ThinkTime, Users};
use ablaze_model::plan::{Arrivals, Load, Plan, RateProfile};
use ablaze_model::run::Ended;
use ablaze_net::sim::{ConnectReply, Misbehave, Pieces};

use super::journeys::{journey, walk_among};
use super::origins::to_two;
use crate::simulated::http2::over_http2;
use crate::simulated::http2_peer::{Http2Script, frame};
use crate::simulated::support::*;

const THREE: &str = "# name: one
GET http://there/one
HTTP/2 200
[Asserts]
body == \"hello\"

# name: two
POST http://there/two
{\"a\": 1}
HTTP 200
[Asserts]
version == \"2\"

# name: three
GET http://there/three
HTTP 200
";
const PAUSING: &str = "GET http://there/one
HTTP 200

GET http://there/two
[Options]
delay: 5ms
HTTP 200
";
const ELSEWHERE: &str = "GET http://there/one
HTTP 200

GET http://other.there:81/two
HTTP 200

GET http://other.there:81/three
HTTP 200

GET http://there/four
HTTP 200
";

fn three(plan: Plan, streams: u32) -> Plan {
    journey(over_http2(plan, streams), THREE, |_, _| {})
}

fn with_users(mut plan: Plan, users: Users) -> Plan {
    plan.journey.as_mut().unwrap().users = users;
    plan
}

#[test]
fn every_journey_is_walked_once_and_whole_whoever_shares_a_connection() {
    for (connections, streams, workers) in [(1, 1, 1), (4, 1, 2), (1, 8, 1), (3, 5, 2)] {
        let peer = Http2Script::always(MS);
        let plan = three(with_workers(plan(60, connections), workers), streams);
        walk_among(&plan, std::slice::from_ref(&peer), |run, journeys| {
            assert_eq!((journeys.begun, journeys.whole, journeys.failed), (60, 60, 0));
            // Each step has one for its status, the first and the second one more.
            assert_eq!((journeys.asserts_passed, journeys.asserts_failed), (5 * 60, 0));
            let groups: Vec<u64> = run.record.groups.iter().map(|one| one.responses).collect();
            assert_eq!(groups, [60, 60, 60]);
            assert_eq!(run.record.connections_opened, u64::from(connections));
        });
        let most = peer.seen().requests_at_once.into_iter().max().unwrap();
        assert!(most <= streams as usize, "{most} of {streams}");
    }
}

#[test]
fn responses_may_come_in_pieces_of_any_size() {
    for bytes in 1..=24 {
        let peer = Http2Script::always(MS).cut(Pieces::Of(bytes), 1_000);
        walk_among(&three(plan(12, 2), 3), &[peer], |run, journeys| {
            assert_eq!((journeys.whole, run.record.responses), (12, 36), "{bytes}");
        });
    }
}

#[test]
fn connections_that_are_replaced_cost_no_journey() {
    for streams in [1, 4, 18] {
        let peer = Http2Script::new(|asked| match asked.request {
            0..9 => asked.response(MS),
            9 => {
                asked.response(MS);
                asked.goaway(MS);
            }
            _ => {}
        });
        walk_among(&three(plan(80, 2), streams), &[peer], |run, journeys| {
            assert_eq!((journeys.begun, journeys.whole, journeys.failed), (80, 80, 0));
            assert_eq!((run.record.responses, run.record.failures_total()), (240, 0));
            assert!(run.record.http2.as_ref().unwrap().goaways >= 23, "{streams}");
        });
    }
    // So do those that this side ends.
    let mut plan = three(plan(40, 2), 3);
    plan.connections.requests_per_connection = Some(4);
    walk_among(&plan, &[Http2Script::always(MS)], |run, journeys| {
        assert_eq!((journeys.whole, run.record.responses), (40, 120));
        assert!(run.record.connections_opened >= 30, "{}", run.record.connections_opened);
    });
}

#[test]
fn a_stream_that_is_reset_ends_its_journey_and_no_other() {
    let peer = Http2Script::new(|asked| match asked.request % 10 {
        3 => asked.reset(MS),
        _ => asked.response(MS),
    });
    walk_among(&three(plan(100, 2), 4), &[peer], |run, journeys| {
        let resets = run.record.failures_of(FailureKind::StreamReset);
        assert!(resets > 10);
        assert_eq!((journeys.begun, journeys.failed, journeys.whole), (100, resets, 100 - resets));
        assert_eq!(run.record.failures_total(), resets);
        assert_eq!(run.record.http2.as_ref().unwrap().resets.total(), resets);
        let first = journeys.steps.iter().find_map(|step| step.first.as_ref()).unwrap();
        assert!(first.text.contains("no response: "), "{}", first.text);
    });
}

#[test]
fn a_connection_that_breaks_ends_the_journeys_on_it() {
    let peer = Http2Script::new(|asked| match asked.request {
        11 => asked.far.reset_after(3 * MS),
        _ => asked.response(MS),
    });
    walk_among(&without_repeat(three(plan(60, 2), 4)), &[peer], |run, journeys| {
        let failures = run.record.failures_total();
        assert!(failures > 0);
        assert_eq!((journeys.begun, journeys.failed), (60, failures));
        assert_eq!(journeys.whole + failures, 60);
        assert_eq!(run.ended, Ended::Complete);
    });
}

#[test]
fn a_stream_without_a_response_times_out_and_its_user_goes_on() {
    let peer = Http2Script::new(|asked| match (asked.connection, asked.request) {
        (0, 5) => {}
        _ => asked.response(MS),
    });
    let plan = with_timeout(three(plan(30, 1), 3), 20 * MS);
    walk_among(&plan, std::slice::from_ref(&peer), |run, journeys| {
        assert_eq!((journeys.begun, journeys.failed, journeys.whole), (30, 1, 29));
        assert_eq!(run.record.failures_of(FailureKind::Timeout), 1);
        assert_eq!(run.record.connections_opened, 1);
    });
    // Over each of the two drivers.
    assert_eq!(peer.seen().resets, 2);
}

#[test]
fn users_pause_on_their_own() {
    let plan = journey(over_http2(plan(16, 2), 8), PAUSING, |_, _| {});
    walk_among(&plan, &[Http2Script::always(MS)], |run, journeys| {
        assert_eq!(journeys.whole, 16);
        // All at the same time: two responses, and the pause between them.
        assert!((7 * MS..9 * MS).contains(&run.elapsed_ns), "{}", run.elapsed_ns);
    });
    // A server that closes meanwhile costs a connection.
    let peer = Http2Script::new(|asked| {
        asked.response(MS);
        if asked.request == 7 {
            asked.far.close_after(2 * MS);
        }
    });
    walk_among(&plan, &[peer], |run, journeys| {
        assert_eq!((journeys.whole, run.record.failures_total()), (16, 0));
        assert!(run.record.connections_opened >= 4, "{}", run.record.connections_opened);
    });
}

#[test]
fn users_come_think_and_stop_as_over_http1() {
    let asked = Users { iterations: Some(5), ..Users::default() };
    let plan = with_users(three(lasting(10_000 * MS, 3), 4), asked);
    walk_among(&with_workers(plan, 2), &[Http2Script::always(MS)], |run, journeys| {
        assert_eq!((journeys.begun, journeys.whole), (3 * 4 * 5, 60));
        assert_eq!(run.ended, Ended::Complete);
    });
    let ramp = Some(Ramp { from: 3, to: 12, over_ns: 90 * MS });
    let think_time = Some(ThinkTime::Constant { ns: 100 * MS });
    let asked = Users { ramp, think_time, ..Users::default() };
    let plan = with_users(three(lasting(90 * MS, 3), 4), asked);
    walk_among(&with_workers(plan, 2), &[Http2Script::always(MS)], |_, journeys| {
        // Each comes once and thinks till the end; the last comes when it is over.
        assert!((11..=12).contains(&journeys.begun), "{}", journeys.begun);
    });
}

/// For a time, with so many connections.
fn lasting(duration_ns: u64, connections: u32) -> Plan {
    let mut plan = plan(1, connections);
    (plan.limits.requests, plan.limits.duration_ns) = (None, Some(duration_ns));
    plan
}

#[test]
fn arrivals_find_users_that_are_free() {
    for (rate_per_s, pause) in [(500.0, false), (20_000.0, false), (500.0, true), (20_000.0, true)]
    {
        let text = if pause { PAUSING } else { THREE };
        let mut plan = journey(over_http2(plan(100, 3), 4), text, |_, _| {});
        let rate = RateProfile::constant(rate_per_s);
        plan.load =
            Load::Open { rate, arrivals: Arrivals::Constant, connections: 3, bounded: true };
        let steps = if pause { 2 } else { 3 };
        walk_among(&plan, &[Http2Script::always(MS)], |run, journeys| {
            assert_eq!((journeys.begun, journeys.whole), (100, 100), "{rate_per_s} {pause}");
            assert_eq!(run.record.responses, 100 * steps);
            assert!(run.record.connections_opened <= 3);
        });
    }
}

#[test]
fn a_warm_up_and_a_limit_of_time_leave_users_in_the_middle() {
    let mut plan = three(lasting(50 * MS, 2), 4);
    plan.limits.warmup_ns = 20 * MS;
    walk_among(&plan, &[Http2Script::always(MS)], |run, journeys| {
        assert_eq!((run.elapsed_ns, run.record.failures_total()), (50 * MS, 0));
        assert!(journeys.whole > 100, "{}", journeys.whole);
        assert!(journeys.unfinished() <= 8);
    });
}

#[test]
fn where_fewer_streams_are_permitted_users_wait_for_one() {
    for permitted in [1, 3] {
        let peer = Http2Script::with(&[(3, permitted)], &[], |asked| asked.response(MS));
        walk_among(&three(plan(30, 2), 6), std::slice::from_ref(&peer), |run, journeys| {
            assert_eq!((journeys.whole, run.record.responses), (30, 90));
            let facts = run.record.http2.as_ref().unwrap();
            assert_eq!(facts.streams_permitted, Some(permitted));
        });
        let most = peer.seen().requests_at_once.into_iter().max();
        assert!(most <= Some(permitted as usize), "{most:?}");
    }
}

#[test]
fn users_go_to_several_hosts_and_each_is_at_one() {
    for (connections, streams) in [(1, 1), (2, 5)] {
        let plan = to_two(over_http2(plan(40, connections), streams), ELSEWHERE, 1);
        let peers = [Http2Script::always(MS), Http2Script::always(MS)];
        walk_among(&plan, &peers, |run, journeys| {
            assert_eq!((journeys.whole, run.record.responses), (40, 160));
            assert_eq!(run.record.connections_opened, 2 * u64::from(connections));
        });
        for peer in &peers {
            let requests: usize = peer.seen().requests_at_once.into_iter().sum();
            // Over each of the two drivers.
            assert_eq!(requests, 2 * 80);
        }
    }
    let refusing = Http2Script::always(MS).connecting(|_| ConnectReply::RefuseAfter(200 * US, 111));
    let plan = without_repeat(to_two(over_http2(plan(20, 2), 3), ELSEWHERE, 1));
    walk_among(&plan, &[Http2Script::always(MS), refusing], |run, journeys| {
        assert_eq!((journeys.begun, journeys.failed), (20, 20));
        assert_eq!(run.ended, Ended::Complete);
        assert_eq!((run.record.responses, run.record.failures_total()), (20, 20));
    });
}

#[test]
fn a_request_that_was_refused_is_sent_again_with_its_body() {
    let peer = Http2Script::new(|asked| match asked.request % 5 {
        1 => asked.refuse(MS),
        _ => asked.response(MS),
    });
    walk_among(&three(plan(30, 1), 1), std::slice::from_ref(&peer), |run, journeys| {
        assert_eq!((journeys.whole, run.record.responses), (30, 90));
        assert!(run.record.repeated > 10, "{}", run.record.repeated);
    });
    // Some of what was refused are posts, whose bodies come again, over each of the two drivers.
    let bodies = peer.seen().body_bytes;
    assert!(bodies > 2 * 30 * 8 && bodies.is_multiple_of(8), "{bodies}");
    // A body that waits for a window waits in the connection.
    let peer =
        Http2Script::with(&[(4, 3)], &[frame(8, 0, 0, &100_000_u32.to_be_bytes())], |asked| {
            asked.response(MS)
        });
    walk_among(&three(plan(10, 1), 2), &[peer], |run, journeys| {
        assert_eq!((journeys.whole, run.record.responses), (10, 30));
    });
}
