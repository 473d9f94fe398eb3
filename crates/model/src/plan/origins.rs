//! Where the requests of a Plan go beside its target: other schemes, hosts and ports, named by the steps of a journey or by
//! the lines of a list. Each user has a connection of its own to each of them.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::tls::Tls;
use super::{Plan, PlanError};

/// A scheme, a host and a port that requests go to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// As reports show it: `https://api.example.com:8443`.
    pub url: String,
    /// Host name or address literal, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Every address the name resolved to, in the resolver's order.
    pub addresses: Vec<SocketAddr>,
    /// TLS on its connections; `None` is plain, or a run that was read from a file.
    pub tls: Option<Tls>,
}

impl Plan {
    /// How many origins its requests go to: the target, and the others.
    pub fn origins(&self) -> u32 {
        1 + self.target.others.len() as u32
    }

    /// Connections of all workers together, at most: with several origins each user has one to each.
    pub fn connections_max(&self) -> u64 {
        u64::from(self.load.connections()) * u64::from(self.origins())
    }

    /// Whether any of its connections speaks TLS.
    pub fn speaks_tls(&self) -> bool {
        self.tls.is_some() || self.target.others.iter().any(|origin| origin.tls.is_some())
    }

    /// Whether requests can go to the other origins.
    pub(super) fn check_origins(&self) -> Result<(), PlanError> {
        let invalid = |text: &str| Err(PlanError::Invalid(text.to_owned()));
        let (target, of_templates) = (&self.target, &self.requests.origins);
        let is_listed = !of_templates.is_empty();
        if is_listed
            && (of_templates.len() != self.requests.templates.len()
                || of_templates.iter().any(|&origin| origin >= self.origins()))
        {
            return invalid("every request must go to one of the hosts");
        }
        if target.others.is_empty() {
            return Ok(());
        }
        if self.journey.is_none() && !is_listed {
            return invalid("only a journey or a list goes to several hosts");
        }
        if is_listed && self.http2.is_none() && self.load.pipeline() > 1 {
            return invalid("a list goes to several hosts without a pipeline");
        }
        if target.unix_socket.is_some() || target.proxy.is_some() {
            return invalid("several hosts are not reached through one Unix socket or proxy");
        }
        let endpoints: usize = target.others.iter().map(|origin| origin.addresses.len()).sum();
        if target.others.iter().any(|origin| origin.addresses.is_empty()) {
            return invalid("every host needs an address to connect to");
        }
        if endpoints + target.addresses.len() > usize::from(u16::MAX) {
            return invalid("the hosts have more than 65,535 addresses together");
        }
        Ok(())
    }
}
