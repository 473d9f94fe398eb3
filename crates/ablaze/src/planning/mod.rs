//! From what was asked to a [`Plan`]: addresses are resolved, workers counted, descriptors made
//! sure of. Both front ends fill an [`Asked`] and call [`plan`]; neither knows the machine.

pub mod addresses;
pub mod descriptors;
pub mod local;
mod names;
pub mod order;
pub mod requests;
pub mod sources;
pub mod tls;
pub mod workers;

use std::ops::RangeInclusive;

use ablaze_model::plan::tls::Tls;
use ablaze_model::plan::{
    ClockStarts, Close, Connections, Http2, Limits, Load, Plan, Requests, Target,
};

use crate::Refusal;
pub use addresses::{ConnectTo, Family, TargetAsked};
pub use names::OptionNames;
pub use tls::TlsAsked;
pub use workers::WorkersAsked;

/// What was asked for, in the engine's terms, before anything depends on this machine.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Where the load shall go.
    pub target: TargetAsked,
    /// TLS on every connection.
    pub tls: Option<Tls>,
    /// HTTP/2 on every connection.
    pub http2: Option<Http2>,
    /// What shall be sent.
    pub requests: Requests,
    /// The shape of the load.
    pub load: Load,
    /// When it ends, and what is too much.
    pub limits: Limits,
    /// How connections are made, used and ended.
    pub connections: Connections,
    /// Threads, CPUs and the I/O backend.
    pub workers: WorkersAsked,
    /// Statuses that count as expected.
    pub expect: Vec<RangeInclusive<u16>>,
    /// Keep a line of every request.
    pub keep_every_request: bool,
    /// How messages name options.
    pub names: OptionNames,
}

/// A Plan, and what the person should know about how it came about.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The Plan.
    pub plan: Plan,
    /// Lines to print before the run.
    pub notes: Vec<String>,
}

impl Asked {
    /// The native defaults: 50 connections for 10 s, kept alive, on a clock that starts when all
    /// connections stand.
    pub fn new(target: TargetAsked, requests: Requests) -> Self {
        Self {
            target,
            tls: None,
            http2: None,
            requests,
            load: Load::Closed { connections: 50, pipeline: 1 },
            limits: Limits {
                requests: None,
                duration_ns: Some(10_000_000_000),
                warmup_ns: 0,
                timeout_ns: 30_000_000_000,
                max_head_bytes: 65_536,
                hopeless_after: 10,
            },
            connections: Connections {
                keep_alive: true,
                requests_per_connection: None,
                close: Close::Await,
                repeat: true,
                clock_starts: ClockStarts::AfterConnecting,
                ramp_ns: 0,
                local_addresses: Vec::new(),
                local_ports: None,
                socket_buffer_bytes: None,
                no_delay: true,
            },
            workers: WorkersAsked::default(),
            expect: vec![200..=399],
            keep_every_request: false,
            names: OptionNames::NATIVE,
        }
    }
}

/// Makes the Plan: resolves the host, counts the workers, raises the descriptor limit.
///
/// # Errors
/// When a number is out of its range, the host has no address, or the machine does not permit
/// what the Plan needs. The line names the remedy.
pub fn plan(mut asked: Asked) -> Result<Planned, Refusal> {
    let mut notes = Vec::new();
    let load = checked_load(&asked, &mut notes)?;
    check_proxy(&asked.target)?;
    let mut addresses = addresses::resolve(&asked.target)?;
    local::match_families(&mut addresses, &mut asked.connections.local_addresses)?;
    let on_this_host = asked.target.unix_socket.is_some()
        || addresses.iter().any(|address| ablaze_sys::is_local_address(address.ip()));
    let reached = if asked.target.proxy.is_some() { "proxy" } else { "target" };
    let workers = workers::choose(
        &asked.workers,
        load.connections(),
        on_this_host.then_some(reached),
        &workers::Cpus::of_this_process(),
        &asked.names,
        &mut notes,
    )?;
    descriptors::make_sure_of(load.connections(), workers.count, &asked.names)?;
    if asked.target.unix_socket.is_none() {
        local::make_sure_of_ports(
            &asked.connections,
            load.connections(),
            ablaze_sys::limits::ephemeral_ports(),
            &mut notes,
        )?;
    }
    let plan = Plan {
        target: Target {
            url: asked.target.url,
            host: asked.target.host,
            port: asked.target.port,
            path: asked.target.path,
            addresses,
            unix_socket: asked.target.unix_socket,
            proxy: asked.target.proxy,
        },
        tls: asked.tls,
        http2: asked.http2,
        requests: asked.requests,
        load,
        limits: asked.limits,
        connections: asked.connections,
        workers,
        expect: asked.expect,
        keep_every_request: asked.keep_every_request,
    };
    plan.http2_requests().map_err(|error| Refusal::usage(error.to_string()))?;
    Ok(Planned { plan, notes })
}

/// A proxy is where connections go: nothing else can be.
fn check_proxy(target: &TargetAsked) -> Result<(), Refusal> {
    let Some(proxy) = &target.proxy else { return Ok(()) };
    let refuse = |option: &str, why: &str| {
        Err(Refusal::usage(format!(
            "{option} and the proxy {} exclude each other: {why}; leave one away",
            proxy.authority()
        )))
    };
    if target.unix_socket.is_some() {
        return refuse("--unix-socket", "connections go to one of them");
    }
    if !target.connect_to.is_empty() {
        return refuse("--connect-to", "the proxy connects to the host of the URL");
    }
    Ok(())
}

/// The load, with no more connections than there are requests.
fn checked_load(asked: &Asked, notes: &mut Vec<String>) -> Result<Load, Refusal> {
    let names = &asked.names;
    let connections = match asked.load {
        Load::Open { bounded: false, .. } => descriptors::most_connections(),
        load => load.connections(),
    };
    let nothing = |what: &str, option: &str, least: &str| {
        Err(Refusal::usage(format!("{what} nothing: give {option} {least} or more")))
    };
    if connections == 0 {
        return nothing("0 connections send", names.connections, "1");
    }
    if asked.load.pipeline() == 0 {
        return nothing("a pipeline of 0 sends", "--pipeline", "1");
    }
    if asked.limits.requests == Some(0) {
        return nothing("0 requests measure", names.requests, "1");
    }
    if asked.limits.duration_ns == Some(0) {
        return nothing("a duration of 0 measures", names.duration, "1s");
    }
    let (mut connections, pipeline) = match asked.load {
        Load::Closed { pipeline, .. } => (connections, pipeline),
        Load::Open { rate, arrivals, bounded, .. } => {
            return open_load(asked, Load::Open { rate, arrivals, connections, bounded });
        }
    };
    if let Some(requests) = asked.limits.requests
        && u64::from(connections) > requests
    {
        notes.push(format!(
            "{} {connections} is more than the {requests} requests of {}: using {requests} \
             connections",
            names.connections, names.requests
        ));
        connections = requests as u32;
    }
    Ok(Load::Closed { connections, pipeline })
}

/// A load on a schedule: a rate that changes needs a time to do so.
fn open_load(asked: &Asked, load: Load) -> Result<Load, Refusal> {
    if let Load::Open { rate, .. } = load
        && !rate.is_constant()
        && asked.limits.duration_ns.is_none()
    {
        return Err(Refusal::usage(format!(
            "a rate that changes does so over the length of the run: give {} as well",
            asked.names.duration
        )));
    }
    Ok(load)
}

#[cfg(test)]
mod tests;
