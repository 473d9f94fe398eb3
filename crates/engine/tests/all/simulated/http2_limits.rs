//! HTTP/2: what a server permits, how long it lets others wait, and runs that end early.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ablaze_engine::{Control, run_simulated};
use ablaze_model::FailureKind;
use ablaze_model::run::Ended;
use ablaze_net::sim::Misbehave;
use ablaze_wire::http1::builder::RequestBuilder;

use crate::simulated::http2::{counts, over_http2};
use crate::simulated::http2_peer::{Http2Script, frame};
use crate::simulated::support::{HELLO, MS, Script, check_sums, plan, plan_for, run, with_timeout};

#[test]
fn no_more_streams_than_the_server_permits() {
    // SETTINGS_MAX_CONCURRENT_STREAMS (RFC 9113, 6.5.2).
    let peer = Http2Script::with(&[(3, 2)], &[frame(6, 0, 0, &[7; 8])], |asked| asked.response(MS));
    run(&over_http2(plan(100, 1), 5), &peer, |run| {
        assert_eq!(counts(run), (100, 0));
        assert_eq!(run.record.http2.as_ref().unwrap().streams_permitted, Some(2));
    });
    let many = peer.seen().requests_at_once.into_iter().filter(|&count| count > 2).count();
    assert_eq!(many, 0, "not before the settings came either");
    // Nor on connections that replace those before.
    let peer = Http2Script::with(&[(3, 3)], &[frame(6, 0, 0, &[7; 8])], |asked| {
        asked.response(MS);
        if asked.request == 6 {
            asked.goaway(MS);
        }
    });
    run(&over_http2(plan(100, 2), 50), &peer, |run| {
        assert_eq!(counts(run), (100, 0));
        let settings = run.record.http2.as_ref().unwrap().settings.unwrap();
        assert_eq!((settings.streams_max, settings.stream_window_bytes), (Some(3), 65_535));
    });
    assert!(peer.seen().requests_at_once.into_iter().all(|count| count <= 3));
}

#[test]
fn servers_that_say_nothing_or_go_at_once_hold_nobody_up() {
    // No SETTINGS, no response: the time is over some time.
    let silent = Script::new(&[HELLO], |_| {});
    run(&with_timeout(over_http2(plan(12, 2), 3), 20 * MS), &silent, |run| {
        check_sums(run);
        assert_eq!(run.record.responses, 0);
        assert_eq!(run.record.failures_of(FailureKind::Timeout), 12);
    });
    let gone = Script::new(&[HELLO], |moment| moment.far.close_after(MS));
    run(&over_http2(plan(12, 2), 3), &gone, |run| {
        check_sums(run);
        assert_eq!((run.record.responses, run.record.finished()), (0, 12));
        assert_eq!(run.record.failures_of(FailureKind::ClosedWithoutResponse), 12);
    });
}

#[test]
fn an_interrupted_run_keeps_what_it_measured() {
    let control = Arc::new(Control::new());
    let stopper = Arc::clone(&control);
    // Request 500 presses Ctrl-C: by then 50 on each of ten streams were answered.
    let counter = AtomicU64::new(0);
    let peer = Http2Script::new(move |asked| {
        if counter.fetch_add(1, Ordering::Relaxed) == 500 {
            stopper.stop();
        }
        asked.response(MS);
    });
    let plan = over_http2(plan_for(3_600_000 * MS, 2), 5);
    let run = run_simulated(plan, &[peer], &control).unwrap();
    check_sums(&run);
    assert_eq!(run.ended, Ended::Interrupted);
    assert_eq!((run.record.responses, run.record.failures_total()), (500, 0));
    assert_eq!((run.record.unfinished, run.elapsed_ns), (10, 50 * MS));
}

#[test]
fn waiting_for_windows_is_timed() {
    // Both windows have 65,535 bytes at first (RFC 9113, 6.9.2); the rest waits 10 ms for more.
    let mut plan = over_http2(plan(10, 1), 1);
    let request = RequestBuilder::new("POST", "/")
        .header("Host", "there")
        .body_length_header("Content-Length")
        .body(vec![b'x'; 100_000]);
    plan.requests.templates = vec![request.build().unwrap()];
    run(&plan, &Http2Script::always(MS).windows_after(10 * MS), |run| {
        assert_eq!(counts(run), (10, 0));
        let waits = run.record.http2.as_ref().unwrap().waits;
        // Then the connection's is large, and that of each stream begins anew.
        assert_eq!((waits.connection_times, waits.stream_times), (1, 9));
        assert_eq!(waits.connection_ns, u128::from(10 * MS));
        assert_eq!(waits.stream_ns, u128::from(90 * MS));
        assert_eq!(waits.longest_ns, 10 * MS);
    });
}

