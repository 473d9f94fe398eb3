//! The server that the load would go to: whether it is there, and whether it can take the load. Of
//! a server on another host nothing can be seen from here.

use ablaze_monitor::preflight::Holder;
use ablaze_verdict::words::{counted, decimal, grouped, listed};

use crate::doctor::check::Check;
use crate::doctor::facts::{Facts, Target};

const TARGET: &str = "target";
const BACKLOG: &str = "listen-backlog";
const DESCRIPTORS: &str = "server-descriptors";
const PROXY: &str = "port-proxy";
const CPUS_LEFT: &str = "cpus-left";

/// Who listens at the target's address.
pub fn target(facts: &Facts) -> Option<Check> {
    let target = facts.target.as_ref()?;
    let (server, address) = (&target.server, target.address);
    if !server.on_this_host {
        let effect = "its CPU, queues and limits cannot be seen from here, and every figure includes the \
             network";
        return Some(
            Check::note(TARGET, format!("{address} is another host"), effect)
                .advice("run `ablaze doctor` there, too"),
        );
    }
    let Some(listener) = &server.listener else {
        if !server.listeners_are_told {
            return Some(Check::unknown(TARGET, format!("which process listens on {address}")));
        }
        return Some(
            Check::problem(
                TARGET,
                format!("nothing listens on {address}"),
                "every connection is refused",
            )
            .advice("start the server, or a built-in one:")
            .command(format!("ablaze serve {address}")),
        );
    };
    let holders = match server.holders.as_slice() {
        [] => "a process of another user listens".to_owned(),
        holders => format!("{} listens", listed(holders.iter().take(4).map(named))),
    };
    let sockets = match listener.sockets {
        1 => String::new(),
        sockets => format!(", with {} sockets", grouped(sockets)),
    };
    let figure = format!("{holders} on {}{sockets}", listener.address);
    if server.holders.is_empty() {
        let effect = "its CPU time and limits cannot be read, so a report cannot say whether it \
                      was the limit";
        return Some(
            Check::note(TARGET, figure, effect)
                .advice("run ablaze as the user of the server, or as root"),
        );
    }
    Some(Check::ok(TARGET, figure))
}

fn named(holder: &Holder) -> String {
    format!("{} (pid {})", holder.name, holder.pid)
}

/// Whether the connections of the load can wait to be accepted.
pub fn listen_backlog(facts: &Facts) -> Option<Check> {
    let listener = facts.target.as_ref()?.server.listener.as_ref()?;
    let Some(backlog) = listener.backlog else {
        return Some(Check::unknown(BACKLOG, "the backlog of the listener"));
    };
    let waiting = listener.longest_queue.unwrap_or(0);
    let mut figure = format!("up to {} can wait to be accepted", counted(backlog, "connection"));
    if waiting > 0 {
        figure.push_str(&format!(", {} waiting now", grouped(waiting)));
    }
    if waiting > backlog {
        let effect = "the queue is already full: the server is not accepting, and more connections \
                      are dropped";
        let advice = "check whether the server hangs, or restart it";
        return Some(Check::problem(BACKLOG, figure, effect).advice(advice));
    }
    let connections = facts.load.connections.map_or(0, u64::from);
    // One more than the backlog is let in (sk_acceptq_is_full in net/sock.h).
    if backlog >= connections.saturating_sub(1) {
        return Some(Check::ok(BACKLOG, figure));
    }
    let effect = format!(
        "{} are opened at once: those that find the queue full retry after 1 s or more, and the \
         run begins with fewer than requested",
        counted(connections, "connection")
    );
    let check = Check::problem(BACKLOG, figure, effect);
    let ramp = "or open connections over a second (--ramp 1s)";
    let port = facts.target.as_ref()?.address.port();
    let listen = format!(
        "have the server call listen() with a backlog of at least {} (nginx: `listen {port} \
         backlog={connections}`)",
        grouped(connections)
    );
    let raise = || {
        let to = connections.next_power_of_two().max(4096);
        format!("sudo sysctl -w net.core.somaxconn={to}")
    };
    Some(match facts.number("net.core.somaxconn") {
        // listen() is cut to somaxconn: asking for more would be no use.
        Some(most) if most <= backlog => check
            .advice(format!("raise the limit and restart the server, {ramp}:"))
            .command(raise()),
        // A backlog is cut to it when the server listens.
        Some(most) if most < connections => {
            check.advice(format!("{listen} after raising the limit, {ramp}:")).command(raise())
        }
        _ => check.advice(format!("{listen}, {ramp}")),
    })
}

