//! Edge-triggered epoll: each connection is registered once, for both directions, and costs no
//! epoll_ctl after that, however often a write blocks. Per small request on an open connection:
//! its share of one wait, one read, one write.

use std::io;
use std::sync::Arc;

use super::{IoModel, Run, Worker};
use crate::accepting::AcceptMode;
use crate::event_loop::EventLoop;
use crate::handler::Handler;
use crate::options::Options;

/// The model.
#[derive(Debug)]
pub struct EpollEt;

impl IoModel for EpollEt {
    const NAME: &'static str = "epoll-et";
    const ABOUT: &'static str = "one event loop per thread, edge-triggered: registered once";
    type Shared = ();

    fn refuses(_accept: AcceptMode) -> Option<&'static str> {
        None
    }

    fn share(_options: &Options) -> io::Result<()> {
        Ok(())
    }

    fn set_up<H: Handler>(worker: Worker<H>, _shared: Arc<()>) -> io::Result<Run> {
        let event_loop = EventLoop::new(worker)?;
        Ok(Box::new(move || Ok(event_loop.run()?)))
    }
}
