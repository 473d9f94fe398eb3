//! poll(2): the kernel is given the whole list of descriptors at every wait, and looks at each.
//! Changing what is waited for costs nothing; every wait costs as much as there are connections.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Arc;

use rustix::event::epoll::EventFlags;
use rustix::io::Errno;

use super::{IoModel, Run, Worker};
use crate::accepting::AcceptMode;
use crate::counters::Counters;
use crate::event_loop::EventLoop;
use crate::event_loop::epoll::timespec;
use crate::event_loop::readiness::{Readiness, Wants};
use crate::event_loop::slots::place;
use crate::handler::Handler;
use crate::options::Options;

/// The model.
#[derive(Debug)]
pub struct Poll;

impl IoModel for Poll {
    const NAME: &'static str = "poll";
    const ABOUT: &'static str =
        "one event loop per thread over poll(2): all descriptors at every wait";
    type Shared = ();

    fn refuses(accept: AcceptMode) -> Option<&'static str> {
        let why = "EPOLLEXCLUSIVE is a flag of epoll, and poll(2) has nothing like it; \
                   use --accept shared, single or reuseport, or --model epoll-lt";
        (accept == AcceptMode::Exclusive).then_some(why)
    }

    fn share(_options: &Options) -> io::Result<()> {
        Ok(())
    }

    fn set_up<H: Handler>(worker: Worker<H>, _shared: Arc<()>) -> io::Result<Run> {
        let event_loop = EventLoop::<H, Polled>::new(worker)?;
        Ok(Box::new(move || Ok(event_loop.run()?)))
    }
}

/// The list for poll(2). `max_events` means nothing here: all that is ready is told.
#[derive(Debug)]
struct Polled {
    list: Vec<libc::pollfd>,
    /// The keys to the list.
    keys: Vec<u64>,
    /// Where a connection is in the list, by its place.
    positions: Vec<u32>,
    /// What the last wait gave. Apart from the list, which changes as events are dealt with.
    events: Vec<(u64, EventFlags)>,
    counters: Arc<Counters>,
}

/// A position for connections that are not in the list.
const NOWHERE: u32 = u32::MAX;

impl Polled {
    fn push(&mut self, fd: BorrowedFd<'_>, key: u64) {
        self.list.push(libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 });
        self.keys.push(key);
    }

    /// Takes an entry out; the last takes its position.
    fn remove(&mut self, position: usize) {
        self.list.swap_remove(position);
        self.keys.swap_remove(position);
        if let Some(&moved) = self.keys.get(position)
            && let Some(of_moved) = self.positions.get_mut(place(moved))
        {
            *of_moved = position as u32;
        }
    }
}

impl Readiness for Polled {
    fn new(_max_events: usize, counters: Arc<Counters>) -> rustix::io::Result<Self> {
        let (list, keys, positions, events) = Default::default();
        Ok(Self { list, keys, positions, events, counters })
    }

    fn watch(&mut self, fd: BorrowedFd<'_>, key: u64, _exclusive: bool) -> rustix::io::Result<()> {
        self.push(fd, key);
        Ok(())
    }

    fn unwatch(&mut self, _fd: BorrowedFd<'_>, key: u64) -> rustix::io::Result<()> {
        let position = self.keys.iter().position(|&of| of == key).ok_or(Errno::NOENT)?;
        self.remove(position);
        Ok(())
    }

    fn register(&mut self, fd: BorrowedFd<'_>, key: u64) -> rustix::io::Result<()> {
        if self.positions.len() <= place(key) {
            self.positions.resize(place(key) + 1, NOWHERE);
        }
        self.positions[place(key)] = self.list.len() as u32;
        self.push(fd, key);
        Ok(())
    }

    #[inline]
    fn settle(&mut self, _: BorrowedFd<'_>, key: u64, wants: Wants) -> rustix::io::Result<()> {
        let position = self.positions[place(key)];
        self.list[position as usize].events = match wants {
            Wants::Input => libc::POLLIN,
            Wants::Output => libc::POLLOUT,
            // Errors are told without being asked for.
            Wants::Time { .. } => 0,
        };
        Ok(())
    }

    fn forget(&mut self, key: u64) {
        if let Some(position) = self.positions.get_mut(place(key))
            && *position != NOWHERE
        {
            let position = std::mem::replace(position, NOWHERE);
            self.remove(position as usize);
        }
    }

    fn wait(&mut self, timeout_ns: Option<u64>) -> rustix::io::Result<usize> {
        self.events.clear();
        self.counters.waits.one();
        let timeout = timeout_ns.map(|ns| {
            let exact = timespec(ns);
            libc::timespec { tv_sec: exact.tv_sec, tv_nsec: exact.tv_nsec }
        });
        let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the list is writable for as many entries as are said; `timeout` is null or
        // points to a timespec that outlives the call; there is no signal mask. Descriptors are
        // plain numbers to the kernel.
        let response = unsafe {
            libc::ppoll(
                self.list.as_mut_ptr(),
                self.list.len() as libc::nfds_t,
                timeout,
                std::ptr::null(),
            )
        };
        let Ok(count) = usize::try_from(response) else {
            let error = Errno::from_io_error(&io::Error::last_os_error());
            return Err(error.unwrap_or(Errno::INVAL));
        };
        self.counters.events.add(count as u64);
        let ready = self.list.iter().zip(&self.keys).filter(|(entry, _)| entry.revents != 0);
        let flags = |entry: &libc::pollfd| EventFlags::from_bits_retain(entry.revents as u32);
        self.events.extend(ready.map(|(entry, &key)| (key, flags(entry))).take(count));
        Ok(self.events.len())
    }

    #[inline]
    fn event(&self, at: usize) -> (u64, EventFlags) {
        self.events[at]
    }
}
