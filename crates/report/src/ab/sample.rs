//! A Run made by hand, for the tests of ab's reports: ten responses, two of which had to connect.

use ablaze_model::plan::groups::Groups;
use ablaze_model::plan::*;
use ablaze_model::record::RequestLine;
use ablaze_model::run::{Backend, Ended, Machine};
use ablaze_model::{Phases, Plan, Record, Run};

/// Ten responses of 14 bytes in 1 to 10 ms; the first two include 2 ms and 1 ms of connecting.
pub fn run() -> Run {
    let mut answered = Phases::new();
    let mut every_request = Vec::new();
    for number in 1..=10u64 {
        let (total_ns, connect_ns) =
            (number * 1_000_000 + 2_000_000, 3u64.saturating_sub(number) * 1_000_000);
        answered.total.record(total_ns);
        answered.processing.record(total_ns - connect_ns);
        answered.wait.record(total_ns - connect_ns - 500_000);
        answered.receive.record(500_000);
        if connect_ns > 0 {
            answered.connect.record(connect_ns);
        }
        every_request.push(RequestLine {
            started_ns: (10 - number) * 1_000_000_000,
            connect_ns,
            total_ns,
            wait_ns: total_ns - connect_ns - 500_000,
            template: 0,
            status: 200,
            failure: None,
            body_bytes: 14,
        });
    }
    Run {
        plan: plan(),
        asked: None,
        command_line: vec!["ablaze".into(), "ab".into()],
        started_unix_ns: 1_781_524_800_000_000_000,
        elapsed_ns: 40_000_000,
        setup_ns: 0,
        ended: Ended::Complete,
        record: record(answered, every_request),
        workers: Vec::new(),
        backend: Backend { name: "epoll", fallback_reason: None },
        connected_to: "127.0.0.1:8080".into(),
        machine: Machine::default(),
        monitor: None,
        profiling: None,
        rate_changes: Vec::new(),
        fleet: None,
    }
}

fn record(answered: Phases, every_request: Vec<RequestLine>) -> Record {
    Record {
        responses: 10,
        statuses: [(200, 10)].into(),
        body_lengths: [(14, 10)].into(),
        first_body_bytes: Some(14),
        first_head: b"HTTP/1.1 200 OK\r\nServer: demo/1 (x)\r\n\r\n".to_vec(),
        reused: 10,
        connections_opened: 2,
        received_bytes: 1024,
        body_bytes: 140,
        sent_bytes: 2048,
        answered,
        every_request,
        ..Record::new()
    }
}

fn plan() -> Plan {
    Plan {
        target: Target {
            url: "http://localhost:8080/a?b=1".into(),
            host: "localhost".into(),
            port: 8080,
            path: "/a?b=1".into(),
            addresses: Vec::new(),
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
            minor_version: 0,
            has_body: false,
            seed: 0,
            data: None,
            groups: Groups::default(),
        },
        journey: None,
        load: Load::Closed { connections: 2, pipeline: 1 },
        limits: Limits {
            requests: Some(10),
            duration_ns: None,
            warmup_ns: 0,
            timeout_ns: 30_000_000_000,
            max_head_bytes: 65536,
            unreachable_after: 10,
        },
        connections: Connections {
            keep_alive: true,
            requests_per_connection: None,
            close: Close::Await,
            repeat: true,
            clock_starts: ClockStarts::BeforeConnecting,
            ramp_ns: 0,
            local_addresses: Vec::new(),
            local_ports: None,
            socket_buffer_bytes: None,
            no_delay: true,
        },
        workers: Workers {
            count: 1,
            count_reason: String::new(),
            cpus: Vec::new(),
            io: IoChoice::Auto,
            spin: Spin::Auto,
            cpus_to_spare: false,
        },
        expect: vec![200..=399],
        checks: None,
        keep_every_request: true,
        part: None,
    }
}
