//! The monitor: what the operating system knows about a run and the run itself cannot know. It fills the types
//! of [`ablaze_model::monitor`]: the environment, the kernel's counters, the process that served, the connections
//! as TCP saw them, and pauses of the machine. It reads files of /proc and asks sock_diag from two threads of its
//! own, which cost a constant amount of time, whatever the number of requests. What the platform does not offer is
//! absent, never zero. [`preflight`] looks at the machine before a run.

mod at_rest;
mod build;
mod connection_tracking;
mod connections;
mod cpu_group;
mod environment;
mod heartbeat;
mod interrupts;
mod kernel;
mod listener;
mod mapping;
mod network_counters;
mod output;
pub mod preflight;
mod present;
mod proc_text;
mod process;
mod series;
mod server_datagrams;
mod serving;
mod socket_diag;
mod target;
mod thread;
mod watch;

use std::net::SocketAddr;
use std::path::PathBuf;

use ablaze_model::monitor::{Environment, Monitored};
use ablaze_sys::clock;

pub use kernel::{Reading, between};
pub use present::{Asking, Present, Side};

use heartbeat::{Beating, within};
use server_datagrams::Drops;
use watch::Watching;

/// What the load goes to, as the monitor has to know it.
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

/// A monitor at work, from [`Monitor::begin`] to [`Monitor::end`].
#[derive(Debug)]
pub struct Monitor {
    begun_ns: u64,
    environment: Environment,
    before: Reading,
    /// Where the target is on this host, its addresses and what was dropped at its UDP sockets before.
    drops_before: Option<(Vec<SocketAddr>, Drops)>,
    watching: Watching,
    beating: Option<Beating>,
}

impl Monitor {
    /// Looks at the machine and begins to watch. Takes some milliseconds.
    pub fn begin(destination: &Destination) -> Self {
        Self {
            begun_ns: clock::monotonic_ns(),
            environment: environment::of_this_machine(),
            watching: Watching::begin(destination),
            drops_before: match destination {
                Destination::Tcp(addresses) if destination.is_on_this_host() => {
                    Some((addresses.clone(), Drops::now(addresses)))
                }
                _ => None,
            },
            before: Reading::now(),
            beating: Beating::begin(),
        }
    }

    /// What to call when the load is over and the connections still stand: looks whether a server
    /// that was busy comes to rest. Takes 50 ms then, up to 0.7 s where it still works, and no time
    /// where it was not busy.
    pub fn look_at_rest(&self) -> impl FnOnce() + Send + 'static {
        self.watching.look_at_rest()
    }

    /// What to ask how busy both sides are while it watches.
    pub fn asking(&self) -> Asking {
        self.watching.asking()
    }

    /// Stops watching. `window_ns` is the measured window by the monotonic clock: CPU times of
    /// threads are those within it.
    pub fn end(self, window_ns: (u64, u64)) -> Monitored {
        let after = Reading::now();
        let drops = self.drops_before.as_ref();
        let server_datagrams =
            drops.and_then(|(addresses, drops)| Drops::now(addresses).since(drops));
        let heartbeat = self.beating.map(Beating::end);
        let watched = self.watching.end(window_ns);
        let interval_ns = clock::monotonic_ns().saturating_sub(self.begun_ns);
        let beating_ns = heartbeat.as_ref().map_or(0, |heartbeat| heartbeat.1);
        Monitored {
            interval_ns,
            cost_ns: watched.cost_ns.map(|cost_ns| cost_ns + beating_ns),
            environment: self.environment,
            kernel: kernel::between(&self.before, &after),
            target: watched.target,
            client: watched.client,
            connections: watched.connections,
            server_connections: watched.server_connections,
            server_datagrams,
            heartbeat: heartbeat.map(|(heartbeat, _)| within(heartbeat, window_ns)),
        }
    }
}
