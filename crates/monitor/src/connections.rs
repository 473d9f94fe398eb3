//! TCP_INFO of the connections to the target: what TCP itself knows of retransmissions, round trips,
//! segments and full buffers. The client's sockets are asked for by the target's address, so that a
//! load from another process of this network namespace is among them. Where the target is on this
//! host, the other ends of these same connections are asked for too.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use ablaze_model::monitor::{Connections, ConnectionsAt, Spread};

use crate::socket_diag::{Question, Socket, States, sockets};

/// A socket that has sent no data for so long is silent.
const SILENT_MS: u32 = 1000;

/// Adds a look: the first stays the first.
pub(crate) fn seen(so_far: Option<Connections>, look: ConnectionsAt) -> Connections {
    Connections { first: so_far.map_or(look, |so_far| so_far.first), last: look }
}

/// Adds a look behind the load. Of it only the counts are taken that went on until then: that no queue has anything in it is
/// nothing that was seen under the load. Where connections were replaced meanwhile their counts are gone.
pub(crate) fn counted_to_the_end(so_far: &mut Connections, look: ConnectionsAt) {
    let last = &mut so_far.last;
    if look.connections < last.connections || look.sent_segments < last.sent_segments {
        return;
    }
    last.at_clock_ns = look.at_clock_ns;
    last.retransmissions = look.retransmissions;
    last.with_retransmissions = look.with_retransmissions;
    last.sent_segments = look.sent_segments;
    last.received_segments = look.received_segments;
}

/// Both sides of the connections to the target at one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub client: ConnectionsAt,
    /// `None` where the target is elsewhere, or in another network namespace.
    pub server: Option<ConnectionsAt>,
}

impl Look {
    /// The connections to one of these addresses now; `None` when there are none to be seen.
    pub(crate) fn now(at_ns: u64, addresses: &[SocketAddr], on_this_host: bool) -> Option<Self> {
        let mut ours = Vec::new();
        for ipv6 in [false, true] {
            let of_family = || addresses.iter().filter(|address| address.is_ipv6() == ipv6);
            let Some(port) = of_family().next().map(SocketAddr::port) else { continue };
            let found = sockets(connected(ipv6, 0, port))?.into_iter();
            ours.extend(found.filter(|socket| {
                of_family().any(|address| {
                    address.ip() == socket.remote.ip() || address.ip().is_unspecified()
                })
            }));
        }
        let client = summed(at_ns, &ours)?;
        let theirs = if on_this_host { far_ends(&ours) } else { Vec::new() };
        Some(Self { client, server: summed(at_ns, &theirs) })
    }
}

/// The sockets at the other end of these, as far as they are in this network namespace.
fn far_ends(ours: &[Socket]) -> Vec<Socket> {
    let ends = |one: SocketAddr, other: SocketAddr| (canonical(one), canonical(other));
    let wanted: BTreeSet<_> = ours.iter().map(|socket| ends(socket.remote, socket.local)).collect();
    let Some(first) = ours.first() else { return Vec::new() };
    let port = first.remote.port();
    // A server that listens to IPv6 serves IPv4 with sockets of IPv6 (RFC 4291, 2.5.5.2).
    let mut families = [first.remote.is_ipv6(), true].into_iter();
    let found = families.find_map(|ipv6| {
        let mut found = sockets(connected(ipv6, port, 0))?;
        found.retain(|socket| wanted.contains(&ends(socket.local, socket.remote)));
        (!found.is_empty()).then_some(found)
    });
    found.unwrap_or_default()
}

fn connected(ipv6: bool, local_port: u16, remote_port: u16) -> Question {
    Question { ipv6, states: States::Connected, local_port, remote_port }
}

fn canonical(address: SocketAddr) -> (IpAddr, u16) {
    (address.ip().to_canonical(), address.port())
}

