//! A request on a reused connection that was closed before any response byte is sent again, once.

use ablaze_model::plan::{Arrivals, Load, RateProfile};
use ablaze_model::{FailureKind, Run};
use ablaze_wire::http1::builder::RequestBuilder;

use crate::simulated::support::{
    HELLO, Log, MS, Moment, Script, Seen, US, check_sums, plan, run, without_repeat,
};

type Act = fn(&mut Moment<'_, '_>);

const FIN: Act = |moment| moment.far.close_after(500 * US);
const RST: Act = |moment| moment.far.reset_after(500 * US);

/// Responses one request per connection and ends it when the second has come.
fn ending_at_second(end: Act) -> Script {
    Script::new(&[HELLO], move |moment| match moment.request {
        0 => moment.send(MS, 0),
        _ => end(moment),
    })
}

#[test]
fn and_timed_from_its_first_sending() {
    for (end, resets) in [(FIN, 0), (RST, 9)] {
        run(&plan(10, 1), &ending_at_second(end), |run| {
            check_sums(run);
            let record = &run.record;
            assert_eq!((record.responses, record.failures_total()), (10, 0));
            // All but the first, which opened the first connection.
            assert_eq!((record.repeated, record.repeated_after_reset), (9, resets));
            assert_eq!(record.connections_opened, 10);
            assert_eq!(record.answered.total.min_ns(), Some(MS));
            assert_eq!(record.answered.total.sum_ns(), u128::from(MS + 9 * (MS + 500 * US)));
        });
    }
}

/// What a POST does might be done twice (RFC 9110, 9.2.2).
#[test]
fn but_not_what_may_not_be_done_twice() {
    for (method, repeats) in [("PUT", true), ("DELETE", true), ("POST", false), ("PATCH", false)] {
        let mut plan = plan(10, 1);
        let request = RequestBuilder::new(method, "/").header("Host", "there").build().unwrap();
        plan.requests.templates = vec![request];
        run(&plan, &ending_at_second(FIN), |run| {
            check_sums(run);
            let record = &run.record;
            let expected = if repeats { (10, 0, 9) } else { (5, 5, 0) };
            let counts = (record.responses, record.failures_total(), record.repeated);
            assert_eq!(counts, expected, "{method}");
            let closed = record.failures_of(FailureKind::ClosedWithoutResponse);
            assert_eq!(closed, record.failures_total(), "{method}");
        });
    }
}

/// A schedule lets connections stand idle: how long they did is kept.
#[test]
fn how_long_a_connection_was_idle_is_kept() {
    let mut plan = plan(10, 1);
    let request = RequestBuilder::new("POST", "/").header("Host", "there").build().unwrap();
    plan.requests.templates = vec![request];
    run(&plan, &ending_at_second(RST), |run| {
        let ended = run.record.ended_idle;
        assert_eq!((ended.failed.count, ended.failed_by_reset, ended.failed.longest_ns), (5, 5, 0));
    });
    plan.load = Load::Open {
        rate: RateProfile::constant(100.0),
        arrivals: Arrivals::Constant,
        connections: 1,
        bounded: true,
    };
    run(&plan, &ending_at_second(FIN), |run| {
        let ended = run.record.ended_idle;
        assert_eq!((ended.failed.count, ended.failed_by_reset, ended.unused.count), (5, 0, 0));
        // Due every 10 ms, responses after 1 ms.
        assert_eq!((ended.failed.shortest_ns, ended.failed.longest_ns), (9 * MS, 9 * MS));
    });
    let closing = Script::new(&[HELLO], |moment| {
        moment.send(MS, 0);
        moment.far.close_after(4 * MS);
    });
    run(&plan, &closing, |run| {
        let ended = run.record.ended_idle;
        assert_eq!((run.record.responses, ended.failed.count), (10, 0));
        assert!(ended.unused.count >= 9, "{ended:?}");
        assert_eq!((ended.unused.shortest_ns, ended.unused.longest_ns), (3 * MS, 3 * MS));
    });
}

#[test]
fn but_not_on_a_new_connection() {
    for (end, kind) in [(FIN, FailureKind::ClosedWithoutResponse), (RST, FailureKind::Reset)] {
        run(&plan(10, 2), &Script::new(&[], end), |run| {
            check_sums(run);
            assert_eq!(run.record.failures_of(kind), 10);
            assert_eq!((run.record.responses, run.record.repeated), (0, 0));
            assert_eq!(run.record.failed.total.max_ns(), Some(500 * US));
        });
    }
}

#[test]
fn but_not_twice() {
    // Connection 0 responses one and ends; connection 1 ends without any response, and so on.
    for (end, kind) in [(FIN, FailureKind::ClosedWithoutResponse), (RST, FailureKind::Reset)] {
        let peer =
            Script::new(&[HELLO], move |moment| match (moment.connection % 2, moment.request) {
                (0, 0) => moment.send(MS, 0),
                _ => end(moment),
            });
        run(&plan(10, 1), &peer, |run| {
            check_sums(run);
            assert_eq!((run.record.responses, run.record.repeated), (5, 5));
            assert_eq!(run.record.failures_of(kind), 5);
            assert_eq!(run.record.failed.total.min_ns(), Some(MS));
        });
    }
}

#[test]
fn but_not_when_it_is_forbidden() {
    for (end, kind) in [(FIN, FailureKind::ClosedWithoutResponse), (RST, FailureKind::Reset)] {
        run(&without_repeat(plan(10, 1)), &ending_at_second(end), |run| {
            check_sums(run);
            assert_eq!((run.record.responses, run.record.repeated), (5, 0));
            assert_eq!(run.record.failures_of(kind), 5);
        });
    }
}

/// The server's close arrives together with the response before: the next request is made and lost
/// within one batch.
#[test]
fn and_none_is_lost_when_the_close_comes_with_the_response_before() {
    let peer = Script::new(&[HELLO], |moment| {
        moment.send(MS, 0);
        moment.far.close_after(MS);
    });
    let finished = |run: &Run| {
        check_sums(run);
        assert_eq!(run.record.finished(), 10);
    };
    run(&plan(10, 1), &peer, |run| {
        finished(run);
        assert_eq!(run.record.responses, 10);
    });
    run(&without_repeat(plan(10, 1)), &peer, finished);
}

#[test]
fn with_identical_bytes() {
    let log = Log::default();
    let mut plan = plan(20, 2);
    plan.requests.templates = vec![crate::simulated::support::get("/?id={seq}&key={rand:8}")];
    let check_log = |run: &Run| {
        assert_eq!((run.record.responses, run.record.repeated), (20, 18));
        let mut heads: Vec<Vec<u8>> = log
            .take()
            .into_iter()
            .filter_map(|seen| match seen {
                Seen::Request(_, _, head) => Some(head),
                Seen::Closed(..) => None,
            })
            .collect();
        assert_eq!(heads.len(), 38);
        heads.sort();
        heads.dedup();
        assert_eq!(heads.len(), 20);
        for (number, head) in heads.iter().enumerate() {
            let text = String::from_utf8_lossy(head);
            assert!(text.contains(&format!("?id={number:010}&")), "{text}");
        }
    };
    run(&plan, &ending_at_second(FIN).logged(&log), check_log);
}
