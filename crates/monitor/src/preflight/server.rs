//! Who would answer at an address of this host: the listening socket, the processes that hold it,
//! and the proxy that docker may have put in front. Nothing is connected to.

use std::fs;
use std::net::SocketAddr;

use serde::Serialize;

use crate::listener::Found;
use crate::proc_text::name_in;
use ablaze_model::monitor::Listener;

/// What is known of the server at an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Server {
    /// Whether the address is this host's; of a server elsewhere nothing can be seen.
    pub on_this_host: bool,
    /// Whether the kernel says who listens: without that, no listener means nothing.
    pub listeners_are_told: bool,
    /// The listening socket.
    pub listener: Option<Listener>,
    /// The processes that hold it and that this user may look into.
    pub holders: Vec<Holder>,
    /// The proxy of docker that publishes this port.
    pub proxy: Option<PortProxy>,
}

/// A process that holds a listening socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Holder {
    /// Its process ID.
    pub pid: u32,
    /// Its name, as ps(1) shows it.
    pub name: String,
    /// Descriptors it may have open; `None` for no limit or unknown.
    pub descriptors_soft: Option<u64>,
    /// How many it has open now.
    pub descriptors_open: Option<u64>,
}

/// A process that passes connections on to a container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PortProxy {
    /// Its process ID.
    pub pid: u32,
    /// Where it passes them to, `address:port`.
    pub to: Option<String>,
}

impl Server {
    /// Looks who listens at the first of these addresses where somebody does.
    pub fn at(addresses: &[SocketAddr]) -> Self {
        let local: Vec<SocketAddr> = addresses
            .iter()
            .filter(|address| ablaze_sys::is_local_address(address.ip()))
            .copied()
            .collect();
        let found = local.iter().find_map(|address| Found::at(*address));
        let pids = found.as_ref().map(Found::holders).unwrap_or_default();
        Self {
            on_this_host: !local.is_empty(),
            listeners_are_told: local.iter().any(|address| Found::can_be_told(*address)),
            proxy: local.first().and_then(|address| port_proxy(address.port())),
            listener: found.map(|found| found.listener),
            holders: pids.into_iter().filter_map(Holder::of).collect(),
        }
    }
}

impl Holder {
    fn of(pid: u32) -> Option<Self> {
        let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap_or_default();
        let open = fs::read_dir(format!("/proc/{pid}/fd"));
        Some(Self {
            pid,
            name: name_in(&format!("/proc/{pid}"))?,
            descriptors_soft: descriptors_soft(&limits),
            descriptors_open: open.ok().map(|entries| entries.count() as u64),
        })
    }
}

/// The soft limit in the line `Max open files  1024  524288  files` of /proc/PID/limits.
fn descriptors_soft(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The docker-proxy for a port of the host. It runs as root, and its command line is for all.
fn port_proxy(port: u16) -> Option<PortProxy> {
    let entries = fs::read_dir("/proc").ok()?;
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let mut proxies =
        pids.filter(|pid| name_in(&format!("/proc/{pid}")).as_deref() == Some("docker-proxy"));
    proxies.find_map(|pid| {
        let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let line = String::from_utf8_lossy(&bytes);
        let words: Vec<&str> = line.split('\0').collect();
        publishes(&words, port).then(|| PortProxy { pid, to: container_of(&words) })
    })
}

/// `docker-proxy -proto tcp -host-ip 0.0.0.0 -host-port 8080 -container-ip 172.17.0.2
/// -container-port 80`.
fn publishes(words: &[&str], port: u16) -> bool {
    after(words, "-proto").is_none_or(|protocol| protocol == "tcp")
        && after(words, "-host-port").and_then(|text| text.parse().ok()) == Some(port)
}

fn container_of(words: &[&str]) -> Option<String> {
    Some(format!("{}:{}", after(words, "-container-ip")?, after(words, "-container-port")?))
}

fn after<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    words.windows(2).find(|pair| pair[0] == name).map(|pair| pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn the_own_listener_is_found_with_its_holder_and_limits() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = Server::at(&[address]);
        assert!(server.on_this_host && server.listeners_are_told);
        assert_eq!(server.listener.unwrap().address, address.to_string());
        assert_eq!(server.holders.len(), 1);
        let holder = &server.holders[0];
        assert_eq!(holder.pid, std::process::id());
        assert_eq!(holder.descriptors_soft, ablaze_sys::limits::descriptor_limit().soft);
        assert!(holder.descriptors_open.unwrap() > 0);
        drop(listener);
        let server = Server::at(&[address]);
        assert!(server.on_this_host && server.listener.is_none() && server.holders.is_empty());
    }

    #[test]
    fn of_a_server_elsewhere_nothing_is_seen() {
        // RFC 5737: an address for documentation.
        let server = Server::at(&["192.0.2.1:80".parse().unwrap()]);
        assert!(!server.on_this_host && server.listener.is_none() && server.proxy.is_none());
    }

    #[test]
    fn a_proxy_is_known_by_its_command_line() {
        let line = "docker-proxy -proto tcp -host-ip 0.0.0.0 -host-port 8080 -container-ip \
                    172.17.0.2 -container-port 80";
        let words: Vec<&str> = line.split(' ').collect();
        assert!(publishes(&words, 8080) && !publishes(&words, 80));
        assert_eq!(container_of(&words).as_deref(), Some("172.17.0.2:80"));
        assert!(!publishes(&["docker-proxy", "-host-port"], 8080));
        assert!(!publishes(&["-proto", "udp", "-host-port", "8080"], 8080));
    }

    #[test]
    fn limits_are_read_by_their_name() {
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax processes  9  9  processes\n\
                      Max open files            1024                 524288               files\n";
        assert_eq!(descriptors_soft(limits), Some(1024));
        assert_eq!(descriptors_soft("Max open files unlimited unlimited files\n"), None);
        assert_eq!(descriptors_soft(""), None);
    }
}
