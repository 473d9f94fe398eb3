//! HTTP/2: what becomes of streams, and of the connections that carry them.

use ablaze_model::{FailureKind, Plan, Run};
use ablaze_net::sim::{Misbehave, Pieces};
use ablaze_wire::http1::builder::RequestBuilder;

use crate::simulated::http2_peer::{Http2Script, frame};
use crate::simulated::support::{
    HELLO, MS, Script, check_sums, clock_before, closing_each, pipelined, plan, plan_for, run,
    with_timeout, with_workers, without_repeat,
};

pub fn over_http2(plan: Plan, streams: u32) -> Plan {
    let mut plan = pipelined(plan, streams);
    plan.http2 = Some(ablaze_model::plan::Http2 { streams });
    plan
}

pub fn counts(run: &Run) -> (u64, u64) {
    check_sums(run);
    (run.record.responses, run.record.failures_total())
}

#[test]
fn every_request_is_answered_and_timed() {
    for streams in [1, 2, 7, 100] {
        for connections in [1, 3] {
            let peer = Http2Script::always(MS);
            run(&over_http2(plan(200, connections), streams), &peer, |run| {
                assert_eq!(counts(run), (200, 0));
                assert_eq!(run.record.connections_opened, u64::from(connections));
                assert_eq!(run.record.answered.wait.max_ns(), Some(MS));
                assert_eq!(run.record.statuses[&200], 200);
                assert_eq!(run.record.body_bytes, 1_000);
                let facts = run.record.http2.as_ref().unwrap();
                assert_eq!((facts.goaways, &facts.first_failure), (0, &None));
            });
            // All that may be in flight leaves as one write, and again when the responses came.
            let most = peer.seen().requests_at_once.into_iter().max();
            assert_eq!(most, Some(streams.min(200) as usize));
        }
    }
    run(&with_workers(over_http2(plan(1_001, 5), 10), 2), &Http2Script::always(MS), |run| {
        assert_eq!(counts(run), (1_001, 0));
    });
}

#[test]
fn the_head_of_the_first_response_is_kept() {
    // `:status: 200`, then `server: x` as a literal (RFC 7541, 6.2.2).
    let response = frame(1, 0x5, 1, b"\x88\x00\x06server\x01x");
    let peer = Http2Script::with(&[], &[response], |asked| asked.send_further(MS, 0));
    run(&over_http2(plan(1, 1), 1), &peer, |run| {
        assert_eq!(counts(run), (1, 0));
        assert_eq!(run.record.first_head, b"HTTP/2 200\r\nserver: x\r\n\r\n");
    });
}

#[test]
fn responses_in_pieces_of_any_size() {
    for bytes in [1, 3, 9, 10, 11, 23] {
        let peer = Http2Script::always(MS).cut(Pieces::Of(bytes), 1_000);
        run(&over_http2(plan(60, 2), 5), &peer, |run| assert_eq!(counts(run), (60, 0)));
    }
}

#[test]
fn streams_end_in_any_order() {
    let peer = Http2Script::new(|asked| asked.response((7 - asked.request % 7) * MS));
    run(&over_http2(plan(500, 3), 7), &peer, |run| {
        assert_eq!(counts(run), (500, 0));
        assert_eq!(run.record.answered.wait.max_ns(), Some(7 * MS));
    });
}

#[test]
fn requests_gather_while_a_write_is_under_way() {
    let peer = Http2Script::always(MS).reading_slowly(100, 40, MS);
    run(&over_http2(plan(300, 2), 20), &peer, |run| assert_eq!(counts(run), (300, 0)));
}

/// A server that ends each connection after ten requests, as they are meant to: nothing is lost.
#[test]
fn goaway_moves_requests_to_the_next_connection() {
    // Of more than 20 in flight some find no place on the second connection either, nor on the third.
    for streams in [1, 4, 18, 32, 100] {
        let peer = Http2Script::new(|asked| match asked.request {
            0..9 => asked.response(MS),
            9 => {
                asked.response(MS);
                asked.goaway(MS);
            }
            _ => {}
        });
        run(&over_http2(plan(200, 2), streams), &peer, |run| {
            assert_eq!(counts(run), (200, 0));
            let facts = run.record.http2.as_ref().unwrap();
            assert!((18..=20).contains(&facts.goaways), "{facts:?}");
            assert_eq!((facts.goaway_codes.of(0), facts.refused_again), (facts.goaways, 0));
            assert_eq!(facts.first_goaway, None, "no error");
            assert!(run.record.connections_opened >= 20);
        });
    }
}

