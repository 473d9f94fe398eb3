//! Where connections go: the host's addresses in the resolver's order, or what was given instead.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use ablaze_model::spec::{ConnectTo, Destination, Family, UrlSpec};

use super::OptionNames;
use crate::Error;

/// Every address to try, in the resolver's order and each once; empty for a Unix socket.
///
/// # Errors
/// When the name has no address, none of the family asked for, or the port is 0.
pub fn resolve(
    url: &UrlSpec,
    destination: &Destination,
    names: &OptionNames,
) -> Result<Vec<SocketAddr>, Error> {
    if destination.unix_socket.is_some() {
        return Ok(Vec::new());
    }
    if let Some(proxy) = &destination.proxy {
        // The target's own name is for the proxy to resolve.
        return of_host(&proxy.host, proxy.port, destination.family, Role::Proxy, names);
    }
    let instead = destination.connect_to.iter().find(|to| applies(to, url));
    let port = instead.and_then(|to| to.port).unwrap_or(url.port);
    match instead.and_then(|to| to.host.as_deref()) {
        Some(host) => of_host(host, port, destination.family, Role::Instead, names),
        None => of_host(&url.host, port, destination.family, Role::Target, names),
    }
}

/// Where a host was named: what can be done about one without an address depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The URL.
    Target,
    /// `--connect-to`, in place of the URL's.
    Instead,
    /// The proxy.
    Proxy,
    /// An option with an address of this machine.
    Local(&'static str),
}

/// The addresses of a host, in the resolver's order and each once.
///
/// # Errors
/// When the name has no address, none of the family asked for, or the port is 0.
pub fn of_host(
    host: &str,
    port: u16,
    family: Family,
    role: Role,
    names: &OptionNames,
) -> Result<Vec<SocketAddr>, Error> {
    if port == 0 {
        return Err(Error::usage("cannot connect to port 0: use a port from 1 to 65535"));
    }
    let found =
        (host, port).to_socket_addrs().map_err(|error| unknown_host(host, &error, role, names))?;
    let mut addresses: Vec<SocketAddr> = Vec::new();
    let mut other_family = None;
    for address in found {
        if !permits(family, address.ip()) {
            other_family.get_or_insert(address);
        } else if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    match (addresses.is_empty(), other_family) {
        (false, _) => Ok(addresses),
        (true, Some(other)) => {
            let (lacking, option) = match family {
                Family::V6 => ("IPv6", "-6"),
                _ => ("IPv4", "-4"),
            };
            Err(Error::unknown_host(format!(
                "host `{host}` has no {lacking} address, only others such as {}: remove {option}",
                other.ip()
            )))
        }
        (true, None) => Err(Error::unknown_host(format!(
            "host `{host}` has no address: {}",
            what_to_do(role, names)
        ))),
    }
}

fn applies(to: &ConnectTo, url: &UrlSpec) -> bool {
    to.from_host.as_ref().is_none_or(|from| from.eq_ignore_ascii_case(&url.host))
        && to.from_port.is_none_or(|from| from == url.port)
}

fn permits(family: Family, address: IpAddr) -> bool {
    match family {
        Family::Any => true,
        Family::V4 => address.is_ipv4(),
        Family::V6 => address.is_ipv6(),
    }
}

fn unknown_host(host: &str, error: &std::io::Error, role: Role, names: &OptionNames) -> Error {
    let text = error.to_string();
    let text = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
    let which = match role {
        Role::Target => format!("host `{host}`"),
        Role::Instead => format!("host `{host}` of {}", names.connect_to),
        Role::Proxy => format!("the proxy's host `{host}`"),
        Role::Local(option) => format!("`{host}` of {option}"),
    };
    let fix = what_to_do(role, names);
    Error::unknown_host(format!("cannot resolve {which} ({text}): {fix}"))
}

fn what_to_do(role: Role, names: &OptionNames) -> String {
    match role {
        Role::Target if !names.connect_to_value.is_empty() => {
            format!("check its spelling, or set an address with {}", names.connect_to_value)
        }
        Role::Target | Role::Instead | Role::Proxy => "check its spelling".to_owned(),
        Role::Local(_) => "use an address of this machine".to_owned(),
    }
}
