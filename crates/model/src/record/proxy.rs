//! What a run knows of its tunnels through a proxy.

use crate::failure::FailureKind;

/// What is known of a run's tunnels through a proxy.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProxyFacts {
    /// Connections to the proxy that stood, whatever it said then.
    pub connected: u64,
    /// Tunnels that it made.
    pub tunnels: u64,
    /// What went wrong first: its kind, and in words.
    pub first_failure: Option<(FailureKind, String)>,
}

impl ProxyFacts {
    /// Adds those of another worker.
    pub fn merge(&mut self, other: Self) {
        let Self { connected, tunnels, first_failure } = other;
        self.connected += connected;
        self.tunnels += tunnels;
        self.first_failure = self.first_failure.take().or(first_failure);
    }
}