/// Each connection takes nothing: the requests are sent again once, and then it is no use.
#[test]
fn a_server_that_turns_every_request_away_ends_soon() {
    for code in [0, 11_u32] {
        let payload = [0_u32.to_be_bytes(), code.to_be_bytes(), *b"busy"].concat();
        let peer = Http2Script::with(&[], &[frame(7, 0, 0, &payload)], |asked| {
            asked.send_further(MS, 0);
        });
        run(&over_http2(plan(200, 2), 10), &peer, |run| {
            assert_eq!(counts(run), (0, 200));
            assert_eq!(run.record.failures_of(FailureKind::GoAway), 200);
            assert!(run.record.connections_opened <= 2 * 200 / 10 + 2);
            let facts = run.record.http2.as_ref().unwrap();
            assert_eq!(facts.goaway_codes.of(code), facts.goaways);
            assert_eq!(facts.last_goaway_said.as_deref(), Some("busy"));
            assert_eq!((facts.refused_again, run.record.repeated), (200, 200));
        });
    }
}

#[test]
fn a_refused_request_is_sent_again_once() {
    let once =
        Http2Script::new(
            |asked| {
                if asked.request == 2 { asked.refuse(MS) } else { asked.response(MS) }
            },
        );
    run(&over_http2(plan(50, 1), 3), &once, |run| {
        assert_eq!((counts(run), run.record.repeated), ((50, 0), 1));
    });
    run(&without_repeat(over_http2(plan(50, 1), 3)), &once, |run| {
        assert_eq!((counts(run), run.record.repeated), ((49, 1), 0));
        assert_eq!(run.record.failures_of(FailureKind::StreamReset), 1);
        let facts = run.record.http2.as_ref().unwrap();
        let (kind, words) = facts.first_failure.as_ref().unwrap();
        assert_eq!(*kind, FailureKind::StreamReset);
        assert_eq!(words, "the server refused a request, and none is repeated");
        assert_eq!(facts.refused_again, 0);
    });
    let always = Http2Script::new(|asked| asked.refuse(MS));
    run(&over_http2(plan(10, 2), 3), &always, |run| {
        assert_eq!((counts(run), run.record.repeated), ((0, 10), 10));
        assert_eq!(run.record.failures_of(FailureKind::StreamReset), 10);
        let facts = run.record.http2.as_ref().unwrap();
        let (_, words) = facts.first_failure.as_ref().unwrap();
        assert_eq!(words, "the server refused a request and its repetition");
        assert_eq!(facts.refused_again, 10);
    });
}

#[test]
fn a_reset_ends_its_stream_alone() {
    let peer = Http2Script::new(|asked| {
        if asked.request % 5 == 4 { asked.reset(MS) } else { asked.response(2 * MS) }
    });
    run(&over_http2(plan(100, 1), 5), &peer, |run| {
        assert_eq!(counts(run), (80, 20));
        assert_eq!(run.record.failures_of(FailureKind::StreamReset), 20);
        assert_eq!(run.record.connections_opened, 1);
        let (kind, words) = run.record.http2.as_ref().unwrap().first_failure.clone().unwrap();
        assert_eq!(kind, FailureKind::StreamReset);
        assert!(words.contains("INTERNAL_ERROR"), "{words}");
    });
}

#[test]
fn a_timeout_resets_its_stream_alone() {
    let peer = Http2Script::new(|asked| match asked.request {
        3 => {}
        5 => asked.begin(MS),
        _ => asked.response(MS),
    });
    run(&with_timeout(over_http2(plan(400, 1), 8), 20 * MS), &peer, |run| {
        assert_eq!(counts(run), (398, 2));
        assert_eq!(run.record.failures_of(FailureKind::Timeout), 2);
        assert_eq!(run.record.connections_opened, 1);
        let took_ns = run.record.failed.total.max_ns().unwrap();
        assert!((20 * MS..=22 * MS).contains(&took_ns), "{took_ns}");
    });
    assert_eq!(peer.seen().resets, 4, "two in each of both runs");
}

#[test]
fn a_connection_that_takes_nothing_is_given_up() {
    let peer = Http2Script::always(MS).reading_slowly(10, 1, 1_000 * MS);
    run(&with_timeout(over_http2(plan(6, 1), 3), 20 * MS), &peer, |run| {
        assert_eq!(counts(run), (0, 6));
        assert_eq!(run.record.failures_of(FailureKind::Timeout), 6);
    });
}

#[test]
fn what_a_cut_connection_carried_fails() {
    let peer = Http2Script::new(|asked| match asked.request {
        6 => {
            asked.begin(MS);
            asked.far.close_after(2 * MS);
        }
        7.. => {}
        _ => asked.response(MS),
    });
    run(&over_http2(plan(100, 1), 4), &peer, |run| {
        let record = &run.record;
        check_sums(run);
        assert_eq!(record.finished(), 100);
        assert!(record.responses > 50);
        let short = record.failures_of(FailureKind::ShortBody);
        let silent = record.failures_of(FailureKind::ClosedWithoutResponse);
        assert_eq!(short + silent, record.failures_total());
        assert!(short >= record.connections_opened - 1 && silent > 0);
    });
    let peer = Http2Script::new(|asked| match asked.request {
        20 => asked.far.reset_after(MS),
        _ => asked.response(MS),
    });
    run(&over_http2(plan(100, 2), 3), &peer, |run| {
        check_sums(run);
        assert_eq!(run.record.finished(), 100);
        assert_eq!(run.record.failures_of(FailureKind::Reset), run.record.failures_total());
    });
}

