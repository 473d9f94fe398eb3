//! Bodies of every length and framing, both ways, exact to the byte.

use ablaze_model::FailureKind;
use ablaze_model::plan::Load;
use ablaze_wire::http1::builder::RequestBuilder;

use crate::tls::plans::*;
use ablaze_tamper::authority::Authority;
use ablaze_tamper::tls_peer::{BOTH, TlsPeer, config, run, with_tls};

/// A response with this many bytes of body.
fn response_of(bytes: usize) -> Vec<u8> {
    let mut response = format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n").into_bytes();
    response.resize(response.len() + bytes, b'x');
    response
}

#[test]
fn long_bodies_are_counted_to_the_byte() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for (name, version) in BOTH {
        for bytes in [0, 1, 8 * 1024 + 1, 16_384, 16_385, 1 << 20, 8 << 20] {
            let response = response_of(bytes);
            let mut config = config(&[version], &issued);
            config.max_fragment_size = None;
            let peer = TlsPeer::new(config, move |moment| {
                moment.server.set_buffer_limit(None);
                moment.response(&response);
            });
            let plan = with_tls(plan(4, 2), authority.trusted("there"));
            run(&plan, &peer, |run| {
                assert_eq!((run.record.responses, run.record.failures_total()), (4, 0), "{name}");
                assert_eq!(run.record.body_bytes, 4 * bytes as u64, "{name} {bytes}");
                assert_eq!(run.record.body_lengths[&(bytes as u64)], 4);
            });
        }
    }
}

#[test]
fn long_requests_arrive_whole_at_a_server_that_reads_slowly() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for (name, version) in BOTH {
        for bytes in [1, 16_300, 16_384, 70_000, 1 << 20] {
            let body: Vec<u8> = (0..bytes).map(|at: usize| (at % 251) as u8).collect();
            let peer =
                TlsPeer::always(config(&[version], &issued), HELLO).reading_slowly(7_000, 20_000);
            let mut plan = with_tls(plan(3, 1), authority.trusted("there"));
            plan.requests.templates = vec![
                RequestBuilder::new("POST", "/")
                    .header("Host", "there")
                    .body_length_header("Content-Length")
                    .body(body.clone())
                    .build()
                    .unwrap(),
            ];
            let seen = peer.seen.clone();
            run(&plan, &peer, |run| {
                assert_eq!((run.record.responses, run.record.failures_total()), (3, 0), "{name}");
            });
            let requests = &seen.lock().unwrap().requests;
            assert_eq!(requests.len(), 6);
            for request in requests {
                assert!(request.ends_with(&body) && request.starts_with(b"POST / "), "{name}");
                assert_eq!(*request, plan.requests.templates[0].bytes);
            }
        }
    }
}

#[test]
fn patched_requests_arrive_as_they_were_patched() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    let peer = TlsPeer::always(config(&[&rustls::version::TLS13], &issued), HELLO);
    let mut plan = with_tls(plan(30, 3), authority.trusted("there"));
    plan.requests.templates = vec![get("/{seq}")];
    let seen = peer.seen.clone();
    run(&plan, &peer, |run| assert_eq!(run.record.responses, 30));
    let requests = std::mem::take(&mut seen.lock().unwrap().requests);
    let number = |request: &Vec<u8>| {
        let text = String::from_utf8(request.clone()).unwrap();
        let path = text.split(' ').nth(1).unwrap().trim_start_matches('/');
        path.parse::<u64>().unwrap()
    };
    let mut numbers: Vec<u64> = requests.iter().map(number).collect();
    numbers.sort_unstable();
    let expected: Vec<u64> = (0..30).flat_map(|number| [number, number]).collect();
    assert_eq!(numbers, expected);
}

#[test]
fn chunks_over_records_are_read() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    let response =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    for fragment in [32, 33, 64] {
        let mut config = config(&[&rustls::version::TLS13], &issued);
        config.max_fragment_size = Some(fragment);
        let plan = with_tls(plan(5, 1), authority.trusted("there"));
        run(&plan, &TlsPeer::always(config, response), |run| {
            assert_eq!((run.record.responses, run.record.body_bytes), (5, 25));
        });
    }
}

#[test]
fn a_body_without_an_end_of_its_own_is_whole_only_with_close_notify() {
    const TO_END: &[u8] = b"HTTP/1.1 200 OK\r\n\r\nto the end";
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for (name, version) in BOTH {
        for sends_close_notify in [true, false] {
            let peer = TlsPeer::new(config(&[version], &issued), move |moment| {
                moment.response(TO_END);
                if sends_close_notify {
                    moment.server.send_close_notify();
                }
                moment.close = true;
            });
            let plan = with_tls(plan(6, 2), authority.trusted("there"));
            run(&plan, &peer, |run| {
                let cut = run.record.failures_of(FailureKind::TlsTruncated);
                let expected = if sends_close_notify { (6, 0) } else { (0, 6) };
                assert_eq!((run.record.responses, cut), expected, "{name} {sends_close_notify}");
                assert_eq!(run.record.body_bytes, 60, "{name}");
            });
        }
    }
}

/// A connection that is cut off in its second response was not idle.
#[test]
fn a_connection_cut_off_in_a_response_did_not_end_unused() {
    const WHOLE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    const TO_END: &[u8] = b"HTTP/1.1 200 OK\r\n\r\nto the end";
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for (name, version) in BOTH {
        let peer = TlsPeer::new(config(&[version], &issued), |moment| {
            moment.response(if moment.request == 0 { WHOLE } else { TO_END });
            moment.close = moment.request > 0;
        });
        let plan = with_tls(plan(6, 1), authority.trusted("there"));
        run(&plan, &peer, |run| {
            let cut = run.record.failures_of(FailureKind::TlsTruncated);
            assert_eq!((run.record.responses, cut), (3, 3), "{name}");
            assert_eq!(run.record.ended_idle.unused.count, 0, "{name}");
        });
    }
}

/// In a pipeline the response that is cut off fails, and those behind it, of which no byte came, are no
/// responses either.
#[test]
fn a_body_that_is_cut_off_does_not_answer_the_next_request() {
    const TO_END: &[u8] = b"HTTP/1.1 200 OK\r\n\r\nto the end";
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for (name, version) in BOTH {
        let peer = TlsPeer::new(config(&[version], &issued), |moment| {
            if moment.request == 0 {
                moment.response(TO_END);
                moment.close = true;
            }
        });
        let mut plan = with_tls(plan(12, 1), authority.trusted("there"));
        plan.load = Load::Closed { connections: 1, pipeline: 4 };
        run(&plan, &peer, |run| {
            assert_eq!((run.record.responses, run.record.finished()), (0, 12), "{name}");
            assert!(run.record.failures_of(FailureKind::TlsTruncated) > 0, "{name}");
        });
    }
}
