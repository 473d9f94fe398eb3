//! From a [`LoadSpec`] to a [`Plan`]: requests become bytes, addresses are resolved, workers counted,
//! descriptors made sure of. [`Load`](crate::Load), every front end of the command and every run of an experiment
//! comes through [`resolve`]; none of them knows the machine, and nothing here knows them.

pub mod addresses;
pub mod alt_svc;
pub mod checks;
mod compose;
pub mod cookies;
mod data;
pub mod descriptors;
mod form;
pub mod hosts;
pub mod http3;
pub mod journey;
pub mod journey_files;
pub mod json_body;
pub mod local;
mod names;
pub mod order;
mod redirect_rows;
pub mod requests;
pub mod sources;
pub mod tls;
pub mod urls;
pub mod users;
pub mod workers;

use std::ops::RangeInclusive;

use ablaze_model::plan::data::Data;
use ablaze_model::plan::journey::PlannedJourney;
use ablaze_model::plan::{Connections, Load, Plan, Target};
use ablaze_model::spec::{Destination, LoadSpec, Secrets, Shape};

use crate::Error;
pub use compose::{Composed, compose, unaimed};
pub use names::OptionNames;

/// More steps than this between two rates are shorter than anybody could see: without steps the rate grows steadily.
const MOST_STEPS: u32 = 10_000;

/// A Plan, and what the person should know about how it came about.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The Plan.
    pub plan: Plan,
    /// Notes to print before the run, one line each.
    pub notes: Vec<String>,
}

/// Makes the Plan of a spec, with the secrets that it refers to, for this machine: resolves the host,
/// counts the workers, raises the descriptor limit. `names` are what messages call options.
///
/// # Errors
/// When a secret or the bytes of a file were not handed over, a number is out of its range, the host
/// has no address, or the machine does not permit what the Plan needs. The line names the fix.
pub fn resolve(spec: &LoadSpec, secrets: &Secrets, names: &OptionNames) -> Result<Planned, Error> {
    let composed = compose(spec, secrets)?;
    place(spec, composed, secrets, names)
}

/// The machine's half of [`resolve`].
///
/// # Errors
/// As above.
pub fn place(
    spec: &LoadSpec,
    composed: Composed,
    secrets: &Secrets,
    names: &OptionNames,
) -> Result<Planned, Error> {
    let mut notes = Vec::new();
    let load = checked_load(spec, names, &mut notes)?;
    let load = load_of_users(load, 1 + composed.others.len() as u32);
    check_proxy(&spec.destination)?;
    check_unix_socket(spec, names)?;
    if let Some(name) = names.local_address {
        local::make_sure_of_addresses(&spec.connections.local_addresses, name)?;
    }
    let mut addresses = addresses::resolve(&composed.url, &spec.destination, names)?;
    let alternative = alt_svc::follow(spec, &composed, &mut addresses, secrets, names)?;
    let mut connections = connections(spec, load.connections());
    local::match_families(&mut addresses, &mut connections.local_addresses)?;
    let origins = 1 + composed.others.len() as u32;
    let others = hosts::placed(composed.others, spec, names)?;
    let on_this_host = spec.destination.unix_socket.is_some()
        || addresses
            .iter()
            .chain(others.iter().flat_map(|origin| &origin.addresses))
            .any(|address| ablaze_sys::is_local_address(address.ip()));
    let reached = if composed.proxy.is_some() { "proxy" } else { "target" };
    let workers = workers::choose(
        &spec.workers,
        load.connections(),
        on_this_host.then_some(reached),
        &workers::Cpus::of_this_process(),
        names,
        &mut notes,
    )?;
    descriptors::make_sure_of(load.connections().saturating_mul(origins), workers.count, names)?;
    if spec.destination.unix_socket.is_none() {
        local::make_sure_of_ports(
            &connections,
            load.connections(),
            ablaze_sys::limits::ephemeral_ports(),
            &mut notes,
        )?;
    }
    let mut limits = spec.limits.clone();
    if let Some(most) = composed.requests.data.as_ref().and_then(Data::requests_max) {
        limits.requests = Some(limits.requests.map_or(most, |requests| requests.min(most)));
    }
    if let Some(most) = spec.requests.users.iterations {
        // Who is through does not make room for others.
        let each = u64::from(users::users_per_connection(spec));
        let all = most.saturating_mul(u64::from(load.connections()) * each);
        limits.requests = Some(limits.requests.map_or(all, |requests| requests.min(all)));
    }
    let expect = expected(spec, composed.journey.as_ref());
    let plan = Plan {
        target: Target {
            url: composed.url.shown,
            host: composed.url.host,
            port: composed.url.port,
            path: composed.url.path,
            addresses,
            alternative,
            unix_socket: spec.destination.unix_socket.clone(),
            proxy: composed.proxy,
            others,
        },
        tls: composed.tls,
        http2: composed.http2,
        http3: composed.http3,
        requests: composed.requests,
        journey: composed.journey,
        load,
        limits,
        connections,
        workers,
        expect,
        checks: composed.checks,
        keep_every_request: spec.keep_every_request,
        part: spec.part,
        requests_of_all: spec.requests_of_all,
        seed_of_all: spec.seed_of_all,
    };
    if plan.streams().is_some() {
        plan.check_streams().map_err(|error| Error::usage(error.to_string()))?;
    }
    Ok(Planned { plan, notes })
}

