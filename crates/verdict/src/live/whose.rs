//! Where the connections went, and whose CPU time it is that was read: what listens at the first address of the target at which anything does. Connections may
//! go to another address, and requests to other hosts.

use std::net::{IpAddr, SocketAddr};

use ablaze_model::Run;
use ablaze_model::plan::proxy::Way;

use crate::finding::Finding;
use crate::words::{counted, listed};

/// Where what was observed listens, if connections went elsewhere: a first address may have a listener that takes none.
pub(crate) fn observed_elsewhere(run: &Run) -> Option<SocketAddr> {
    let monitor = run.monitor.as_ref()?;
    let observed: SocketAddr = monitor.target.listener.as_ref()?.address.parse().ok()?;
    let used: SocketAddr = run.connected_to.parse().ok()?;
    let first = run.plan.target.addresses.first()?;
    let (listens, reached) = (observed.ip().to_canonical(), used.ip().to_canonical());
    // What listens at :: may take connections of IPv4 as well; those to the first address it did not take.
    let is_same = match listens {
        IpAddr::V4(ip) if ip.is_unspecified() => reached.is_ipv4(),
        IpAddr::V6(ip) if ip.is_unspecified() => reached.is_ipv6() || first.is_ipv4(),
        // To 0.0.0.0 or :: the kernel connects as to the loopback address.
        ip => ip == reached || reached.is_unspecified(),
    };
    let watched_first = run.plan.target.addresses.contains(&used) && *first != used;
    (watched_first && !is_same).then_some(observed)
}

/// What is said where the requests went to other hosts as well, whose processes were not looked at.
pub(crate) fn observed_in_part(run: &Run) -> Option<String> {
    let target = &run.plan.target;
    let others = &target.others;
    if others.is_empty() || run.monitor.as_ref().is_none_or(|monitor| !monitor.target.on_this_host)
    {
        return None;
    }
    let shown = others.iter().take(2).map(|other| format!("{}:{}", other.host, other.port));
    let shown = match others.len() {
        1 | 2 => listed(shown),
        all => counted(all as u64, "other host"),
    };
    Some(format!(
        "of the servers the one at {}:{} alone was observed, and requests went to {shown}, too",
        target.host, target.port
    ))
}

/// Whether a proxy stands at the other end of all connections, which forwards requests: the target was not met.
pub(crate) fn is_forwarded(run: &Run) -> bool {
    run.plan.target.proxy.as_ref().is_some_and(|proxy| proxy.way == Way::Forward)
}

/// A finding about the server at the other end of the connections, as one about the proxy where that stands there and forwards
/// requests. What it does on them it may do for the target behind it.
pub(crate) fn of_forward_proxy(run: &Run, mut found: Finding) -> Finding {
    if is_forwarded(run) {
        for text in [&mut found.evidence, &mut found.cause, &mut found.fix] {
            *text = said_of_proxy(text);
        }
    }
    found
}

fn said_of_proxy(text: &str) -> String {
    text.replace("The server, or something in front of it,", "The proxy, or the target behind it,")
        .replace("in the server's log", "in the logs of the proxy and of the target")
        .replace("Have the server", "Have the proxy, or the target behind it,")
        .replace("The server", "The proxy")
        .replace("the server", "the proxy")
}

/// Whether all connections were made to an address of this machine's loopback interface.
pub(crate) fn over_loopback(run: &Run) -> bool {
    let addresses = &run.plan.target.addresses;
    !addresses.is_empty() && addresses.iter().all(|address| address.ip().is_loopback())
}

/// Where the load came from, where no fleet sent it. Merged runs may be those of several machines.
pub(crate) fn without_fleet(run: &Run) -> &'static str {
    match run.shards {
        Some(_) => {
            "The load is that of several runs, which were merged; their machines were not compared."
        }
        None => "The load came from one machine.",
    }
}
