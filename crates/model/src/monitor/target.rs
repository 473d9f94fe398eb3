//! Who served: whether the target is on this host, its listener, and the processes that hold it.

use super::{Process, Throttled};
use serde::{Deserialize, Serialize};

/// The listening socket, or several at one address (SO_REUSEPORT).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listener {
    /// Where it listens: an address and port, or the path of a Unix socket.
    pub address: String,
    /// Sockets that listen there.
    pub sockets: u64,
    /// Connections that may wait to be accepted: the smaller of listen()'s backlog and
    /// net.core.somaxconn; of several sockets the smallest.
    pub backlog: Option<u64>,
    /// The most that were seen waiting at one socket.
    pub longest_queue: Option<u64>,
    /// Those that waited at all of its sockets together when it was last looked at in the run.
    #[serde(default)]
    pub waiting: Option<u64>,
}

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
    /// What the CPU quotas cost that the server's processes are under and the client is not; of several the one that
    /// cost the most time. `None` where there is none to be seen.
    #[serde(default)]
    pub throttled: Option<Throttled>,
    /// Processes that those of the target started and that ended in the run: their CPU time is in no figure.
    #[serde(default)]
    pub children_ended: u64,
    /// The processes that hold that socket and that this user may look into, and those that they started, the busiest
    /// first.
    pub processes: Vec<Process>,
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

/// The server's UDP sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerDatagrams {
    /// Those that are bound to its port.
    pub sockets: u64,
    /// Datagrams that the kernel dropped in the interval because their receive buffers were full.
    pub dropped: u64,
}
