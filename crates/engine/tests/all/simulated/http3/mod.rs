//! HTTP/3: what becomes of streams, and of the connections that carry them, over networks that lose, repeat and overtake.

mod limits;
pub mod peer;

use ablaze_model::plan::tls::{Tls, TlsVersion, Trust};
use ablaze_model::plan::{Arrivals, Http3, Load, Plan, RateProfile};
use ablaze_model::record::DatagramTraffic;
use ablaze_model::{FailureKind, Run};
use ablaze_net::sim::Path;
use ablaze_wire::http1::builder::RequestBuilder;
use ablaze_wire::http1::request::Template;
use ablaze_wire::http3::error::ErrorCode;

use crate::simulated::support::{
    MS, S, check_sums, closing_each, pipelined, plan, plan_for, run, with_timeout, without_repeat,
};
use peer::Server;

pub fn over_http3(plan: Plan, streams: u32) -> Plan {
    let mut plan = pipelined(plan, streams);
    plan.http3 = Some(Http3::with_streams(streams));
    plan.tls = Some(Tls {
        server_name: "there".to_owned(),
        send_server_name: true,
        trust: Trust::Anyone,
        identity: None,
        oldest: TlsVersion::V1_3,
        newest: TlsVersion::V1_3,
        suites: Vec::new(),
        groups: Vec::new(),
        protocols: vec!["h3".to_owned()],
        resume: false,
        list_messages: false,
    });
    plan
}

fn counts(run: &Run) -> (u64, u64) {
    check_sums(run);
    (run.record.responses, run.record.failures_total())
}

fn post(body: Vec<u8>) -> Template {
    let length = body.len().to_string();
    let request = RequestBuilder::new("POST", "/").header("Host", "there");
    request.header("Content-Length", &length).body(body).build().unwrap()
}

fn near() -> Path {
    Path { delay_ns: MS, ..Path::default() }
}

#[test]
fn every_request_is_answered_and_timed() {
    for (streams, connections) in [(1, 1), (7, 3), (100, 2)] {
        let server = Server::new(100, near(), |asked| asked.respond(5));
        run(&over_http3(plan(200, connections), streams), &server, |run| {
            assert_eq!(counts(run), (200, 0));
            assert_eq!(run.record.connections_opened, u64::from(connections));
            assert_eq!((run.record.statuses[&200], run.record.body_bytes), (200, 1_000));
            // There and back; what is computed takes no time here.
            assert_eq!(run.record.answered.wait.max_ns(), Some(2 * MS));
            let facts = run.record.http3.as_ref().unwrap();
            assert_eq!((facts.goaways, &facts.first_failure), (0, &None));
            assert_eq!((facts.quic.packets_lost, facts.quic.dropped_here), (0, 0));
            assert!(facts.quic.sent.datagrams > 0 && facts.quic.received.datagrams > 0);
            let agreed = &run.record.tls.as_ref().unwrap().agreed;
            assert_eq!(agreed[0].0.protocol.as_deref(), Some("h3"));
        });
        assert_eq!(server.asked() % 200, 0);
    }
}

/// A server that permits one stream permits the next when it knows that the first has ended: a round trip, and not the 25 ms
/// that an acknowledgement may wait.
#[test]
fn the_client_does_not_hold_back_the_streams_that_it_waits_for() {
    for streams in [1, 8] {
        let server = Server::new(1, near(), |asked| asked.respond(5));
        run(&over_http3(plan(20, 1), streams), &server, |run| {
            assert_eq!(counts(run), (20, 0));
            let most_ns = 20 * 2 * 2 * MS + 5 * MS;
            assert!(run.elapsed_ns <= most_ns, "{} ns of {most_ns}", run.elapsed_ns);
        });
    }
}

