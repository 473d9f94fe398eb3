//! The network within this host: queues on the way to accept(), the loopback interface, connection
//! tracking. Those of a server elsewhere are to be looked at there.

use ablaze_verdict::words::{counted, grouped, percent};

use crate::doctor::check::Check;
use crate::doctor::facts::Facts;

const ACCEPT_QUEUE: &str = "accept-queue";
const SYN_QUEUE: &str = "syn-queue";
const PACKET_QUEUE: &str = "packet-queue";
const BUFFERS: &str = "socket-buffers";
const LOOPBACK: &str = "loopback";
const TRACKING: &str = "connection-tracking";

/// The kernel's default before Linux 5.4 was 128, since then 4,096.
const ACCEPT_QUEUE_SMALL: u64 = 1024;
/// The defaults of the kernel: less was set by somebody.
const PACKETS: u64 = 1000;
const BUFFER_BYTES: u64 = 212_992;
const LOOPBACK_MTU: u32 = 65_536;

/// Whether a server here may let as many connections wait as are opened at once.
pub fn accept_queue(facts: &Facts) -> Option<Check> {
    let Some(most) = facts.number("net.core.somaxconn") else {
        return Some(Check::unknown(ACCEPT_QUEUE, "net.core.somaxconn"));
    };
    let figure = format!("net.core.somaxconn = {most}");
    if facts.target.is_some() && !facts.target_is_here() {
        return Some(Check::ok(ACCEPT_QUEUE, format!("{figure}; the target has its own limit")));
    }
    let listener = facts.target.as_ref().and_then(|target| target.server.listener.as_ref());
    if listener.is_some_and(|listener| listener.backlog.is_some()) {
        // The listener's own backlog is known, and cut to this already.
        return Some(Check::ok(ACCEPT_QUEUE, format!("{figure}; see listen-backlog")));
    }
    let wanted = facts.load.connections.map_or(ACCEPT_QUEUE_SMALL, u64::from);
    if most >= wanted {
        return Some(Check::ok(ACCEPT_QUEUE, figure));
    }
    let effect = format!(
        "at most {} connections wait to be accepted, whatever a server passes to listen(); of {} \
         opened at once, some retry after 1 s or more",
        grouped(most),
        grouped(wanted)
    );
    let to = wanted.next_power_of_two().max(4096);
    let check = match facts.load.connections {
        Some(_) => Check::problem(ACCEPT_QUEUE, figure, effect),
        None => Check::note(ACCEPT_QUEUE, figure, effect),
    };
    Some(
        check
            .advice("raise it and restart the server:")
            .command(format!("sudo sysctl -w net.core.somaxconn={to}")),
    )
}

/// Whether connections half open are dropped. With SYN cookies the limit is the listener's own;
/// without, a quarter of tcp_max_syn_backlog is kept for hosts known (tcp_conn_request in
/// net/ipv4/tcp_input.c).
pub fn syn_queue(facts: &Facts) -> Option<Check> {
    let cookies = facts.number("net.ipv4.tcp_syncookies");
    let Some((most, cookies)) = facts.number("net.ipv4.tcp_max_syn_backlog").zip(cookies) else {
        let names = "net.ipv4.tcp_max_syn_backlog, net.ipv4.tcp_syncookies";
        return Some(Check::unknown(SYN_QUEUE, names));
    };
    let figure = format!("tcp_max_syn_backlog = {most}, tcp_syncookies = {cookies}");
    let wanted = facts.load.connections.map_or(256, u64::from);
    Some(match cookies {
        1 => Check::ok(SYN_QUEUE, figure),
        0 if most / 4 * 3 >= wanted => Check::ok(SYN_QUEUE, figure),
        0 => Check::note(
            SYN_QUEUE,
            figure,
            format!(
                "of {} connections opened at once over a network, those beyond {} half-open ones \
                 are dropped and retry after 1 s",
                grouped(wanted),
                grouped(most / 4 * 3)
            ),
        )
        .command("sudo sysctl -w net.ipv4.tcp_syncookies=1"),
        _ => Check::note(
            SYN_QUEUE,
            figure,
            "every connection to a server here uses a SYN cookie and loses TCP options",
        )
        .command("sudo sysctl -w net.ipv4.tcp_syncookies=1"),
    })
}

