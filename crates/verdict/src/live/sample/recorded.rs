//! A Run as a saved one was recorded, made by hand: ten seconds of 100 connections, 20,000 responses of
//! about 500 µs.

use std::collections::BTreeMap;

use ablaze_model::record::Phases;
use ablaze_model::{Record, Run, by_hand};
use ablaze_stats::Latency;

/// Nothing of its workers, slices and surroundings is known yet.
pub fn run() -> Run {
    Run { record: record(), ..by_hand::run() }
}

fn record() -> Record {
    let mut answered = Phases::new();
    for number in 0..20_000u64 {
        // 300 to 700 µs, in no order.
        let wait_ns = 300_000 + number * 7919 % 20_000 * 20;
        answered.wait.record(wait_ns);
        answered.receive.record(2_000);
        answered.total.record(wait_ns + 2_000);
        answered.processing.record(wait_ns + 2_000);
    }
    let mut setup_connect = Latency::new(3);
    setup_connect.record_many(60_000, 100);
    Record {
        responses: 20_000,
        statuses: BTreeMap::from([(200, 20_000)]),
        body_lengths: BTreeMap::from([(14, 20_000)]),
        first_body_bytes: Some(14),
        first_response_at_ns: 77_000_000,
        first_head: b"HTTP/1.1 200 OK\r\nServer: nginx/1.24.0\r\n\r\n".to_vec(),
        reused: 20_000,
        connections_opened: 100,
        received_bytes: 3_120_000,
        body_bytes: 280_000,
        sent_bytes: 1_600_000,
        answered,
        setup_connect,
        in_flight_ns: 20_000 * 502_000,
        ..Record::new()
    }
}
