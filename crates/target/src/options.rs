//! What a server can be told, and what is refused before it starts.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::accepting::AcceptMode;
use crate::conditions::{
    AcceptBatch, AnswerKind, Delay, FaultShare, FiberOptions, PerAccept, Route, SocketOptions,
    WriteMode,
};
use crate::models::Model;

/// How a server listens and answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Where to listen; port 0 picks a free one.
    pub address: SocketAddr,
    /// How workers wait, read and write.
    pub model: Model,
    /// How connections come to the workers.
    pub accept: AcceptMode,
    /// Workers; 0 for half of the CPUs this process may use.
    pub threads: usize,
    /// CPUs the workers are pinned to, in turn; empty for none in particular.
    pub cpus: Vec<u32>,
    /// Status of `/`.
    pub status: u16,
    /// Length of the body of `/`; without one it is a short greeting.
    pub body_bytes: Option<u64>,
    /// Length that heads of answers are padded to, where they are shorter.
    pub head_bytes: Option<usize>,
    /// Further answers by path, in the order in which they are tried.
    pub routes: Vec<Route>,
    /// Every path gives back what was posted, as `/echo` does.
    pub echo_everywhere: bool,
    /// What kind of server it is.
    pub answer: AnswerKind,
    /// Keep connections open as the protocol says, or close each after its answer.
    pub keep_alive: bool,
    /// Requests after which a connection is closed.
    pub max_requests: Option<u64>,
    /// How long an idle connection is kept.
    pub read_timeout: Option<Duration>,
    /// How long each answer waits.
    pub delay: Delay,
    /// CPU time burnt for each request, ns.
    pub work_ns: u64,
    /// Requests that are served at a time, over all workers; the others queue.
    pub in_service: Option<u32>,
    /// What goes wrong, and how often.
    pub faults: Vec<FaultShare>,
    /// Where the draws of delays and faults begin.
    pub seed: u64,
    /// The Server field; empty leaves it out.
    pub server_name: String,
    /// Longest head of a request; a longer one is answered 431.
    pub max_head_bytes: usize,
    /// Longest body that `/echo` takes in; a longer one is answered 413. It is held in memory
    /// until it is complete, because a client may send all of it before it reads.
    pub max_body_bytes: u64,
    /// Connections the kernel keeps waiting to be accepted, per listener; it may allow less.
    pub backlog: i32,
    /// Options of the sockets.
    pub sockets: SocketOptions,
    /// Events taken from one wait.
    pub max_events: usize,
    /// Connections accepted per event.
    pub accept_batch: AcceptBatch,
    /// What is done with each accepted connection besides serving it.
    pub per_accept: PerAccept,
    /// How answers are written.
    pub write: WriteMode,
    /// How fibers are kept and scheduled; for the models that have some.
    pub fibers: FiberOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            model: Model::EpollEt,
            accept: AcceptMode::ReusePort,
            threads: 0,
            cpus: Vec::new(),
            status: 200,
            body_bytes: None,
            head_bytes: None,
            routes: Vec::new(),
            echo_everywhere: false,
            answer: AnswerKind::Http,
            keep_alive: true,
            max_requests: None,
            read_timeout: None,
            delay: Delay::default(),
            work_ns: 0,
            in_service: None,
            faults: Vec::new(),
            seed: 1,
            server_name: "ablaze".into(),
            max_head_bytes: 64 * 1024,
            max_body_bytes: 1 << 30,
            backlog: 65_535,
            sockets: SocketOptions::default(),
            max_events: 256,
            accept_batch: AcceptBatch::Drain,
            per_accept: PerAccept::Nothing,
            write: WriteMode::Whole,
            fibers: FiberOptions::default(),
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
        if let Delay::Constant(delay) = self.delay
            && delay > Duration::from_secs(86_400)
        {
            return refuse("a delay of more than a day is not possible".into());
        }
        if self.max_events == 0 {
            return refuse("a wait has to give at least one event".into());
        }
        self.model.check(self).map_err(OptionsError)
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
            Options { delay: Duration::from_secs(100_000).into(), ..fine },
        ];
        for options in bad {
            assert!(options.validate().is_err(), "{options:?}");
        }
    }
}
