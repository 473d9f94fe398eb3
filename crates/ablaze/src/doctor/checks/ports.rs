//! Local ports: a connection holds one while it is open and, on the side that closes first, for
//! 60 s after (TIME_WAIT; TCP_TIMEWAIT_LEN in net/tcp.h).

use ablaze_verdict::words::{amount, grouped, percent};

use crate::doctor::check::Check;
use crate::doctor::facts::Facts;

const LOCAL_PORTS: &str = "local-ports";
const TIME_WAIT: &str = "time-wait";
const REUSE: &str = "time-wait-reuse";
const CONNECTION_RATE: &str = "connection-rate";

/// How long a closed connection keeps its port, s.
const TIME_WAIT_S: f64 = 60.0;
/// How long, where the kernel may give it to a new connection before, s (tcp_twsk_unique in
/// net/ipv4/tcp_ipv4.c).
const REUSED_AFTER_S: f64 = 1.0;
/// The kernel's own default has 28,232 ports; so much less was set by somebody.
const FEW_PORTS: u64 = 10_000;
/// The default of ablaze has 50 connections; with less than this nothing is left to choose from.
const TOO_FEW_PORTS: u64 = 1024;

const WIDEN: &str = "sudo sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"";

/// Whether there is a port for every connection.
pub fn local_ports(facts: &Facts) -> Option<Check> {
    let Some((first, last)) = facts.local_ports() else {
        return Some(Check::unknown(LOCAL_PORTS, "net.ipv4.ip_local_port_range"));
    };
    let ports = last - first + 1;
    let figure = format!("{} local ports ({first} to {last})", grouped(ports));
    if let Some(connections) = facts.load.connections.map(u64::from)
        && connections > ports
    {
        let effect = format!(
            "{} connections to one address need one each: the rest cannot be opened",
            grouped(connections)
        );
        return Some(
            Check::problem(LOCAL_PORTS, figure, effect)
                .advice("widen the range, or use more addresses of this host with --local-address:")
                .command(WIDEN),
        );
    }
    let effect = format!(
        "at most that many connections to one address, and {} new ones per second sustained",
        amount(ports as f64 / TIME_WAIT_S)
    );
    Some(match ports {
        ..TOO_FEW_PORTS => Check::problem(LOCAL_PORTS, figure, effect).command(WIDEN),
        TOO_FEW_PORTS..FEW_PORTS => Check::note(LOCAL_PORTS, figure, effect).command(WIDEN),
        _ => Check::ok(LOCAL_PORTS, figure),
    })
}

/// Whether earlier runs still hold ports.
pub fn time_wait(facts: &Facts) -> Option<Check> {
    let Some((waiting, (first, last))) = facts.preflight.time_wait.zip(facts.local_ports()) else {
        return Some(Check::unknown(TIME_WAIT, "/proc/net/sockstat"));
    };
    let share = waiting as f64 / (last - first + 1) as f64;
    let figure = format!("{} closed connections in TIME_WAIT", grouped(waiting));
    if reuses(facts) {
        return Some(Check::ok(TIME_WAIT, format!("{figure}, whose ports can be reused")));
    }
    // Where the load would go is not known: it may be within this host.
    let certain = facts.target.is_some() || facts.number("net.ipv4.tcp_tw_reuse") != Some(2);
    let effect = format!(
        "they may hold up to {} of the local ports{}: a run started now can open fewer connections",
        percent(share.min(1.0)),
        if certain { "" } else { " for other hosts" }
    );
    let wait = "wait until they expire, at most 60 s:";
    let command = "sleep 60";
    Some(match share {
        0.8.. if certain => Check::problem(TIME_WAIT, figure, effect).advice(wait).command(command),
        0.25.. => Check::note(TIME_WAIT, figure, effect).advice(wait).command(command),
        _ => Check::ok(TIME_WAIT, figure),
    })
}

/// Whether the kernel may give such ports to new connections after a second.
pub fn time_wait_reuse(facts: &Facts) -> Option<Check> {
    let Some(reuse) = facts.number("net.ipv4.tcp_tw_reuse") else {
        return Some(Check::unknown(REUSE, "net.ipv4.tcp_tw_reuse"));
    };
    let figure = format!("net.ipv4.tcp_tw_reuse = {reuse}");
    Some(match reuse {
        0 => Check::note(
            REUSE,
            figure,
            "each connection that this side closes blocks a port for 60 s: without keep-alive, \
             ports run out",
        )
        .command("sudo sysctl -w net.ipv4.tcp_tw_reuse=1"),
        _ => Check::ok(REUSE, figure),
    })
}

/// Whether a connection for each request, at the rate asked for, would run out of ports.
pub fn connection_rate(facts: &Facts) -> Option<Check> {
    let rate = facts.load.rate_per_s?;
    let Some((first, last)) = facts.local_ports() else {
        return Some(Check::unknown(CONNECTION_RATE, "net.ipv4.ip_local_port_range"));
    };
    let ports = (last - first + 1) as f64;
    let held_s = if reuses(facts) { REUSED_AFTER_S } else { TIME_WAIT_S };
    let needed = rate * held_s;
    let arithmetic = format!(
        "{}/s, with each closed connection holding its port for {held_s} s, needs {} ports of {}",
        amount(rate),
        grouped(needed.ceil() as u64),
        grouped(ports as u64)
    );
    if needed <= ports {
        return Some(Check::ok(CONNECTION_RATE, arithmetic));
    }
    let most = amount((ports / held_s).floor());
    Some(if facts.load.keep_alive {
        let effect = format!(
            "harmless with keep-alive; if the server closes connections, or with --no-keepalive, \
             more than {most}/s cannot be sustained"
        );
        let check = Check::note(CONNECTION_RATE, arithmetic, effect);
        with_fix(facts, check, &most)
    } else {
        let effect = format!("after {} connections cannot be opened", lasting(ports, rate));
        let check = Check::problem(CONNECTION_RATE, arithmetic, effect);
        with_fix(facts, check, &most)
    })
}

