//! Who served: whether the target is on this host, its listener, and the processes that hold it.

use serde::{Deserialize, Serialize};

use super::Destination;
use super::listener::{Found, Listener};
use super::process::Process;

/// Who served.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Whether the target's address is this host's. What a remote server did is not to be seen.
    pub on_this_host: bool,
    /// The socket that listens there.
    pub listener: Option<Listener>,
    /// How many epoll instances the kernel wakes for one new connection: those that wait for the same
    /// listening socket without EPOLLEXCLUSIVE. `None` when there are none, or they are not to be seen.
    #[serde(default)]
    pub woken_per_connection: Option<u64>,
    /// The processes that hold that socket and that this user may look into, the busiest first.
    pub processes: Vec<Process>,
}

impl Destination {
    /// Whether connections stay on this host.
    pub fn is_on_this_host(&self) -> bool {
        match self {
            Self::Tcp(addresses) => {
                addresses.first().is_some_and(|address| crate::is_local_address(address.ip()))
            }
            Self::Unix(_) => true,
        }
    }

    /// The listener that the connections reach.
    pub(super) fn listener(&self) -> Option<Found> {
        match self {
            Self::Tcp(addresses) => addresses
                .iter()
                .filter(|address| crate::is_local_address(address.ip()))
                .find_map(|address| Found::at(*address)),
            Self::Unix(path) => Found::at_path(path),
        }
    }
}

impl Target {
    /// CPU time of all processes that hold the listener, over the time they were watched, ns.
    pub fn cpu_ns(&self) -> u64 {
        self.processes.iter().map(Process::cpu_ns).sum()
    }

    /// The busiest process.
    pub fn busiest(&self) -> Option<&Process> {
        self.processes.first()
    }
}
