//! What the kernel dropped at the server's UDP sockets: the column `drops` of /proc/net/udp and /proc/net/udp6, before and
//! after the run.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;

use ablaze_model::monitor::ServerDatagrams;

/// The UDP sockets at the server's port, by inode, with what was dropped at each since it exists.
#[derive(Debug, Clone, Default)]
pub(crate) struct Drops {
    by_inode: BTreeMap<u64, u64>,
}

impl Drops {
    /// As it stands: of the sockets of this host that are bound to the port of one of these addresses.
    pub(crate) fn now(addresses: &[SocketAddr]) -> Self {
        let tables = ["/proc/net/udp", "/proc/net/udp6"].into_iter();
        let texts = tables.filter_map(|path| fs::read_to_string(path).ok());
        let mut by_inode = BTreeMap::new();
        for text in texts {
            by_inode.extend(parsed(&text, |port| addresses.iter().any(|to| to.port() == port)));
        }
        Self { by_inode }
    }

    /// What was dropped since `before`; `None` where there is no such socket.
    pub(crate) fn since(&self, before: &Self) -> Option<ServerDatagrams> {
        let risen = |(inode, now): (&u64, &u64)| {
            // A socket that is new has dropped all of it since.
            now.saturating_sub(before.by_inode.get(inode).copied().unwrap_or(0))
        };
        (!self.by_inode.is_empty()).then(|| ServerDatagrams {
            sockets: self.by_inode.len() as u64,
            dropped: self.by_inode.iter().map(risen).sum(),
        })
    }
}

/// Lines of `sl local remote st queues timer retransmits uid timeout inode ref pointer drops`, addresses as
/// `0100007F:1F90` (net/ipv4/udp.c, `udp4_format_sock`).
fn parsed(table: &str, is_wanted: impl Fn(u16) -> bool) -> Vec<(u64, u64)> {
    let of_line = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let port = fields.get(1)?.rsplit_once(':')?.1;
        let port = u16::from_str_radix(port, 16).ok()?;
        let inode = fields.get(9)?.parse().ok()?;
        is_wanted(port).then_some((inode, fields.get(12)?.parse().ok()?))
    };
    table.lines().skip(1).filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn lines_of_other_ports_are_left_out() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n\
            \x20 12: 0100007F:1F90 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4711 2 0000000000000000 9\n\
            \x20 13: 0100007F:1F91 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4712 2 0000000000000000 3\n\
            \x20 cut off\n";
        assert_eq!(parsed(table, |port| port == 8080), [(4711, 9)]);
    }

    /// A socket that nobody reads, with the smallest buffer that the kernel gives.
    #[test]
    fn what_a_full_buffer_drops_is_counted() {
        let server = UdpSocket::bind("127.0.0.1:0").unwrap();
        rustix::net::sockopt::set_socket_recv_buffer_size(&server, 1).unwrap();
        let address = server.local_addr().unwrap();
        let before = Drops::now(&[address]);
        let client = UdpSocket::bind("127.0.0.1:0").unwrap();
        for _ in 0..100 {
            client.send_to(&[0; 1200], address).unwrap();
        }
        let seen = Drops::now(&[address]).since(&before).expect("the socket is there");
        assert_eq!(seen.sockets, 1);
        let mut kept = 0;
        server.set_nonblocking(true).unwrap();
        while server.recv(&mut [0; 2000]).is_ok() {
            kept += 1;
        }
        assert_eq!(seen.dropped, 100 - kept);
        assert_eq!(Drops::now(&[client.local_addr().unwrap()]).since(&before).unwrap().dropped, 0);
    }
}