/// A handshake is a round trip, and one more behind Retry (RFC 9000, 8.1.2).
#[test]
fn handshakes_are_timed_and_retries_counted() {
    for (retry, handshake_ns) in [(false, 2 * MS), (true, 4 * MS)] {
        let server = Server::with(100, retry, b"h3", near(), |asked| asked.respond(5));
        run(&over_http3(closing_each(plan(20, 2)), 1), &server, |run| {
            assert_eq!(counts(run), (20, 0));
            assert_eq!(run.record.connections_opened, 20);
            let quic = &run.record.http3.as_ref().unwrap().quic;
            assert_eq!((quic.handshakes, quic.retries), (20, if retry { 20 } else { 0 }));
            // Of connections that are over as well.
            assert_eq!(quic.rtt_ns.map(|spread| spread.count), Some(20));
            assert!(quic.packets_sent >= 40, "{}", quic.packets_sent);
            let tls = run.record.answered.tls.as_ref().expect("every request has a handshake");
            let took_ns = tls.handshake.max_ns().unwrap();
            assert!((handshake_ns - MS / 10..=handshake_ns + MS).contains(&took_ns), "{took_ns}");
        });
    }
}

/// However the network behaves, each request is sent, processed and counted once: QUIC repeats what was lost, not the
/// request.
#[test]
fn nothing_is_lost_or_counted_twice_on_bad_paths() {
    for (lost_ppm, doubled_ppm, late_ppm) in
        [(10_000, 0, 0), (50_000, 0, 0), (0, 100_000, 0), (0, 0, 200_000), (50_000, 50_000, 50_000)]
    {
        for seed in [1, 2] {
            let late_ns = 3 * MS;
            let path =
                Path { delay_ns: MS, lost_ppm, doubled_ppm, late_ppm, late_ns, seed, ..near() };
            let server = Server::new(100, path, |asked| asked.respond(3_000));
            let mut plan = over_http3(plan(600, 2), 10);
            let body = vec![b'b'; 2_000];
            plan.requests.templates = vec![post(body)];
            run(&plan, &server, |run| {
                assert_eq!(counts(run), (600, 0), "{path:?}");
                assert_eq!(run.record.body_bytes, 600 * 3_000);
                assert_eq!(run.record.connections_opened, 2);
                let quic = &run.record.http3.as_ref().unwrap().quic;
                assert!(lost_ppm == 0 || quic.packets_lost > 0, "{quic:?}");
                assert_eq!(server.asked(), 600, "{path:?}");
                server.restart();
            });
        }
    }
}

/// Leave is taken of every server when the time is over: that is no part of it.
#[test]
fn what_ends_connections_behind_the_window_is_not_among_its_bytes() {
    let server = Server::new(100, near(), |asked| asked.respond(5));
    for plan in [plan_for(50 * MS, 3), plan(200, 3)] {
        run(&over_http3(plan, 4), &server, |run| {
            let quic = &run.record.http3.as_ref().unwrap().quic;
            assert_eq!(run.record.sent_bytes, quic.sent.bytes);
            assert_eq!(run.record.received_bytes, quic.received.bytes);
            server.restart();
        });
    }
}

#[test]
fn goaway_moves_requests_to_the_next_connection() {
    for streams in [1, 4, 32] {
        let server = Server::new(100, near(), |asked| {
            asked.respond(5);
            if asked.number % 10 == 9 {
                asked.goaway();
            }
        });
        run(&over_http3(plan(200, 2), streams), &server, |run| {
            assert_eq!(counts(run), (200, 0));
            let facts = run.record.http3.as_ref().unwrap();
            assert!(facts.goaways >= 10, "{facts:?}");
            assert_eq!(facts.refused_again, 0);
            server.restart();
        });
    }
}

