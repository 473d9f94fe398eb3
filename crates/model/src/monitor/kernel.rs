//! What the kernel's counters rose by.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What counters rose by, before the run against after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// Network counters by the names nstat(8) prints; those of the whole network namespace. A
    /// counter that this kernel does not have is missing.
    pub network: Option<BTreeMap<String, u64>>,
    /// Packets on their way from the driver to TCP; of the whole machine.
    pub softnet: Option<Softnet>,
    /// Sockets in TIME_WAIT, of the whole network namespace.
    pub time_wait: Option<TimeWait>,
    /// Time in which something waited for a resource (PSI); of the whole machine.
    pub pressure: Option<Pressure>,
    /// Times of all processors together.
    pub processors: Option<Processors>,
    /// What the CPU quota of this process's control group, or of one above it, cost.
    pub throttled: Option<Throttled>,
    /// Time for which the machine was suspended.
    pub suspended_ns: Option<u64>,
    /// Tracking of connections, where it is on.
    #[serde(default)]
    pub connection_tracking: Option<ConnectionTracking>,
}

/// /proc/net/softnet_stat, all CPUs together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Softnet {
    /// Packets processed.
    pub processed: u64,
    /// Packets dropped because the queue of a CPU was full.
    pub dropped: u64,
    /// Times that the kernel stopped with packets left, because its time was up.
    pub squeezed: u64,
}

/// Sockets in TIME_WAIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeWait {
    /// Before the run.
    pub before: u64,
    /// After it.
    pub after: u64,
}

/// /proc/pressure: for how long at least one task waited ("some"), or all did ("full").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressure {
    /// Some task waited for a processor, ns.
    pub cpu_some_ns: Option<u64>,
    /// Some task waited for memory, ns.
    pub memory_some_ns: Option<u64>,
    /// All tasks waited for memory, ns.
    pub memory_full_ns: Option<u64>,
    /// Some task waited for a disk, ns.
    pub io_some_ns: Option<u64>,
    /// All tasks waited for a disk, ns.
    pub io_full_ns: Option<u64>,
}

/// The first line of /proc/stat: all processors of the machine together, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Processors {
    /// In user mode, niced processes included.
    pub user_ns: u64,
    /// In the kernel.
    pub system_ns: u64,
    /// In interrupts and their bottom halves.
    pub interrupts_ns: u64,
    /// Idle, waiting for a disk included.
    pub idle_ns: u64,
    /// Taken by the hypervisor for others.
    pub steal_ns: u64,
    /// Whether the times of threads have the interrupts in them that strike them; `None` where it is not known. Without
    /// CONFIG_IRQ_TIME_ACCOUNTING they have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads_include_interrupts: Option<bool>,
}

impl Processors {
    /// All of it but idling and what others got.
    pub fn busy_ns(&self) -> u64 {
        self.user_ns + self.system_ns + self.interrupts_ns
    }

    /// The share of the busy time that threads have in their times: what was not for interrupts, half of it at least; all of
    /// it where theirs include interrupts.
    pub fn of_threads(&self) -> f64 {
        match self.busy_ns() {
            0 => 1.0,
            _ if self.threads_include_interrupts == Some(true) => 1.0,
            busy_ns => (1.0 - self.interrupts_ns as f64 / busy_ns as f64).max(0.5),
        }
    }

    /// The whole time of all processors.
    pub fn total_ns(&self) -> u64 {
        self.busy_ns() + self.idle_ns + self.steal_ns
    }
}

/// Throttling by a CPU quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throttled {
    /// Periods in which the group used up its quota.
    pub periods: u64,
    /// Of so many in which it ran (`nr_periods`); `None` where they were not counted.
    #[serde(default)]
    pub of_periods: Option<u64>,
    /// Time for which its processes were kept from running, ns; the kernel adds it up over CPUs.
    pub time_ns: u64,
}

/// The table of tracked connections, of this network namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionTracking {
    /// Connections in the table before the run.
    pub before: u64,
    /// After it.
    pub after: u64,
    /// The most that it takes.
    pub most: u64,
    /// Entries that could not be made.
    pub insert_failed: Option<u64>,
    /// Packets dropped because the table was full, or no entry could be made.
    pub dropped: Option<u64>,
    /// Entries given up for newer ones because the table was full.
    pub dropped_early: Option<u64>,
}
