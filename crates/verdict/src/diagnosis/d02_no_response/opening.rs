//! Connections that never came to carry a request, and how far they had come: not to stand, or to stand without a tunnel of the
//! proxy, or without a TLS handshake that was completed.

use ablaze_model::{FailureKind, Run};

use crate::words::{counted, grouped};

/// What connections that stood waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hung {
    /// The proxy's response to CONNECT.
    Proxy,
    /// The end of the TLS handshake.
    Tls,
}

/// What so many connections, or more, waited for that stood and were of no use; `None` where not so many stood.
pub fn hung(run: &Run, connections: u64) -> Option<Hung> {
    let is_enough = |waited: u64| waited > 0 && waited >= connections;
    if is_enough(without_handshake(run)) {
        return Some(Hung::Tls);
    }
    is_enough(without_tunnel(run)).then_some(Hung::Proxy)
}

fn without_handshake(run: &Run) -> u64 {
    let facts = run.record.tls.as_ref();
    facts.map_or(0, |facts| facts.connected.saturating_sub(facts.handshakes()))
}

/// Connections to the proxy on which it made no tunnel, and refused none.
fn without_tunnel(run: &Run) -> u64 {
    let Some(facts) = &run.record.proxy else { return 0 };
    let of_proxy = FailureKind::ALL.into_iter().filter(|kind| kind.is_of_proxy());
    let failures = |kind| run.record.failures_of(kind) + run.record.setup_failures[kind as usize];
    let refused: u64 = of_proxy.map(failures).sum();
    facts.connected.saturating_sub(facts.tunnels + refused)
}

/// Tunnels that the proxy made.
pub(super) fn tunnels(run: &Run) -> u64 {
    run.record.proxy.as_ref().map_or(0, |facts| facts.tunnels)
}

/// How many requests timed out before there was a connection for them, at least, where the first that failed did: each connection
/// ends with a time limit that is over, and takes along what it has places for. Streams that time out end none, and in an open
/// loop requests may have waited here.
pub(super) fn unopened(run: &Run) -> u64 {
    let record = &run.record;
    // Older files do not have it.
    let known = record.circumstances.timed_out_connecting;
    if known > 0 {
        return known;
    }
    let connecting = record
        .first_failure
        .is_some_and(|first| first.kind == FailureKind::Timeout && first.connecting);
    let each = u64::from(run.plan.places_per_connection());
    let timeouts = record.failures_of(FailureKind::Timeout);
    match connecting && timeouts > 0 {
        true if run.plan.load.is_open() || run.plan.streams().is_some() => 1,
        true => timeouts.saturating_sub(record.connections_opened.saturating_mul(each)).max(1),
        false => 0,
    }
}

/// Requests for which no connection opened, among those that timed out.
pub(super) fn of_unopened(run: &Run, count: u64) -> String {
    let at_least = match run.record.circumstances.timed_out_connecting {
        0 => "At least ",
        _ => "",
    };
    let of_connected = |done: u64, connected: u64, what: &str| {
        format!(
            "{at_least}{} of the requests that timed out had no connection, and were not sent: {what} {} of {} that opened.",
            grouped(count),
            grouped(done),
            counted(connected, "connection")
        )
    };
    match (hung(run, count), &run.record.tls, &run.record.proxy) {
        (Some(Hung::Tls), Some(facts), _) => {
            let what = "the TLS handshake was completed on";
            return of_connected(facts.handshakes(), facts.connected, what);
        }
        (Some(Hung::Proxy), _, Some(facts)) => {
            return of_connected(facts.tunnels, facts.connected, "the proxy made a tunnel on");
        }
        _ => {}
    }
    let seen = match run.plan.target.unix_socket {
        Some(_) => "the server's accept queue was full.",
        None => "the server's accept queue was full, or packets are dropped on the way.",
    };
    format!(
        "{at_least}{} of the requests that timed out had no connection, and were not sent: none opened in time, as where {seen}",
        grouped(count)
    )
}

/// Whether no TLS handshake failed.
pub(super) fn completed(run: &Run) -> bool {
    run.record.tls.as_ref().is_some_and(|facts| facts.all_completed())
}

/// How many of the connections that stood completed the TLS handshake; `None` where none did.
pub(super) fn handshakes_of_all(run: &Run) -> Option<String> {
    let facts = run.record.tls.as_ref().filter(|facts| facts.handshakes() > 0)?;
    Some(format!(
        "The TLS handshake was completed on {} of {} that opened",
        grouped(facts.handshakes()),
        counted(facts.connected, "connection")
    ))
}

/// Requests that TLS failed for, and none got a response: those beyond what connections without a completed handshake can have
/// taken along failed behind one. A connection that is in its handshake when the run ends puts few of them in doubt.
pub(super) fn of_handshakes(run: &Run, count: u64) -> String {
    let Some(seen) = handshakes_of_all(run) else {
        return "The TLS handshake failed.".to_owned();
    };
    let in_it = without_handshake(run) * u64::from(run.plan.places_per_connection());
    match count.saturating_sub(in_it) {
        0 => format!("{seen}; these requests failed in it or behind it."),
        behind => {
            format!("{seen}; at least {} of these requests failed behind it.", grouped(behind))
        }
    }
}