fn with_fix(facts: &Facts, check: Check, most: &str) -> Check {
    if reuses(facts) {
        return check.advice(format!("use at most {most}/s, or widen the range:")).command(WIDEN);
    }
    check
        .advice(format!("use at most {most}/s, or let ports be reused after 1 s:"))
        .command("sudo sysctl -w net.ipv4.tcp_tw_reuse=1")
}

fn lasting(ports: f64, rate: f64) -> String {
    format!("{} s", amount(ports / rate))
}

/// tcp_tw_reuse is 1 for all, 2 for connections within this host; it needs TCP timestamps.
fn reuses(facts: &Facts) -> bool {
    let loopback = facts.target.as_ref().is_some_and(|target| target.address.ip().is_loopback());
    let permitted = match facts.number("net.ipv4.tcp_tw_reuse") {
        Some(1) => true,
        Some(2) => loopback,
        _ => false,
    };
    permitted && facts.number("net.ipv4.tcp_timestamps") != Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::check::State;
    use crate::doctor::sample::{quiet, set, unset, with_load, with_target};

    const RANGE: &str = "net.ipv4.ip_local_port_range";
    const REUSED: &str = "net.ipv4.tcp_tw_reuse";

    #[test]
    fn ports_must_suffice_for_the_connections() {
        let facts = &mut quiet();
        assert_eq!(local_ports(facts).unwrap().state, State::Ok);
        set(facts, RANGE, "50000 50999");
        assert_eq!(local_ports(facts).unwrap().state, State::Problem);
        set(facts, RANGE, "50000 55000");
        assert_eq!(local_ports(facts).unwrap().state, State::Note);
        unset(facts, RANGE);
        assert_eq!(local_ports(facts).unwrap().state, State::Unknown);
        set(facts, RANGE, "9 5");
        assert_eq!(local_ports(facts).unwrap().state, State::Unknown);
        // 32768 to 60999 are 28,232.
        assert_eq!(local_ports(&with_load(28_232, None)).unwrap().state, State::Ok);
        let short = local_ports(&with_load(28_233, None)).unwrap();
        assert_eq!((short.state, short.command.as_deref()), (State::Problem, Some(WIDEN)));
    }

    #[test]
    fn ports_of_earlier_runs_are_counted_against_the_range() {
        let facts = &mut quiet();
        facts.preflight.time_wait = Some(25_000);
        assert_eq!(time_wait(facts).unwrap().state, State::Note, "within this host no matter");
        set(facts, REUSED, "0");
        for (waiting, state) in [
            (Some(0), State::Ok),
            (Some(7_000), State::Ok),
            (Some(8_000), State::Note),
            (Some(25_000), State::Problem),
            (None, State::Unknown),
        ] {
            facts.preflight.time_wait = waiting;
            assert_eq!(time_wait(facts).unwrap().state, state, "{waiting:?}");
        }
        facts.preflight.time_wait = Some(25_000);
        set(facts, REUSED, "1");
        assert_eq!(time_wait(facts).unwrap().state, State::Ok, "they may be used again");
    }

    #[test]
    fn reuse_is_on_or_not_or_not_known() {
        let facts = &mut quiet();
        assert_eq!(time_wait_reuse(facts).unwrap().state, State::Ok);
        set(facts, REUSED, "0");
        assert_eq!(time_wait_reuse(facts).unwrap().state, State::Note);
        unset(facts, REUSED);
        assert_eq!(time_wait_reuse(facts).unwrap().state, State::Unknown);
    }

    #[test]
    fn a_connection_per_request_lasts_as_long_as_its_ports() {
        assert_eq!(connection_rate(&quiet()), None, "no rate was asked for");
        // 28,232 ports for 60 s each are 470 a second.
        let facts = &mut with_load(10, Some(470.0));
        facts.load.keep_alive = false;
        assert_eq!(connection_rate(facts).unwrap().state, State::Ok);
        facts.load.rate_per_s = Some(471.0);
        let check = connection_rate(facts).unwrap();
        assert_eq!(check.state, State::Problem);
        assert!(check.figure.contains("28,260 ports") && check.figure.contains("28,232"));
        assert!(check.advice.unwrap().contains("at most 470/s"));
        facts.load.keep_alive = true;
        assert_eq!(connection_rate(facts).unwrap().state, State::Note);
        set(facts, REUSED, "1");
        assert_eq!(connection_rate(facts).unwrap().state, State::Ok);
        facts.load.rate_per_s = Some(28_300.0);
        assert_eq!(connection_rate(facts).unwrap().command.as_deref(), Some(WIDEN));
        set(facts, "net.ipv4.tcp_timestamps", "0");
        facts.load.rate_per_s = Some(471.0);
        assert_eq!(connection_rate(facts).unwrap().state, State::Note);
        unset(facts, RANGE);
        assert_eq!(connection_rate(facts).unwrap().state, State::Unknown);
    }

    #[test]
    fn within_this_host_two_is_as_good_as_one() {
        let facts = &mut with_target("127.0.0.1:80");
        facts.load.rate_per_s = Some(5000.0);
        set(facts, REUSED, "2");
        assert_eq!(connection_rate(facts).unwrap().state, State::Ok);
        let facts = &mut with_target("192.0.2.1:80");
        facts.load.rate_per_s = Some(5000.0);
        assert_eq!(connection_rate(facts).unwrap().state, State::Note);
    }
}
