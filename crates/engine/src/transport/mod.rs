//! What lies between a worker and its driver: nothing, TLS, tunnels through a proxy, or TLS in these.
//!
//! The worker knows slots, verbs and events, and nothing of who is behind them. A [`Line`] gives it
//! those of the driver itself ([`plain`]), or those of [`tls`] or [`proxy`], which have the same verbs
//! and events for the bytes inside. The line is chosen once for a run, so that plain connections pay
//! nothing.

pub mod plain;
pub mod proxy;
pub mod tls;

use std::io;

use ablaze_net::{Io, Turn, Wait};

use crate::worker::Worker;
use ablaze_model::record::{ProxyFacts, TlsFacts};

/// What a worker acts through.
pub trait Line {
    /// Whether sends are handed to the kernel during the call; see [`Io::SENDS_AT_ONCE`].
    const SENDS_AT_ONCE: bool;

    /// The verbs, outside of a turn.
    fn io(&mut self) -> impl Io;

    /// Submits what is queued, waits, and has the worker told what happened.
    ///
    /// # Errors
    /// As [`ablaze_net::Driver::turn`].
    fn turn(&mut self, worker: &mut Worker, wait: Wait) -> io::Result<Turn>;

    /// What is to be reported about the line itself when the run is over.
    fn facts(self) -> Facts;
}

/// What a line knows when the run is over.
#[derive(Debug, Default)]
pub struct Facts {
    /// Of TLS, where it was spoken.
    pub tls: Option<Box<TlsFacts>>,
    /// Of tunnels through a proxy, where there were any.
    pub proxy: Option<Box<ProxyFacts>>,
}
