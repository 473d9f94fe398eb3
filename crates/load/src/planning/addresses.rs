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
        return of_host(&proxy.host, proxy.port, destination.family, true, names);
    }
    let instead = destination.connect_to.iter().find(|to| applies(to, url));
    let host = instead.and_then(|to| to.host.as_deref()).unwrap_or(&url.host);
    let port = instead.and_then(|to| to.port).unwrap_or(url.port);
    of_host(host, port, destination.family, false, names)
}

/// The addresses of a host, in the resolver's order and each once.
///
/// # Errors
/// When the name has no address, none of the family asked for, or the port is 0.
pub fn of_host(
    host: &str,
    port: u16,
    family: Family,
    is_proxy: bool,
    names: &OptionNames,
) -> Result<Vec<SocketAddr>, Error> {
    if port == 0 {
        return Err(Error::usage("cannot connect to port 0: use a port from 1 to 65535"));
    }
    let found = (host, port)
        .to_socket_addrs()
        .map_err(|error| unknown_host(host, &error, is_proxy, names))?;
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
            "host `{host}` has no address: check its spelling, or set one with {}",
            names.connect_to
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

fn unknown_host(host: &str, error: &std::io::Error, is_proxy: bool, names: &OptionNames) -> Error {
    let text = error.to_string();
    let text = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
    if is_proxy {
        return Error::unknown_host(format!(
            "cannot resolve the proxy's host `{host}` ({text}): check its spelling"
        ));
    }
    Error::unknown_host(format!(
        "cannot resolve host `{host}` ({text}): check its spelling, or set an address with {}",
        names.connect_to_value
    ))
}