#[test]
fn resets_fail_their_request_alone_and_rejected_ones_are_sent_again() {
    let server = Server::new(100, near(), |asked| match asked.number % 10 {
        3 => asked.reset(ErrorCode::INTERNAL_ERROR),
        _ => asked.respond(5),
    });
    run(&over_http3(plan(100, 1), 4), &server, |run| {
        assert_eq!(counts(run), (90, 10));
        assert_eq!(run.record.failures_of(FailureKind::StreamReset), 10);
        let facts = run.record.http3.as_ref().unwrap();
        assert_eq!(facts.resets.0, [("H3_INTERNAL_ERROR".to_owned(), 10)]);
        assert_eq!(run.record.connections_opened, 1);
        server.restart();
    });
    // RFC 9114, 4.1.1: not processed, so it can be sent again.
    let server = Server::new(100, near(), |asked| match asked.number % 10 {
        3 => asked.reset(ErrorCode::REQUEST_REJECTED),
        _ => asked.respond(5),
    });
    run(&over_http3(plan(90, 1), 4), &server, |run| {
        assert_eq!(counts(run), (90, 0));
        server.restart();
    });
    run(&without_repeat(over_http3(plan(90, 1), 4)), &server, |run| {
        assert_eq!(counts(run), (81, 9));
        server.restart();
    });
}

#[test]
fn a_connection_closed_with_an_error_fails_what_is_on_it() {
    let server = Server::new(100, near(), |asked| match asked.number {
        10 => asked.close(ErrorCode::EXCESSIVE_LOAD),
        _ => asked.respond(5),
    });
    run(&over_http3(plan(50, 1), 4), &server, |run| {
        let (responses, failures) = counts(run);
        assert_eq!(responses + failures, 50);
        assert!((1..=4).contains(&failures), "{failures}");
        assert_eq!(run.record.failures_of(FailureKind::QuicClosed), failures);
        let facts = run.record.http3.as_ref().unwrap();
        assert_eq!(facts.closes.0, [("H3_EXCESSIVE_LOAD".to_owned(), 1)]);
        assert_eq!(run.record.connections_opened, 2);
        server.restart();
    });
}

#[test]
fn fewer_streams_than_asked_for_are_kept_to_and_told() {
    let server = Server::new(3, near(), |asked| asked.respond(5));
    run(&over_http3(plan(100, 1), 10), &server, |run| {
        assert_eq!(counts(run), (100, 0));
        let facts = run.record.http3.as_ref().unwrap();
        assert_eq!(facts.streams_permitted, Some(3));
    });
}

#[test]
fn a_server_without_http3_is_told_from_one_that_is_silent() {
    let server = Server::with(100, false, b"hq-interop", near(), |asked| asked.respond(5));
    run(&over_http3(plan(10, 1), 1), &server, |run| {
        assert_eq!(
            (run.record.responses, run.record.failures_of(FailureKind::NoHttp3) > 0),
            (0, true)
        );
    });
    let all_lost = Path { lost_ppm: 1_000_000, ..near() };
    let server = Server::new(100, all_lost, |asked| asked.respond(5));
    run(&with_timeout(over_http3(plan(10, 1), 1), S), &server, |run| {
        assert_eq!(
            (run.record.responses, run.record.failures_of(FailureKind::Timeout) > 0),
            (0, true)
        );
    });
}

/// Silence is a timeout, whoever's clock ends it: that of the request, or that of QUIC.
#[test]
fn a_silent_server_is_a_timeout_by_either_clock() {
    let all_lost = Path { lost_ppm: 1_000_000, ..near() };
    for (idle_ns, timeout_ns) in [(S, 10 * S), (10 * S, S)] {
        let server = Server::new(100, all_lost, |asked| asked.respond(5));
        let mut plan = with_timeout(over_http3(plan(10, 1), 1), timeout_ns);
        plan.http3.as_mut().unwrap().idle_timeout_ns = idle_ns;
        run(&plan, &server, |run| {
            let timeouts = run.record.failures_of(FailureKind::Timeout);
            assert_eq!((run.record.responses, timeouts), (0, run.record.failures_total()));
            assert!(timeouts > 0);
        });
    }
}