/// Checks a load that is not aimed at a target yet, as far as that is possible without one.
///
/// # Errors
/// When it cannot be sent to any.
pub fn check(spec: &LoadSpec, secrets: &Secrets, names: &OptionNames) -> Result<(), Error> {
    checked_load(spec, names, &mut Vec::new())?;
    unaimed(spec, secrets).map(drop)
}

/// The statuses that count as expected: those that a journey expects by itself, too.
fn expected(spec: &LoadSpec, journey: Option<&PlannedJourney>) -> Vec<RangeInclusive<u16>> {
    let mut expect = spec.expect.clone();
    let route = journey.and_then(|journey| journey.route.as_ref());
    let steps = route.iter().flat_map(|route| &route.journey.steps);
    for status in steps.flat_map(|step| step.expected_statuses()) {
        // A redirect counts as a success only where it was named.
        let is_in = expect.iter().any(|range| range.contains(&status));
        let is_named = expect.contains(&(status..=status));
        if !is_named && (!is_in || (300..400).contains(&status)) {
            expect.push(status..=status);
        }
    }
    expect
}

/// Where nobody said how many users there may be, as many as can have a connection to every host.
fn load_of_users(load: Load, origins: u32) -> Load {
    match load {
        Load::Open { rate, arrivals, connections, bounded: false } => Load::Open {
            rate,
            arrivals,
            connections: (connections / origins).max(1),
            bounded: false,
        },
        load => load,
    }
}

/// How these connections are made, used and ended.
fn connections(spec: &LoadSpec, count: u32) -> Connections {
    let asked = &spec.connections;
    Connections {
        keep_alive: asked.keep_alive,
        requests_per_connection: asked.requests_per_connection,
        close: asked.close,
        repeat: asked.repeat,
        clock_starts: asked.clock_starts,
        ramp_ns: asked.ramp_ns / u64::from(count.max(1)),
        local_addresses: asked.local_addresses.clone(),
        local_ports: asked.local_ports.clone(),
        socket_buffer_bytes: asked.socket_buffer_bytes,
        no_delay: asked.no_delay,
    }
}

/// A proxy is where connections go: nothing else can be.
fn check_proxy(destination: &Destination) -> Result<(), Error> {
    let Some(proxy) = &destination.proxy else { return Ok(()) };
    let refuse = |option: &str, why: &str| {
        let authority = ablaze_model::plan::proxy::authority(&proxy.host, proxy.port);
        Err(Error::usage(format!(
            "{option} and the proxy {authority} cannot be used together: {why}; use only one"
        )))
    };
    if destination.unix_socket.is_some() {
        return refuse("--unix-socket", "connections go to one of them");
    }
    if !destination.connect_to.is_empty() {
        return refuse("--connect-to", "the proxy connects to the host of the URL");
    }
    Ok(())
}

