//! The warm-up leaves no trace in the figures.

use ablaze_model::Run;
use ablaze_net::sim::{ConnectReply, Misbehave, Pieces, Silent};

use crate::simulated::http2::over_http2;
use crate::simulated::http2_peer::Http2Script;
use crate::simulated::support::{
    HELLO, MS, S, Script, US, check_sums, clock_before, pipelined, plan, plan_for, run,
};

#[test]
fn a_number_of_requests_is_exact_behind_it() {
    // With 1 ms and 5 ms, an exchange begins at the very moment the warm-up ends; 700 µs not.
    for delay_ns in [MS, 5 * MS, 700 * US] {
        for workers in [1, 2] {
            let mut plan = crate::simulated::support::with_workers(plan(100, 4), workers);
            plan.limits.warmup_ns = 20 * MS;
            run(&plan, &Script::always(HELLO, delay_ns), |run| {
                check_sums(run);
                assert_eq!(run.record.responses, 100, "delay {delay_ns}");
                assert_eq!(run.record.body_lengths[&5], 100);
                assert_eq!(bytes(run), (100 * HELLO.len() as u64, 500));
            });
        }
    }
}

#[test]
fn nothing_of_it_is_counted() {
    // The first 50 ms are warm-up and go wrong in every way: unexpected, repeated, broken.
    let bad = b"HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\n";
    let peer = Script::new(&[HELLO, bad], |moment| {
        if moment.far.now() > ablaze_net::sim::START_NS + 40 * MS {
            return moment.send(MS, 0);
        }
        match moment.request {
            0 => moment.send(MS, 0),
            1 if moment.connection % 2 == 0 => moment.far.close_after(MS),
            _ => {
                moment.send(MS, 1);
                moment.far.close_after(2 * MS);
            }
        }
    });
    let mut plan = plan_for(100 * MS, 3);
    plan.limits.warmup_ns = 50 * MS;
    run(&plan, &peer, |run| {
        check_sums(run);
        let record = &run.record;
        assert_eq!(run.elapsed_ns, 100 * MS);
        assert_eq!((record.failures_total(), record.unexpected, record.repeated), (0, 0, 0));
        assert_eq!(record.statuses.keys().copied().collect::<Vec<_>>(), [200]);
        assert_eq!(record.body_bytes, record.responses * 5);
        assert_eq!(record.answered.total.max_ns(), Some(MS));
    });
}

#[test]
fn a_body_under_way_counts_for_neither() {
    // 4 of 5 bytes come before the window opens, the last one in it.
    let peer = Script::new(&[HELLO], |moment| {
        if moment.request > 0 {
            return moment.send(MS, 0);
        }
        let len = HELLO.len() as u32;
        moment.far.send_after(MS, 0, len - 1);
        moment.far.send_after(30 * MS, len - 1, 1);
    });
    let mut plan = plan(10, 1);
    plan.limits.warmup_ns = 20 * MS;
    run(&plan, &peer, |run| {
        check_sums(run);
        assert_eq!(run.record.responses, 10);
        assert_eq!(bytes(run), (10 * HELLO.len() as u64, 50));
    });
}

#[test]
fn what_is_received_for_it_is_not_counted_whatever_the_pieces() {
    for depth in [1, 4, 7] {
        for cut in [1, 7, HELLO.len() as u32, 60, 1_000] {
            // At 700 µs the window opens between two batches of responses, at 1 ms with one.
            for delay_ns in [700 * US, MS] {
                let peer = Script::always(HELLO, delay_ns).cut(Pieces::Of(cut), 10_000);
                let mut plan = pipelined(plan(100, 3), depth);
                plan.limits.warmup_ns = 20 * MS;
                run(&plan, &peer, |run| {
                    check_sums(run);
                    assert_eq!(run.record.responses, 100);
                    assert_eq!(bytes(run), (100 * HELLO.len() as u64, 500), "{depth} {cut}");
                });
            }
        }
    }
}

#[test]
fn bodies_of_it_are_not_counted_where_responses_come_in_any_order() {
    let mut plan = over_http2(plan(100, 2), 4);
    plan.limits.warmup_ns = 20 * MS;
    run(&plan, &Http2Script::always(700 * US), |run| {
        check_sums(run);
        assert_eq!((run.record.responses, run.record.body_bytes), (100, 500));
    });
}

/// Bytes received, and those of bodies.
fn bytes(run: &Run) -> (u64, u64) {
    (run.record.received_bytes, run.record.body_bytes)
}

#[test]
fn an_exchange_of_it_does_not_lengthen_the_run() {
    // Connection 0's first request is answered long after everything else is done.
    let peer = Script::new(&[HELLO], |moment| match (moment.connection, moment.request) {
        (0, 0) => moment.send(2 * S, 0),
        _ => moment.send(MS, 0),
    });
    let mut plan = plan(10, 2);
    plan.limits.warmup_ns = 20 * MS;
    run(&plan, &peer, |run| {
        check_sums(run);
        assert_eq!(run.record.responses, 10);
        // One millisecond is left of the warm-up's last exchange on connection 1.
        assert_eq!(run.elapsed_ns, 11 * MS);
    });
}

#[test]
fn a_server_that_refuses_throughout_it_is_named() {
    let mut plan = clock_before(plan(10, 2));
    plan.limits.warmup_ns = S;
    run(&plan, &Silent(ConnectReply::RefuseAfter(MS, 111)), |run| {
        assert_eq!(run.ended, ablaze_model::run::Ended::Unreachable);
        assert_eq!(run.record.first_failure.map(|failure| failure.errno), Some(111));
        assert_eq!(run.record.unfinished, 0);
    });
}

#[test]
fn a_request_of_it_that_is_never_answered_is_told() {
    // The first request of connection 0 hangs; the second connection answers all along.
    let peer = Script::new(&[HELLO], |moment| match (moment.connection, moment.request) {
        (0, 0) => {}
        _ => moment.send(MS, 0),
    });
    let mut plan = plan_for(2 * S, 2);
    plan.limits.warmup_ns = 20 * MS;
    run(&plan, &peer, |run| {
        let silent = run.record.silent;
        assert_eq!((silent.count, silent.of_warmup), (1, 1));
        assert!(silent.longest_ns >= 2 * S, "{}", silent.longest_ns);
        // It is in no figure of the window.
        assert_eq!(run.record.unfinished, 1);
    });
}
