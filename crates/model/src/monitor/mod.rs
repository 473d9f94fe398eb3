//! What the operating system saw of a run, as data: the environment, the kernel's counters, the process that
//! served, the connections as TCP saw them, and pauses of the machine. The crate `ablaze-monitor` fills these
//! types. What the platform does not offer is absent, never zero.

mod build;
mod connections;
mod environment;
mod heartbeat;
mod kernel;
mod output;
mod process;
mod target;

use serde::{Deserialize, Serialize};

pub use build::Build;
pub use connections::{Connections, ConnectionsAt, Spread};
pub use environment::{DescriptorLimits, Environment};
pub use heartbeat::{Gap, Heartbeat};
pub use kernel::{ConnectionTracking, Kernel, Pressure, Processors, Softnet, Throttled, TimeWait};
pub use output::{GrownFile, Output, Standard};
pub use process::{AtRest, Process, Range, Serving, Shares, Switches, Thread};
pub use target::{Listener, ServerDatagrams, Target};

/// What the operating system saw of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Monitored {
    /// From the first look to the last, ns; the run and the opening of its connections lie in it.
    pub interval_ns: u64,
    /// CPU time that the monitor itself took, ns.
    pub cost_ns: Option<u64>,
    /// The machine as it was before the run.
    pub environment: Environment,
    /// What the kernel's counters rose by in the interval.
    pub kernel: Kernel,
    /// Who served, if that was on this host.
    pub target: Target,
    /// The client's own threads over the measured window.
    #[serde(rename = "client")]
    pub client: Option<Process>,
    /// TCP's own figures on the connections to the target, at the client's end.
    pub connections: Option<Connections>,
    /// The same at the server's end, where that is on this host.
    #[serde(default)]
    pub server_connections: Option<Connections>,
    /// What is known of the server's UDP sockets at its port, where that is on this host and there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_datagrams: Option<ServerDatagrams>,
    /// Pauses seen by a thread that did nothing but sleep.
    pub heartbeat: Option<Heartbeat>,
}
