//! The machine as it was before a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The machine before the run. `None` is unknown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Kernel release.
    pub kernel: Option<String>,
    /// Architecture, such as `x86_64`.
    pub architecture: String,
    /// CPU model.
    pub cpu_model: Option<String>,
    /// CPUs that are online.
    pub cpus_online: Option<u32>,
    /// CPUs this process may use, by number.
    pub cpus_allowed: Option<Vec<u32>>,
    /// CPUs' worth of time that the control group grants; `None` for no limit, too.
    pub cpu_quota: Option<f64>,
    /// Memory that the control group grants, bytes; `None` for no limit, too.
    #[serde(default)]
    pub memory_limit_bytes: Option<u64>,
    /// How late the kernel may end a thread's wait on purpose, ns. The client's workers set their own
    /// in an open loop.
    #[serde(default)]
    pub timer_slack_ns: Option<u64>,
    /// How this client was built: `release`, or `development` with checks that cost time.
    #[serde(default)]
    #[serde(rename = "client_build")]
    pub client_build: Option<String>,
    /// How the frequency of the first CPU is governed.
    pub governor: Option<String>,
    /// What the machine runs in or on, if it is virtual.
    pub virtualisation: Option<String>,
    /// Memory, bytes.
    pub memory_bytes: Option<u64>,
    /// Memory that could be had, bytes.
    pub memory_available_bytes: Option<u64>,
    /// Tasks that ran or wanted to, averaged over the minute before.
    pub load_average: Option<f64>,
    /// Where the kernel takes its time from.
    pub clock_source: Option<String>,
    /// Open descriptors that this process may have.
    pub descriptors: DescriptorLimits,
    /// Settings by their names in sysctl(8), values as the kernel prints them, with single blanks.
    pub settings: BTreeMap<String, String>,
}

/// Limits on open descriptors; `None` for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DescriptorLimits {
    /// The limit in force.
    pub soft: Option<u64>,
    /// How far it may be raised.
    pub hard: Option<u64>,
}
