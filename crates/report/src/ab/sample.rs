//! A Run made by hand, for the tests of ab's reports: ten responses, two of which had to connect.

use ablaze_model::plan::{ClockStarts, Load, Target};
use ablaze_model::record::RequestLine;
use ablaze_model::run::{Backend, Machine};
use ablaze_model::{Phases, Plan, Record, Run, by_hand};

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
        command_line: vec!["ablaze".into(), "ab".into()],
        started_unix_ns: 1_781_524_800_000_000_000,
        elapsed_ns: 40_000_000,
        setup_ns: 0,
        record: record(answered, every_request),
        backend: Backend { name: "epoll", fallback_reason: None },
        machine: Machine::default(),
        ..by_hand::run()
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
    let mut plan = by_hand::plan();
    plan.target = Target {
        url: "http://localhost:8080/a?b=1".into(),
        host: "localhost".into(),
        path: "/a?b=1".into(),
        addresses: Vec::new(),
        ..plan.target
    };
    plan.requests.minor_version = 0;
    plan.load = Load::Closed { connections: 2, pipeline: 1 };
    (plan.limits.requests, plan.limits.duration_ns) = (Some(10), None);
    plan.connections.clock_starts = ClockStarts::BeforeConnecting;
    plan.connections.local_ports = None;
    plan.workers.cpus.clear();
    plan.keep_every_request = true;
    plan
}
