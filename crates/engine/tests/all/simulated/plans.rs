//! Plans by hand, and the usual responses.

use ablaze_model::plan::{ClockStarts, Load, Plan};
use ablaze_wire::http1::builder::RequestBuilder;
use ablaze_wire::http1::request::Template;

pub const US: u64 = 1_000;
pub const MS: u64 = 1_000_000;
pub const S: u64 = 1_000_000_000;

pub const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
pub const HELLO_CLOSE: &[u8] =
    b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello";

/// A GET of this path, HTTP/1.1.
pub fn get(path: &str) -> Template {
    RequestBuilder::new("GET", path).header("Host", "there").build().unwrap()
}

/// `requests` requests over `connections` connections of one worker, kept alive, the clock
/// starting when they stand; a timeout of 30 s.
pub fn plan(requests: u64, connections: u32) -> Plan {
    let mut plan = ablaze_tamper::plans::plan(get("/"), requests, 10);
    plan.load = Load::Closed { connections, pipeline: 1 };
    plan.limits.timeout_ns = 30 * S;
    plan.connections.clock_starts = ClockStarts::AfterConnecting;
    plan
}

/// As [`plan`], for a time instead of a number.
pub fn plan_for(duration_ns: u64, connections: u32) -> Plan {
    let mut plan = plan(1, connections);
    plan.limits.requests = None;
    plan.limits.duration_ns = Some(duration_ns);
    plan
}

pub fn pipelined(mut plan: Plan, depth: u32) -> Plan {
    plan.load = Load::Closed { connections: plan.load.connections(), pipeline: depth };
    plan
}

pub fn with_workers(mut plan: Plan, count: u32) -> Plan {
    plan.workers.count = count;
    plan
}

pub fn closing_each(mut plan: Plan) -> Plan {
    plan.connections.keep_alive = false;
    plan
}

pub fn clock_before(mut plan: Plan) -> Plan {
    plan.connections.clock_starts = ClockStarts::BeforeConnecting;
    plan
}

pub fn with_timeout(mut plan: Plan, timeout_ns: u64) -> Plan {
    plan.limits.timeout_ns = timeout_ns;
    plan
}

pub fn without_repeat(mut plan: Plan) -> Plan {
    plan.connections.repeat = false;
    plan
}
