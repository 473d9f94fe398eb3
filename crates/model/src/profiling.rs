//! What profiling comes to, as it is kept with a Run: plain data.

use serde::{Deserialize, Serialize};

/// What was asked to be profiled, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profiling {
    /// A run of its own, right after the one that is reported, and under the same load.
    pub run: Option<ProfiledRun>,
    /// What was sampled in that run.
    pub profiles: Vec<Profile>,
    /// What was not, and why.
    pub refused: Vec<NotProfiled>,
}

/// A side that was to be profiled and was not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotProfiled {
    /// The side it is of: the server or the client.
    pub of: Whom,
    /// Why, and what to do about it.
    #[serde(flatten)]
    pub why: Refused,
}

/// What the run with the profiler did, to hold against the one without: the difference is what
/// profiling costs, and noise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ProfiledRun {
    /// Length of its measured window, ns.
    pub elapsed_ns: u64,
    /// Requests that finished in it.
    pub requests: u64,
    /// Responses per second.
    pub rate_per_s: f64,
    /// CPU time of the server per request, ns, where it was seen.
    pub server_cpu_ns: Option<f64>,
    /// CPU time of the client per request, ns.
    #[serde(rename = "client_cpu_ns")]
    pub client_cpu_ns: Option<f64>,
}

/// Whose stacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Whom {
    /// The server's processes.
    Target,
    /// This program.
    #[serde(rename = "client")]
    Client,
}

impl Whom {
    /// As it stands in options and file names.
    pub fn key(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Client => "client",
        }
    }
}

/// The stacks of one side, over the measured window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The side it is of: the server or the client.
    pub of: Whom,
    /// The program's name.
    pub name: String,
    /// The processes that were sampled.
    pub pids: Vec<u32>,
    /// What samples were taken by: `cycles`, or `cpu-clock` where there is no counter of them.
    pub event: String,
    /// Samples per second of CPU time that were asked for.
    pub frequency_hz: u32,
    /// Whether there are samples of the kernel; without, its share of the time is missing.
    pub kernel: bool,
    /// Samples in the window.
    pub samples: u64,
    /// Samples that found no place and are missing.
    pub lost: u64,
    /// Of `samples`: those whose stack does not reach the beginning of its thread.
    pub broken: u64,
    /// Where the stacks of `broken` end; `None` in files of versions that did not look.
    #[serde(default)]
    pub broken_ends: Option<BrokenEnds>,
    /// Requests that finished in the window.
    pub requests: u64,
    /// CPU time that the samples stand for, ns: of `cpu-clock`, their periods added up.
    pub cpu_ns: u64,
    /// CPU time per request, ns, that all samples together stand for in graphs and tables: as the
    /// kernel accounts for it in the run without a profiler where that was seen, else `cpu_ns` over
    /// `requests`.
    pub cpu_per_request_ns: f64,
    /// The stacks, the most frequent first.
    pub stacks: Vec<Stack>,
}

/// Where stacks end that do not reach the beginning of their thread: at the outermost function that was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokenEnds {
    /// Samples whose stack ends in a function for which its file has no unwind table.
    pub without_table: u64,
    /// The names of these files, those of most samples first.
    pub files: Vec<String>,
    /// Samples whose stack ends in memory that no file is mapped into.
    pub without_file: u64,
}

/// One stack, folded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// Functions from the outermost to the innermost, with `;` between; those of the kernel end in
    /// `_[k]`.
    pub frames: String,
    /// Number of samples of this stack.
    pub samples: u64,
    /// Their periods added up: ns of `cpu-clock`, else cycles.
    pub weight: u64,
}

/// Why there are no samples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// What is in the way.
    pub reason: String,
    /// What to do about it; empty when nothing can be done.
    pub fix: String,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.fix.as_str() {
            "" => to.write_str(&self.reason),
            fix => write!(to, "{}: {fix}", self.reason),
        }
    }
}

impl Refused {
    /// A reason with what to do about it.
    pub fn new(reason: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { reason: reason.into(), fix: fix.into() }
    }
}

/// Bytes of a stack that are copied with each sample: what perf(1) copies, too.
pub const STACK_BYTES: u32 = 8192;
/// Longer stacks are cut: a recursion has no end.
pub const MOST_FRAMES: usize = 192;
