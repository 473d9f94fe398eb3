//! A run over HTTP/3 made by hand, with everything that can be known of one.

use ablaze_model::FailureKind;
use ablaze_model::plan::{Http3, Load};
use ablaze_model::record::{
    DatagramTraffic, Http3Facts, NamedCounts, QuicFacts, QuicHandshakes, Spread, WindowWaits,
};
use ablaze_model::run::Run;
use ablaze_stats::Latency;

use super::encrypted;

/// The same over HTTP/3, on a path that loses 1 % of the packets.
pub fn over_http3() -> Run {
    let mut run = encrypted();
    run.plan.load = Load::Closed { connections: 10, pipeline: 20 };
    run.plan.http3 = Some(Http3::with_streams(20));
    let mut waited = Latency::new(3);
    waited.record_many(250_000, 40);
    run.record.stream_wait = Some(Box::new(waited));
    let of_both = |min, max| Spread::of_both(Some(Spread::of(min)), Some(Spread::of(max)));
    run.record.http3 = Some(Box::new(Http3Facts {
        goaways: 3,
        closes: NamedCounts(vec![("H3_EXCESSIVE_LOAD".into(), 2)]),
        first_close: Some("H3_EXCESSIVE_LOAD: too many".into()),
        resets: NamedCounts(vec![
            ("H3_REQUEST_REJECTED".into(), 4),
            ("H3_INTERNAL_ERROR".into(), 1),
        ]),
        refused_again: 2,
        streams_permitted: Some(10),
        streams_at_last: Some(10),
        streams_raised_ns: 0,
        waits: WindowWaits {
            stream_times: 7,
            stream_ns: 5_000_000,
            connection_times: 1,
            connection_ns: 1_000_000,
            longest_ns: 2_000_000,
        },
        first_failure: Some((FailureKind::StreamReset, "the server reset the stream".into())),
        quic: QuicFacts {
            handshakes: 10,
            retries: 3,
            all_handshakes: QuicHandshakes {
                version: Some(1),
                protocol: Some("h3".into()),
                whole_ns: of_both(1_000_000, 3_000_000),
                retry_ns: of_both(100_000, 300_000),
                limited_ns: of_both(200_000, 200_000),
                limited_at: Some((1_200, 3_600)),
                incomplete_received: 9,
            },
            sent: DatagramTraffic { calls: 10_000, datagrams: 142_000, bytes: 42_000_000 },
            received: DatagramTraffic { calls: 10_000, datagrams: 221_000, bytes: 320_000_000 },
            dropped_here: 12,
            given_up: 5,
            packets_sent: 140_000,
            packets_lost: 1_400,
            bytes_lost: 420_000,
            congestion_events: 40,
            silent_ns: Some(100_000),
            rtt_ns: of_both(100_000, 300_000),
            window_bytes: of_both(100_000, 900_000),
            datagram_bytes: of_both(1452, 1452),
            no_segmentation: Some(libc::EIO),
            no_coalescing: Some(libc::ENOPROTOOPT),
        },
    }));
    run
}
