//! How and when connections are ended.

use ablaze_model::plan::Close;
use ablaze_net::CloseHow;
use ablaze_net::sim::{Misbehave, Pieces};

use crate::simulated::support::{
    HELLO, HELLO_CLOSE, Log, MS, S, Script, Seen, US, check_sums, closing_each, pipelined, plan,
    run,
};

fn closes(log: &Log) -> Vec<CloseHow> {
    let how = |seen| match seen {
        Seen::Closed(_, how) => Some(how),
        Seen::Request(..) => None,
    };
    log.take().into_iter().filter_map(how).collect()
}

#[test]
fn a_server_that_announced_its_close_and_stays_is_waited_for_one_second() {
    let log = Log::default();
    for (close, how, pause_ns) in [
        (Close::Await, CloseHow::Fin, S),
        (Close::Fin, CloseHow::Fin, 0),
        (Close::Reset, CloseHow::Reset, 0),
    ] {
        let mut plan = plan(4, 1);
        plan.connections.close = close;
        run(&plan, &Script::always(HELLO_CLOSE, MS).logged(&log), |run| {
            check_sums(run);
            assert_eq!((run.record.responses, run.record.reused), (4, 0));
            assert_eq!(run.elapsed_ns, 4 * MS + 3 * pause_ns);
            let seen = closes(&log);
            assert!(seen.len() >= 3 && seen.iter().all(|seen| *seen == how), "{close:?} {seen:?}");
        });
    }
}

#[test]
fn a_server_that_closes_as_announced_is_awaited() {
    let peer = Script::new(&[HELLO_CLOSE], |moment| {
        moment.send(MS, 0);
        moment.far.close_after(MS + 200 * US);
    });
    run(&plan(4, 1), &peer, |run| {
        check_sums(run);
        assert_eq!(run.record.responses, 4);
        assert_eq!(run.elapsed_ns, 4 * MS + 3 * 200 * US);
    });
}

#[test]
fn an_announced_close_never_cuts_a_response() {
    for close in [Close::Await, Close::Fin, Close::Reset] {
        let mut plan = plan(6, 2);
        plan.connections.close = close;
        for bytes in [1, 10] {
            let peer = Script::always(HELLO_CLOSE, MS).cut(Pieces::Of(bytes), 100 * MS);
            run(&plan, &peer, |run| {
                check_sums(run);
                assert_eq!((run.record.responses, run.record.body_bytes), (6, 30));
            });
        }
    }
}

#[test]
fn so_many_requests_per_connection() {
    for depth in [1, 2, 8] {
        for limit in [1, 3, 5] {
            let mut plan = pipelined(plan(30, 2), depth);
            plan.connections.requests_per_connection = Some(limit);
            let log = Log::default();
            run(&plan, &Script::always(HELLO, MS).logged(&log), |run| {
                check_sums(run);
                assert_eq!((run.record.responses, run.record.repeated), (30, 0));
                let mut per_connection = std::collections::BTreeMap::new();
                for seen in log.take() {
                    if let Seen::Request(connection, ..) = seen {
                        *per_connection.entry(connection).or_insert(0u64) += 1;
                    }
                }
                assert_eq!(per_connection.values().copied().max(), Some(limit));
                assert!(run.record.connections_opened >= 30 / limit);
                assert!(run.record.connections_opened <= 30 / limit + 2);
            });
        }
    }
}

#[test]
fn one_request_per_connection() {
    run(&closing_each(plan(30, 3)), &Script::always(HELLO_CLOSE, MS).closing_after(1), |run| {
        check_sums(run);
        assert_eq!((run.record.responses, run.record.connections_opened), (30, 30));
        assert_eq!(run.record.reused, 0);
        assert_eq!(run.record.answered.connect.count(), 30);
    });
}
