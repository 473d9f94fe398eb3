//! What a server writes beside its responses.

use serde::{Deserialize, Serialize};

/// What a process wrote in the measured window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// Calls of write(2) and its like; send(2) and its like are not among them.
    pub write_calls: Option<u64>,
    /// Bytes written by these calls.
    pub written_bytes: Option<u64>,
    /// Where standard output and error go, if that is a terminal, a pipe or a socket.
    pub standard: Option<Standard>,
    /// Files that grew.
    pub files: Vec<GrownFile>,
}

/// Where standard output or error goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standard {
    /// Its path or name: `/dev/pts/3`, `pipe:[4711]`.
    pub name: String,
    /// Whether it is a terminal.
    pub terminal: bool,
    /// Whether something was written to it in the interval, or in the 8 s before; `None` when that
    /// cannot be told: of anything but a terminal, or of this process's own.
    pub written_to: Option<bool>,
}

/// A regular file that grew, whoever wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GrownFile {
    /// Its path.
    pub path: String,
    /// By this many bytes in the measured window.
    pub bytes: u64,
    /// Time between the first and the last look at it in the window, ns; `None` for that of its process.
    #[serde(default)]
    pub watched_ns: Option<u64>,
    /// Bytes from the last look before the window to the first one behind it: what was written for all of its
    /// requests, and for few others unless a warm-up came before. `None` without such looks.
    #[serde(default)]
    pub bytes_around: Option<u64>,
    /// Mean length of the last lines in it, with their ends; `None` when it is not text or may not
    /// be read.
    pub line_bytes: Option<f64>,
}
