//! TCP_INFO of the connections to the target: what TCP itself knows of retransmissions, round trips
//! and full buffers. Asked for by the target's address, so that a load from another process of
//! this network namespace is among them.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::socket_diag::{Question, States, sockets};

/// The connections to the target at two moments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connections {
    /// Early in the run.
    pub first: ConnectionsAt,
    /// Late in it.
    pub last: ConnectionsAt,
}

/// The connections to the target at one moment. Sums are over all of them since each was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionsAt {
    /// When, on the monotonic clock.
    pub at_clock_ns: u64,
    /// Connections.
    pub connections: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Connections with any.
    pub with_retransmissions: u64,
    /// Smoothed round-trip times as the tester's kernel measures them.
    pub round_trip: Option<Spread>,
    /// The shortest round trip of each.
    pub shortest_round_trip: Option<Spread>,
    /// Time in which there was something to send or to be acknowledged.
    pub busy_ns: Option<u64>,
    /// Of that, time in which the server's receive window was full.
    pub window_limited_ns: Option<u64>,
    /// Of that, time in which the tester's send buffer was full.
    pub send_buffer_limited_ns: Option<u64>,
}

/// How times are spread over the connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    /// Shortest.
    pub min_ns: u64,
    /// Median.
    pub median_ns: u64,
    /// Longest.
    pub max_ns: u64,
}

impl ConnectionsAt {
    /// The connections to one of these addresses now; `None` when there are none to be seen.
    pub(super) fn now(at_ns: u64, addresses: &[SocketAddr]) -> Option<Self> {
        let mut infos = Vec::new();
        for ipv6 in [false, true] {
            let of_family = || addresses.iter().filter(|address| address.is_ipv6() == ipv6);
            let Some(port) = of_family().next().map(SocketAddr::port) else { continue };
            let question =
                Question { ipv6, states: States::Connected, local_port: 0, remote_port: port };
            let found = sockets(question)?.into_iter();
            let ours = found.filter(|socket| {
                of_family().any(|address| {
                    address.ip() == socket.remote.ip() || address.ip().is_unspecified()
                })
            });
            infos.extend(ours.map(|socket| socket.tcp_info));
        }
        summed(at_ns, &infos)
    }
}

/// struct tcp_info of linux/tcp.h: fields by their offset, absent where the kernel is too old.
fn summed(at_ns: u64, infos: &[Vec<u8>]) -> Option<ConnectionsAt> {
    if infos.is_empty() {
        return None;
    }
    let retransmitted = || infos.iter().filter_map(|info| field_32(info, 100));
    let sum_64 = |offset: usize| -> Option<u64> {
        // In µs.
        let sum = infos.iter().filter_map(|info| field_64(info, offset)).reduce(|a, b| a + b)?;
        sum.checked_mul(1000)
    };
    Some(ConnectionsAt {
        at_clock_ns: at_ns,
        connections: infos.len() as u64,
        retransmissions: retransmitted().map(u64::from).sum(),
        with_retransmissions: retransmitted().filter(|count| *count > 0).count() as u64,
        round_trip: spread(infos.iter().filter_map(|info| field_32(info, 68))),
        // All ones as long as none was measured.
        shortest_round_trip: spread(
            infos.iter().filter_map(|info| field_32(info, 148)).filter(|us| *us != u32::MAX),
        ),
        busy_ns: sum_64(168),
        window_limited_ns: sum_64(176),
        send_buffer_limited_ns: sum_64(184),
    })
}

fn field_32(info: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(info.get(offset..offset + 4)?.try_into().ok()?))
}

fn field_64(info: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(info.get(offset..offset + 8)?.try_into().ok()?))
}

/// Of times in µs.
fn spread(times_us: impl Iterator<Item = u32>) -> Option<Spread> {
    let mut times: Vec<u64> = times_us.map(|us| u64::from(us) * 1000).collect();
    times.sort_unstable();
    let median_ns = *times.get(times.len() / 2)?;
    Some(Spread { min_ns: times[0], median_ns, max_ns: times[times.len() - 1] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    fn info(retransmissions: u32, round_trip_us: u32, length: usize) -> Vec<u8> {
        let mut info = vec![0; 256];
        info[100..104].copy_from_slice(&retransmissions.to_ne_bytes());
        info[68..72].copy_from_slice(&round_trip_us.to_ne_bytes());
        info[148..152].copy_from_slice(&u32::MAX.to_ne_bytes());
        info[168..176].copy_from_slice(&50u64.to_ne_bytes());
        info.truncate(length);
        info
    }

    #[test]
    fn figures_are_summed_and_spread() {
        let all = summed(7, &[info(0, 30, 256), info(3, 10, 256), info(1, 20, 256)]).unwrap();
        assert_eq!((all.connections, all.retransmissions, all.with_retransmissions), (3, 4, 2));
        let spread = Spread { min_ns: 10_000, median_ns: 20_000, max_ns: 30_000 };
        assert_eq!((all.round_trip, all.busy_ns), (Some(spread), Some(150_000)));
        assert_eq!(all.shortest_round_trip, None, "never measured");
        assert_eq!(summed(7, &[]), None);
    }

    #[test]
    fn an_older_kernel_s_shorter_structure_leaves_figures_out() {
        let all = summed(7, &[info(2, 30, 104)]).unwrap();
        assert_eq!((all.retransmissions, all.busy_ns), (2, None));
        assert_eq!(all.send_buffer_limited_ns, None);
        let none = summed(7, &[Vec::new()]).unwrap();
        assert_eq!((none.connections, none.round_trip), (1, None));
    }

    #[test]
    fn the_connections_of_a_client_are_seen() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        assert_eq!(ConnectionsAt::now(1, &[address]), None);
        let mut clients: Vec<_> = (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
        let mut servers: Vec<_> = (0..3).map(|_| listener.accept().unwrap().0).collect();
        for (client, server) in clients.iter_mut().zip(&mut servers) {
            client.write_all(b"x").unwrap();
            server.read_exact(&mut [0]).unwrap();
        }
        let seen = ConnectionsAt::now(1, &[address]).unwrap();
        assert_eq!(seen.connections, 3);
        assert!(seen.round_trip.unwrap().median_ns > 0, "{seen:?}");
    }
}
