//! How and when connections are ended.

use ablaze_model::plan::Close;
use ablaze_model::record::{NotKeptBy, Reason};
use ablaze_net::CloseHow;
use ablaze_net::sim::{Misbehave, Pieces};

use crate::simulated::numbered::numbered;
use crate::simulated::support::{
    HELLO, HELLO_CLOSE, Log, MS, Script, Seen, US, check_sums, closing_each, pipelined, plan, run,
};

fn closes(log: &Log) -> Vec<CloseHow> {
    let how = |seen| match seen {
        Seen::Closed(_, how) => Some(how),
        Seen::Request(..) => None,
    };
    log.take().into_iter().filter_map(how).collect()
}

#[test]
fn a_server_that_announced_its_close_and_stays_is_waited_for_by_no_request() {
    let log = Log::default();
    for (close, how, left_open) in [
        (Close::Await, CloseHow::Fin, 4),
        (Close::Fin, CloseHow::Fin, 0),
        (Close::Reset, CloseHow::Reset, 0),
    ] {
        let mut plan = plan(4, 1);
        plan.connections.close = close;
        run(&plan, &Script::always(HELLO_CLOSE, MS).logged(&log), |run| {
            check_sums(run);
            assert_eq!((run.record.responses, run.record.reused), (4, 0));
            assert_eq!((run.elapsed_ns, run.record.left_open), (4 * MS, left_open));
            assert_eq!(run.record.awaited_close, left_open);
            let seen = closes(&log);
            assert!(seen.len() >= 3 && seen.iter().all(|seen| *seen == how), "{close:?} {seen:?}");
        });
    }
}

#[test]
fn a_server_that_closes_as_announced_is_waited_for_and_costs_no_time() {
    let peer = Script::new(&[HELLO_CLOSE], |moment| {
        moment.send(MS, 0);
        moment.far.close_after(MS + 200 * US);
    });
    run(&plan(4, 1), &peer, |run| {
        check_sums(run);
        // None was closed from here before that.
        assert_eq!((run.record.responses, run.record.left_open), (4, 0));
        assert_eq!(run.record.awaited_close, 4);
        assert_eq!(run.elapsed_ns, 4 * MS);
    });
}

/// More connections than there are spare slots for: those are closed from here, and nobody waits.
#[test]
fn servers_that_never_close_do_not_use_up_the_slots() {
    for keep_alive in [true, false] {
        let plan = if keep_alive { plan(400, 40) } else { closing_each(plan(400, 40)) };
        let log = Log::default();
        run(&plan, &Script::always(HELLO_CLOSE, MS).logged(&log), |run| {
            check_sums(run);
            assert_eq!((run.record.responses, run.record.connections_opened), (400, 400));
            assert_eq!(run.elapsed_ns, 10 * MS);
            let spares = if keep_alive { 16 } else { 40 };
            assert_eq!((run.record.left_open, run.record.awaited_close), (spares, spares));
        });
    }
}

/// What a server reads behind a request whose response announces the close it does not process
/// (RFC 9112, 9.6): it is no failure, whatever its method, and goes out again.
#[test]
fn requests_behind_an_announced_close_are_sent_again_as_often_as_it_takes() {
    for method in ["GET", "POST"] {
        let mut plan = pipelined(plan(40, 2), 8);
        plan.requests.templates = vec![numbered(method, 1)];
        run(&plan, &Script::always(HELLO_CLOSE, MS).closing_after(1), |run| {
            check_sums(run);
            assert_eq!((run.record.responses, run.record.failures_total()), (40, 0), "{method}");
            assert!(run.record.repeated > 0);
            assert_eq!(run.record.repeated_after_announced, run.record.repeated);
        });
    }
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

/// What ends a connection is counted by itself for each response, whatever the first had.
#[test]
fn why_each_connection_was_not_kept_is_counted() {
    let responses: [&[u8]; 10] = [
        HELLO_CLOSE,
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello",
        b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.0 200 OK\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\n\r\nhello",
        b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n and more",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
    ];
    let peer = Script::new(&responses, |moment| {
        moment.send(MS, moment.connection as usize % 10);
        moment.far.close_after(2 * MS);
    });
    run(&plan(20, 1), &peer, |run| {
        check_sums(run);
        let record = &run.record;
        assert_eq!((record.responses, record.reused), (20, 0));
        // The one that changes the protocol has no reason.
        let each: Vec<_> = NotKeptBy::ALL.iter().map(|by| (*by, 2)).collect();
        assert_eq!(record.not_kept.met().collect::<Vec<_>>(), each);
    });
}
