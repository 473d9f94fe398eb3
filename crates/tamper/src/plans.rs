//! A Plan of a short run over the simulated network, for this crate and for the tests and examples of `engine`.

use ablaze_model::by_hand;
use ablaze_model::plan::{ClockStarts, Limits, Load, Plan, Spin, Target};
use ablaze_wire::http1::request::Template;

const MS: u64 = 1_000_000;

/// This many requests on one reused connection, a timeout of 20 ms, one worker; whoever means something else changes it.
pub fn plan(template: Template, requests: u64, failures_max: u32) -> Plan {
    let mut plan = by_hand::plan();
    plan.target = Target {
        url: "http://there/".to_owned(),
        host: "there".to_owned(),
        port: 80,
        addresses: vec![([127, 0, 0, 1], 80).into()],
        ..plan.target
    };
    plan.requests.templates = vec![template];
    plan.load = Load::Closed { connections: 1, pipeline: 1 };
    plan.limits = Limits {
        requests: Some(requests),
        duration_ns: None,
        warmup_ns: 0,
        timeout_ns: 20 * MS,
        max_head_bytes: 16 * 1024,
        unreachable_after: failures_max,
    };
    plan.connections.clock_starts = ClockStarts::BeforeConnecting;
    plan.connections.local_ports = None;
    plan.workers.cpus.clear();
    plan.workers.spin = Spin::Off;
    plan
}
