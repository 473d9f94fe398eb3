//! A process and its threads over the measured window.

use super::{Build, Output};
use serde::{Deserialize, Serialize};

/// A share of a core is believed from this many readings on, or from two so far apart.
const FEWEST_READINGS: u64 = 3;
const FAR_APART_NS: u64 = 400_000_000;

/// A process over the measured window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// Its process ID.
    pub pid: u32,
    /// Its name, as ps(1) shows it.
    pub name: String,
    /// The file it runs.
    pub executable: Option<String>,
    /// Its command line.
    pub command_line: Vec<String>,
    /// Time between the first and the last reading in the window, ns: what the CPU times here are
    /// out of. 0 when the window was too short for two.
    pub watched_ns: u64,
    /// Readings in that time.
    pub readings: u64,
    /// Those of them in which it was stopped: by a signal (SIGSTOP, state T in /proc/PID/stat), or by who traces it (state t) where
    /// it did not run until the next reading either.
    #[serde(default)]
    pub stopped_readings: u64,
    /// CPU time of all its threads in user mode, ns.
    pub user_ns: u64,
    /// The same in the kernel, ns.
    pub system_ns: u64,
    /// Memory resident, bytes.
    pub memory_bytes: Option<Range>,
    /// Open descriptors.
    pub descriptors: Option<Range>,
    /// Threads.
    pub thread_count: Option<Range>,
    /// Times its threads gave a processor up or had it taken away, over the whole interval.
    pub switches: Option<Switches>,
    /// CPUs that its threads may run on, of the client those of its workers; empty where that is not known.
    #[serde(default)]
    pub cpus_allowed: Vec<u32>,
    /// It ended before the watch did.
    #[serde(default)]
    pub ended: bool,
    /// Who traces it with ptrace(2), as debuggers and strace(1) do: a name and a number.
    #[serde(default)]
    pub traced_by: Option<String>,
    /// What is known of it because it serves; `None` for the client.
    #[serde(default)]
    pub serving: Option<Serving>,
    /// What it did without a load; `None` when it was not looked at, as no process of the server was busy before.
    #[serde(default)]
    pub at_rest: Option<AtRest>,
    /// Its threads, the busiest first, at most 64.
    pub threads: Vec<Thread>,
}

/// A figure over the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// Smallest.
    pub min: u64,
    /// Largest.
    pub max: u64,
    /// Last.
    pub last: u64,
}

/// Context switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Switches {
    /// The thread waited for something.
    pub voluntary: u64,
    /// The kernel gave the processor to another.
    pub involuntary: u64,
}

impl Process {
    /// CPU time of all threads, ns.
    pub fn cpu_ns(&self) -> u64 {
        self.user_ns + self.system_ns
    }

    /// What it did when the load was over, if it was looked at.
    pub fn without_load(&self) -> Option<AtRest> {
        self.at_rest.or_else(|| self.serving.as_ref()?.at_rest)
    }

    /// Whether it was looked at often enough, or for long enough, to say what share of a core it used.
    pub fn is_believed(&self) -> bool {
        let far_apart = self.readings == 2 && self.watched_ns >= FAR_APART_NS;
        self.readings >= FEWEST_READINGS || far_apart
    }

    /// The share of a core that one of its threads used, at most; `None` when the window was too
    /// short to tell.
    pub fn busiest_share(&self) -> Option<f64> {
        let busiest = self.threads.first()?;
        (self.watched_ns > 0).then(|| busiest.cpu_ns as f64 / self.watched_ns as f64)
    }
}

/// A thread over the time its process was watched for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// Its thread ID.
    pub tid: u32,
    /// Its name.
    pub name: String,
    /// CPU time, ns.
    pub cpu_ns: u64,
    /// Time in which it could have run and had no processor, ns.
    pub waited_ns: u64,
    /// Share of a core that it used between two readings: least, most and last. 1 is a whole core.
    pub share: Shares,
}

/// Shares of a core between two readings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
    /// The last.
    pub last: f64,
}

/// What is known of a process because it serves.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Serving {
    /// How its program was built, as far as the program tells.
    pub build: Option<Build>,
    /// Descriptors that it may have open; `None` for no limit or an unknown one.
    pub descriptor_limit: Option<u64>,
    /// What it wrote.
    pub output: Option<Output>,
    /// What it did without a load, in files of before all processes of a server were looked at: [`Process::without_load`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_rest: Option<AtRest>,
}

/// What a process did when the load was over and the connections still stood.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AtRest {
    /// Time between the end of the load and the look, ns.
    pub settled_ns: u64,
    /// Length of the look, ns.
    pub watched_ns: u64,
    /// Share of the time for which its busiest thread ran, or was ready to run and others had the CPUs.
    pub busiest_share: f64,
    /// The same of all its threads together: so many whole times.
    #[serde(default)]
    pub cores: f64,
    /// Threads of which that was more than half of the time.
    pub busy_threads: u64,
}
