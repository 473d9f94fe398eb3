//! The kernel's network counters, /proc/net/netstat, /proc/net/snmp and /proc/net/snmp6, by the names nstat(8)
//! prints: the file's section and the counter's own name, `TcpExt` + `ListenOverflows`. They count
//! for the whole network namespace, other traffic included.

use std::collections::BTreeMap;
use std::fs;

/// Those that a diagnosis or its reader needs. Others are left out: there are some 400.
const WATCHED: [&str; 44] = [
    "IpInReceives",
    "IpOutRequests",
    "IpInDiscards",
    "IpOutDiscards",
    "TcpActiveOpens",
    "TcpPassiveOpens",
    "TcpAttemptFails",
    "TcpEstabResets",
    "TcpInSegs",
    "TcpOutSegs",
    "TcpRetransSegs",
    "TcpOutRsts",
    "TcpExtListenOverflows",
    "TcpExtListenDrops",
    "TcpExtSyncookiesSent",
    "TcpExtTCPReqQFullDoCookies",
    "TcpExtTCPReqQFullDrop",
    "TcpExtTCPSynRetrans",
    "TcpExtTCPTimeouts",
    "TcpExtTCPLossProbes",
    "TcpExtTCPFastRetrans",
    "TcpExtTCPSlowStartRetrans",
    "TcpExtTCPLostRetransmit",
    "TcpExtTCPSpuriousRTOs",
    "TcpExtDelayedACKs",
    "TcpExtTW",
    "TcpExtTCPTimeWaitOverflow",
    "TcpExtTCPBacklogDrop",
    "TcpExtTCPRcvQDrop",
    "TcpExtTCPZeroWindowDrop",
    "TcpExtPruneCalled",
    "TcpExtRcvPruned",
    "TcpExtTCPMemoryPressures",
    "TcpExtTCPAbortOnTimeout",
    "TcpExtTCPAbortOnMemory",
    "TcpExtTCPOFOQueue",
    "TcpExtTCPRcvCollapsed",
    "UdpInDatagrams",
    "UdpOutDatagrams",
    "UdpRcvbufErrors",
    "UdpSndbufErrors",
    "UdpInCsumErrors",
    "Udp6RcvbufErrors",
    "Udp6InCsumErrors",
];

/// The watched counters as they stand; a counter this kernel does not have is missing.
pub(crate) fn now() -> Option<BTreeMap<String, u64>> {
    let netstat = fs::read_to_string("/proc/net/netstat").ok();
    let snmp = fs::read_to_string("/proc/net/snmp").ok();
    if netstat.is_none() && snmp.is_none() {
        return None;
    }
    let mut counters = parsed(&netstat.unwrap_or_default());
    counters.extend(parsed(&snmp.unwrap_or_default()));
    // A kernel without IPv6 has no such file.
    counters.extend(lines(&fs::read_to_string("/proc/net/snmp6").unwrap_or_default()));
    Some(counters)
}

/// What each counter rose by. One that fell (a 32-bit counter that wrapped, or a change of
/// namespace) says nothing and is left out.
pub(crate) fn risen(
    before: &BTreeMap<String, u64>,
    after: &BTreeMap<String, u64>,
) -> BTreeMap<String, u64> {
    after
        .iter()
        .filter_map(|(name, after)| Some((name.clone(), after.checked_sub(*before.get(name)?)?)))
        .collect()
}

/// `Udp6RcvbufErrors  0`: a line for each.
fn lines(text: &str) -> BTreeMap<String, u64> {
    let pairs = text.lines().filter_map(|line| line.split_once(char::is_whitespace));
    let watched = pairs.filter(|(name, _)| WATCHED.contains(name));
    watched
        .filter_map(|(name, value)| Some((name.to_owned(), value.trim().parse().ok()?)))
        .collect()
}

