//! Bytes behind the last response: nobody asked for them, the connection is not used again.

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
