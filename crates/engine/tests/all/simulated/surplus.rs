//! Bytes behind the last response: nobody asked for them, the connection is not used again.

use ablaze_model::record::NotKeptBy;
use ablaze_net::CloseHow;

use crate::simulated::support::{HELLO, Log, MS, Script, Seen, check_sums, plan, run};

const WITH_SURPLUS: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more";

#[test]
fn the_connection_is_closed_at_once() {
    let log = Log::default();
    run(&plan(10, 1), &Script::always(WITH_SURPLUS, MS).logged(&log), |run| {
        check_sums(run);
        assert_eq!((run.record.responses, run.record.failures_total()), (10, 0));
        assert_eq!(run.record.connections_opened, 10);
        assert_eq!(run.record.surplus, 10);
        assert_eq!(run.record.not_kept.met().collect::<Vec<_>>(), [(NotKeptBy::Surplus, 10)]);
        assert_eq!(run.record.body_bytes, 50);
        // Nothing announced a close: there is none to wait for.
        assert_eq!(run.elapsed_ns, 10 * MS);
        let seen = log.take();
        assert!(seen.contains(&Seen::Closed(0, CloseHow::Fin)), "{seen:?}");
    });
}

/// The second copy of a response comes while the next request is about to leave: the client closes the
/// connection, not the server, and sends that request again.
#[test]
fn what_is_sent_again_for_it_is_told_apart_from_what_a_server_closed() {
    let peer = Script::new(&[HELLO, HELLO], |moment| {
        moment.send(MS, 0);
        moment.send(MS, 1);
    });
    run(&plan(10, 1), &peer, |run| {
        check_sums(run);
        let record = &run.record;
        assert_eq!((record.responses, record.failures_total()), (10, 0));
        assert_eq!(record.repeated_after_surplus, record.repeated);
        assert_eq!(record.repeated_after_reset, 0);
        assert!(record.surplus > 0);
    });
}

/// A server that says 408 to a connection that has been idle, as it closes it, responds to nobody; behind a response in
/// the same piece it may be anything.
#[test]
fn a_408_without_a_request_is_told_from_other_responses() {
    const TIMEOUT: &[u8] = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n";
    let peer = Script::new(&[HELLO, TIMEOUT], |moment| {
        moment.send(MS, 0);
        moment.send(3 * MS, 1);
    });
    let mut idle = plan(10, 1);
    idle.load = ablaze_model::plan::Load::Open {
        rate: ablaze_model::plan::RateProfile::constant(100.0),
        arrivals: ablaze_model::plan::Arrivals::Constant,
        connections: 1,
        bounded: true,
    };
    run(&idle, &peer, |run| {
        check_sums(run);
        let record = &run.record;
        assert!(record.surplus_responses > 0);
        assert_eq!(record.circumstances.idle_timeouts, record.surplus_responses);
    });
    let at_once = [HELLO, TIMEOUT].concat();
    run(&plan(10, 1), &Script::always(&at_once, MS), |run| {
        assert_eq!((run.record.surplus_responses, run.record.circumstances.idle_timeouts), (10, 0));
    });
}

#[test]
fn bytes_behind_a_whole_response_are_told_from_a_server_without_http() {
    let peer = Script::new(&[HELLO, b"}"], |moment| {
        moment.send(MS, usize::from(moment.request > 0));
    });
    run(&plan(10, 1), &peer, |run| {
        let record = &run.record;
        let malformed = record.failures_of(ablaze_model::FailureKind::Malformed);
        assert!(malformed > 0);
        assert_eq!(record.circumstances.malformed_behind, malformed);
    });
    run(&plan(10, 1), &Script::always(b"}", MS), |run| {
        assert!(run.record.failures_total() > 0);
        assert_eq!(run.record.circumstances.malformed_behind, 0);
    });
}

#[test]
fn an_interim_response_alone_is_told_from_a_short_head() {
    for (sent, only) in
        [("HTTP/1.1 100 Continue\r\n\r\n", true), ("HTTP/1.1 100 Continue\r\n\r\nHTTP/", false)]
    {
        let peer = Script::new(&[sent.as_bytes()], |moment| {
            moment.send(MS, 0);
            moment.far.fin_after(2 * MS);
        });
        run(&plan(10, 1), &peer, |run| {
            let short = run.record.failures_of(ablaze_model::FailureKind::ShortHead);
            assert!(short > 0);
            assert_eq!(run.record.circumstances.interim_only, if only { short } else { 0 });
        });
    }
}