/// Whether packets on their way to TCP are dropped.
pub fn packet_queue(facts: &Facts) -> Option<Check> {
    let Some(most) = facts.number("net.core.netdev_max_backlog") else {
        return Some(Check::unknown(PACKET_QUEUE, "net.core.netdev_max_backlog"));
    };
    let dropped = facts.preflight.sample.kernel.softnet.map(|softnet| softnet.dropped);
    let figure = format!("net.core.netdev_max_backlog = {most}");
    let raise = |check: Check| {
        let to = (most * 4).max(PACKETS * 4);
        check.command(format!("sudo sysctl -w net.core.netdev_max_backlog={to}"))
    };
    Some(match dropped {
        Some(dropped @ 1..) => raise(Check::problem(
            PACKET_QUEUE,
            format!("{figure}, {} dropped during the check", counted(dropped, "packet")),
            "each lost packet is retransmitted after 200 ms or more, and shows as a slow response",
        )),
        _ if most < PACKETS => raise(Check::note(
            PACKET_QUEUE,
            figure,
            "a larger burst of packets on one CPU loses some, over loopback too",
        )),
        _ => Check::ok(PACKET_QUEUE, figure),
    })
}

/// Whether sockets may have buffers as large as by default.
pub fn socket_buffers(facts: &Facts) -> Option<Check> {
    let names = ["net.core.rmem_max", "net.core.wmem_max"];
    let automatic = ["net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"];
    let largest = |name: &str| facts.setting(name)?.split(' ').nth(2)?.parse::<u64>().ok();
    let read = |name: &&'static str| Some((*name, facts.number(name).or_else(|| largest(name))?));
    let known: Vec<(&str, u64)> = names.iter().chain(&automatic).filter_map(read).collect();
    if known.is_empty() {
        return Some(Check::unknown(BUFFERS, "net.core.rmem_max, net.ipv4.tcp_rmem"));
    }
    let figure = |all: &[(&str, u64)]| {
        let one = |(name, bytes): &(&str, u64)| format!("{name} up to {} B", grouped(*bytes));
        all.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let small: Vec<(&str, u64)> =
        known.iter().filter(|(_, bytes)| *bytes < BUFFER_BYTES).copied().collect();
    let Some((name, _)) = small.first() else {
        return Some(Check::ok(BUFFERS, figure(&known)));
    };
    let value = match name.contains("tcp_") {
        true => "\"4096 131072 6291456\"".to_owned(),
        false => BUFFER_BYTES.to_string(),
    };
    Some(
        Check::note(
            BUFFERS,
            figure(&small),
            "large bodies are sent in more and smaller pieces, slower than the network allows",
        )
        .command(format!("sudo sysctl -w {name}={value}")),
    )
}

/// Whether connections within this host are possible, in packets as large as by default.
pub fn loopback(facts: &Facts) -> Option<Check> {
    let Some(loopback) = facts.preflight.loopback else {
        return Some(Check::unknown(LOOPBACK, "the interface lo"));
    };
    if !loopback.up {
        return Some(
            Check::problem(
                LOOPBACK,
                "the interface lo is down",
                "no server on this host can be reached",
            )
            .command("sudo ip link set lo up"),
        );
    }
    Some(match loopback.mtu_bytes {
        Some(mtu) if mtu < LOOPBACK_MTU => Check::note(
            LOOPBACK,
            format!("lo is up, with packets of at most {} B", grouped(mtu.into())),
            "larger bodies need more packets than usual and cost both sides more",
        )
        .command(format!("sudo ip link set lo mtu {LOOPBACK_MTU}")),
        Some(mtu) => Check::ok(LOOPBACK, format!("up, packets up to {} B", grouped(mtu.into()))),
        None => Check::ok(LOOPBACK, "up"),
    })
}

/// Whether the connection tracking table has free entries.
pub fn connection_tracking(facts: &Facts) -> Option<Check> {
    let Some(most) = facts.number("net.netfilter.nf_conntrack_max") else {
        // The file is there if and only if the module is; so long as there are such files at all.
        let told = facts.setting("net.core.somaxconn").is_some();
        return Some(match told {
            true => Check::ok(TRACKING, "not in use"),
            false => Check::unknown(TRACKING, "net.netfilter.nf_conntrack_max"),
        });
    };
    let Some(count) = facts.number("net.netfilter.nf_conntrack_count") else {
        return Some(Check::unknown(TRACKING, "net.netfilter.nf_conntrack_count"));
    };
    let wanted = count + facts.load.connections.map_or(0, u64::from);
    let share = wanted as f64 / most.max(1) as f64;
    let figure = format!("{} of {} entries in use", grouped(count), grouped(most));
    let effect = format!(
        "with this load, {} of the table: when it is full, packets of new connections are dropped, \
         and closed connections stay in it for two minutes",
        percent(share)
    );
    let to = (most * 4).max(wanted * 4);
    let command = format!("sudo sysctl -w net.netfilter.nf_conntrack_max={to}");
    Some(match share {
        0.9.. => Check::problem(TRACKING, figure, effect).command(command),
        0.5.. => Check::note(TRACKING, figure, effect).command(command),
        _ => Check::ok(TRACKING, figure),
    })
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
