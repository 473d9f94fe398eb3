//! HTTP/2: a GOAWAY right behind the server's settings, before it has seen a request. Streams above the last one that it
//! names were not processed, and may be sent again on another connection (RFC 9113, 6.8 and 8.7): they are no failures
//! of a server that takes them there.

use ablaze_model::FailureKind;

use crate::simulated::http2::{counts, over_http2};
use crate::simulated::http2_peer::{Http2Script, frame};
use crate::simulated::support::{MS, S, check_sums, plan, run, with_timeout};

/// The last stream that GOAWAY names to tell that the server is about to go.
const ALL_STREAMS: u32 = u32::MAX >> 1;

fn goaway(last_stream: u32, code: u32) -> Vec<u8> {
    frame(7, 0, 0, &[last_stream.to_be_bytes(), code.to_be_bytes()].concat())
}

/// Two connections that take nothing, and then ones that do.
#[test]
fn what_was_not_processed_is_taken_to_the_next_connection() {
    for streams in [1, 3, 40] {
        let peer = Http2Script::with(&[], &[goaway(0, 0)], |asked| {
            if asked.connection >= 2 {
                asked.response(MS);
            }
        });
        let peer = peer.greeting_with_more(|connection| connection < 2);
        run(&with_timeout(over_http2(plan(100, 2), streams), S), &peer, |run| {
            assert_eq!(counts(run), (100, 0), "{streams}");
            let facts = run.record.http2.as_ref().unwrap();
            // One that came before the clock started is not among them.
            assert!((1..=2).contains(&facts.goaways), "{facts:?}");
            assert_eq!(facts.goaway_codes.of(0), facts.goaways);
            assert_eq!((&facts.first_goaway, facts.refused_again), (&None, 0));
            // Each of those that had left was sent again, and once.
            assert!(run.record.repeated <= 2 * u64::from(streams), "{}", run.record.repeated);
            assert_eq!(run.record.unfinished, 0);
        });
    }
}

/// No connection takes anything: requests fail by GOAWAY, soon, and not by the close that follows or by their timeout.
#[test]
fn a_server_that_goes_on_every_connection_is_said_to_go() {
    for (streams, code) in [(1, 0), (10, 0), (10, 11_u32)] {
        let peer = Http2Script::with(&[], &[goaway(0, code)], |_| {}).greeting_with_more(|_| true);
        run(&with_timeout(over_http2(plan(60, 2), streams), 3_600 * S), &peer, |run| {
            check_sums(run);
            assert_eq!((run.record.responses, run.record.finished()), (0, 60), "{streams} {code}");
            assert_eq!(
                run.record.failures_of(FailureKind::GoAway),
                60,
                "{:?}",
                run.record.failures
            );
            let facts = run.record.http2.as_ref().unwrap();
            assert_eq!(facts.goaway_codes.of(code), facts.goaways);
        });
    }
}

/// It has answered before, and then goes on every connection, as one that drains behind a balancer.
#[test]
fn a_server_that_goes_after_it_answered_is_not_asked_for_ever() {
    for streams in [1, 10] {
        let peer = Http2Script::with(&[], &[goaway(0, 0)], |asked| asked.response(MS));
        let peer = peer.greeting_with_more(|connection| connection >= 2);
        let mut plan = with_timeout(over_http2(plan(100, 2), streams), 3_600 * S);
        plan.connections.requests_per_connection = Some(20);
        run(&plan, &peer, |run| {
            check_sums(run);
            assert_eq!((run.record.responses, run.record.finished()), (40, 100), "{streams}");
            assert_eq!(
                run.record.failures_of(FailureKind::GoAway),
                60,
                "{:?}",
                run.record.failures
            );
            assert!(run.record.connections_opened < 700, "{}", run.record.connections_opened);
            assert!(run.elapsed_ns < 60 * S, "{}", run.elapsed_ns);
        });
    }
}

/// A server that is about to go names the highest stream there can be: what it has by then it still responds to.
#[test]
fn what_is_in_flight_when_a_server_announces_that_it_goes_is_answered() {
    for streams in [1, 3, 40] {
        let peer = Http2Script::with(&[], &[goaway(ALL_STREAMS, 0)], |asked| asked.response(MS));
        let peer = peer.greeting_with_more(|connection| connection % 2 == 0);
        run(&with_timeout(over_http2(plan(100, 2), streams), S), &peer, |run| {
            assert_eq!(counts(run), (100, 0), "{streams}");
            assert_eq!(run.record.repeated, 0, "nothing was turned away");
        });
    }
}