#[test]
fn a_response_that_never_comes_times_out_alone() {
    let server = Server::new(100, near(), |asked| {
        if asked.number != 5 {
            asked.respond(5);
        }
    });
    run(&with_timeout(over_http3(plan(60, 1), 4), S), &server, |run| {
        assert_eq!(counts(run), (59, 1));
        assert_eq!(run.record.failures_of(FailureKind::Timeout), 1);
        assert_eq!(run.record.connections_opened, 1);
        server.restart();
    });
}

/// Long bodies both ways wait for windows, and come whole.
#[test]
fn long_bodies_go_both_ways() {
    let server = Server::new(100, near(), |asked| asked.respond(asked.body_bytes as usize));
    let mut plan = over_http3(plan(12, 2), 3);
    plan.http3.as_mut().unwrap().stream_window_bytes = 64 * 1_024;
    let body = vec![b'b'; 3_000_000];
    plan.requests.templates = vec![post(body)];
    run(&plan, &server, |run| {
        assert_eq!(counts(run), (12, 0));
        assert_eq!(run.record.body_bytes, 12 * 3_000_000);
    });
}

/// On loopback and jumbo frames datagrams grow, both ways; where the path behind the device carries less, and on Ethernet, they stay
/// below 1,472 bytes. Nothing is lost by it.
#[test]
fn datagrams_are_as_long_as_device_and_path_carry() {
    let bytes = |device_bytes_max, bytes_max| {
        let path = Path { device_bytes_max, bytes_max, ..near() };
        let server = Server::new(100, path, |asked| asked.respond(asked.body_bytes as usize));
        let mut plan = over_http3(plan(40, 2), 3);
        plan.requests.templates = vec![post(vec![b'b'; 1_000_000])];
        plan.requests.has_body = true;
        let means = std::cell::Cell::new((0, 0));
        run(&plan, &server, |run| {
            assert_eq!(counts(run), (40, 0));
            assert_eq!(run.record.body_bytes, 40 * 1_000_000);
            let quic = &run.record.http3.as_ref().unwrap().quic;
            assert_eq!((quic.packets_lost, quic.dropped_here), (0, 0), "{quic:?}");
            let most = u64::from(bytes_max.unwrap_or(65_507));
            assert!(quic.datagram_bytes.unwrap().max <= most, "{quic:?}");
            let mean = |traffic: DatagramTraffic| traffic.bytes / traffic.datagrams;
            means.set((mean(quic.sent), mean(quic.received)));
            server.restart();
        });
        means.get()
    };
    // Acknowledgements are among them, and what came before more was found out.
    for device in [None, Some(1_472)] {
        let usual = bytes(device, None);
        assert!(usual.0 <= 1_452 && usual.1 <= 1_452, "{device:?}: {usual:?}");
    }
    let behind_a_router = bytes(Some(8_972), Some(1_472));
    assert!(behind_a_router.0 <= 1_472 && behind_a_router.1 <= 1_472, "{behind_a_router:?}");
    for (device, at_least) in [(8_972, 3_000), (65_507, 5_000)] {
        let large = bytes(Some(device), None);
        assert!(large.0 >= at_least && large.1 >= at_least, "{device}: {large:?}");
    }
}

/// A connection that idles for longer than its timeout is made again without blame.
#[test]
fn idle_connections_end_and_are_made_again() {
    let server = Server::new(100, near(), |asked| asked.respond(5));
    let mut plan = over_http3(plan_for(10 * S, 1), 1);
    plan.http3.as_mut().unwrap().idle_timeout_ns = S;
    plan.load = Load::Open {
        rate: RateProfile::constant(0.5),
        arrivals: Arrivals::Constant,
        connections: 1,
        bounded: true,
    };
    run(&plan, &server, |run| {
        assert_eq!(counts(run), (5, 0));
        assert!(run.record.connections_opened >= 4, "{}", run.record.connections_opened);
    });
}