/// A Unix socket has no addresses and no ports: nothing else says where connections go or come from.
fn check_unix_socket(spec: &LoadSpec, names: &OptionNames) -> Result<(), Error> {
    let (destination, connections) = (&spec.destination, &spec.connections);
    if destination.unix_socket.is_none() {
        return Ok(());
    }
    let (socket, to) = match names.typed {
        true => ("--unix-socket", names.connect_to),
        false => ("unix_socket()", names.connect_to),
    };
    let local = names.local_address.unwrap_or("the local address");
    let others = [
        (!destination.connect_to.is_empty(), to),
        (!connections.local_addresses.is_empty(), local),
        (connections.local_ports.is_some(), "--local-ports"),
    ];
    match others.into_iter().find(|(given, _)| *given) {
        Some((_, option)) => Err(Error::usage(format!(
            "{socket} and {option} cannot be used together: a Unix socket has no address and no port; \
             use only one"
        ))),
        None => Ok(()),
    }
}

/// The load, with no more connections than there are requests.
fn checked_load(
    spec: &LoadSpec,
    names: &OptionNames,
    notes: &mut Vec<String>,
) -> Result<Load, Error> {
    let nothing = |what: &str, option: &str, least: &str| {
        Err(Error::usage(format!("{what} nothing: use {option} {least} or more")))
    };
    let connections = match spec.shape {
        Shape::Open { connections, .. } => {
            connections.unwrap_or_else(descriptors::most_connections)
        }
        Shape::Closed { .. } => spec.closed_connections(),
    };
    if connections == 0 {
        return nothing("0 connections send", names.connections, "1");
    }
    if spec.in_flight == 0 {
        return nothing("a pipeline of 0 sends", names.pipeline, "1");
    }
    let one_each =
        !spec.connections.keep_alive || spec.connections.requests_per_connection == Some(1);
    if spec.in_flight > 1 && one_each {
        return Err(Error::usage(format!(
            "{} requests in flight on each connection cannot be used with a connection per request: \
             raise {} instead of {}, or keep connections for several requests",
            spec.in_flight, names.connections, names.pipeline
        )));
    }
    if let (false, Some(requests @ 2..)) =
        (spec.connections.keep_alive, spec.connections.requests_per_connection)
    {
        let number = match names.typed {
            true => format!("--requests-per-connection {requests}"),
            false => format!("{requests} requests per connection"),
        };
        return Err(Error::usage(format!(
            "{number} cannot be used with a connection per request: keep connections, or remove the number"
        )));
    }
    if spec.limits.requests == Some(0) {
        return nothing("0 requests measure", names.requests, "1");
    }
    if spec.limits.duration_ns == Some(0) {
        return nothing("a duration of 0 measures", names.duration, "1s");
    }
    if let Shape::Open { rate, arrivals, connections: most } = spec.shape {
        if !rate.is_constant() && spec.limits.duration_ns.is_none() {
            return Err(Error::usage(format!(
                "a changing rate needs a length of the run: use {}, too",
                names.duration
            )));
        }
        if rate.steps > MOST_STEPS {
            return Err(Error::usage(format!(
                "{} steps between two rates are too many: use --steps {MOST_STEPS} or fewer",
                rate.steps
            )));
        }
        return Ok(Load::Open { rate, arrivals, connections, bounded: most.is_some() });
    }
    let pipeline = spec.in_flight;
    if let Some(requests) = spec.limits.requests
        && u64::from(connections) > requests
    {
        notes.push(match spec.requests.journey.is_some() {
            true => format!(
                "{connections} users are more than the {requests} journeys of {}: using {requests} users",
                names.requests
            ),
            false => format!(
                "{} {connections} is more than the {requests} requests of {}: using {requests} connections",
                names.connections, names.requests
            ),
        });
        return Ok(Load::Closed { connections: requests as u32, pipeline });
    }
    Ok(Load::Closed { connections, pipeline })
}

#[cfg(test)]
mod tests;
