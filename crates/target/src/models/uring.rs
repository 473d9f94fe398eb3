//! io_uring: connections are accepted by one request that stays, received from by one request
//! per connection that stays, and responses of a whole batch leave with the call that waits for the
//! next. Per small request on an open connection: its share of one io_uring_enter.

mod accepting;
mod closing;
mod connection;
mod operations;
mod outgoing;
mod queue;
mod receiving;
mod sending;
mod worker;

use std::io;
use std::sync::Arc;

use ablaze_net::uring::ring;

use super::{IoModel, Run, Worker};
use crate::accepting::AcceptMode;
use crate::handler::Handler;
use crate::options::Options;

/// The model.
#[derive(Debug)]
pub struct Uring;

impl IoModel for Uring {
    const NAME: &'static str = "uring";
    const ABOUT: &'static str = "io_uring: multishot accept and receive, a system call per batch";
    const SPEAKS_HTTP3: bool = true;
    type Shared = ();

    fn refuses(accept: AcceptMode) -> Option<&'static str> {
        // The kernel's io_uring/opdef.c says poll_exclusive of IORING_OP_ACCEPT.
        (accept == AcceptMode::Shared)
            .then_some("an accept in io_uring always wakes one waiter only; use exclusive")
    }

    fn check(_options: &Options) -> Result<(), String> {
        ring::probe(operations::NEEDED)
            .map_err(|error| format!("{error}; use another model, epoll-et for one"))
    }

    fn share(_options: &Options) -> io::Result<()> {
        Ok(())
    }

    fn set_up<H: Handler>(worker: Worker<H>, _shared: Arc<()>) -> io::Result<Run> {
        let worker = worker::RingWorker::new(worker)?;
        Ok(Box::new(move || worker.run()))
    }
}
