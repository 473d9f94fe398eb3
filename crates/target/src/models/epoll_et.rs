//! Edge-triggered epoll: each connection is registered once, for both directions, and costs no
//! epoll_ctl after that, however often a write blocks. Per small request on an open connection:
//! its share of one wait, one read, one write.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use rustix::event::epoll::EventFlags;

use super::{IoModel, Run, Worker};
use crate::accepting::AcceptMode;
use crate::counters::Counters;
use crate::event_loop::EventLoop;
use crate::event_loop::epoll::Epoll;
use crate::event_loop::readiness::{Readiness, Wants};
use crate::handler::Handler;
use crate::options::Options;

/// The model.
#[derive(Debug)]
pub struct EpollEt;

impl IoModel for EpollEt {
    const NAME: &'static str = "epoll-et";
    const ABOUT: &'static str = "one event loop per thread, edge-triggered: registered once";
    const SPEAKS_HTTP3: bool = true;
    type Shared = ();

    fn refuses(_accept: AcceptMode) -> Option<&'static str> {
        None
    }

    fn share(_options: &Options) -> io::Result<()> {
        Ok(())
    }

    fn set_up<H: Handler>(worker: Worker<H>, _shared: Arc<()>) -> io::Result<Run> {
        let event_loop = EventLoop::<H, EdgeTriggered>::new(worker)?;
        Ok(Box::new(move || Ok(event_loop.run()?)))
    }
}

/// Each change of a descriptor is told once.
#[derive(Debug)]
struct EdgeTriggered(Epoll);

impl Readiness for EdgeTriggered {
    fn new(max_events: usize, counters: Arc<Counters>) -> rustix::io::Result<Self> {
        Epoll::new(max_events, counters).map(Self)
    }

    fn watch(&mut self, fd: BorrowedFd<'_>, key: u64, exclusive: bool) -> rustix::io::Result<()> {
        self.0.watch(fd, key, exclusive)
    }

    fn unwatch(&mut self, fd: BorrowedFd<'_>, _key: u64) -> rustix::io::Result<()> {
        self.0.delete(fd)
    }

    fn register(&mut self, fd: BorrowedFd<'_>, key: u64) -> rustix::io::Result<()> {
        // A read that does not fill its buffer ends reading, so the end of the stream behind it
        // has to be told by itself.
        let both = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        self.0.add(fd, key, both)
    }

    #[inline]
    fn settle(&mut self, _: BorrowedFd<'_>, _key: u64, _wants: Wants) -> rustix::io::Result<()> {
        Ok(())
    }

    #[inline]
    fn forget(&mut self, _key: u64) {}

    #[inline]
    fn wait(&mut self, timeout_ns: Option<u64>) -> rustix::io::Result<usize> {
        self.0.wait(timeout_ns)
    }

    #[inline]
    fn event(&self, at: usize) -> (u64, EventFlags) {
        self.0.event(at)
    }
}
