//! CPU time of the server that the requests of a Run cannot have taken: it worked for something else.

use super::Run;

/// CPU time of the server during a Run, and how much its requests can have taken of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BesideLoad {
    /// What the server used, ns.
    pub cpu_ns: f64,
    /// For how long the requests of the Run were in flight, all of them together, ns.
    pub in_flight_ns: f64,
    /// Processors of the server's host.
    pub processors: u32,
    /// Connections that other clients on this host had to the server at the same time, if any were seen.
    pub others_connections: u64,
}

/// What a server does behind a response belongs to it, too: as much again as while it is in flight.
const BEHIND_RESPONSES: f64 = 2.0;
/// So much is not by chance: the kernel counts some of it by ticks.
const LEAST_NS: f64 = 50e6;
/// Opening a connection costs a server that much at most, a handshake of TLS included.
const OF_A_CONNECTION_NS: f64 = 5e6;

impl Run {
    /// More than each processor can have worked on requests of this Run while any was in flight: twice as much, or any
    /// more where another client was connected. `None` where the server used less, and where work may go on for requests
    /// that are no longer in flight: after failures and warm-ups.
    pub fn beside_load(&self) -> Option<BesideLoad> {
        let monitor = self.monitor.as_ref()?;
        let target = &monitor.target;
        target.busiest().filter(|process| process.is_believed())?;
        if self.record.failures_total() > 0 || self.plan.limits.warmup_ns > 0 {
            return None;
        }
        let opened = self.record.connections_opened.max(u64::from(self.plan.load.connections()));
        let longest_ns = target.processes.iter().map(|process| process.watched_ns).max()?.max(1);
        let beside = BesideLoad {
            cpu_ns: target.cpu_ns() as f64 / longest_ns as f64 * self.elapsed_ns as f64,
            in_flight_ns: self.record.in_flight_ns as f64,
            processors: monitor.environment.cpus_online?,
            others_connections: monitor.connections.as_ref().map_or(0, |seen| {
                seen.first.connections.min(seen.last.connections).saturating_sub(opened)
            }),
        };
        let times = if beside.others_connections > 0 { 1.0 } else { BEHIND_RESPONSES };
        let most_ns = times * beside.in_flight_ns * f64::from(beside.processors)
            + opened as f64 * OF_A_CONNECTION_NS;
        (beside.cpu_ns - most_ns >= LEAST_NS).then_some(beside)
    }
}
