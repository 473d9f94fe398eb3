//! What a server can be told, and what is refused before it starts.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// How a server listens and answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Where to listen; port 0 picks a free one.
    pub address: SocketAddr,
    /// Threads, each with a listener of its own; 0 for half of the CPUs this process may use.
    pub threads: usize,
    /// Status of `/`.
    pub status: u16,
    /// Length of the body of `/`; without one it is a short greeting.
    pub body_bytes: Option<u64>,
    /// Every path gives back what was posted, as `/echo` does.
    pub echo_everywhere: bool,
    /// Keep connections open as the protocol says, or close each after its answer.
    pub keep_alive: bool,
    /// How long each answer waits.
    pub delay: Duration,
    /// The Server field; empty leaves it out.
    pub server_name: String,
    /// Longest head of a request; a longer one is answered 431.
    pub max_head_bytes: usize,
    /// Longest body that `/echo` takes in; a longer one is answered 413. It is held in memory
    /// until it is complete, because a client may send all of it before it reads.
    pub max_body_bytes: u64,
    /// Connections the kernel keeps waiting to be accepted, per listener; it may allow less.
    pub backlog: i32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            threads: 0,
            status: 200,
            body_bytes: None,
            echo_everywhere: false,
            keep_alive: true,
            delay: Duration::ZERO,
            server_name: "ablaze".into(),
            max_head_bytes: 64 * 1024,
            max_body_bytes: 1 << 30,
            backlog: 65_535,
        }
    }
}

/// An option out of its range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OptionsError(pub String);

impl Options {
    /// Most threads a server can have.
    pub const THREADS_MAX: usize = 1024;

    /// Number of threads that will run.
    pub fn threads_resolved(&self) -> usize {
        match self.threads {
            // A tester on the same machine takes the other half.
            0 => (std::thread::available_parallelism().map_or(1, |cpus| cpus.get()) / 2).max(1),
            threads => threads,
        }
    }

    /// Checks every option.
    ///
    /// # Errors
    /// One sentence about the first that cannot be carried out.
    pub fn validate(&self) -> Result<(), OptionsError> {
        let refuse = |text: String| Err(OptionsError(text));
        if !(200..=999).contains(&self.status) {
            return refuse(format!("status {} is no final status; use 200 to 999", self.status));
        }
        if self.threads > Self::THREADS_MAX {
            return refuse(format!(
                "{} threads are more than {}; one per CPU is the most that helps",
                self.threads,
                Self::THREADS_MAX
            ));
        }
        if !self.server_name.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return refuse("the server name may have printable ASCII characters only".into());
        }
        if self.delay > Duration::from_secs(86_400) {
            return refuse("a delay of more than a day is not possible".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_carried_out_is_refused() {
        let fine = Options::default();
        assert_eq!(fine.validate(), Ok(()));
        let bad = [
            Options { status: 100, ..fine.clone() },
            Options { status: 1000, ..fine.clone() },
            Options { threads: 5000, ..fine.clone() },
            Options { server_name: "a\r\nSet-Cookie: b".into(), ..fine.clone() },
            Options { delay: Duration::from_secs(100_000), ..fine },
        ];
        for options in bad {
            assert!(options.validate().is_err(), "{options:?}");
        }
    }
}
