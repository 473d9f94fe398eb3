//! What was asked for, in the file: target, load, limits, connections, threads.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::plan;
use crate::plan::proxy;

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Target {
    url: String,
    host: String,
    port: u16,
    path: String,
    addresses: Vec<SocketAddr>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alternative: Option<plan::alternative::Alternative>,
    unix_socket: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proxy: Option<Proxy>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    others: Vec<Origin>,
}

/// Where steps of a journey go beside the target.
#[derive(Clone, Serialize, Deserialize)]
struct Origin {
    url: String,
    host: String,
    port: u16,
    addresses: Vec<SocketAddr>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Proxy {
    host: String,
    port: u16,
    way: Way,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Way {
    Tunnel,
    Forward,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "kebab-case")]
pub(super) enum Load {
    Closed { connections: u32, pipeline: u32 },
    Open { rate: Rate, arrivals: Arrivals, connections: u32, bounded: bool },
}

#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Rate {
    from_per_s: f64,
    to_per_s: f64,
    steps: u32,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Arrivals {
    Constant,
    Poisson,
}

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Limits {
    requests: Option<u64>,
    duration_ns: Option<u64>,
    warmup_ns: u64,
    timeout_ns: u64,
    max_head_bytes: usize,
    unreachable_after: u32,
}

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Connections {
    keep_alive: bool,
    requests_per_connection: Option<u64>,
    close: Close,
    repeat: bool,
    clock_starts: ClockStarts,
    ramp_ns: u64,
    local_addresses: Vec<IpAddr>,
    local_ports: Option<RangeInclusive<u16>>,
    socket_buffer_bytes: Option<u32>,
    no_delay: bool,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Close {
    Await,
    Fin,
    Reset,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ClockStarts {
    BeforeConnecting,
    AfterConnecting,
}

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Threads {
    count: u32,
    count_reason: String,
    cpus: Vec<u32>,
    io: Io,
    spin: Spin,
    cpus_to_spare: bool,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Io {
    Auto,
    Uring,
    Epoll,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Spin {
    Auto,
    Off,
    For(u64),
}

/// The same names on both sides: what a run has and what its file has, value by value.
macro_rules! alike {
    ($saved:ident, $model:path: $($name:ident),+) => {
        impl $saved {
            pub(super) fn save(value: $model) -> Self {
                use $model as Model;
                match value {
                    $(Model::$name => Self::$name,)+
                }
            }

            pub(super) fn restore(self) -> $model {
                use $model as Model;
                match self {
                    $(Self::$name => Model::$name,)+
                }
            }
        }
    };
}

alike!(Way, proxy::Way: Tunnel, Forward);
alike!(Arrivals, plan::Arrivals: Constant, Poisson);
alike!(Close, plan::Close: Await, Fin, Reset);
alike!(ClockStarts, plan::ClockStarts: BeforeConnecting, AfterConnecting);
alike!(Io, plan::IoChoice: Auto, Uring, Epoll);

impl Target {
    pub(super) fn save(target: &plan::Target) -> Self {
        let plan::Target {
            url,
            host,
            port,
            path,
            addresses,
            alternative,
            unix_socket,
            proxy,
            others,
        } = target.clone();
        // Credentials are not kept.
        let proxy = proxy.map(|proxy| Proxy {
            host: proxy.host,
            port: proxy.port,
            way: Way::save(proxy.way),
        });
        let others = others.into_iter().map(|origin| {
            let plan::origins::Origin { url, host, port, addresses, tls: _ } = origin;
            Origin { url, host, port, addresses }
        });
        let others = others.collect();
        Self { url, host, port, path, addresses, alternative, unix_socket, proxy, others }
    }

    pub(super) fn restore(self) -> plan::Target {
        let Self { url, host, port, path, addresses, alternative, unix_socket, proxy, others } =
            self;
        let proxy = proxy.map(|proxy| proxy::Proxy {
            host: proxy.host,
            port: proxy.port,
            way: proxy.way.restore(),
            credentials: None,
        });
        let others = others.into_iter().map(|origin| {
            let Origin { url, host, port, addresses } = origin;
            plan::origins::Origin { url, host, port, addresses, tls: None }
        });
        let others = others.collect();
        plan::Target { url, host, port, path, addresses, alternative, unix_socket, proxy, others }
    }
}

impl Load {
    pub(super) fn save(load: plan::Load) -> Self {
        match load {
            plan::Load::Closed { connections, pipeline } => Self::Closed { connections, pipeline },
            plan::Load::Open { rate, arrivals, connections, bounded } => {
                let plan::RateProfile { from_per_s, to_per_s, steps } = rate;
                let rate = Rate { from_per_s, to_per_s, steps };
                Self::Open { rate, arrivals: Arrivals::save(arrivals), connections, bounded }
            }
        }
    }

    pub(super) fn restore(self) -> plan::Load {
        match self {
            Self::Closed { connections, pipeline } => plan::Load::Closed { connections, pipeline },
            Self::Open { rate, arrivals, connections, bounded } => {
                let Rate { from_per_s, to_per_s, steps } = rate;
                let rate = plan::RateProfile { from_per_s, to_per_s, steps };
                plan::Load::Open { rate, arrivals: arrivals.restore(), connections, bounded }
            }
        }
    }
}

impl Limits {
    pub(super) fn save(limits: &plan::Limits) -> Self {
        let plan::Limits {
            requests,
            duration_ns,
            warmup_ns,
            timeout_ns,
            max_head_bytes,
            unreachable_after,
        } = limits.clone();
        Self { requests, duration_ns, warmup_ns, timeout_ns, max_head_bytes, unreachable_after }
    }

    pub(super) fn restore(self) -> plan::Limits {
        let Self {
            requests,
            duration_ns,
            warmup_ns,
            timeout_ns,
            max_head_bytes,
            unreachable_after,
        } = self;
        plan::Limits {
            requests,
            duration_ns,
            warmup_ns,
            timeout_ns,
            max_head_bytes,
            unreachable_after,
        }
    }
}

impl Connections {
    pub(super) fn save(connections: &plan::Connections) -> Self {
        let plan::Connections {
            keep_alive,
            requests_per_connection,
            close,
            repeat,
            clock_starts,
            ramp_ns,
            local_addresses,
            local_ports,
            socket_buffer_bytes,
            no_delay,
        } = connections.clone();
        Self {
            keep_alive,
            requests_per_connection,
            close: Close::save(close),
            repeat,
            clock_starts: ClockStarts::save(clock_starts),
            ramp_ns,
            local_addresses,
            local_ports,
            socket_buffer_bytes,
            no_delay,
        }
    }

    pub(super) fn restore(self) -> plan::Connections {
        plan::Connections {
            keep_alive: self.keep_alive,
            requests_per_connection: self.requests_per_connection,
            close: self.close.restore(),
            repeat: self.repeat,
            clock_starts: self.clock_starts.restore(),
            ramp_ns: self.ramp_ns,
            local_addresses: self.local_addresses,
            local_ports: self.local_ports,
            socket_buffer_bytes: self.socket_buffer_bytes,
            no_delay: self.no_delay,
        }
    }
}

impl Threads {
    pub(super) fn save(workers: &plan::Workers) -> Self {
        let plan::Workers { count, count_reason, cpus, io, spin, cpus_to_spare } = workers.clone();
        let spin = match spin {
            plan::Spin::Auto => Spin::Auto,
            plan::Spin::Off => Spin::Off,
            plan::Spin::For(ns) => Spin::For(ns),
        };
        Self { count, count_reason, cpus, io: Io::save(io), spin, cpus_to_spare }
    }

    pub(super) fn restore(self) -> plan::Workers {
        let Self { count, count_reason, cpus, io, spin, cpus_to_spare } = self;
        let spin = match spin {
            Spin::Auto => plan::Spin::Auto,
            Spin::Off => plan::Spin::Off,
            Spin::For(ns) => plan::Spin::For(ns),
        };
        plan::Workers { count, count_reason, cpus, io: io.restore(), spin, cpus_to_spare }
    }
}
