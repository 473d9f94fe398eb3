//! The seam between an event loop and the kernel's way to tell which descriptors are ready:
//! level- or edge-triggered epoll, poll(2). A loop is generic over it, so that what a way does
//! not need costs nothing.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use rustix::event::epoll::EventFlags;

use crate::counters::Counters;

/// What a connection waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// Bytes from the client.
    Input,
    /// Room for bytes to the client; input is left alone meanwhile.
    Output,
    /// The time of a delayed response.
    Time {
        /// Input has arrived and is left alone meanwhile.
        input: bool,
    },
}

/// A way to wait for many descriptors. Every descriptor has a key; the low half of a connection's
/// key is its place, a small number that is used again ([`crate::event_loop::slots::place`]).
///
/// Events are flags of epoll; those of poll(2) have the same values.
pub trait Readiness: Sized + 'static {
    /// Made once per worker. It counts its system calls and its events.
    ///
    /// # Errors
    /// When there is no descriptor for it.
    fn new(max_events: usize, counters: Arc<Counters>) -> rustix::io::Result<Self>;

    /// Tells of input on a descriptor that is no connection, as long as there is some.
    /// `exclusive` is EPOLLEXCLUSIVE.
    ///
    /// # Errors
    /// No memory, or the limit of watches per user is reached.
    fn watch(&mut self, fd: BorrowedFd<'_>, key: u64, exclusive: bool) -> rustix::io::Result<()>;

    /// Ends [`Self::watch`].
    ///
    /// # Errors
    /// When the descriptor was not watched.
    fn unwatch(&mut self, fd: BorrowedFd<'_>, key: u64) -> rustix::io::Result<()>;

    /// Takes a connection in, which wants input.
    ///
    /// # Errors
    /// As for [`Self::watch`]: the connection cannot be served.
    fn register(&mut self, fd: BorrowedFd<'_>, key: u64) -> rustix::io::Result<()>;

    /// A connection had its turn, and now waits for this.
    ///
    /// # Errors
    /// As for [`Self::watch`].
    fn settle(&mut self, fd: BorrowedFd<'_>, key: u64, wants: Wants) -> rustix::io::Result<()>;

    /// A connection is being closed, whether it was taken in or not.
    fn forget(&mut self, key: u64);

    /// Waits for events; returns how many there are.
    ///
    /// # Errors
    /// EINTR, and what the kernel refuses for lack of memory.
    fn wait(&mut self, timeout_ns: Option<u64>) -> rustix::io::Result<usize>;

    /// One of the events of the last wait.
    fn event(&self, at: usize) -> (u64, EventFlags);
}
