//! Who listens at an address of this host: the socket by sock_diag, its holders by the inode
//! numbers under /proc/*/fd. The queue of connections that wait to be accepted is looked at
//! through the run.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use ablaze_model::monitor::Listener;

use crate::socket_diag::{Question, Socket, States, sockets};

/// A listener under watch.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub listener: Listener,
    /// For looking again; `None` for a Unix socket.
    question: Option<(Question, SocketAddr)>,
    inodes: BTreeSet<u64>,
    /// When it was looked at last, and how many connections waited at all of its sockets together; the newest last.
    looks: VecDeque<(u64, u64)>,
}

/// So many looks are kept: more than follow the end of a run.
const LOOKS_KEPT: usize = 64;

impl Found {
    /// The listener that connections to this address reach.
    pub(crate) fn at(address: SocketAddr) -> Option<Self> {
        // A socket of IPv6 takes connections of IPv4 too, unless told not to.
        [address.is_ipv6(), true].into_iter().find_map(|ipv6| {
            let question = Question {
                ipv6,
                states: States::Listening,
                local_port: address.port(),
                remote_port: 0,
            };
            let listening = chosen(sockets(question)?, address);
            let local = listening.first()?.local;
            let mut found = Self {
                listener: Listener {
                    address: local.to_string(),
                    sockets: listening.len() as u64,
                    backlog: listening.iter().map(|socket| socket.send_queue.into()).min(),
                    longest_queue: None,
                    waiting: None,
                },
                question: Some((question, local)),
                inodes: listening.iter().map(|socket| socket.inode.into()).collect(),
                looks: VecDeque::new(),
            };
            found.measure(&listening);
            Some(found)
        })
    }

    /// Whether the kernel says who listens; where it does not, finding nobody means nothing.
    pub(crate) fn can_be_told(address: SocketAddr) -> bool {
        sockets(Question {
            ipv6: address.is_ipv6(),
            states: States::Listening,
            local_port: address.port(),
            remote_port: 0,
        })
        .is_some()
    }

    /// The Unix socket that listens at this path.
    pub(crate) fn at_path(path: &Path) -> Option<Self> {
        let table = fs::read_to_string("/proc/net/unix").ok()?;
        let inodes = listening_inodes(&table, path.to_str()?);
        (!inodes.is_empty()).then(|| Self {
            listener: Listener {
                address: path.to_string_lossy().into_owned(),
                sockets: inodes.len() as u64,
                backlog: None,
                longest_queue: None,
                waiting: None,
            },
            question: None,
            inodes,
            looks: VecDeque::new(),
        })
    }

    /// Looks at the queue.
    pub(crate) fn look(&mut self, now_ns: u64) {
        let Some((question, local)) = self.question else { return };
        let mut listening = sockets(question).unwrap_or_default();
        listening.retain(|socket| socket.local == local);
        self.measure(&listening);
        if listening.is_empty() {
            return;
        }
        if self.looks.len() == LOOKS_KEPT {
            self.looks.pop_front();
        }
        let waiting = listening.iter().map(|socket| u64::from(socket.receive_queue)).sum();
        self.looks.push_back((now_ns, waiting));
    }

    /// What was seen of it, in the window the last time: behind it, connections end.
    pub(crate) fn seen(mut self, window_ns: (u64, u64)) -> Listener {
        let (from_ns, until_ns) = window_ns;
        let last = self.looks.iter().rev().find(|(at_ns, _)| (from_ns..=until_ns).contains(at_ns));
        self.listener.waiting = last.map(|(_, waiting)| *waiting);
        self.listener
    }

    fn measure(&mut self, listening: &[Socket]) {
        let longest = listening.iter().map(|socket| u64::from(socket.receive_queue)).max();
        self.listener.longest_queue = self.listener.longest_queue.max(longest);
    }

    /// Its sockets.
    pub(crate) fn inodes(&self) -> &BTreeSet<u64> {
        &self.inodes
    }

    /// The processes that hold it and that this one may look into, by number.
    pub(crate) fn holders(&self) -> Vec<u32> {
        let names: BTreeSet<String> =
            self.inodes.iter().map(|inode| format!("socket:[{inode}]")).collect();
        let processes = fs::read_dir("/proc").into_iter().flatten();
        let mut holders: Vec<u32> = processes
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter(|pid| holds(*pid, &names))
            .collect();
        holders.sort_unstable();
        holders
    }
}

/// Of the sockets at a port, those that the kernel would give a connection to this address: bound
/// to it, else bound to any.
fn chosen(listening: Vec<Socket>, address: SocketAddr) -> Vec<Socket> {
    let wanted = address.ip().to_canonical();
    let bound = |ip: IpAddr| ip.to_canonical();
    let takes = |socket: &Socket| match (wanted, bound(socket.local.ip())) {
        (IpAddr::V4(_), IpAddr::V6(any)) => any.is_unspecified() && !socket.v6_only,
        (wanted, local) => local.is_unspecified() && wanted.is_ipv4() == local.is_ipv4(),
    };
    // To 0.0.0.0 or :: the kernel connects as to the loopback address.
    let exact = |socket: &&Socket| {
        let local = bound(socket.local.ip());
        local == wanted || wanted.is_unspecified() && local.is_loopback()
    };
    if listening.iter().any(|socket| exact(&socket)) {
        return listening.iter().filter(exact).cloned().collect();
    }
    listening.into_iter().filter(takes).collect()
}

