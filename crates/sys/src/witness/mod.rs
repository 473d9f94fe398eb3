//! The witness: what the operating system knows about a run and the run itself cannot know. The
//! environment, the kernel's counters, the process that served, the connections as TCP saw them,
//! and pauses of the machine. It reads files of /proc and asks sock_diag from two threads of its
//! own, which cost a constant amount of time, whatever the number of requests. What the platform
//! does not offer is absent, never zero.

mod build;
mod connection_tracking;
mod connections;
pub(crate) mod cpu_group;
mod environment;
mod heartbeat;
mod kernel;
pub(crate) mod listener;
mod mapping;
mod network_counters;
mod output;
pub(crate) mod proc_text;
mod process;
mod series;
mod serving;
mod socket_diag;
mod target;
mod thread;
mod watch;

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use build::Build;
pub use connection_tracking::ConnectionTracking;
pub use connections::{Connections, ConnectionsAt, Spread};
pub use cpu_group::Throttled;
pub use environment::{DescriptorLimits, Environment};
pub use heartbeat::{Gap, Heartbeat};
pub use kernel::{Kernel, Pressure, Processors, Reading, Softnet, TimeWait};
pub use listener::Listener;
pub use output::{GrownFile, Output, Standard};
pub use process::{Process, Range, Switches};
pub use serving::{AtRest, Serving};
pub use target::Target;
pub use thread::{Shares, Thread};

use crate::clock;
use heartbeat::Beating;
use watch::Watching;

/// What the operating system saw of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Witness {
    /// From the first look to the last, ns; the run and the opening of its connections lie in it.
    pub interval_ns: u64,
    /// CPU time that the witness itself took, ns.
    pub cost_ns: Option<u64>,
    /// The machine as it was before the run.
    pub environment: Environment,
    /// What the kernel's counters rose by in the interval.
    pub kernel: Kernel,
    /// Who served, if that was on this host.
    pub target: Target,
    /// The tester's own threads over the measured window.
    #[serde(rename = "client")]
    pub tester: Option<Process>,
    /// TCP's own figures on the connections to the target, at the tester's end.
    pub connections: Option<Connections>,
    /// The same at the server's end, where that is on this host.
    #[serde(default)]
    pub server_connections: Option<Connections>,
    /// Pauses seen by a thread that did nothing but sleep.
    pub heartbeat: Option<Heartbeat>,
}

/// What the load goes to, as the witness has to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// One of these addresses: the first that accepts a connection.
    Tcp(Vec<SocketAddr>),
    /// This Unix socket.
    Unix(PathBuf),
}

impl Destination {
    /// The processes that listen there and that this one may look into; none when it is another host.
    pub fn processes(&self) -> Vec<u32> {
        self.listener().map(|listener| listener.holders()).unwrap_or_default()
    }
}

/// A witness at work, from [`Attending::begin`] to [`Attending::end`].
#[derive(Debug)]
pub struct Attending {
    begun_ns: u64,
    environment: Environment,
    before: Reading,
    watching: Watching,
    beating: Option<Beating>,
}

impl Attending {
    /// Looks at the machine and begins to watch. Takes some milliseconds.
    pub fn begin(destination: &Destination) -> Self {
        Self {
            begun_ns: clock::monotonic_ns(),
            environment: Environment::of_this_machine(),
            watching: Watching::begin(destination),
            before: Reading::now(),
            beating: Beating::begin(),
        }
    }

    /// What to call when the load is over and the connections still stand: looks whether a server
    /// that was busy comes to rest. Takes 50 ms then, and no time where it was not busy.
    pub fn look_at_rest(&self) -> impl FnOnce() + Send + 'static {
        self.watching.look_at_rest()
    }

    /// Stops watching. `window_ns` is the measured window by the monotonic clock: CPU times of
    /// threads are those within it.
    pub fn end(self, window_ns: (u64, u64)) -> Witness {
        let after = Reading::now();
        let heartbeat = self.beating.map(Beating::end);
        let watched = self.watching.end(window_ns);
        let interval_ns = clock::monotonic_ns().saturating_sub(self.begun_ns);
        let beating_ns = heartbeat.as_ref().map_or(0, |heartbeat| heartbeat.1);
        Witness {
            interval_ns,
            cost_ns: watched.cost_ns.map(|cost_ns| cost_ns + beating_ns),
            environment: self.environment,
            kernel: Kernel::between(&self.before, &after),
            target: watched.target,
            tester: watched.tester,
            connections: watched.connections,
            server_connections: watched.server_connections,
            heartbeat: heartbeat.map(|(heartbeat, _)| heartbeat),
        }
    }
}
