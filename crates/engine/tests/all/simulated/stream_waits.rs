//! How long requests wait for a stream, over HTTP/2 and HTTP/3: a phase of those that do, and of no others.

use ablaze_model::Run;
use ablaze_model::plan::{Arrivals, Load, Plan, RateProfile};
use ablaze_net::sim::Path;

use crate::simulated::http2::over_http2;
use crate::simulated::http2_peer::Http2Script;
use crate::simulated::http3::over_http3;
use crate::simulated::http3::peer::Server;
use crate::simulated::support::{MS, check_sums, plan, plan_for, run};

fn near() -> Path {
    Path { delay_ns: MS, ..Path::default() }
}

fn in_open_loop(plan: Plan, per_s: f64, connections: u32) -> Plan {
    let (rate, arrivals) = (RateProfile::constant(per_s), Arrivals::Constant);
    Plan { load: Load::Open { rate, arrivals, connections, bounded: true }, ..plan }
}

fn http2(per_s: f64, connections: u32, streams: u32) -> Plan {
    in_open_loop(over_http2(plan_for(500 * MS, connections), streams), per_s, connections)
}

fn http3(per_s: f64, streams: u32) -> Plan {
    in_open_loop(over_http3(plan_for(500 * MS, 1), streams), per_s, 1)
}

/// Number of those that waited, and the longest wait.
fn waited(run: &Run) -> (u64, u64) {
    check_sums(run);
    assert_eq!(run.record.failures_total(), 0);
    let waited = run.record.stream_wait.as_deref();
    waited.map_or((0, 0), |waited| (waited.count(), waited.max_ns().unwrap()))
}

/// The server permits the next stream when it knows that the last has ended: a round trip.
#[test]
fn in_closed_loop_a_request_waits_for_the_server_s_permission() {
    for (permitted, requests_that_wait) in [(1, 19), (100, 0)] {
        let server = Server::new(permitted, near(), |asked| asked.respond(5));
        run(&over_http3(plan(20, 1), 1), &server, |run| {
            let (count, longest_ns) = waited(run);
            assert_eq!(count, requests_that_wait);
            assert!(longest_ns <= 3 * MS && (count == 0 || longest_ns >= MS), "{longest_ns}");
        });
    }
}

/// 5 ms each and two streams: 400/s at most.
#[test]
fn in_open_loop_arrivals_wait_where_all_streams_are_in_use() {
    let held = |run: &Run| {
        let (count, longest_ns) = waited(run);
        let lag = &run.record.answered.intended.as_ref().unwrap().lag;
        // All but the first two; those in flight at the end have theirs, too.
        assert!(count + 4 >= run.record.responses && count > 100, "{count}");
        // Nothing else holds them up here.
        let lag_ns = lag.max_ns().unwrap();
        assert!(longest_ns >= lag_ns - lag_ns / 100 && longest_ns > 100 * MS, "{longest_ns}");
    };
    run(&http2(1_000.0, 1, 2), &Http2Script::always(5 * MS), held);
    let server = Server::new(100, near(), |asked| asked.respond(5));
    run(&http3(4_000.0, 2), &server, held);
}

#[test]
fn in_open_loop_nothing_waits_where_streams_are_free() {
    let nothing = |run: &Run| assert_eq!((waited(run), run.record.responses > 100), ((0, 0), true));
    run(&http2(1_000.0, 2, 10), &Http2Script::always(5 * MS), nothing);
    run(&http2(1_000.0, 1, 100), &Http2Script::always(5 * MS), nothing);
    let server = Server::new(100, near(), |asked| asked.respond(5));
    run(&http3(1_000.0, 100), &server, nothing);
}
