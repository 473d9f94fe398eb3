//! HTTP/3: requests that the server does not take, and a server that stands still.

use ablaze_model::FailureKind;
use std::sync::Mutex;

use ablaze_model::plan::{Arrivals, Load, Plan, RateProfile};
use ablaze_wire::http1::builder::RequestBuilder;

use super::peer::Server;
use super::{counts, near, over_http3};
use crate::simulated::support::{MS, S, plan, plan_for, run, with_timeout};

/// Two templates in turn, of which the second has a field of 5,000 bytes.
fn with_large_ones(plan: Plan) -> Plan {
    let mut plan = over_http3(plan, 4);
    let get = |fill: usize| {
        let request = RequestBuilder::new("GET", "/").header("Host", "there");
        request.header("X-Fill", "f".repeat(fill)).build().unwrap()
    };
    plan.requests.templates = vec![get(10), get(5_000)];
    plan.requests.order = vec![0, 1];
    plan
}

/// RFC 9114, 4.2.2: what is larger than the server accepts is not sent, and everything else is.
#[test]
fn requests_larger_than_the_server_accepts_are_not_sent() {
    let server = Server::new(100, near(), |asked| asked.respond(5)).taking(4_096);
    run(&with_large_ones(plan(200, 1)), &server, |run| {
        let (responses, failures) = counts(run);
        // The first four leave before the server's SETTINGS have come.
        assert_eq!(responses + failures, 200);
        assert!((98..=100).contains(&failures), "{failures}");
        assert_eq!(run.record.failures_of(FailureKind::RequestTooLarge), failures);
        assert_eq!(run.record.connections_opened, 1);
        let facts = run.record.http3.as_ref().unwrap();
        let (kind, words) = facts.first_failure.as_ref().unwrap();
        assert_eq!(*kind, FailureKind::RequestTooLarge);
        // :method GET, :scheme https, :authority there, :path /, x-fill: names and values, and 32 for each.
        let size = 7 + 3 + 7 + 5 + 10 + 5 + 5 + 1 + 6 + 5_000 + 5 * 32;
        for figure in [size.to_string(), "4096".to_owned()] {
            assert!(words.contains(&figure), "{words}");
        }
        assert_eq!(server.asked(), responses);
        server.restart();
    });
    // Of a field section that is just small enough everything is sent.
    let server = Server::new(100, near(), |asked| asked.respond(5)).taking(5_209);
    run(&with_large_ones(plan(200, 1)), &server, |run| assert_eq!(counts(run), (200, 0)));
}

/// A load of nothing else ends when it is to, and does not take all time there is for failing.
#[test]
fn a_load_that_the_server_does_not_accept_ends() {
    let server = Server::new(100, near(), |asked| asked.respond(5)).taking(4_096);
    let mut plan = with_large_ones(plan_for(S, 2));
    plan.requests.templates.remove(0);
    plan.requests.order.clear();
    run(&plan, &server, |run| {
        let (responses, failures) = counts(run);
        // Those that left before the server's SETTINGS had come.
        assert!(responses <= 8, "{responses}");
        assert_eq!(run.record.failures_of(FailureKind::RequestTooLarge), failures);
        assert!((100..200_000).contains(&failures), "{failures}");
        assert_eq!(run.elapsed_ns, S);
    });
}

/// What is unfinished holds a place, and each place is held once: whenever the server falls silent and the run ends.
#[test]
fn a_server_that_stops_leaves_no_more_unfinished_than_there_are_places() {
    for streams in [1, 4] {
        for (timeout_ns, idle_ns) in [
            (30 * S, 30 * S),
            (100 * MS, 30 * S),
            (50 * MS, 30 * S),
            (30 * S, 150 * MS),
            (70 * MS, 90 * MS),
        ] {
            for (stops_ns, ends_ns) in [(100, 300), (101, 400), (37, 500), (250, 600), (299, 300)] {
                let server = Server::new(100, near(), |asked| asked.respond(5))
                    .stopping_after(stops_ns * MS + 7);
                let plan = over_http3(plan_for(ends_ns * MS, 3), streams);
                let mut plan = with_timeout(plan, timeout_ns);
                plan.http3.as_mut().unwrap().idle_timeout_ns = idle_ns;
                run(&plan, &server, |run| {
                    let (responses, failures) = counts(run);
                    let unfinished = run.record.unfinished;
                    let places = 3 * u64::from(streams);
                    assert!(
                        unfinished <= places,
                        "{unfinished} of {places}: streams {streams}, timeout {timeout_ns}, idle {idle_ns}, stops {stops_ns}, \
                         ends {ends_ns}, {responses} responses, {failures} failures"
                    );
                    let most_ns = u128::from(places) * u128::from(run.elapsed_ns);
                    assert!(run.record.in_flight_ns <= most_ns, "{}", run.record.in_flight_ns);
                    if timeout_ns == 30 * S && idle_ns == 30 * S {
                        assert_eq!((unfinished, failures), (places, 0));
                    }
                    server.restart();
                });
            }
        }
    }
}

/// What is due is answered, failed or unfinished, each once: as many as come due in the same time at a server that goes on.
#[test]
fn an_open_loop_counts_each_arrival_once_when_the_server_stops() {
    for (connections, streams) in [(1, 1), (3, 4), (2, 100)] {
        for (timeout_ns, idle_ns) in
            [(30 * S, 30 * S), (50 * MS, 30 * S), (30 * S, 150 * MS), (70 * MS, 90 * MS)]
        {
            for ends_ms in [300, 301, 450] {
                let counted = Mutex::new(Vec::new());
                for stops_ms in [10_000, 37, 100, 250, 299] {
                    let server = Server::new(100, near(), |asked| asked.respond(5))
                        .stopping_after(stops_ms * MS + 7);
                    let plan = over_http3(plan_for(ends_ms * MS, connections), streams);
                    let mut plan = with_timeout(plan, timeout_ns);
                    plan.http3.as_mut().unwrap().idle_timeout_ns = idle_ns;
                    plan.load = Load::Open {
                        rate: RateProfile::constant(1_000.0),
                        arrivals: Arrivals::Constant,
                        connections,
                        bounded: true,
                    };
                    run(&plan, &server, |run| {
                        let (responses, failures) = counts(run);
                        assert!(run.record.never_sent <= run.record.unfinished);
                        counted
                            .lock()
                            .unwrap()
                            .push((stops_ms, responses + failures + run.record.unfinished));
                        server.restart();
                    });
                }
                let all = counted.into_inner().unwrap();
                let said = format!(
                    "{connections}×{streams}, timeout {timeout_ns}, idle {idle_ns}, ends {ends_ms}: {all:?}"
                );
                assert!(all.iter().all(|(_, count)| *count == all[0].1), "{said}");
            }
        }
    }
}
