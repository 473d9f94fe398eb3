//! What bounded the rate of a Run: a rate means something only with its limit.

use std::fmt;

/// What bounded the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// A thread of the server had no time left.
    Server,
    /// A thread of the proxy had no time left: what the target could do is not known.
    Proxy,
    /// A thread of the client had no time left: the rate is a lower bound.
    Client,
    /// Client and server had no processor left between them.
    SharedCpu,
    /// Other processes had the processors that client or server waited for.
    OtherProcesses,
    /// A CPU quota stopped the client or the server in most of its periods.
    CpuQuota,
    /// The network's round trip: each request waited for the one before it.
    RoundTrip,
    /// No thread of the client or the server was at its limit: each request waited for the response to the one before it.
    ResponseTime,
    /// Requests that nobody answered held the places of the load.
    Unanswered,
    /// Users thought: they had nothing in flight for most of their time.
    ThinkTime,
    /// No more was asked for.
    AskedRate,
    /// TCP could not send what there was.
    Network,
    /// What there is to see does not tell.
    Unknown,
}

impl Limit {
    /// All of them.
    const ALL: [Self; 13] = [
        Self::Server,
        Self::Proxy,
        Self::Client,
        Self::SharedCpu,
        Self::OtherProcesses,
        Self::CpuQuota,
        Self::RoundTrip,
        Self::ResponseTime,
        Self::Unanswered,
        Self::ThinkTime,
        Self::AskedRate,
        Self::Network,
        Self::Unknown,
    ];

    /// The one of this name in machine-readable reports.
    pub fn of_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|limit| limit.key() == key)
    }

    /// Its name in machine-readable reports.
    pub fn key(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Proxy => "proxy",
            Self::Client => "client",
            Self::SharedCpu => "shared-cpu",
            Self::OtherProcesses => "other-processes",
            Self::CpuQuota => "cpu-quota",
            Self::RoundTrip => "round-trip",
            Self::ResponseTime => "response-time",
            Self::Unanswered => "unanswered",
            Self::ThinkTime => "think-time",
            Self::AskedRate => "asked-rate",
            Self::Network => "network",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Server => "limited by the server",
            Self::Proxy => "limited by the proxy",
            Self::Client => "limited by the client",
            Self::SharedCpu => "limited by CPUs shared by client and server",
            Self::OtherProcesses => "limited by other processes on the same CPUs",
            Self::CpuQuota => "limited by a CPU quota",
            Self::RoundTrip => "limited by the round trip",
            Self::ResponseTime => "limited by the response time",
            Self::Unanswered => "limited by requests without a response",
            Self::ThinkTime => "limited by the load",
            Self::AskedRate => "limited by the requested rate",
            Self::Network => "limited by the network",
            Self::Unknown => "limit unknown",
        })
    }
}

/// A limit with the numbers that show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limited {
    /// What bounded the rate.
    pub by: Limit,
    /// The numbers, as the end of a sentence: `its one thread ran at 96 % of a core`.
    pub evidence: String,
}

impl fmt::Display for Limited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.by, self.evidence)
    }
}