/// Two lines per section: `TcpExt: name name …` and `TcpExt: number number …`.
fn parsed(text: &str) -> BTreeMap<String, u64> {
    let mut counters = BTreeMap::new();
    let mut lines = text.lines();
    while let (Some(names), Some(numbers)) = (lines.next(), lines.next()) {
        let (Some((section, names)), Some((same, numbers))) =
            (names.split_once(':'), numbers.split_once(':'))
        else {
            continue;
        };
        if section != same {
            continue;
        }
        for (name, number) in names.split_whitespace().zip(numbers.split_whitespace()) {
            let name = format!("{section}{name}");
            // Tcp's MaxConn is -1: not every figure is a counter.
            if let (true, Ok(number)) = (WATCHED.contains(&name.as_str()), number.parse()) {
                counters.insert(name, number);
            }
        }
    }
    counters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_ipv6_stand_on_a_line_each() {
        let text = "Ip6InReceives \t12\nUdp6RcvbufErrors                \t7\nUdp6InCsumErrors 0\n";
        let expected = [("Udp6InCsumErrors", 0), ("Udp6RcvbufErrors", 7)];
        assert_eq!(lines(text), expected.map(|(name, value)| (name.to_owned(), value)).into());
    }

    const NETSTAT: &str = "\
TcpExt: SyncookiesSent DelayedACKs ListenOverflows ListenDrops NewInSomeKernel
TcpExt: 0 123 45 46 9
IpExt: InNoRoutes InTruncatedPkts
IpExt: 1 2
";
    const SNMP: &str = "\
Tcp: RtoAlgorithm MaxConn ActiveOpens RetransSegs
Tcp: 1 -1 9923603 104337
";

    #[test]
    fn counters_have_the_names_that_nstat_prints() {
        let counters = parsed(NETSTAT);
        assert_eq!(counters["TcpExtListenOverflows"], 45);
        assert_eq!(counters["TcpExtDelayedACKs"], 123);
        assert_eq!(counters.get("TcpExtTCPSynRetrans"), None, "absent, not zero");
        assert_eq!(counters.get("IpExtInNoRoutes"), None);
        assert_eq!(parsed(SNMP)["TcpRetransSegs"], 104_337);
    }

    #[test]
    fn malformed_texts_give_what_can_be_read() {
        for text in ["", "TcpExt", "TcpExt: a\n", "TcpExt: ListenDrops\nIpExt: 5\n", "x\ny\nz"] {
            assert!(parsed(text).is_empty(), "{text}");
        }
        assert!(parsed("TcpExt: ListenDrops\nTcpExt: -3\n").is_empty());
        assert_eq!(parsed("TcpExt: ListenDrops TW\nTcpExt: 3\n").len(), 1);
    }

    #[test]
    fn what_fell_says_nothing() {
        let map = |pairs: &[(&str, u64)]| -> BTreeMap<String, u64> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        let before = map(&[("a", 5), ("b", 5)]);
        let after = map(&[("a", 7), ("b", 4), ("c", 9)]);
        assert_eq!(risen(&before, &after), map(&[("a", 2)]));
    }

    #[test]
    fn this_kernel_counts() {
        let counters = now().unwrap();
        assert!(counters.contains_key("TcpExtListenOverflows") && counters.len() > 20);
    }

    /// More connections than the queue holds: the kernel drops what it cannot keep, and counts it.
    #[test]
    fn an_overflow_of_the_accept_queue_is_in_the_counters() {
        use rustix::net::{AddressFamily, SocketFlags, SocketType};
        let any = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
        let tcp = |flags| {
            rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).unwrap()
        };
        let listener = tcp(SocketFlags::CLOEXEC);
        rustix::net::bind(&listener, &any).unwrap();
        rustix::net::listen(&listener, 5).unwrap();
        let address = rustix::net::getsockname(&listener).unwrap();
        let before = now().unwrap();
        let mut clients = Vec::new();
        for _ in 0..40 {
            let client = tcp(SocketFlags::CLOEXEC | SocketFlags::NONBLOCK);
            // Under way: EINPROGRESS.
            let _ = rustix::net::connect(&client, &address);
            clients.push(client);
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
        let risen = risen(&before, &now().unwrap());
        // A queue of 5 keeps 6 (net/ipv4: `>` and not `>=`).
        assert!(risen["TcpExtListenOverflows"] >= 30, "{risen:?}");
        assert!(risen["TcpActiveOpens"] >= 40, "{risen:?}");
    }
}
