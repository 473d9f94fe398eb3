//! A Plan of a short run over the simulated network, for this crate and for the tests and examples of `engine`.

use ablaze_model::plan::groups::Groups;
use ablaze_model::plan::{
    ClockStarts, Close, Connections, IoChoice, Limits, Load, Plan, Requests, Spin, Target, Workers,
};
use ablaze_wire::http1::request::Template;

const MS: u64 = 1_000_000;

/// This many requests on one reused connection, a timeout of 20 ms, one worker; whoever means something else changes it.
pub fn plan(template: Template, requests: u64, failures_max: u32) -> Plan {
    Plan {
        target: Target {
            url: "http://there/".to_owned(),
            host: "there".to_owned(),
            port: 80,
            path: "/".to_owned(),
            addresses: vec![([127, 0, 0, 1], 80).into()],
            unix_socket: None,
            proxy: None,
            others: Vec::new(),
        },
        tls: None,
        http2: None,
        http3: None,
        requests: Requests {
            templates: vec![template],
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
        load: Load::Closed { connections: 1, pipeline: 1 },
        limits: Limits {
            requests: Some(requests),
            duration_ns: None,
            warmup_ns: 0,
            timeout_ns: 20 * MS,
            max_head_bytes: 16 * 1024,
            unreachable_after: failures_max,
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
            spin: Spin::Off,
            cpus_to_spare: false,
        },
        expect: vec![200..=399],
        checks: None,
        keep_every_request: false,
        part: None,
    }
}
