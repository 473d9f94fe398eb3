//! The pages that every server has, whatever its handler: `/_/status`, what it has done so far, and
//! `/_/config`, how it was told to serve.

use serde_json::{Map, Value, json};

use crate::conditions::{
    AcceptBatch, Arm, Delay, Fault, FaultShare, FiberOptions, PerAccept, ResponseKind, Route,
    Scheduler, SocketOptions, WriteMode,
};
use crate::counters::Counts;
use crate::options::{App, Http3Options, Options, ShopOptions};
use crate::registry::Registry;
use crate::tls::TlsOptions;

/// What their paths begin with.
pub const PREFIX: &[u8] = b"/_/";

/// Uptime, model, accept mode, every thread with its counters, and their sum; with an application its routes too.
pub fn status(options: &Options, registry: &Registry) -> Value {
    let read: Vec<_> =
        registry.workers().iter().map(|worker| (&worker.name, worker.counters.read())).collect();
    let total = read.iter().fold(Counts::default(), |sum, (_, counts)| sum + *counts);
    let workers: Vec<_> = read
        .iter()
        .map(|(name, counts)| json!({ "name": name, "counters": counters(counts) }))
        .collect();
    let mut status = json!({
        "uptime_ns": registry.uptime_ns(),
        "model": options.model.name(),
        "accept": options.accept.name(),
        "threads": options.threads_resolved(),
        "workers": workers,
        "total": counters(&total),
    });
    if let Some(routes) = registry.routes() {
        status["routes"] = routes.rows().into();
    }
    status
}

fn counters(counts: &Counts) -> Value {
    let named = counts.named().into_iter();
    Value::Object(named.map(|(name, count)| (name.to_owned(), count.into())).collect::<Map<_, _>>())
}

/// Every option, under the name it has in [`Options`].
pub fn config(options: &Options) -> Value {
    // Taken apart completely: an option that is added cannot be forgotten here.
    let Options {
        address,
        tls,
        http2,
        http3,
        max_streams,
        model,
        accept,
        threads,
        cpus,
        status,
        body_bytes,
        head_bytes,
        routes,
        echo_everywhere,
        app,
        response,
        keep_alive,
        tells_http10_of_close,
        max_requests,
        read_timeout,
        delay,
        work_ns,
        in_service,
        faults,
        seed,
        server_name,
        max_head_bytes,
        max_body_bytes,
        backlog,
        sockets,
        max_events,
        accept_batch,
        per_accept,
        write,
        fibers,
    } = options;
    let SocketOptions { send_buffer_bytes, receive_buffer_bytes, no_delay } = sockets;
    let FiberOptions { stack_bytes, stack_pool, scheduler, arm } = fibers;
    json!({
        "address": address.to_string(),
        "tls": tls.as_ref().map(tls_value),
        "http2": http2,
        "http3": http3.map(|Http3Options { retry, loss }| json!({ "retry": retry, "loss": loss })),
        "max_streams": max_streams,
        "model": model.name(),
        "accept": accept.name(),
        "threads": threads,
        "cpus": cpus,
        "status": status,
        "body_bytes": body_bytes,
        "head_bytes": head_bytes,
        "routes": routes.iter().map(route).collect::<Vec<_>>(),
        "echo_everywhere": echo_everywhere,
        "app": app.as_ref().map(app_value),
        "response": response_name(*response),
        "keep_alive": keep_alive,
        "tells_http10_of_close": tells_http10_of_close,
        "max_requests": max_requests,
        "read_timeout_ns": read_timeout.map(|timeout| timeout.as_nanos() as u64),
        "delay": delay_value(delay),
        "work_ns": work_ns,
        "in_service": in_service,
        "faults": faults.iter().map(fault_value).collect::<Vec<_>>(),
        "seed": seed,
        "server_name": server_name,
        "max_head_bytes": max_head_bytes,
        "max_body_bytes": max_body_bytes,
        "backlog": backlog,
        "sockets": {
            "send_buffer_bytes": send_buffer_bytes,
            "receive_buffer_bytes": receive_buffer_bytes,
            "no_delay": no_delay,
        },
        "max_events": max_events,
        "accept_batch": match accept_batch {
            AcceptBatch::One => "one",
            AcceptBatch::Drain => "drain",
        },
        "per_accept": match per_accept {
            PerAccept::Nothing => "nothing",
            PerAccept::Sylar => "sylar",
        },
        "write": match write {
            WriteMode::Whole => "whole",
            WriteMode::Split => "split",
        },
        "fibers": {
            "stack_bytes": stack_bytes,
            "stack_pool": stack_pool,
            "scheduler": match scheduler {
                Scheduler::PerThread => "per-thread",
                Scheduler::Shared => "shared",
            },
            "arm": match arm {
                Arm::Persistent => "persistent",
                Arm::PerWait => "per-wait",
            },
        },
    })
}

fn tls_value(tls: &TlsOptions) -> Value {
    let TlsOptions { identity, min, max, tickets, client_authorities } = tls;
    json!({
        "certificate": if identity.authority().is_some() { "self-made" } else { "given" },
        "min": min.name(),
        "max": max.name(),
        "tickets": tickets,
        "client_certificates": client_authorities.is_some(),
    })
}

fn route(route: &Route) -> Value {
    let Route { path, status, body } = route;
    json!({ "path": path, "status": status, "body": String::from_utf8_lossy(body) })
}

fn app_value(app: &App) -> Value {
    match app {
        App::Shop(ShopOptions { not_found, failing }) => {
            json!({ "name": "shop", "share_of_404": not_found, "share_of_500": failing })
        }
    }
}

fn response_name(response: ResponseKind) -> &'static str {
    match response {
        ResponseKind::Http => "http",
        ResponseKind::Echo => "echo",
        ResponseKind::None => "none",
    }
}

fn delay_value(delay: &Delay) -> Value {
    let ns = |duration: &std::time::Duration| duration.as_nanos() as u64;
    match delay {
        Delay::Constant(constant) => json!({ "kind": "constant", "ns": ns(constant) }),
        Delay::Uniform(low, high) => {
            json!({ "kind": "uniform", "low_ns": ns(low), "high_ns": ns(high) })
        }
        Delay::Exponential(mean) => json!({ "kind": "exponential", "mean_ns": ns(mean) }),
        Delay::Bimodal(first, second, share) => json!({
            "kind": "bimodal", "first_ns": ns(first), "second_ns": ns(second),
            "share_of_second": share,
        }),
        Delay::Stall(length, period) => {
            json!({ "kind": "stall", "length_ns": ns(length), "period_ns": ns(period) })
        }
    }
}

fn fault_value(fault: &FaultShare) -> Value {
    let name = match fault.fault {
        Fault::ResetBefore => "reset-before",
        Fault::ResetDuring => "reset-during",
        Fault::ResetAfter => "reset-after",
        Fault::CloseUnanswered => "close-unanswered",
        Fault::ShortBody => "short-body",
        Fault::WrongLength => "wrong-length",
        Fault::Garbage => "garbage",
        Fault::Trickle => "trickle",
    };
    json!({ "fault": name, "share": fault.share })
}
