//! A Run as a saved one was recorded, made by hand: ten seconds of 100 connections, 20,000 responses of
//! about 500 µs.

use std::collections::BTreeMap;

use ablaze_model::plan::groups::Groups;
use ablaze_model::plan::{
    ClockStarts, Close, Connections, IoChoice, Limits, Load, Requests, Spin, Target, Workers,
};
use ablaze_model::record::Phases;
use ablaze_model::run::{Backend, Ended, Machine};
use ablaze_model::{Plan, Record, Run};
use ablaze_stats::Latency;

/// Nothing of its workers, slices and surroundings is known yet.
pub fn run() -> Run {
    Run {
        plan: plan(),
        asked: None,
        command_line: ["ablaze", "-c", "100", "http://127.0.0.1:8080/"].map(String::from).into(),
        started_unix_ns: 1_795_251_909_123_456_789,
        elapsed_ns: 10_000_000_000,
        setup_ns: 9_000_000,
        ended: Ended::Complete,
        record: record(),
        workers: Vec::new(),
        backend: Backend { name: "io_uring", fallback_reason: None },
        connected_to: "127.0.0.1:8080".into(),
        machine: Machine {
            kernel: Some("6.8.0".into()),
            cpu_model: None,
            cpus_allowed: Some(2),
            memory_bytes: Some(8_000_000_000),
        },
        monitor: None,
        profiling: None,
        rate_changes: Vec::new(),
        fleet: None,
    }
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

fn plan() -> Plan {
    Plan {
        target: Target {
            url: "http://127.0.0.1:8080/".into(),
            host: "127.0.0.1".into(),
            port: 8080,
            path: "/".into(),
            addresses: vec!["127.0.0.1:8080".parse().unwrap()],
            unix_socket: None,
            proxy: None,
            others: Vec::new(),
        },
        tls: None,
        http2: None,
        http3: None,
        requests: Requests {
            templates: Vec::new(),
            order: Vec::new(),
            origins: Vec::new(),
            method: "GET".into(),
            minor_version: 1,
            has_body: false,
            seed: 1,
            data: None,
            groups: Groups::default(),
        },
        journey: None,
        load: Load::Closed { connections: 100, pipeline: 1 },
        limits: Limits {
            requests: None,
            duration_ns: Some(10_000_000_000),
            warmup_ns: 0,
            timeout_ns: 30_000_000_000,
            max_head_bytes: 65_536,
            unreachable_after: 10,
        },
        connections: Connections {
            keep_alive: true,
            requests_per_connection: None,
            close: Close::Await,
            repeat: true,
            clock_starts: ClockStarts::AfterConnecting,
            ramp_ns: 0,
            local_addresses: Vec::new(),
            local_ports: Some(20_000..=30_000),
            socket_buffer_bytes: None,
            no_delay: true,
        },
        workers: Workers {
            count: 1,
            count_reason: "as asked".into(),
            cpus: vec![1],
            io: IoChoice::Auto,
            spin: Spin::For(50_000),
            cpus_to_spare: false,
        },
        expect: vec![200..=399],
        checks: None,
        keep_every_request: false,
        part: None,
    }
}