/// What kept the first request from being sent, where that was seen.
pub(super) fn waited_for(run: &Run) -> String {
    let Some(stood) = none_came(run) else { return String::new() };
    let tunnels = tunnels(run);
    match stood {
        (Hung::Tls, _) if tunnels > 0 => format!(
            " {} through the proxy stood, and no TLS handshake was completed.",
            counted(tunnels, "tunnel")
        ),
        (Hung::Tls, connected) => format!(
            " {} stood, and no TLS handshake was completed.",
            counted(connected, "connection")
        ),
        (Hung::Proxy, connected) => format!(
            " {} to the proxy stood, and it made no tunnel.",
            counted(connected, "connection")
        ),
    }
}

/// What no connection of a run came to, and how many of them waited for it.
fn none_came(run: &Run) -> Option<(Hung, u64)> {
    let record = &run.record;
    let tls = record.tls.as_ref().filter(|facts| facts.connected > 0 && facts.handshakes() == 0);
    if let Some(facts) = tls {
        return Some((Hung::Tls, facts.connected));
    }
    let proxy = record.proxy.as_ref().filter(|facts| facts.connected > 0 && facts.tunnels == 0);
    proxy.map(|facts| (Hung::Proxy, facts.connected))
}

/// Why no request was sent until the end of a run, on connections that stood.
pub(super) fn why_none_was_sent(run: &Run) -> Option<&'static str> {
    Some(match none_came(run)?.0 {
        Hung::Tls if tunnels(run) > 0 => {
            "The proxy opened tunnels, and no TLS handshake was completed through them: whether the proxy or the target is why \
             does not show."
        }
        Hung::Tls => {
            "The server accepts connections and does not complete TLS handshakes: it may not speak TLS."
        }
        Hung::Proxy => {
            "The proxy accepts connections and did not complete a response to CONNECT: it may not reach the target, or takes \
             longer than the run."
        }
    })
}

/// Where to look for what connections wait that do not open.
pub(super) fn fix(run: &Run, connections: u64) -> &'static str {
    match (hung(run, connections), &run.plan.target.unix_socket) {
        _ if run.plan.http3.is_some() => {
            "See with `ss -lun` whether anything receives on that UDP port, and in the server's log what it does with the datagrams."
        }
        // Whoever asks the target itself does not see what the proxy does.
        (Some(Hung::Tls), _) if run.plan.target.proxy.is_some() => {
            "See with `openssl s_client -proxy PROXY_HOST:PROXY_PORT -connect HOST:PORT` whether a handshake is completed through \
             the proxy, and without `-proxy` whether one is from the proxy's machine."
        }
        // They opened, below: no queue and no lost packet shows what they wait for.
        (Some(Hung::Tls), _) => {
            "See with `openssl s_client -connect HOST:PORT` whether a handshake is completed, and in the server's log, or a stack \
             of it, what it does meanwhile."
        }
        (Some(Hung::Proxy), _) => {
            "See in the proxy's log what it does with CONNECT, and whether it reaches the target (`curl -v` there); `curl -v -x \
             PROXY` shows what a single one gets."
        }
        (None, Some(_)) => {
            "Look with `ss -lx` at the server's accept queue (Recv-Q, of at most Send-Q) while it runs."
        }
        (None, None) => {
            "Look with `ss -tn state syn-sent` for connections that do not open, and with `ss -lnt` at the server's accept queue \
             (Recv-Q, of at most Send-Q), while it runs."
        }
    }
}

/// Connections that were of no use yet, as a noun.
pub(super) fn named(run: &Run, connections: u64) -> String {
    match hung(run, connections) {
        Some(Hung::Tls) => {
            format!("{} without a completed TLS handshake", counted(connections, "connection"))
        }
        Some(Hung::Proxy) => {
            format!("{} to the proxy without a tunnel", counted(connections, "connection"))
        }
        None => format!("{} that had not opened", counted(connections, "connection")),
    }
}

/// Why these held places until the end of the run, alone or beside fewer requests that got nothing.
pub(super) fn why_they_held(run: &Run, connections: u64, alone: bool) -> &'static str {
    match (hung(run, connections), alone) {
        (None, true) => "These connections did not open: the rate is that of the others.",
        (None, false) => {
            "Most of these places had a connection that did not open, and no request was sent there: the rate is that of \
             the others."
        }
        (Some(Hung::Proxy), _) => {
            "The proxy accepted connections and made no tunnel on these until the run ended, so that no request was sent there: \
             the rate is that of the others."
        }
        (Some(Hung::Tls), _) if run.plan.target.proxy.is_some() => {
            "The proxy opened tunnels, and no TLS handshake was completed through these until the run ended: whether the proxy or \
             the target is why does not show. The rate is that of the others."
        }
        (Some(Hung::Tls), _) => {
            "The server accepted connections and completed no TLS handshake on these until the run ended, so that no request was \
             sent there: the rate is that of the others."
        }
    }
}

#[cfg(test)]
mod tests;