#[test]
fn a_server_of_http1_is_told_from_others() {
    let peer = Script::always(HELLO, MS);
    let mut plan = over_http2(plan(1_000, 3), 2);
    plan.limits.unreachable_after = 5;
    run(&plan, &peer, |run| {
        assert_eq!(run.record.responses, 0);
        assert!(run.record.failures_of(FailureKind::NoHttp2) > 0);
        assert_eq!(run.record.failures_of(FailureKind::NoHttp2), run.record.failures_total());
        assert!(run.record.finished() < 100, "given up");
    });
}

#[test]
fn a_server_that_breaks_the_rules_is_named() {
    // DATA on stream 0 (RFC 9113, 6.1).
    let peer = Http2Script::with(&[], &[frame(0, 0, 0, b"x")], |asked| {
        if asked.request == 4 { asked.send_further(MS, 0) } else { asked.response(MS) }
    });
    run(&over_http2(plan(40, 1), 2), &peer, |run| {
        check_sums(run);
        let record = &run.record;
        assert_eq!(record.finished(), 40);
        assert!(record.responses > 0 && record.failures_of(FailureKind::Http2Violated) > 0);
        assert_eq!(record.failures_of(FailureKind::Http2Violated), record.failures_total());
        let (kind, words) = record.http2.as_ref().unwrap().first_failure.clone().unwrap();
        assert_eq!(kind, FailureKind::Http2Violated);
        assert!(words.contains("RFC 9113"), "{words}");
    });
}

#[test]
fn requests_that_differ_and_requests_for_heads() {
    let mut plan = over_http2(plan(100, 2), 4);
    let patched = RequestBuilder::new("GET", "/{seq}/{rand:6}").header("Host", "there");
    plan.requests.templates = vec![patched.build().unwrap()];
    run(&plan, &Http2Script::always(MS), |run| assert_eq!(counts(run), (100, 0)));
    // The response to HEAD has no content: that of the script has some.
    let head = RequestBuilder::new("HEAD", "/").header("Host", "there");
    plan.requests.templates = vec![head.build().unwrap()];
    run(&plan, &Http2Script::always(MS), |run| {
        assert_eq!(counts(run), (0, 100));
        assert_eq!(run.record.failures_of(FailureKind::Http2Violated), 100);
    });
}

#[test]
fn a_connection_per_request_and_connections_with_a_limit() {
    let peer = Http2Script::always(MS);
    for plan in [closing_each(over_http2(plan(20, 3), 4)), {
        let mut plan = clock_before(over_http2(plan(20, 3), 4));
        plan.connections.requests_per_connection = Some(1);
        plan
    }] {
        run(&plan, &peer, |run| {
            assert_eq!(counts(run), (20, 0));
            assert_eq!(run.record.connections_opened, 20);
        });
    }
    let mut limited = over_http2(plan(100, 2), 4);
    limited.connections.requests_per_connection = Some(10);
    run(&limited, &peer, |run| {
        assert_eq!(counts(run), (100, 0));
        assert!((10..=12).contains(&run.record.connections_opened));
    });
}

#[test]
fn what_is_in_flight_at_the_end_is_unfinished() {
    let peer = Http2Script::new(|asked| {
        if asked.request < 10 {
            asked.response(MS);
        }
    });
    run(&over_http2(plan_for(100 * MS, 2), 5), &peer, |run| {
        assert_eq!(counts(run), (20, 0));
        assert_eq!(run.record.unfinished, 10);
        assert_eq!(run.record.unfinished_oldest_ns, 98 * MS);
    });
}

#[test]
fn an_open_loop_uses_the_room_on_its_connections() {
    let mut plan = over_http2(plan_for(1_000 * MS, 2), 10);
    plan.load = ablaze_model::plan::Load::Open {
        rate: ablaze_model::plan::RateProfile::constant(1_000.0),
        arrivals: ablaze_model::plan::Arrivals::Constant,
        connections: 2,
        bounded: true,
    };
    // 5 ms each, 1,000 per second: five in flight, more than there are connections.
    run(&plan, &Http2Script::always(5 * MS), |run| {
        check_sums(run);
        let record = &run.record;
        assert_eq!(record.failures_total(), 0);
        assert!((990..=1_000).contains(&record.responses), "{}", record.responses);
        let intended = record.answered.intended.as_ref().unwrap();
        assert!(intended.lag.max_ns() < Some(MS), "{:?}", intended.lag.max_ns());
        assert!(record.connections_opened <= 2);
    });
}
