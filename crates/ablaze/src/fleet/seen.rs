//! Where the established connections of a server on this machine come from: `/proc/net/tcp` and `tcp6` (proc(5)), whose
//! addresses are words of 32 bits in this machine's order.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use ablaze_model::fleet::SeenFrom;

/// The state of an established connection.
const ESTABLISHED: &str = "01";

/// The addresses from which there are established connections to one of these, with how many each.
pub fn connections_from(servers: &[SocketAddr]) -> Vec<SeenFrom> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    counted(&(read("/proc/net/tcp") + &read("/proc/net/tcp6")), servers)
}

fn counted(table: &str, servers: &[SocketAddr]) -> Vec<SeenFrom> {
    let mut counts: BTreeMap<IpAddr, u64> = BTreeMap::new();
    for line in table.lines() {
        let mut words = line.split_whitespace().skip(1);
        let (Some(local), Some(remote), Some(ESTABLISHED)) =
            (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let (Some((local, port)), Some((remote, _))) = (end(local), end(remote)) else { continue };
        let is_server =
            |server: &SocketAddr| (server.ip().to_canonical(), server.port()) == (local, port);
        if servers.iter().any(is_server) {
            *counts.entry(remote).or_default() += 1;
        }
    }
    counts.into_iter().map(|(address, connections)| SeenFrom { address, connections }).collect()
}

/// `0100007F:1F90` as an address and a port.
fn end(text: &str) -> Option<(IpAddr, u16)> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| {
        let word = u32::from_str_radix(address.get(at * 8..at * 8 + 8)?, 16).ok()?;
        Some(word.to_ne_bytes())
    };
    let address: IpAddr = match address.len() {
        8 => Ipv4Addr::from(word(0)?).into(),
        32 => {
            let words = [word(0)?, word(1)?, word(2)?, word(3)?];
            let mut bytes = [0; 16];
            bytes.iter_mut().zip(words.as_flattened()).for_each(|(byte, own)| *byte = *own);
            Ipv6Addr::from(bytes).into()
        }
        _ => return None,
    };
    Some((address.to_canonical(), port))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn connections_are_counted_by_where_they_come_from() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        assert_eq!(connections_from(&[server]), []);
        let clients = [(); 3].map(|()| TcpStream::connect(server).unwrap());
        let address = IpAddr::from(Ipv4Addr::LOCALHOST);
        assert_eq!(connections_from(&[server]), [SeenFrom { address, connections: 3 }]);
        drop(clients);
    }

    #[test]
    fn a_listener_for_both_families_has_ipv4_in_ipv6() {
        let Ok(listener) = TcpListener::bind("[::]:0") else { return };
        let port = listener.local_addr().unwrap().port();
        let server = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let _client = TcpStream::connect(server).unwrap();
        let address = IpAddr::from(Ipv4Addr::LOCALHOST);
        assert_eq!(connections_from(&[server]), [SeenFrom { address, connections: 1 }]);
    }
}