/// Whether the server can have a descriptor for each connection.
pub fn server_descriptors(facts: &Facts) -> Option<Check> {
    let target = facts.target.as_ref()?;
    let connections = u64::from(facts.load.connections?);
    target.server.listener.as_ref()?;
    let limited = target.server.holders.iter().filter_map(|holder| {
        let limit = holder.descriptors_soft?;
        Some((limit.saturating_sub(holder.descriptors_open.unwrap_or(0)), limit, holder))
    });
    // Several processes share the connections in unknown proportions; judged by the one with the
    // most free.
    let Some((room, limit, holder)) = limited.max_by_key(|(room, ..)| *room) else {
        return Some(Check::unknown(DESCRIPTORS, "the limits of the server's process"));
    };
    let open = holder.descriptors_open.map_or("unknown".to_owned(), grouped);
    let figure = format!("{} may have {} descriptors, {open} open", named(holder), grouped(limit));
    if room >= connections {
        return Some(Check::ok(DESCRIPTORS, figure));
    }
    let effect = format!(
        "{} do not fit: it stops accepting or spins in accept(), and the rest time out",
        counted(connections, "connection")
    );
    let to = (connections + 1024).next_power_of_two();
    Some(
        Check::problem(DESCRIPTORS, figure, effect)
            .advice(
                "for nginx, set worker_rlimit_nofile and worker_connections; for the running \
                process:",
            )
            .command(format!("sudo prlimit --pid {} --nofile={to}:{to}", holder.pid)),
    )
}

/// Whether docker's proxy stands in between.
pub fn port_proxy(facts: &Facts) -> Option<Check> {
    let Target { address, server, .. } = facts.target.as_ref()?;
    if !server.on_this_host {
        return None;
    }
    let Some(proxy) = &server.proxy else {
        return Some(Check::ok(PROXY, "no docker-proxy in between"));
    };
    let figure = format!("docker-proxy (pid {}) publishes port {}", proxy.pid, address.port());
    let effect = "connections to the loopback address pass through a process that copies every \
                  byte in user space: a run may measure that process";
    let check = Check::problem(PROXY, figure, effect);
    Some(match &proxy.to {
        Some(to) => {
            check.advice("use the container's own address:").command(format!("ablaze {to}"))
        }
        None => check.advice("use the container's own address, or start it with --network host"),
    })
}

/// Whether processors are left to a server on this host.
pub fn cpus_left(facts: &Facts) -> Option<Check> {
    if !facts.target_is_here() {
        return None;
    }
    let Some(cpus) = facts.usable_cpus() else {
        return Some(Check::unknown(CPUS_LEFT, "how many CPUs there are"));
    };
    let workers = facts.load.workers;
    let left = cpus - f64::from(workers);
    let figure = format!(
        "{} in all; ablaze takes {} with {}, leaving {} to the server",
        decimal(cpus, usize::from(cpus.fract() != 0.0)),
        workers,
        counted(workers.into(), "thread"),
        decimal(left.max(0.0), usize::from(left.fract() != 0.0))
    );
    if left >= 1.0 {
        return Some(Check::ok(CPUS_LEFT, figure));
    }
    let effect = "the two share CPUs: the rate is that of both together, and latency includes time \
                  spent on the other";
    Some(
        Check::problem(CPUS_LEFT, figure, effect)
            .advice("run ablaze on another machine, or give this one more CPUs"),
    )
}

#[cfg(test)]
#[path = "target_tests.rs"]
mod tests;
