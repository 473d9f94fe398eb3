//! Where connections go: the host's addresses in the resolver's order, or what was given instead.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use ablaze_model::plan::proxy::Proxy;

use crate::Refusal;

/// Where the load shall go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetAsked {
    /// The URL as reports show it.
    pub url: String,
    /// Host name or address literal, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Path and query.
    pub path: String,
    /// Addresses of one family only.
    pub family: Family,
    /// Connect elsewhere than the URL says; the first that matches counts.
    pub connect_to: Vec<ConnectTo>,
    /// Connect to this Unix socket instead.
    pub unix_socket: Option<PathBuf>,
    /// Connect to this proxy instead.
    pub proxy: Option<Proxy>,
}

/// Which addresses of a name may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Family {
    /// All.
    #[default]
    Any,
    /// IPv4 only.
    V4,
    /// IPv6 only.
    V6,
}

/// "Instead of this host and port, connect to that one." What is `None` matches everything, or
/// stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConnectTo {
    /// Host of the URL it applies to.
    pub from_host: Option<String>,
    /// Port of the URL it applies to.
    pub from_port: Option<u16>,
    /// Host or address to connect to.
    pub host: Option<String>,
    /// Port to connect to.
    pub port: Option<u16>,
}

impl Family {
    fn permits(self, address: IpAddr) -> bool {
        match self {
            Self::Any => true,
            Self::V4 => address.is_ipv4(),
            Self::V6 => address.is_ipv6(),
        }
    }
}

impl ConnectTo {
    /// Reads `HOST:PORT`, `HOST` (h2load's forms: connect there) or `HOST:PORT:ADDR:PORT`
    /// (curl's: for that host and port connect here; an empty part matches everything or stays).
    /// IPv6 literals stand in brackets.
    ///
    /// # Errors
    /// A line that says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts = split_outside_brackets(text);
        let host = |part: &str| {
            let bare = part.strip_prefix('[').and_then(|part| part.strip_suffix(']'));
            (!part.is_empty()).then(|| bare.unwrap_or(part).to_owned())
        };
        let port = |part: &str| match part {
            "" => Ok(None),
            _ => match part.parse::<u16>() {
                Ok(port) if port > 0 => Ok(Some(port)),
                _ => Err(format!("`{part}` is no port (1 to 65535)")),
            },
        };
        match parts[..] {
            [to] if !to.is_empty() => Ok(Self { host: host(to), ..Self::default() }),
            [to, to_port] => Ok(Self { host: host(to), port: port(to_port)?, ..Self::default() }),
            [from, from_port, to, to_port] => Ok(Self {
                from_host: host(from),
                from_port: port(from_port)?,
                host: host(to),
                port: port(to_port)?,
            }),
            _ => {
                Err("write ADDR:PORT, or HOST:PORT:ADDR:PORT as curl does, IPv6 in brackets".into())
            }
        }
    }

    fn applies(&self, host: &str, port: u16) -> bool {
        self.from_host.as_ref().is_none_or(|from| from.eq_ignore_ascii_case(host))
            && self.from_port.is_none_or(|from| from == port)
    }
}

fn split_outside_brackets(text: &str) -> Vec<&str> {
    let mut inside = false;
    text.split(|letter| {
        match letter {
            '[' => inside = true,
            ']' => inside = false,
            _ => {}
        }
        letter == ':' && !inside
    })
    .collect()
}

/// Every address to try, in the resolver's order and each once; empty for a Unix socket.
///
/// # Errors
/// When the name has no address, none of the family asked for, or the port is 0.
pub fn resolve(target: &TargetAsked) -> Result<Vec<SocketAddr>, Refusal> {
    if target.unix_socket.is_some() {
        return Ok(Vec::new());
    }
    let instead = target.connect_to.iter().find(|to| to.applies(&target.host, target.port));
    let (host, port) = match &target.proxy {
        // The target's own name is for the proxy to resolve.
        Some(proxy) => (&proxy.host[..], proxy.port),
        None => (
            instead.and_then(|to| to.host.as_deref()).unwrap_or(&target.host),
            instead.and_then(|to| to.port).unwrap_or(target.port),
        ),
    };
    if port == 0 {
        return Err(Refusal::usage("port 0 cannot be connected to: give a port from 1 to 65535"));
    }
    let found = (host, port)
        .to_socket_addrs()
        .map_err(|error| unknown_host(host, &error, target.proxy.is_some()))?;
    let mut addresses: Vec<SocketAddr> = Vec::new();
    let mut other_family = None;
    for address in found {
        if !target.family.permits(address.ip()) {
            other_family.get_or_insert(address);
        } else if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    match (addresses.is_empty(), other_family) {
        (false, _) => Ok(addresses),
        (true, Some(other)) => {
            let (family, option) = match target.family {
                Family::V6 => ("IPv6", "-6"),
                _ => ("IPv4", "-4"),
            };
            Err(Refusal::unknown_host(format!(
                "host `{host}` has no {family} address, only such as {}: leave {option} away",
                other.ip()
            )))
        }
        (true, None) => Err(Refusal::unknown_host(format!(
            "host `{host}` has no address: check its spelling, or name one with --connect-to"
        ))),
    }
}

fn unknown_host(host: &str, error: &std::io::Error, is_proxy: bool) -> Refusal {
    let text = error.to_string();
    let text = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
    if is_proxy {
        return Refusal::unknown_host(format!(
            "the proxy's host `{host}` cannot be resolved ({text}): check its spelling"
        ));
    }
    Refusal::unknown_host(format!(
        "host `{host}` cannot be resolved ({text}): check its spelling, or name an address with \
         --connect-to ADDR:PORT"
    ))
}
