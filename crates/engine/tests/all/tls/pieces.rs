//! Records split at every byte: what is in them must come out the same.

use ablaze_model::plan::tls::TlsVersion;
use ablaze_net::sim::Pieces;
use ablaze_testing::skip::{long_tests, skip};
use proptest::prelude::*;

use crate::tls::plans::*;
use ablaze_tamper::authority::Authority;
use ablaze_tamper::tls_peer::{BOTH, TlsPeer, config, run, with_tls};

const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nX-Long: 0123456789012345678901234567890123456789\r\nContent-Length: 26\r\n\r\nabcdefghijklmnopqrstuvwxyz";

#[test]
fn handshake_and_data_may_come_byte_by_byte() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for (name, version) in BOTH {
        for bytes in [1, 2, 3, 4, 5, 6, 7, 21, 100] {
            let peer = TlsPeer::always(config(&[version], &issued), ANSWER).cut(Pieces::Of(bytes));
            for plan in [plan(6, 2), closing_each(plan(6, 2)), pipelined(plan(6, 1), 3)] {
                let plan = with_tls(plan, authority.trusted("there"));
                run(&plan, &peer, |run| {
                    let (responses, failures) = (run.record.responses, run.record.failures_total());
                    assert_eq!((responses, failures), (6, 0), "{name} {bytes}");
                    assert_eq!(run.record.body_bytes, 6 * 26);
                });
            }
        }
    }
}

#[test]
fn every_place_to_split_a_flight_is_as_good() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    // All of them take most of a minute. The first ones cut the header of the first record.
    let step = if long_tests() { 1 } else { 6 };
    if step > 1 {
        skip("one in 6 places of a flight; ABLAZE_LONG_TESTS=1 splits at every one");
    }
    for (_, version) in BOTH {
        for first in (1..12).chain((12..900).step_by(step)) {
            let peer =
                TlsPeer::always(config(&[version], &issued), ANSWER).cut(Pieces::SplitAt(first));
            let plan = with_tls(plan(2, 1), authority.trusted("there"));
            run(&plan, &peer, |run| {
                assert_eq!((run.record.responses, run.record.body_bytes), (2, 52), "{first}");
            });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_comes_out_however_it_is_cut(
        body in 0usize..60_000,
        fragment in prop_oneof![Just(None), (32usize..16_000).prop_map(Some)],
        piece in prop_oneof![1u32..40, 40u32..5_000, 5_000u32..70_000],
        old in any::<bool>(),
        suite in 0usize..3,
    ) {
        let authority = Authority::new();
        let issued = authority.issue("there", |_| {});
        let mut response = format!("HTTP/1.1 200 OK\r\nContent-Length: {body}\r\n\r\n").into_bytes();
        response.resize(response.len() + body, b'x');
        let mut server = config(rustls::ALL_VERSIONS, &issued);
        server.max_fragment_size = fragment;
        let peer = TlsPeer::new(server, move |moment| {
            moment.server.set_buffer_limit(None);
            moment.response(&response);
        })
        .cut(Pieces::Of(piece));
        let mut tls = authority.trusted("there");
        if old {
            tls.newest = TlsVersion::V1_2;
            tls.suites = vec![[0xc02c, 0xc02b, 0xcca9][suite]];
        } else {
            tls.suites = vec![[0x1301, 0x1302, 0x1303][suite]];
        }
        let expected = tls.suites[0];
        let plan = with_tls(plan(3, 2), tls);
        run(&plan, &peer, |run| {
            assert_eq!((run.record.responses, run.record.failures_total()), (3, 0));
            assert_eq!(run.record.body_bytes, 3 * body as u64);
            assert_eq!(run.record.tls.as_ref().unwrap().agreed[0].0.suite, expected);
        });
    }
}
