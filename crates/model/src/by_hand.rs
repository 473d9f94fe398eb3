//! A Plan and a Run that nobody measured, as a start for tests: whoever means something else changes it. What a new field
//! means where nothing is said about it stands here once.

use crate::plan::groups::Groups;
use crate::plan::{
    ClockStarts, Close, Connections, IoChoice, Limits, Load, Requests, Spin, Target, Workers,
};
use crate::run::{Backend, Ended, Machine};
use crate::{Plan, Record, Run};

/// `GET http://127.0.0.1:8080/` over 100 reused connections by one worker for ten seconds.
pub fn plan() -> Plan {
    Plan {
        target: Target {
            url: "http://127.0.0.1:8080/".to_owned(),
            host: "127.0.0.1".to_owned(),
            port: 8080,
            path: "/".to_owned(),
            addresses: vec![([127, 0, 0, 1], 8080).into()],
            alternative: None,
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
            method: "GET".to_owned(),
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
            count_reason: "as asked".to_owned(),
            cpus: vec![1],
            io: IoChoice::Auto,
            spin: Spin::For(50_000),
            cpus_to_spare: false,
        },
        expect: vec![200..=399],
        checks: None,
        keep_every_request: false,
        part: None,
        requests_of_all: None,
        seed_of_all: None,
    }
}

/// Ten seconds of [`plan`] in which nothing happened, and nobody looked at the server or the workers.
pub fn run() -> Run {
    Run {
        plan: plan(),
        asked: None,
        command_line: ["ablaze", "-c", "100", "http://127.0.0.1:8080/"].map(String::from).into(),
        started_unix_ns: 1_795_251_909_123_456_789,
        elapsed_ns: 10_000_000_000,
        setup_ns: 9_000_000,
        ended: Ended::Complete,
        record: Record::new(),
        workers: Vec::new(),
        backend: Backend { name: "io_uring", fallback_reason: None },
        connected_to: "127.0.0.1:8080".to_owned(),
        machine: Machine {
            kernel: Some("6.8.0".to_owned()),
            cpu_model: None,
            cpus_allowed: Some(2),
            memory_bytes: Some(8_000_000_000),
        },
        monitor: None,
        profiling: None,
        rate_changes: Vec::new(),
        fleet: None,
        shards: None,
    }
}