/// Coordinated omission (G. Tene): the server stalls for a second, and five streams are all there are.
#[test]
fn a_stall_shows_in_the_response_of_an_open_loop() {
    let peer = Http2Script::always(MS).stalled(2_000 * MS, 3_000 * MS);
    let mut plan = over_http2(plan_for(5_000 * MS, 1), 5);
    plan.load = ablaze_model::plan::Load::Open {
        rate: ablaze_model::plan::RateProfile::constant(1_000.0),
        arrivals: ablaze_model::plan::Arrivals::Constant,
        connections: 1,
        bounded: true,
    };
    run(&plan, &peer, |run| {
        check_sums(run);
        assert_eq!(run.record.finished() + run.record.unfinished, 5_000);
        assert_eq!(run.record.failures_total(), 0);
        let answered = &run.record.answered;
        let response = &answered.intended.as_ref().unwrap().response;
        // 1,000 of 5,000 came during the stall, and those behind it while the backlog was worked off,
        // at 5 per ms: 4 per ms faster than they come.
        let p90 = response.quantile_ns(0.90).unwrap();
        assert!((400 * MS..900 * MS).contains(&p90), "{p90}");
        assert!(response.max_ns() >= Some(995 * MS), "{:?}", response.max_ns());
        // Five requests were sent and waited for; that is all that the service shows.
        assert!(answered.total.quantile_ns(0.99) <= Some(2 * MS));
    });
    // With a timeout each stream ends by itself, counted from when its request was due.
    run(&with_timeout(plan.clone(), 300 * MS), &peer, |run| {
        check_sums(run);
        assert_eq!(run.record.finished() + run.record.unfinished, 5_000);
        let late = run.record.failures_of(FailureKind::Timeout);
        assert_eq!(late, run.record.failures_total());
        assert!((650..=1_000).contains(&late), "{late}");
        let waited = run.record.failed.intended.as_ref().unwrap().response.max_ns().unwrap();
        assert!(waited >= 300 * MS, "{waited}");
    });
}

#[test]
fn bodies_leave_within_the_servers_windows() {
    let body = vec![b'x'; 200_000];
    let mut plan = over_http2(plan(12, 2), 3);
    let request = RequestBuilder::new("POST", "/")
        .header("Host", "there")
        .body_length_header("Content-Length")
        .body(body);
    plan.requests.templates = vec![request.build().unwrap()];
    let peer = Http2Script::always(MS);
    run(&plan, &peer, |run| assert_eq!(counts(run), (12, 0)));
    assert_eq!(peer.seen().body_bytes, 2 * 12 * 200_000, "in both runs");
    let slow = Http2Script::always(MS).reading_slowly(30_000, 10_000, MS);
    run(&plan, &slow, |run| assert_eq!(counts(run), (12, 0)));
}

/// The response to the next stream comes behind that to this one, before its request has left.
#[test]
fn a_response_to_a_request_that_has_not_left_is_a_violation() {
    let guessed = [
        // A whole response; a head; a reset, and one that asks for the request again.
        vec![frame(1, 0x5, 3, &[0x88])],
        vec![frame(1, 0x4, 3, &[0x88])],
        vec![frame(3, 0, 3, &2_u32.to_be_bytes())],
        vec![frame(3, 0, 3, &7_u32.to_be_bytes())],
    ];
    for further in guessed {
        for closes in [true, false] {
            let peer = Http2Script::with(&[], &further, move |asked| {
                asked.response(MS);
                asked.send_further(MS, 0);
                if closes {
                    asked.far.close_after(MS);
                }
            });
            run(&over_http2(plan(20, 1), 1), &peer, |run| {
                check_sums(run);
                assert_eq!(run.record.finished(), 20, "{further:?}");
                let violated = run.record.failures_of(FailureKind::Http2Violated);
                assert_eq!(violated, run.record.failures_total(), "{further:?}");
                assert!(run.record.responses >= 10, "{further:?}: {}", run.record.responses);
            });
        }
    }
}

#[test]
fn refusing_one_by_one_behind_a_goaway_that_spares_them_is_no_rotation() {
    let spares_all = [(u32::MAX >> 1).to_be_bytes(), [0; 4]].concat();
    let peer = Http2Script::with(&[], &[frame(7, 0, 0, &spares_all)], |asked| {
        asked.send_further(MS, 0);
        asked.refuse(MS);
    });
    run(&with_timeout(over_http2(plan(20, 1), 2), 3_600_000 * MS), &peer, |run| {
        check_sums(run);
        assert_eq!((run.record.responses, run.record.finished()), (0, 20));
        assert_eq!(run.record.repeated, 20, "once each");
    });
}
