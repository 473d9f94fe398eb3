//! Level-triggered epoll: each connection is registered for input. A write that blocks changes
//! that to output, and the end of the response changes it back: 0 or 2 epoll_ctl per response. Input
//! that has to wait is not told meanwhile, or the worker would spin.

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
use crate::event_loop::slots::place;
use crate::handler::Handler;
use crate::options::Options;

/// The model.
#[derive(Debug)]
pub struct EpollLt;

impl IoModel for EpollLt {
    const NAME: &'static str = "epoll-lt";
    const ABOUT: &'static str =
        "one event loop per thread, level-triggered: two epoll_ctl per blocked response";
    const SPEAKS_HTTP3: bool = true;
    type Shared = ();

    fn refuses(_accept: AcceptMode) -> Option<&'static str> {
        None
    }

    fn share(_options: &Options) -> io::Result<()> {
        Ok(())
    }

    fn set_up<H: Handler>(worker: Worker<H>, _shared: Arc<()>) -> io::Result<Run> {
        let event_loop = EventLoop::<H, LevelTriggered>::new(worker)?;
        Ok(Box::new(move || Ok(event_loop.run()?)))
    }
}

/// What is there is told at every wait, so only what is wanted may be asked for.
#[derive(Debug)]
struct LevelTriggered {
    epoll: Epoll,
    /// What each connection is registered for, by its place.
    armed: Vec<EventFlags>,
}

impl Readiness for LevelTriggered {
    fn new(max_events: usize, counters: Arc<Counters>) -> rustix::io::Result<Self> {
        Ok(Self { epoll: Epoll::new(max_events, counters)?, armed: Vec::new() })
    }

    fn watch(&mut self, fd: BorrowedFd<'_>, key: u64, exclusive: bool) -> rustix::io::Result<()> {
        self.epoll.watch(fd, key, exclusive)
    }

    fn unwatch(&mut self, fd: BorrowedFd<'_>, _key: u64) -> rustix::io::Result<()> {
        self.epoll.delete(fd)
    }

    fn register(&mut self, fd: BorrowedFd<'_>, key: u64) -> rustix::io::Result<()> {
        let place = place(key);
        if self.armed.len() <= place {
            self.armed.resize(place + 1, EventFlags::empty());
        }
        self.armed[place] = EventFlags::IN;
        self.epoll.add(fd, key, EventFlags::IN)
    }

    #[inline]
    fn settle(&mut self, fd: BorrowedFd<'_>, key: u64, wants: Wants) -> rustix::io::Result<()> {
        let armed = &mut self.armed[place(key)];
        let wanted = match wants {
            Wants::Input => EventFlags::IN,
            Wants::Output => EventFlags::OUT,
            // Errors are told without being asked for.
            Wants::Time { input: true } => EventFlags::empty(),
            // Most clients send nothing more before they have their response.
            Wants::Time { input: false } if *armed == EventFlags::OUT => EventFlags::IN,
            Wants::Time { input: false } => *armed,
        };
        if *armed == wanted {
            return Ok(());
        }
        *armed = wanted;
        self.epoll.modify(fd, key, wanted)
    }

    #[inline]
    fn forget(&mut self, _key: u64) {}

    #[inline]
    fn wait(&mut self, timeout_ns: Option<u64>) -> rustix::io::Result<usize> {
        self.epoll.wait(timeout_ns)
    }

    #[inline]
    fn event(&self, at: usize) -> (u64, EventFlags) {
        self.epoll.event(at)
    }
}
