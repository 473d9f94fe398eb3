//! How connections come to the workers: four ways, chosen independently of the I/O model.

mod acceptor;
mod hand_over;
mod welcome;

use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::Arc;

pub(crate) use acceptor::accept_for_others;
pub use acceptor::{ACCEPT_PAUSE_NS, Accepted, accept_one, accepts_per_event};
pub use hand_over::HandOver;
pub use welcome::{reset_on_close, welcome};

/// How connections come to the workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcceptMode {
    /// One thread accepts and hands connections to the workers in turn.
    Single,
    /// One listener in the epoll of every worker: all are woken for each connection.
    Shared,
    /// The same with EPOLLEXCLUSIVE: one or a few are woken.
    Exclusive,
    /// A listener per worker; the kernel spreads connections by a hash of their addresses.
    ReusePort,
}

impl AcceptMode {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Single, Self::Shared, Self::Exclusive, Self::ReusePort];

    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Shared => "shared",
            Self::Exclusive => "exclusive",
            Self::ReusePort => "reuseport",
        }
    }

    /// The mode of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

impl fmt::Display for AcceptMode {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

/// Where a worker gets its connections from.
#[derive(Debug)]
pub enum Intake {
    /// A listener, non-blocking.
    Listener {
        /// The socket; a descriptor of this worker's own.
        socket: OwnedFd,
        /// Other workers wait on the same socket.
        shared: bool,
        /// It is to be waited for with EPOLLEXCLUSIVE.
        exclusive: bool,
    },
    /// Connections that another thread accepts.
    Handed(Arc<HandOver>),
}