/// struct tcp_info of linux/tcp.h: fields by their offset, absent where the kernel is too old.
fn summed(at_ns: u64, sockets: &[Socket]) -> Option<ConnectionsAt> {
    if sockets.is_empty() {
        return None;
    }
    let infos = || sockets.iter().map(|socket| socket.tcp_info.as_slice());
    let retransmitted = || infos().filter_map(|info| field_32(info, 100));
    let sum_32 = |offset: usize| {
        infos().filter_map(|info| field_32(info, offset)).map(u64::from).reduce(|a, b| a + b)
    };
    let sum_64 =
        |offset: usize| infos().filter_map(|info| field_64(info, offset)).reduce(u64::wrapping_add);
    // In µs.
    let time_ns = |offset: usize| sum_64(offset)?.checked_mul(1000);
    let silent = || {
        let since = |socket: &&Socket| field_32(&socket.tcp_info, 44);
        sockets.iter().filter(move |socket| since(socket).is_some_and(|ms| ms >= SILENT_MS))
    };
    let told = infos().any(|info| field_32(info, 44).is_some());
    let queues = |socket: &&Socket| socket.send_queue > 0;
    Some(ConnectionsAt {
        at_clock_ns: at_ns,
        connections: sockets.len() as u64,
        retransmissions: retransmitted().map(u64::from).sum(),
        with_retransmissions: retransmitted().filter(|count| *count > 0).count() as u64,
        round_trip: spread(infos().filter_map(|info| field_32(info, 68))),
        // All ones as long as none was measured.
        shortest_round_trip: spread(
            infos().filter_map(|info| field_32(info, 148)).filter(|us| *us != u32::MAX),
        ),
        busy_ns: time_ns(168),
        window_limited_ns: time_ns(176),
        send_buffer_limited_ns: time_ns(184),
        sent_segments: sum_32(156),
        received_segments: sum_32(152),
        acknowledged_bytes: sum_64(120),
        received_bytes: sum_64(128),
        unsent_bytes: sum_32(144),
        send_queue_bytes: Some(sockets.iter().map(|socket| u64::from(socket.send_queue)).sum()),
        with_send_queue: Some(sockets.iter().filter(queues).count() as u64),
        silent: told.then(|| silent().count() as u64),
        silent_with_send_queue: told.then(|| silent().filter(queues).count() as u64),
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

    fn socket(tcp_info: Vec<u8>, send_queue: u32) -> Socket {
        let any = "127.0.0.1:1".parse().unwrap();
        let (local, remote) = (any, any);
        Socket { local, remote, receive_queue: 0, send_queue, inode: 1, v6_only: false, tcp_info }
    }

    fn info(retransmissions: u32, round_trip_us: u32, length: usize) -> Socket {
        let mut info = vec![0; 256];
        info[44..48].copy_from_slice(&(retransmissions * 500).to_ne_bytes());
        info[100..104].copy_from_slice(&retransmissions.to_ne_bytes());
        info[68..72].copy_from_slice(&round_trip_us.to_ne_bytes());
        info[120..128].copy_from_slice(&5_000_000_000u64.to_ne_bytes());
        info[148..152].copy_from_slice(&u32::MAX.to_ne_bytes());
        info[152..156].copy_from_slice(&7u32.to_ne_bytes());
        info[168..176].copy_from_slice(&50u64.to_ne_bytes());
        info.truncate(length);
        socket(info, retransmissions)
    }

    #[test]
    fn figures_are_summed_and_spread() {
        let all = summed(7, &[info(0, 30, 256), info(3, 10, 256), info(1, 20, 256)]).unwrap();
        assert_eq!((all.connections, all.retransmissions, all.with_retransmissions), (3, 4, 2));
        let spread = Spread { min_ns: 10_000, median_ns: 20_000, max_ns: 30_000 };
        assert_eq!((all.round_trip, all.busy_ns), (Some(spread), Some(150_000)));
        assert_eq!(all.shortest_round_trip, None, "never measured");
        assert_eq!(all.acknowledged_bytes, Some(15_000_000_000));
        assert_eq!((all.received_segments, all.sent_segments), (Some(21), Some(0)));
        assert_eq!((all.send_queue_bytes, all.with_send_queue), (Some(4), Some(2)));
        // The second sent its last data 1,500 ms ago and has bytes queued; the third 500 ms ago.
        assert_eq!((all.silent, all.silent_with_send_queue), (Some(1), Some(1)));
        assert_eq!(summed(7, &[]), None);
    }

    #[test]
    fn an_older_kernel_s_shorter_structure_leaves_figures_out() {
        let all = summed(7, &[info(2, 30, 104)]).unwrap();
        assert_eq!((all.retransmissions, all.busy_ns), (2, None));
        assert_eq!((all.send_buffer_limited_ns, all.received_segments), (None, None));
        assert_eq!((all.silent, all.acknowledged_bytes), (Some(1), None));
        let none = summed(7, &[socket(Vec::new(), 0)]).unwrap();
        assert_eq!((none.connections, none.round_trip, none.silent), (1, None, None));
    }

    /// Three connections over which each side has written this many bytes and the other read them.
    fn conversation(bind: &str) -> Option<(Vec<TcpStream>, Vec<TcpStream>, SocketAddr)> {
        let listener = TcpListener::bind(bind).ok()?;
        let mut address = listener.local_addr().unwrap();
        if address.ip().is_unspecified() {
            address.set_ip([127, 0, 0, 1].into());
        }
        let mut clients: Vec<_> = (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
        let mut servers: Vec<_> = (0..3).map(|_| listener.accept().unwrap().0).collect();
        for (client, server) in clients.iter_mut().zip(&mut servers) {
            client.write_all(b"x").unwrap();
            server.read_exact(&mut [0]).unwrap();
            server.write_all(b"response").unwrap();
            client.read_exact(&mut [0; 8]).unwrap();
        }
        Some((clients, servers, address))
    }

    #[test]
    fn a_look_behind_the_load_counts_on_and_leaves_the_queues_as_they_were() {
        let look = |at_ns: u64, retransmissions: u32, queue: u32| {
            let mut look = summed(at_ns, &[info(retransmissions, 100, 232)]).unwrap();
            look.send_queue_bytes = Some(queue.into());
            look
        };
        let mut seen = seen(None, look(1, 2, 500));
        counted_to_the_end(&mut seen, look(9, 40, 0));
        assert_eq!((seen.first.retransmissions, seen.last.retransmissions), (2, 40));
        assert_eq!((seen.last.at_clock_ns, seen.last.send_queue_bytes), (9, Some(500)));
        // One of two is gone, and another one may stand for it.
        seen.last.connections = 2;
        counted_to_the_end(&mut seen, look(12, 50, 0));
        assert_eq!((seen.last.at_clock_ns, seen.last.retransmissions), (9, 40));
    }

    #[test]
    fn both_sides_of_the_connections_of_a_client_are_seen() {
        for bind in ["127.0.0.1:0", "[::1]:0", "[::]:0"] {
            let Some((_clients, servers, address)) = conversation(bind) else { continue };
            let Look { client, server } = Look::now(1, &[address], true).unwrap();
            let server = server.unwrap_or_else(|| panic!("{bind}"));
            assert_eq!((client.connections, server.connections), (3, 3), "{bind}");
            assert!(client.round_trip.unwrap().median_ns > 0, "{client:?}");
            let segments = |at: &ConnectionsAt| (at.sent_segments, at.received_segments);
            assert_eq!(segments(&client), (Some(3), Some(3)), "{bind}");
            assert_eq!(segments(&server), (Some(3), Some(3)), "{bind}");
            assert_eq!((client.received_bytes, server.received_bytes), (Some(24), Some(3)));
            assert_eq!((server.silent, server.unsent_bytes), (Some(0), Some(0)));
            drop(servers);
        }
    }

    #[test]
    fn what_a_client_does_not_read_is_in_the_server_s_queue() {
        let (clients, mut servers, address) = conversation("127.0.0.1:0").unwrap();
        servers[0].set_nonblocking(true).unwrap();
        while servers[0].write(&[0; 65_536]).is_ok() {}
        let server = Look::now(1, &[address], true).unwrap().server.unwrap();
        assert_eq!(server.with_send_queue, Some(1), "{server:?}");
        assert!(server.send_queue_bytes > Some(65_536), "{server:?}");
        assert!(server.unsent_bytes > Some(0), "{server:?}");
        drop(clients);
    }

    #[test]
    fn only_the_far_ends_of_the_client_s_connections_are_the_server_s() {
        let (clients, servers, address) = conversation("127.0.0.1:0").unwrap();
        assert!(Look::now(1, &[address], false).unwrap().server.is_none());
        let mut ours = sockets(connected(false, 0, address.port())).unwrap();
        ours.truncate(1);
        assert_eq!(far_ends(&ours).len(), 1);
        drop((clients, servers));
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(Look::now(1, &[free], true).is_none());
    }
}
