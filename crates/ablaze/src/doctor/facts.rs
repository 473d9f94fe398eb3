//! The facts that the checks judge: this machine by its preflight, io_uring by trying it, and the
//! load that is meant or planned, with the server it would go to.

use std::net::SocketAddr;
use std::time::Duration;

use ablaze_load::planning::workers::{self, Cpus};
use ablaze_load::planning::{OptionNames, addresses, descriptors, sources};
use ablaze_model::plan::{self, Plan};
use ablaze_model::profiling::Refused;
use ablaze_monitor::preflight::{Preflight, Server};
use ablaze_net::uring::UringDriver;
use ablaze_profile::recording::{self, Permitted};

use crate::CommandError;
use ablaze_model::spec::{Destination, UrlSpec, WorkersSpec};

/// How long the machine is watched: long enough for a hundred wake-ups, short enough to wait for.
const WATCH: Duration = Duration::from_millis(200);

/// Programs that comparisons, replays and profiles would want.
pub const PROGRAMS: [&str; 5] = ["ab", "wrk", "nginx", "perf", "strace"];

/// Everything the checks may know.
#[derive(Debug, Clone)]
pub struct Facts {
    /// This machine.
    pub preflight: Preflight,
    /// Whether io_uring can be used, or why not.
    pub ring: Result<(), String>,
    /// What can be sampled for a profile, or why nothing can.
    pub samples: Result<Permitted, Refused>,
    /// The load that is meant.
    pub load: Load,
    /// Where it would go.
    pub target: Option<Target>,
}

/// The load that is meant; what was not given is `None`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Connections at the same time.
    pub connections: Option<u32>,
    /// Requests per second, the most of them.
    pub rate_per_s: Option<f64>,
    /// Whether connections are kept between requests.
    pub keep_alive: bool,
    /// Threads that ablaze would use by itself, and descriptors that the load would take.
    pub workers: u32,
    /// Descriptors that these connections take.
    pub descriptors: Option<u64>,
}

/// Where the load would go.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The URL, in full.
    pub url: String,
    /// The address that would be connected to first.
    pub address: SocketAddr,
    /// Who answers there, as far as it can be seen.
    pub server: Server,
}

/// What was asked on the command line.
#[derive(Debug, Clone, Copy)]
pub struct LoadToCheck<'a> {
    /// The URL as typed.
    pub url: Option<&'a str>,
    /// `--connections`.
    pub connections: Option<u32>,
    /// `--rate`, the higher end.
    pub rate_per_s: Option<f64>,
    /// Whether connections are kept.
    pub keep_alive: bool,
}

/// Connections of `ablaze URL` when nothing is said about them.
const CONNECTIONS: u32 = 50;

impl Facts {
    /// Finds them out, in about a quarter of a second.
    ///
    /// # Errors
    /// When the URL is none, or its host has no address.
    pub fn gather(asked: LoadToCheck) -> Result<Self, CommandError> {
        let target = asked.url.map(Target::look).transpose()?;
        Ok(Self {
            preflight: Preflight::take(WATCH, &PROGRAMS),
            ring: UringDriver::probe().map_err(|error| error.to_string()),
            samples: recording::permitted(),
            load: Load::meant(asked, target.as_ref())?,
            target,
        })
    }

    /// Those of a load that is planned on this machine, in about a quarter of a second.
    pub fn of_plan(plan: &Plan) -> Self {
        Self {
            preflight: Preflight::take(WATCH, &[]),
            ring: UringDriver::probe().map_err(|error| error.to_string()),
            samples: recording::permitted(),
            load: Load::planned(plan),
            target: Target::planned(plan),
        }
    }

    /// A setting of the kernel by its name in sysctl(8).
    pub fn setting(&self, name: &str) -> Option<&str> {
        let settings = &self.preflight.environment.settings;
        settings.get(name).or_else(|| self.preflight.settings.get(name)).map(String::as_str)
    }

    /// A setting that is one number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.setting(name)?.parse().ok()
    }

    /// The ports that the kernel gives to connections which ask for none.
    pub fn local_ports(&self) -> Option<(u64, u64)> {
        let (first, last) = self.setting("net.ipv4.ip_local_port_range")?.split_once(' ')?;
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last).then_some((first, last))
    }

    /// CPUs that this process may use, by number of them and by time of them.
    pub fn usable_cpus(&self) -> Option<f64> {
        let environment = &self.preflight.environment;
        let allowed = environment.cpus_allowed.as_ref().map(|cpus| cpus.len() as f64);
        match (allowed, environment.cpu_quota) {
            (Some(allowed), Some(quota)) => Some(allowed.min(quota)),
            (allowed, quota) => allowed.or(quota),
        }
    }

    /// Whether the load is known to go to this host.
    pub fn target_is_here(&self) -> bool {
        self.target.as_ref().is_some_and(|target| target.server.on_this_host)
    }
}

impl Load {
    fn meant(asked: LoadToCheck, target: Option<&Target>) -> Result<Self, CommandError> {
        // With a rate and nothing else there are as many connections as it takes.
        let default = (asked.url.is_some() && asked.rate_per_s.is_none()).then_some(CONNECTIONS);
        let connections = asked.connections.or(default);
        let workers = workers::choose(
            &WorkersSpec::default(),
            connections.unwrap_or(u32::MAX),
            target.filter(|target| target.server.on_this_host).map(|_| "target"),
            &Cpus::of_this_process(),
            &OptionNames::DOCTOR,
            &mut Vec::new(),
        )?;
        Ok(Self {
            connections,
            rate_per_s: asked.rate_per_s,
            keep_alive: asked.keep_alive,
            workers: workers.count,
            descriptors: connections.map(|count| descriptors::needed(count, workers.count)),
        })
    }
}

impl Load {
    fn planned(plan: &Plan) -> Self {
        let (rate_per_s, bounded) = match plan.load {
            plan::Load::Closed { .. } => (None, true),
            plan::Load::Open { rate, bounded, .. } => {
                (Some(rate.from_per_s.max(rate.to_per_s)), bounded)
            }
        };
        // Each further address of this host has ports of its own.
        let has_one_address = plan.connections.local_addresses.is_empty();
        let connections = Some(plan.load.connections()).filter(|_| bounded && has_one_address);
        let workers = plan.workers.count;
        Self {
            connections,
            rate_per_s: rate_per_s.filter(|_| has_one_address),
            keep_alive: plan.connections.keep_alive,
            workers,
            descriptors: connections.map(|count| descriptors::needed(count, workers)),
        }
    }
}

impl Target {
    /// Where a planned load goes; `None` where that is no address of TCP: a path, a proxy's, one of UDP.
    fn planned(plan: &Plan) -> Option<Self> {
        let target = &plan.target;
        let is_direct =
            target.unix_socket.is_none() && target.proxy.is_none() && plan.http3.is_none();
        let address = *target.addresses.first().filter(|_| is_direct)?;
        let server = Server::at(&target.addresses);
        Some(Self { url: target.url.clone(), address, server })
    }

    fn look(url: &str) -> Result<Self, CommandError> {
        let url = sources::url(url)?;
        let addresses = addresses::resolve(
            &UrlSpec::from(&url),
            &Destination::default(),
            &OptionNames::DOCTOR,
        )?;
        let server = Server::at(&addresses);
        let Some(address) = addresses.first() else {
            return Err(CommandError::unknown_host(format!("host `{}` has no address", url.host)));
        };
        Ok(Self { url: url.to_string(), address: *address, server })
    }
}