fn holds(pid: u32, names: &BTreeSet<String>) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten();
    descriptors.flatten().any(|descriptor| {
        fs::read_link(descriptor.path())
            .is_ok_and(|link| link.to_str().is_some_and(|link| names.contains(link)))
    })
}

/// /proc/net/unix: `Num RefCount Protocol Flags Type St Inode Path`; a listening socket has the
/// flag 0x10000, `__SO_ACCEPTCON`.
fn listening_inodes(table: &str, path: &str) -> BTreeSet<u64> {
    table
        .lines()
        .filter_map(|line| {
            let mut fields = line.split_whitespace().skip(3);
            let flags = u32::from_str_radix(fields.next()?, 16).ok()?;
            let inode = fields.nth(2)?.parse().ok()?;
            // A path may hold blanks.
            let here = line.strip_suffix(path)?.ends_with(' ');
            (flags & 0x10000 != 0 && here).then_some(inode)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};

    #[test]
    fn the_listener_of_this_process_is_found_with_its_queue() {
        for bind in ["127.0.0.1:0", "0.0.0.0:0", "[::1]:0", "[::]:0"] {
            let Ok(listener) = TcpListener::bind(bind) else { continue };
            let local = listener.local_addr().unwrap();
            let towards: IpAddr = match bind {
                "[::1]:0" => Ipv6Addr::LOCALHOST.into(),
                _ => Ipv4Addr::LOCALHOST.into(),
            };
            let address = SocketAddr::new(towards, local.port());
            let mut found = Found::at(address).unwrap_or_else(|| panic!("{bind}"));
            assert_eq!(found.listener.address, local.to_string());
            assert_eq!(found.holders(), [std::process::id()], "{bind}");
            assert_eq!((found.listener.sockets, found.listener.longest_queue), (1, Some(0)));
            let _waiting =
                [TcpStream::connect(address).unwrap(), TcpStream::connect(address).unwrap()];
            found.look(10);
            assert_eq!(found.listener.longest_queue, Some(2), "{bind}");
            let _accepted = [listener.accept().unwrap(), listener.accept().unwrap()];
            found.look(20);
            assert_eq!(found.listener.longest_queue, Some(2), "the longest, not the last");
            let waiting = |window_ns| found.clone().seen(window_ns).waiting;
            assert_eq!(
                (waiting((5, 15)), waiting((5, 20)), waiting((21, 30))),
                (Some(2), Some(0), None)
            );
        }
    }

    #[test]
    fn nobody_listens_where_nobody_listens() {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(Found::at(address).is_none());
    }

    #[test]
    fn the_bound_address_comes_before_any_address() {
        let socket = |local: &str, v6_only| Socket {
            local: local.parse().unwrap(),
            remote: "0.0.0.0:0".parse().unwrap(),
            receive_queue: 0,
            send_queue: 1,
            inode: 1,
            v6_only,
            tcp_info: Vec::new(),
        };
        let reach = |locals: &[(&str, bool)], to: &str| -> Vec<String> {
            let sockets = locals.iter().map(|(local, only)| socket(local, *only)).collect();
            let chosen = chosen(sockets, to.parse().unwrap());
            chosen.iter().map(|socket| socket.local.to_string()).collect()
        };
        let both = [("0.0.0.0:80", false), ("127.0.0.1:80", false)];
        assert_eq!(reach(&both, "127.0.0.1:80"), ["127.0.0.1:80"]);
        assert_eq!(reach(&both, "10.0.0.1:80"), ["0.0.0.0:80"]);
        assert_eq!(reach(&both[1..], "10.0.0.1:80"), [""; 0]);
        assert_eq!(reach(&[("[::]:80", false)], "127.0.0.1:80"), ["[::]:80"]);
        assert_eq!(reach(&[("[::]:80", true)], "127.0.0.1:80"), [""; 0]);
        assert_eq!(reach(&both[1..], "0.0.0.0:80"), ["127.0.0.1:80"]);
    }

    #[test]
    fn unix_sockets_are_found_by_their_path() {
        let table = "Num RefCount Protocol Flags Type St Inode Path\n\
            0000000088bffd0a: 00000003 00000000 00000000 0001 03 23719005 /run/a b\n\
            00000000de809523: 00000002 00000000 00010000 0001 01 23614802 /run/a b\n\
            00000000de809524: 00000002 00000000 00010000 0001 01 23614803 /run/other/run/a\n\
            broken\n";
        assert_eq!(listening_inodes(table, "/run/a b"), BTreeSet::from([23_614_802]));
        assert!(listening_inodes(table, "/run/a").is_empty());
        let path = std::env::temp_dir().join(format!("ablaze-monitor-{}", std::process::id()));
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert_eq!(Found::at_path(&path).unwrap().holders(), [std::process::id()]);
        drop(listener);
        std::fs::remove_file(&path).unwrap();
        assert!(Found::at_path(&path).is_none());
    }
}
